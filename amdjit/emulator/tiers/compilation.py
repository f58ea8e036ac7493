"""Kernels of a code object as host code, in two tiers: quickly made, or quick to run
(docs/emulator.md, "Two tiers")."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import CodeObject, Kernel
from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.notebooks import shown_file
from amdjit.disk_cache import DiskCache
from amdjit.emulator.analysis.control_flow import Graph, WildBranch, build_graph
from amdjit.emulator.analysis.errors import Untranslatable
from amdjit.emulator.analysis.kernel_code import kernel_text
from amdjit.emulator.analysis.mode import Mode, default_mode
from amdjit.emulator.decoder import UndecodableInstruction, disassemble
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.tiers.full import WAVE_SYMBOL, translate_wave
from amdjit.emulator.tiers.operation_library import OperationLibrary
from amdjit.emulator.tiers.program import ThreadedProgram
from amdjit.emulator.tiers.quick import is_threadable, translate_threaded
from amdjit.emulator.tiers.quick_native import interpreter_symbol
from amdjit.emulator.wave.instrument import Instruments
from amdjit.emulator.wave.wave_function import WaveFunction
from amdjit.forking import Lock

# Instructions that one wave executes in about 100 us if some of them access memory.
_SHORT = 10_000
# Measured seconds: to translate an instruction in the full tier and in the quick tier, to make an
# operation that no kernel has needed before, and to execute an instruction in the quick tier.
_FULL, _QUICK, _OPERATION, _EXECUTED = 150e-6, 20e-6, 400e-6, 8e-9
# Where there are no operations yet, shorter kernels need about as many as they have instructions.
_MANY = 150


@dataclass(frozen=True, slots=True)
class Host:
    """What all modules of a device share: the compiler, its native functions and the cache.

    tier: "quick" or "full" to use only that one; the quick tier has neither checks nor calls.
    """

    compiler: HostCompiler
    library: NativeLibrary
    operations: OperationLibrary
    cache: DiskCache
    tier: str | None = None


@dataclass(slots=True)
class Running:
    """How long launches have run a kernel's quick code, and the time after which full code would
    have been worth its translation."""

    limit: float
    seconds: float = 0.0

    @property
    def left(self) -> float:
        """The seconds for which the quick code should still be used."""
        return self.limit - self.seconds


@dataclass(frozen=True, slots=True)
class HostKernel:
    """A kernel as host code: the address of its wave function, and the pcs of its sites and pauses.

    longest: the most instructions that a wave executes, None if it may loop. gives_way: whether it
    may wait for waves of other workgroups. program: the quick tier's, which the wave function runs.
    running: what that has cost.
    """

    code: tuple[LinkedCode, ...]  # referred to, so that it stays in memory
    address: int
    site_pcs: tuple[int, ...]
    resume_pcs: tuple[int, ...]
    longest: int | None
    gives_way: bool
    program: NDArray[np.uint8] | None = None
    running: Running | None = None

    def is_short(self, waves: int) -> bool:
        """Return whether that many waves end in about the time that it takes to hand them to other
        threads."""
        return self.longest is not None and self.longest * waves <= _SHORT

    @property
    def is_outgrown(self) -> bool:
        """Whether the full tier should take over."""
        return self.running is not None and self.running.left < 0


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is compiled: with which checks, for which tier. kind: "full", "quick", or "enterable"
    (`translate_wave`)."""

    kernel: Kernel
    full_waves: bool
    kind: str
    instruments: Instruments = ()

    @property
    def key(self) -> tuple[object, ...]:
        return self.kernel.name, self.full_waves, self.kind, self.instruments


class KernelCompiler:
    """Makes host code of a code object's kernels, each only once. Safe to use from several
    threads."""

    def __init__(self, host: Host, code_object: CodeObject) -> None:
        self._host = host
        self._code_object = code_object
        self._lock = Lock()
        self._compiled: dict[tuple[object, ...], HostKernel] = {}

    def full(self, kernel: Kernel, full_waves: bool, instruments: Instruments = ()) -> HostKernel:
        """Return a kernel's full code, with the checks of `instruments` in it.

        KernelFault "unsupported-instruction" if it cannot be translated.
        """
        return self._full(_Wanted(kernel, full_waves, "full", instruments))

    def enterable(self, kernel: Kernel, full_waves: bool) -> HostKernel:
        """Return full code that waves can enter where they go round a loop of the quick code."""
        return self._full(_Wanted(kernel, full_waves, "enterable"))

    def for_launch(self, kernel: Kernel, full_waves: bool, waves: int) -> HostKernel:
        """Return the code of the tier that suits a launch of that many waves."""
        wanted = _Wanted(kernel, full_waves, "full")
        if self._host.tier == "full":
            return self._full(wanted)
        with self._lock:
            known = self._known(wanted) if self._host.tier is None else None
            return known or self._quick_or_full(wanted, replace(wanted, kind="quick"), waves)

    # The full tier

    def _full(self, wanted: _Wanted) -> HostKernel:
        with self._lock:
            return self._known(wanted) or self._make_full(wanted, self._graph(wanted))

    def _known(self, wanted: _Wanted) -> HostKernel | None:
        """Return full code that this process or the cache on disk has."""
        if wanted.key in self._compiled:
            return self._compiled[wanted.key]
        stored = self._host.cache.get(self._cache_key(wanted))
        if stored is None:
            return None
        header, _, image = stored.partition(b"\n")
        natives, site_pcs, resume_pcs, longest, gives_way = json.loads(header)
        function = WaveFunction(
            "", frozenset(natives), tuple(site_pcs), tuple(resume_pcs), longest, gives_way
        )
        return self._link(wanted, function, image)

    def _make_full(self, wanted: _Wanted, graph: Graph) -> HostKernel:
        function = self._translate(wanted, graph)
        image = self._host.compiler.compile(function.text).image
        facts = (function.site_pcs, function.resume_pcs, function.longest, function.gives_way)
        header = json.dumps([sorted(function.natives), *facts]).encode()
        self._host.cache.put(self._cache_key(wanted), header + b"\n" + image)
        return self._link(wanted, function, image)

    def _link(self, wanted: _Wanted, function: WaveFunction, image: bytes) -> HostKernel:
        library = self._host.library
        imports = {**library.addresses(sorted(function.natives)), **library.run_time()}
        code = self._host.compiler.link([image], imports, [WAVE_SYMBOL])
        facts = (function.site_pcs, function.resume_pcs, function.longest, function.gives_way)
        return self._keep(wanted, HostKernel((code,), code.addresses[WAVE_SYMBOL], *facts))

    def _keep(self, wanted: _Wanted, compiled: HostKernel) -> HostKernel:
        self._compiled[wanted.key] = compiled
        return compiled

    # The quick tier

    def _quick_or_full(self, full: _Wanted, quick: _Wanted, waves: int) -> HostKernel:
        known = self._compiled.get(quick.key)
        if known is not None:
            return self._full(full) if known.is_outgrown else known
        program = self._stored_program(quick)
        if program is not None and self._pays(program.instructions, program, waves):
            return self._load_program(quick, program)
        graph = self._graph(full)
        if not is_threadable(graph) or not self._may_pay(graph):
            return self._make_full(full, graph)
        program = self._thread(quick, graph)
        if not self._pays(program.instructions, program, waves):
            return self._make_full(full, graph)
        loaded = self._load_program(quick, program)
        self._host.cache.put(self._cache_key(quick), _stored(program))
        return loaded

    def _may_pay(self, graph: Graph) -> bool:
        """Return whether it is worthwhile to find out which operations a kernel needs."""
        instructions = sum(len(block.instructions) for block in graph.blocks.values())
        return (
            instructions >= _MANY
            or self._host.tier == "quick"
            or not self._host.operations.is_empty
        )

    def _pays(self, instructions: int, program: ThreadedProgram, waves: int) -> bool:
        """Return whether the quick tier is likely to finish first. Loops count once, because the
        number of their rounds is unknown."""
        if self._host.tier == "quick":
            return True
        missing = len(self._host.operations.missing(program.calls))
        runs = instructions * waves * _EXECUTED if program.longest is not None else 0.0
        return instructions * _QUICK + missing * _OPERATION + runs < instructions * _FULL

    def _stored_program(self, wanted: _Wanted) -> ThreadedProgram | None:
        """Return the program that the cache has, if it also has the program's operations."""
        stored = self._host.cache.get(self._cache_key(wanted))
        if stored is None:
            return None
        header, _, code = stored.partition(b"\n")
        calls, site_pcs, resume_pcs, longest, gives_way, instructions = json.loads(header)
        if self._host.operations.missing(calls):
            return None
        return ThreadedProgram(
            code, calls, (), tuple(site_pcs), tuple(resume_pcs), longest, gives_way, instructions
        )

    def _load_program(self, wanted: _Wanted, program: ThreadedProgram) -> HostKernel:
        addresses, operations = self._host.operations.made(program.calls, program.operations)
        code = np.frombuffer(bytearray(program.code), np.uint8)
        fields = code.view(np.uint64)
        for symbol, places in program.calls.items():
            fields[np.array(places) // FIELD_BYTES] = addresses[symbol]
        address = self._host.library.address(interpreter_symbol(wanted.kernel.descriptor.wave_size))
        limit = float("inf") if self._host.tier == "quick" else program.instructions * _FULL
        facts = (program.site_pcs, program.resume_pcs, program.longest, program.gives_way)
        return self._keep(wanted, HostKernel(operations, address, *facts, code, Running(limit)))

    # Translation

    def _cache_key(self, wanted: _Wanted) -> str:
        checks = ",".join(instrument.name for instrument in wanted.instruments)
        identity = self._host.compiler.identity
        parts = (
            identity,
            wanted.kernel.name,
            str(wanted.full_waves),
            wanted.kind,
            checks,
            self._code_object.data,
        )
        return self._host.cache.key("wave function", *parts)

    def _graph(self, wanted: _Wanted) -> Graph:
        kernel = wanted.kernel
        try:
            return build_graph(kernel_text(self._code_object, kernel), kernel.entry_address)
        except WildBranch as error:
            raise self._refusal(
                kernel, error.instruction.pc, error.instruction, str(error), "wild-branch"
            ) from error
        except UndecodableInstruction as error:
            raise self._refusal(kernel, error.pc, None, str(error)) from error

    def _translate(self, wanted: _Wanted, graph: Graph) -> WaveFunction:
        kernel = wanted.kernel
        attributes = self._host.compiler.function_attributes
        try:
            return translate_wave(
                graph,
                wanted.full_waves,
                attributes,
                _mode(kernel),
                kernel.descriptor.wave_size,
                wanted.instruments,
                wanted.kind == "enterable",
            )
        except Untranslatable as error:
            raise self._refusal(
                kernel, error.instruction.pc, error.instruction, error.reason
            ) from error

    def _thread(self, wanted: _Wanted, graph: Graph) -> ThreadedProgram:
        kernel = wanted.kernel
        try:
            return translate_threaded(
                graph, wanted.full_waves, _mode(kernel), kernel.descriptor.wave_size
            )
        except Untranslatable as error:
            raise self._refusal(
                kernel, error.instruction.pc, error.instruction, error.reason
            ) from error

    def _refusal(
        self,
        kernel: Kernel,
        pc: int,
        instruction: Instruction | None,
        reason: str,
        kind: str = "unsupported-instruction",
    ) -> KernelFault:
        text = f"{disassemble(instruction)} at pc {pc:#x}" if instruction else f"pc {pc:#x}"
        place = self._code_object.line_of(pc)
        file, line = place if place else (None, None)
        where = f" ({shown_file(place[0])}:{line})" if place else ""
        message = f"{kernel.name}: {text}{where}: {reason}"
        return KernelFault(
            kind, message, kernel=kernel.name, source_file=file, source_line=line, instruction=text
        )


def _stored(program: ThreadedProgram) -> bytes:
    facts = (
        program.site_pcs,
        program.resume_pcs,
        program.longest,
        program.gives_way,
        program.instructions,
    )
    return json.dumps([program.calls, *facts]).encode() + b"\n" + program.code


def _mode(kernel: Kernel) -> Mode:
    descriptor = kernel.descriptor
    return default_mode(
        descriptor.float_round_mode_32,
        descriptor.float_round_mode_16_64,
        descriptor.float_denorm_mode_32,
        descriptor.float_denorm_mode_16_64,
        descriptor.fp16_overflow,
        bool(descriptor.dx10_clamp),
        bool(descriptor.ieee_mode),
    )
