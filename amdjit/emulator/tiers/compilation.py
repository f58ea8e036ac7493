"""Kernels of a code object as host code, in two tiers: quick to compile, or quick to run
(docs/emulator.md, "Two tiers")."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import CodeObject, Kernel
from amdjit.disk_cache import DiskCache
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.tiers.operation_library import (
    OperationLibrary,
    ThreadedProgram,
    interpreter_symbol,
)
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.sites import WAVE_SYMBOL, WaveFunction
from amdjit.forking import Lock
from amdjit.late import late
from amdjit.late_methods import dataclass, field

if TYPE_CHECKING:
    from amdjit.emulator.instructions import emission
    from amdjit.emulator.tiers import full as full_tier
    from amdjit.emulator.tiers import quick as quick_tier
    from amdjit.emulator.tiers import shapes as operation_shapes
    from amdjit.emulator.wave.frame import Instruments
    from amdjit.isa.analysis import control_flow, kernel_code, mode
else:
    # Code that the cache has needs no translation: these take a third of a first launch to load.
    emission = late("amdjit.emulator.instructions.emission")
    full_tier = late("amdjit.emulator.tiers.full")
    quick_tier = late("amdjit.emulator.tiers.quick")
    operation_shapes = late("amdjit.emulator.tiers.shapes")
    control_flow = late("amdjit.isa.analysis.control_flow")
    kernel_code = late("amdjit.isa.analysis.kernel_code")
    mode = late("amdjit.isa.analysis.mode")
from amdjit.isa.errors import UndecodableInstruction

# Instructions that one wave executes in about 100 us if some of them access memory.
_SHORT = 10_000
# Measured seconds: to translate an instruction in the full tier and in the quick tier, to make an
# operation that no kernel has needed before, and to execute an instruction in the quick tier.
_FULL, _QUICK, _OPERATION, _EXECUTED = 200e-6, 20e-6, 400e-6, 8e-9
# LLVM's passes take as long again for a kernel of 25 instructions.
_FULL_KERNEL = 5e-3
# Where a kernel has more instructions than that, each block makes the full translation of those
# longer: 2 s for 1700 instructions in 250 blocks. They are translated in the background, while
# launches use the quick code.
_LARGE, _FULL_BLOCK = 1_000, 5e-6
UNSUPPORTED = "unsupported-instruction"
# Where there are no operations yet, shorter kernels need about as many as they have instructions.
_MANY = 150

_T = TypeVar("_T")


@dataclass(frozen=True)
class Host:
    """What all modules of a device share: the compiler, its native functions and the cache.

    tier: "quick" or "full" to use only that one; the quick tier has no checks.
    """

    compiler: HostCompiler
    library: NativeLibrary
    operations: OperationLibrary
    cache: DiskCache
    tier: str | None = None

    @cached_property
    def shapes(self) -> operation_shapes.KnownShapes:
        """Which instructions become the same operation, for all kernels of the device."""
        return operation_shapes.KnownShapes()


@dataclass(slots=True)
class Running:
    """How long launches have run a kernel's quick code, compared with what the full code costs."""

    limit: float
    """Seconds after which compiling the full code would have been worth it."""
    is_large: bool = False
    """Whether the full code is compiled in the background, because that takes seconds."""
    seconds: float = 0.0
    """How long launches have run the quick code."""
    waits: bool = False
    """Whether the compilation is under way in the background."""

    @property
    def left(self) -> float:
        """The seconds for which the quick code should still be used."""
        return self.limit - self.seconds


class Refusal(NamedTuple):
    """Why a kernel stops if it gets to an instruction: the kind of the fault, and the reason."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class HostKernel:
    """A kernel as host code: the address of its wave function, and the pcs of its sites and
    pauses."""

    code: tuple[LinkedCode, ...]  # referred to, so that it stays in memory
    address: int
    site_pcs: tuple[int, ...]
    resume_pcs: tuple[int, ...]
    longest: int | None
    """The most instructions that a wave executes, None if it may loop."""
    may_yield: bool
    """Whether it may wait for waves of other workgroups."""
    calls_host: bool
    """Whether it may interrupt the host."""
    program: NDArray[np.uint8] | None = None
    """The threaded program that the wave function of the quick tier runs; None in the full tier."""
    running: Running | None = None
    """How long launches have run the quick code; None in the full tier."""
    refused: Mapping[int, Refusal] = field(default_factory=dict)
    """The instructions that have no translation, by pc."""

    def is_short(self, waves: int) -> bool:
        """Return whether that many waves end in about the time that it takes to hand them to other
        threads."""
        return self.longest is not None and self.longest * waves <= _SHORT

    @property
    def is_outgrown(self) -> bool:
        """Whether the full tier should take over."""
        running = self.running
        return running is not None and running.left < 0 and not running.waits


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
        self._refused: dict[str, dict[int, Refusal]] = {}
        # For what is translated in the background, the process that does it: after a fork, the
        # child has no such thread.
        self._under_way: dict[tuple[object, ...], int] = {}

    def graph(self, kernel: Kernel) -> control_flow.Graph:
        """Return a kernel's code as it is translated: traps stand for the instructions that are
        known to have no translation. Those whose operands are the reason are known once `full` has
        returned."""
        text, refused = kernel_code.kernel_text(self._code_object, kernel), self._refusals(kernel)
        trap = text.instruction_set.trap
        try:
            return control_flow.build_graph(text.cut(refused, trap), kernel.entry_address)
        except (UndecodableInstruction, control_flow.WildBranch):
            unknown = control_flow.unknown_code(text.cut(refused, trap), kernel.entry_address)
            refused.update((pc, _refusal(error)) for pc, error in unknown.items())
            return control_flow.build_graph(text.cut(refused, trap), kernel.entry_address)

    def full(self, kernel: Kernel, full_waves: bool, instruments: Instruments = ()) -> HostKernel:
        """Return a kernel's full code, with the checks of `instruments` in it."""
        return self._full(_Wanted(kernel, full_waves, "full", instruments))

    def enterable(self, kernel: Kernel, full_waves: bool) -> HostKernel | None:
        """Return full code that waves can enter where they go round a loop of the quick code, None
        while it is translated in the background, which the first call begins."""
        wanted = _Wanted(kernel, full_waves, "enterable")
        with self._lock:
            is_under_way = self._under_way.get(wanted.key) == os.getpid()
            known = self._compiled.get(wanted.key) if is_under_way else self._known(wanted)
            if known is None and not is_under_way:
                self._under_way[wanted.key] = os.getpid()
                # Not a daemon thread: LLVM must not be running when the process exits.
                threading.Thread(
                    target=self._translate_aside,
                    args=(wanted,),
                    name="amdjit-emulator-compiler",
                    daemon=False,
                ).start()
            return known

    def _translate_aside(self, wanted: _Wanted) -> None:
        """Compile full code without the lock, so that launches can go on meanwhile."""
        quick = self._compiled.get(replace(wanted, kind="quick").key)
        running = None if quick is None else quick.running
        if running is not None:
            running.waits = True
        function, image = self._build(wanted)
        with self._lock:
            self._link(wanted, function, image)
        if running is not None:
            running.waits = False

    def for_launch(self, kernel: Kernel, full_waves: bool, waves: int) -> HostKernel:
        """Return the code of the tier that suits a launch of that many waves."""
        wanted = _Wanted(kernel, full_waves, "full")
        if self._host.tier == "full":
            return self._full(wanted)
        with self._lock:
            known = self._known(wanted) if self._host.tier is None else None
            return known or self._quick_or_full(wanted, replace(wanted, kind="quick"), waves)

    def stepping(self, kernel: Kernel, full_waves: bool, instruments: Instruments) -> HostKernel:
        """Return code that can stop before each instruction (`steps.py`), and tells `instruments`
        of accesses."""
        wanted = _Wanted(kernel, full_waves, "stepping", instruments)
        with self._lock:
            known = self._compiled.get(wanted.key)
            if known is not None:
                return known
            program = self._translated(kernel, partial(self._thread_steps, wanted))
            loaded = self._load_program(wanted, program)
            assert loaded is not None, "the program has all of its operations"
            return loaded

    # The full tier

    def _full(self, wanted: _Wanted) -> HostKernel:
        with self._lock:
            return self._known(wanted) or self._make_full(wanted)

    def _known(self, wanted: _Wanted) -> HostKernel | None:
        """Return full code that this process or the cache on disk has."""
        if wanted.key in self._compiled:
            return self._compiled[wanted.key]
        stored = self._host.cache.get(self._cache_key(wanted))
        if stored is None:
            return None
        header, _, image = stored.partition(b"\n")
        natives, site_pcs, resume_pcs, *facts, refused = json.loads(header)
        self._know(wanted.kernel, refused)
        function = WaveFunction("", frozenset(natives), tuple(site_pcs), tuple(resume_pcs), *facts)
        return self._link(wanted, function, image)

    def _make_full(self, wanted: _Wanted) -> HostKernel:
        return self._link(wanted, *self._build(wanted))

    def _build(self, wanted: _Wanted) -> tuple[WaveFunction, bytes]:
        function = self._translated(wanted.kernel, partial(self._translate, wanted))
        compiler = self._host.compiler
        compile_text = compiler.compile_quickly if function.keeps_slots else compiler.compile
        image = compile_text(function.text).image
        facts = _facts(function)
        stored = [sorted(function.natives), *facts, list(self._refusals(wanted.kernel).items())]
        header = json.dumps(stored).encode()
        self._host.cache.put(self._cache_key(wanted), header + b"\n" + image)
        return function, image

    def _link(self, wanted: _Wanted, function: WaveFunction, image: bytes) -> HostKernel:
        library = self._host.library
        imports = {**library.addresses(sorted(function.natives)), **library.run_time()}
        code = self._host.compiler.link([image], imports, [WAVE_SYMBOL])
        facts = _facts(function)
        kernel = HostKernel(
            (code,),
            code.addresses[WAVE_SYMBOL],
            *facts,
            refused=self._refusals(wanted.kernel),
        )
        return self._keep(wanted, kernel)

    def _keep(self, wanted: _Wanted, compiled: HostKernel) -> HostKernel:
        self._compiled[wanted.key] = compiled
        return compiled

    # The quick tier

    def _quick_or_full(self, full: _Wanted, quick: _Wanted, waves: int) -> HostKernel:
        known = self._compiled.get(quick.key)
        if known is not None:
            return self._after_quick(known, full)
        program = self._stored_program(quick)
        if program is not None and self._pays(program.instructions, program, waves):
            loaded = self._load_program(quick, program)
            if loaded is not None:
                return loaded
        program = self._translated(full.kernel, partial(self._thread, quick))
        if program is None or not self._pays(program.instructions, program, waves):
            return self._make_full(full)
        loaded = self._load_program(quick, program)
        self._host.cache.put(self._cache_key(quick), self._stored(quick.kernel, program))
        return loaded or self._make_full(full)

    def _after_quick(self, quick: HostKernel, full: _Wanted) -> HostKernel:
        """Return full code once launches have taken long enough in the quick one. That of a large
        kernel is made in the background."""
        running = quick.running
        if running is None or running.left >= 0:
            return quick
        if running.is_large:
            return self.enterable(full.kernel, full.full_waves) or quick
        return self._full(full)

    def _may_pay(self, graph: control_flow.Graph) -> bool:
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
        return instructions * _QUICK + missing * _OPERATION + runs < _full_seconds(program)

    def _stored_program(self, wanted: _Wanted) -> ThreadedProgram | None:
        """Return the program that the cache has, if it also has the program's operations."""
        stored = self._host.cache.get(self._cache_key(wanted))
        if stored is None:
            return None
        header, _, code = stored.partition(b"\n")
        calls, site_pcs, resume_pcs, longest, may_yield, asks, size, refused = json.loads(header)
        self._know(wanted.kernel, refused)
        if self._host.operations.missing(calls):
            return None
        sites = tuple(site_pcs), tuple(resume_pcs)
        return ThreadedProgram(code, calls, (), *sites, longest, may_yield, asks, *size)

    def _load_program(self, wanted: _Wanted, program: ThreadedProgram) -> HostKernel | None:
        """Link a program. None if one of the stored operations that it calls is gone again."""
        made = self._host.operations.made(program.calls, program.operations)
        if made is None:
            return None
        addresses, operations = made
        code = np.frombuffer(bytearray(program.code), np.uint8)
        fields = code.view(np.uint64)
        for symbol, places in program.calls.items():
            fields[np.array(places) // FIELD_BYTES] = addresses[symbol]
        address = self._host.library.address(interpreter_symbol(wanted.kernel.descriptor.wave_size))
        limit = float("inf") if self._host.tier == "quick" else _full_seconds(program)
        running = Running(limit, program.instructions > _LARGE)
        facts = _facts(program)
        refused = self._refusals(wanted.kernel)
        return self._keep(wanted, HostKernel(operations, address, *facts, code, running, refused))

    def _stored(self, kernel: Kernel, program: ThreadedProgram) -> bytes:
        refused = list(self._refusals(kernel).items())
        size = program.instructions, program.blocks
        stored = [program.calls, *_facts(program), size, refused]
        return json.dumps(stored).encode() + b"\n" + program.code

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

    def _translated(self, kernel: Kernel, translate: Callable[[control_flow.Graph], _T]) -> _T:
        """Translate a kernel's code; where an instruction has no translation, the wave stops."""
        while True:
            graph = self.graph(kernel)
            try:
                return translate(graph)
            except Untranslatable as error:
                if (
                    error.instruction.pc in graph.cuts
                ):  # There is a trap already: this would never end.
                    raise
                self._refusals(kernel).update(_all_refusals(graph, error))

    def _marked(self, wanted: _Wanted, graph: control_flow.Graph) -> control_flow.Graph:
        """Return a graph with what checks ask of it."""
        if not wanted.instruments:
            return graph
        marks = kernel_code.access_marks(self._code_object, graph)
        wgp_mode = wanted.kernel.descriptor.wgp_mode
        return replace(graph, marks=marks, splits_workgroups=wgp_mode)

    def _translate(self, wanted: _Wanted, graph: control_flow.Graph) -> WaveFunction:
        kernel = wanted.kernel
        return full_tier.translate_wave(
            self._marked(wanted, graph),
            wanted.full_waves,
            attributes=self._host.compiler.function_attributes,
            mode=_mode(kernel),
            wave_size=kernel.descriptor.wave_size,
            instruments=wanted.instruments,
            enterable=wanted.kind == "enterable",
        )

    def _thread(self, wanted: _Wanted, graph: control_flow.Graph) -> ThreadedProgram | None:
        """Return the quick tier's program, None if it is not worthwhile."""
        if not self._may_pay(graph):
            return None
        kernel = wanted.kernel
        size, known = kernel.descriptor.wave_size, self._host.shapes
        return quick_tier.translate_threaded(graph, wanted.full_waves, _mode(kernel), size, known)

    def _thread_steps(self, wanted: _Wanted, graph: control_flow.Graph) -> ThreadedProgram:
        kernel, known = wanted.kernel, self._host.shapes
        return quick_tier.translate_threaded(
            graph,
            wanted.full_waves,
            _mode(kernel),
            kernel.descriptor.wave_size,
            known,
            wanted.instruments,
        )

    # Instructions without a translation

    def _refusals(self, kernel: Kernel) -> dict[int, Refusal]:
        return self._refused.setdefault(kernel.name, {})

    def _know(self, kernel: Kernel, refused: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Load what an earlier translation found out."""
        self._refusals(kernel).update((pc, Refusal(*reason)) for pc, reason in refused)


def _full_seconds(program: ThreadedProgram) -> float:
    """Return about how long the full translation of a kernel takes."""
    beyond = max(program.instructions - _LARGE, 0)
    return _FULL_KERNEL + program.instructions * _FULL + beyond * program.blocks * _FULL_BLOCK


def _facts(
    made: WaveFunction | ThreadedProgram,
) -> tuple[tuple[int, ...], tuple[int, ...], int | None, bool, bool]:
    """Return what a host kernel has of a translation."""
    return made.site_pcs, made.resume_pcs, made.longest, made.may_yield, made.calls_host


def _refusal(error: control_flow.Unreadable) -> Refusal:
    if isinstance(error, control_flow.WildBranch):
        return Refusal("wild-branch", str(error))
    return Refusal(UNSUPPORTED, str(error))


def _all_refusals(graph: control_flow.Graph, error: Untranslatable) -> dict[int, Refusal]:
    """Return the instruction that has no translation, and the others that never have one."""
    found = {
        instruction.pc: Refusal(UNSUPPORTED, reason)
        for block in graph.blocks.values()
        for instruction in block.instructions
        if (reason := emission.refusal_of(instruction))
    }
    return {**found, error.instruction.pc: Refusal(UNSUPPORTED, error.reason)}


def _mode(kernel: Kernel) -> mode.Mode:
    descriptor = kernel.descriptor
    return mode.default_mode(
        descriptor.float_round_mode_32,
        descriptor.float_round_mode_16_64,
        denormals_32=descriptor.float_denorm_mode_32,
        denormals_16_64=descriptor.float_denorm_mode_16_64,
        overflow=descriptor.fp16_overflow,
        dx10_clamp=bool(descriptor.dx10_clamp),
        ieee=bool(descriptor.ieee_mode),
    )
