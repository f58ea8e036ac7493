"""A code object in the emulated device's memory, and its kernels translated when first launched."""

from __future__ import annotations

import json
import threading
import weakref
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import CodeObject, Kernel, MalformedCodeObject
from amdjit.diagnostics.errors import BackendError, KernelFault
from amdjit.disk_cache import DiskCache
from amdjit.emulator.decoder import UndecodableInstruction, decode, disassemble
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.host_jit import HostCompiler, LinkedCode
from amdjit.emulator.kernel_code import kernel_text, segment_of
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.native.library import NativeLibrary
from amdjit.emulator.translate.control_flow import WildBranch, build_graph
from amdjit.emulator.translate.errors import Untranslatable
from amdjit.emulator.translate.function import WAVE_SYMBOL, translate_wave
from amdjit.emulator.translate.instrument import Instruments
from amdjit.emulator.translate.mode import default_mode
from amdjit.emulator.translate.wave_function import WaveFunction

# Instructions of one wave that are executed in about 100 us, some of them accesses of memory.
_SHORT = 10_000
# LLVM AMDGPU guide, "Relocation Records": R_AMDGPU_RELATIVE64, the base of the code object plus the addend.
_RELATIVE = 13


@dataclass(frozen=True, slots=True)
class Host:
    """What all modules of a device share: the compiler, its native functions and the cache."""

    compiler: HostCompiler
    library: NativeLibrary
    cache: DiskCache


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A kernel as host code: the address of its wave function, and the pcs of its sites and pauses.

    longest: the most instructions that a wave executes, None where it may loop. gives_way: whether it may wait for
    waves of other workgroups.
    """

    code: LinkedCode
    address: int
    site_pcs: tuple[int, ...]
    resume_pcs: tuple[int, ...]
    longest: int | None
    gives_way: bool

    def is_short(self, waves: int) -> bool:
        """Tell whether so many waves end within the time that it takes to hand them to other threads, about."""
        return self.longest is not None and self.longest * waves <= _SHORT


class EmulatedModule:
    """A loaded code object. `load_bias` + virtual address = host address."""

    def __init__(self, host: Host, memory: DeviceMemory, data: bytes, target_name: str) -> None:
        try:
            self.code_object = CodeObject.read(data)
        except MalformedCodeObject as error:
            raise BackendError(f"this is no code object that the emulator can load: {error}") from error
        self._check(target_name)
        self._host = host
        self._lock = threading.Lock()
        self._compiled: dict[tuple[str, bool, Instruments], CompiledKernel] = {}
        self.base, self.load_bias = _place(memory, self.code_object)
        weakref.finalize(self, memory.free, self.base)

    def _check(self, target_name: str) -> None:
        code_object = self.code_object
        if code_object.target_name != target_name:
            raise BackendError(f"the code object is for {code_object.target_name}, the device is {target_name}")
        if code_object.undefined_symbols:
            names = ", ".join(code_object.undefined_symbols)
            raise BackendError(f"the code object has undefined symbols: {names}")
        strange = {relocation.type for relocation in code_object.relocations} - {_RELATIVE}
        if strange:
            raise BackendError(f"the code object has dynamic relocations of types {strange} that are not emulated")

    def function(self, name: str) -> EmulatedFunction:
        """Look up a kernel by name; BackendError if there is none or it needs what the emulator has not."""
        kernel = self.code_object.kernels.get(name)
        if kernel is None:
            there = ", ".join(self.code_object.kernels) or "none"
            raise BackendError(f"the code object has no kernel {name!r}; there are: {there}")
        return EmulatedFunction(self, kernel)

    def compiled(self, kernel: Kernel, full_waves: bool, instruments: Instruments = ()) -> CompiledKernel:
        """Return a kernel's host code, with the checks of `instruments` in it.

        KernelFault "unsupported-instruction" if it cannot be translated.
        """
        key = (kernel.name, full_waves, instruments)
        with self._lock:
            if key not in self._compiled:
                self._compiled[key] = self._compile(kernel, full_waves, instruments)
            return self._compiled[key]

    def _compile(self, kernel: Kernel, full_waves: bool, instruments: Instruments) -> CompiledKernel:
        key = self._cache_key(kernel, full_waves, instruments)
        stored = self._host.cache.get(key)
        if stored is not None:
            header, _, image = stored.partition(b"\n")
            natives, site_pcs, resume_pcs, longest, gives_way = json.loads(header)
            function = WaveFunction("", frozenset(natives), tuple(site_pcs), tuple(resume_pcs), longest, gives_way)
        else:
            function = self._translate(kernel, full_waves, instruments)
            image = self._host.compiler.compile(function.text)
            facts = (function.site_pcs, function.resume_pcs, function.longest, function.gives_way)
            self._host.cache.put(key, json.dumps([sorted(function.natives), *facts]).encode() + b"\n" + image)
        library = self._host.library
        imports = {**library.addresses(sorted(function.natives)), **library.run_time()}
        code = self._host.compiler.link([image], imports, [WAVE_SYMBOL])
        address = code.addresses[WAVE_SYMBOL]
        facts = (function.site_pcs, function.resume_pcs, function.longest, function.gives_way)
        return CompiledKernel(code, address, *facts)

    def _cache_key(self, kernel: Kernel, full_waves: bool, instruments: Instruments) -> str:
        checks = ",".join(instrument.name for instrument in instruments)
        identity = self._host.compiler.identity
        parts = ("wave function", identity, kernel.name, str(full_waves), checks, self.code_object.data)
        return self._host.cache.key(*parts)

    def _translate(self, kernel: Kernel, full_waves: bool, instruments: Instruments) -> WaveFunction:
        try:
            graph = build_graph(kernel_text(self.code_object, kernel), kernel.entry_address)
            descriptor = kernel.descriptor
            attributes = self._host.compiler.function_attributes
            mode = default_mode(
                descriptor.float_round_mode_32,
                descriptor.float_round_mode_16_64,
                descriptor.float_denorm_mode_32,
                descriptor.float_denorm_mode_16_64,
                descriptor.fp16_overflow,
            )
            return translate_wave(graph, full_waves, attributes, mode, descriptor.wavefront_size, instruments)
        except Untranslatable as error:
            raise self._refusal(kernel, error.instruction.pc, error.instruction, error.reason) from error
        except WildBranch as error:
            raise self._refusal(kernel, error.instruction.pc, error.instruction, str(error), "wild-branch") from error
        except UndecodableInstruction as error:
            raise self._refusal(kernel, error.pc, None, str(error)) from error

    def _refusal(
        self,
        kernel: Kernel,
        pc: int,
        instruction: Instruction | None,
        reason: str,
        kind: str = "unsupported-instruction",
    ) -> KernelFault:
        text = f"{disassemble(instruction)} at pc {pc:#x}" if instruction else f"pc {pc:#x}"
        place = self.code_object.line_of(pc)
        file, line = place if place else (None, None)
        where = f" ({file}:{line})" if place else ""
        message = f"{kernel.name}: {text}{where}: {reason}"
        return KernelFault(kind, message, kernel=kernel.name, source_file=file, source_line=line, instruction=text)

    def decoded(self, pc: int, wave_size: int) -> Instruction:
        """Return the instruction at `pc`."""
        segment = segment_of(self.code_object, pc)
        return decode(segment.data, pc - segment.address, pc, wave_size)

    def instruction_at(self, pc: int, wave_size: int) -> str:
        """Return the instruction at `pc` as text, with its pc."""
        return f"{disassemble(self.decoded(pc, wave_size))} at pc {pc:#x}"

    def register_base(self, pc: int, base: int, wave_size: int) -> int:
        """Return what of an access's base comes from registers: without the instruction's own offset. 0 stays 0."""
        return base and base - self.decoded(pc, wave_size).immediates.get("offset", 0)


@dataclass(frozen=True, eq=False)
class EmulatedFunction:
    """A kernel of a loaded code object."""

    module: EmulatedModule
    kernel: Kernel

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name


def _place(memory: DeviceMemory, code_object: CodeObject) -> tuple[int, int]:
    """Copy the segments to one allocation, of which writable segments may be written; returns address and bias."""
    low = min(segment.address for segment in code_object.segments) & ~0xFFF
    high = max(segment.end for segment in code_object.segments)
    pieces = tuple((s.address - low, s.end - low, s.writable) for s in code_object.segments if s.memory_size)
    base = memory.allocate(high - low, "code object", pieces)
    image = np.frombuffer(memory.view(base, high - low), np.uint8)
    image[:] = 0
    for segment in code_object.segments:
        start = segment.address - low
        image[start : start + len(segment.data)] = np.frombuffer(segment.data, np.uint8)
    _relocate(image, low, base, code_object)
    return base, base - low


def _relocate(image: NDArray[np.uint8], low: int, base: int, code_object: CodeObject) -> None:
    """Write the addresses in tables of pointers: the addend where the code object has been put."""
    for relocation in code_object.relocations:
        start = relocation.address - low
        if not 0 <= start <= len(image) - 8:
            raise BackendError(f"a relocation at {relocation.address:#x} is outside of the code object")
        address = base - low + relocation.addend & 0xFFFFFFFFFFFFFFFF
        image[start : start + 8] = np.frombuffer(address.to_bytes(8, "little"), np.uint8)
