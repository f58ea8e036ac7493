"""A code object in the emulated device's memory."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import CodeObject, Kernel, MalformedCodeObject, Relocation, Symbol
from amdjit.diagnostics.errors import BackendError
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.tiers.compilation import Host, KernelCompiler
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import instruction_set_in
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.target import EMULATED, Target, nearest_target, runs_on

if TYPE_CHECKING:
    from amdjit.isa import decode, text
    from amdjit.isa.analysis import kernel_code
else:
    # For texts of faults.
    decode, text = late("amdjit.isa.decode"), late("amdjit.isa.text")
    kernel_code = late("amdjit.isa.analysis.kernel_code")


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

    def function(self, name: str) -> EmulatedFunction:
        """Look up a kernel by name. BackendError if there is none."""
        kernel = self.code_object.kernels.get(name)
        if kernel is None:
            there = ", ".join(self.code_object.kernels) or "none"
            raise BackendError(f"the code object has no kernel {name!r}; there are: {there}")
        return EmulatedFunction(self, kernel)

    def decoded(self, pc: int, wave_size: int) -> Instruction:
        """Return the instruction at `pc`."""
        segment = kernel_code.segment_of(self.code_object, pc)
        place, sets = pc - segment.address, self.instruction_set
        return decode.decode(segment.data, place, pc, wave_size, sets)

    def instruction_at(self, pc: int, wave_size: int) -> str:
        """Return the instruction at `pc` as text, with its pc."""
        return f"{text.disassemble(self.decoded(pc, wave_size))} at pc {pc:#x}"

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
    for relocation in code_object.relocations:
        _relocate(image, low, base, relocation, code_object)
    return base, base - low


@dataclass(frozen=True, slots=True)
class _Field:
    """What a relocation writes: bytes of a value that lies `shift` bits up in an address, which
    may be relative to the place and may name a symbol."""

    nbytes: int
    shift: int = 0
    is_relative: bool = False
    has_symbol: bool = True


# LLVM AMDGPU guide, "Relocation Records". Of these lld leaves ABS64 (a symbol that may be found
# elsewhere: an external or host-visible variable, an entry of the global offset table) and
# RELATIVE64 (the base of the code object plus the addend) to the loader; ROCm's loader also knows
# ABS32_LO and ABS32_HI.
_NO_RELOCATION = 0
_FIELDS = {
    1: _Field(4),
    2: _Field(4, shift=32),
    3: _Field(8),
    4: _Field(4, is_relative=True),
    5: _Field(8, is_relative=True),
    6: _Field(4),
    10: _Field(4, is_relative=True),
    11: _Field(4, shift=32, is_relative=True),
    13: _Field(8, has_symbol=False),
}


def _relocate(
    image: NDArray[np.uint8], low: int, base: int, relocation: Relocation, code_object: CodeObject
) -> None:
    """Write one address into the image, whose first byte has the address `low` in the code object
    and `base` on the device."""
    if relocation.type == _NO_RELOCATION:
        return
    field = _FIELDS.get(relocation.type)
    if field is None:
        raise BackendError(
            f"the code object has a dynamic relocation of type {relocation.type} at "
            f"{relocation.address:#x}, which is not one for a loader of AMDGPU code objects"
        )
    start = relocation.address - low
    if not 0 <= start <= len(image) - field.nbytes:
        raise BackendError(f"a relocation at {relocation.address:#x} is outside of the code object")
    symbol = _symbol(relocation, code_object) if field.has_symbol else None
    value = relocation.addend + (symbol.address if symbol else 0)
    if symbol is None or not symbol.is_absolute:
        value += base - low
    if field.is_relative:
        value -= base + start
    value = value >> field.shift & (1 << 8 * field.nbytes) - 1
    image[start : start + field.nbytes] = np.frombuffer(
        value.to_bytes(field.nbytes, "little"), np.uint8
    )


def _symbol(relocation: Relocation, code_object: CodeObject) -> Symbol | None:
    """Return a relocation's symbol; number 0 is none."""
    symbols = code_object.dynamic_symbols
    if relocation.symbol >= max(len(symbols), 1):
        raise BackendError(
            f"a relocation at {relocation.address:#x} names symbol {relocation.symbol}, of "
            f"{len(symbols)}"
        )
    return symbols[relocation.symbol] if relocation.symbol else None
