"""A code object in the emulated device's memory."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import CodeObject, Kernel, MalformedCodeObject
from amdjit.diagnostics.errors import BackendError
from amdjit.emulator.analysis.kernel_code import instruction_set_in, segment_of
from amdjit.emulator.decoder import decode, disassemble
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.tiers.compilation import Host, KernelCompiler
from amdjit.target import EMULATED, Target, nearest_target, runs_on

# LLVM AMDGPU guide, "Relocation Records": R_AMDGPU_RELATIVE64, the base of the code object plus the
# addend.
_RELATIVE = 13


class EmulatedModule:
    """A loaded code object. `load_bias` + virtual address = host address."""

    def __init__(self, host: Host, memory: DeviceMemory, data: bytes, target: Target) -> None:
        try:
            self.code_object = CodeObject.read(data)
        except MalformedCodeObject as error:
            raise BackendError(
                f"this is not a code object that the emulator can load: {error}"
            ) from error
        self.instruction_set = instruction_set_in(self.code_object)
        self._check(target)
        self.kernels = KernelCompiler(host, self.code_object)
        self.base, self.load_bias = _place(memory, self.code_object)
        weakref.finalize(self, memory.free, self.base)

    def _check(self, target: Target) -> None:
        code_object = self.code_object
        if not runs_on(code_object.target, target):
            raise BackendError(
                f"the code object is for {code_object.target}, the device is {target}"
            )
        if not self.instruction_set.runs:
            name = code_object.target_name
            raise BackendError(
                f"the machine code of {name} is decoded, but not emulated: compile for a processor "
                f"that is, the nearest is {nearest_target(name, EMULATED)}, or run it on a GPU"
            )
        if code_object.undefined_symbols:
            names = ", ".join(code_object.undefined_symbols)
            raise BackendError(f"the code object has undefined symbols: {names}")
        strange = {relocation.type for relocation in code_object.relocations} - {_RELATIVE}
        if strange:
            raise BackendError(
                f"the code object has dynamic relocations of types {strange} that are not emulated"
            )

    def function(self, name: str) -> EmulatedFunction:
        """Look up a kernel by name. BackendError if there is none."""
        kernel = self.code_object.kernels.get(name)
        if kernel is None:
            there = ", ".join(self.code_object.kernels) or "none"
            raise BackendError(f"the code object has no kernel {name!r}; there are: {there}")
        return EmulatedFunction(self, kernel)

    def decoded(self, pc: int, wave_size: int) -> Instruction:
        """Return the instruction at `pc`."""
        segment = segment_of(self.code_object, pc)
        return decode(segment.data, pc - segment.address, pc, wave_size, self.instruction_set)

    def instruction_at(self, pc: int, wave_size: int) -> str:
        """Return the instruction at `pc` as text, with its pc."""
        return f"{disassemble(self.decoded(pc, wave_size))} at pc {pc:#x}"

    def register_base(self, pc: int, base: int, wave_size: int) -> int:
        """Return an access's base without the instruction's own offset: what registers hold. 0
        stays 0."""
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
    """Copy the segments to one allocation, in which kernels may write the writable ones; return
    its address and the bias."""
    low = min(segment.address for segment in code_object.segments) & ~0xFFF
    high = max(segment.end for segment in code_object.segments)
    pieces = tuple(
        (s.address - low, s.end - low, s.writable) for s in code_object.segments if s.memory_size
    )
    base = memory.allocate(high - low, "code object", pieces)
    image = np.frombuffer(memory.view(base, high - low), np.uint8)
    image[:] = 0
    for segment in code_object.segments:
        start = segment.address - low
        image[start : start + len(segment.data)] = np.frombuffer(segment.data, np.uint8)
    _relocate(image, low, base, code_object)
    return base, base - low


def _relocate(image: NDArray[np.uint8], low: int, base: int, code_object: CodeObject) -> None:
    """Write the addresses in tables of pointers: the addend, moved by the bias."""
    for relocation in code_object.relocations:
        start = relocation.address - low
        if not 0 <= start <= len(image) - 8:
            raise BackendError(
                f"a relocation at {relocation.address:#x} is outside of the code object"
            )
        address = base - low + relocation.addend & 0xFFFFFFFFFFFFFFFF
        image[start : start + 8] = np.frombuffer(address.to_bytes(8, "little"), np.uint8)
