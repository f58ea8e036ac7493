"""What the emitters of instructions work with: the builder, the registers, the sites of the
kernel, and the instruments of the checks that watch the translation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from amdjit.emulator.host.builder import Builder, Value, bits_of, constant, is_float
from amdjit.emulator.layout import FIELD_BYTES, PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH, Context
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.float_state import ModeState
from amdjit.emulator.wave.operands import (
    constant_bits,
    constant_value,
)
from amdjit.emulator.wave.registers import FULL_MASK, V32
from amdjit.emulator.wave.sites import Sites
from amdjit.isa.analysis.control_flow import Block
from amdjit.isa.analysis.mode import USUAL_MODE, USUAL_MODES, Mode, Modes
from amdjit.isa.arithmetic import ELEMENTS, element_type, is_packed
from amdjit.isa.floats.modes import modify_input
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Literal,
    Operand,
    Register,
    RegisterFile,
    Sdwa,
    SpecialSource,
)
from amdjit.isa.register_numbers import EXEC_LO, VCC_LO, is_vector, scalar_slot, vector_number
from amdjit.late_methods import dataclass, field

if TYPE_CHECKING:
    from amdjit.isa.analysis.control_flow import Graph

CONTEXT = Value("ptr", "%context")
# The context of a wave64's upper half: its lanes start at 32, and its scratch follows that of the
# lower half.
UPPER_CONTEXT = Value("ptr", "%context.upper")
STATE = Value("ptr", "%state")
# The id that a wave resumes from, and what its host thread's launch has in common.
RESUME = Value("i32", "%resume")
LAUNCH = Value("ptr", "%launch")
STAGING = Value("ptr", "%staging")
STAGING_VECTORS = 40

_SPECIAL_VALUES = {
    "src_shared_base": SHARED_APERTURE_HIGH << 32,
    "src_shared_limit": SHARED_APERTURE_HIGH << 32 | 0xFFFFFFFF,
    "src_private_base": PRIVATE_APERTURE_HIGH << 32,
    "src_private_limit": PRIVATE_APERTURE_HIGH << 32 | 0xFFFFFFFF,
    "src_flat_scratch_base_lo": 0,
    "src_flat_scratch_base_hi": PRIVATE_APERTURE_HIGH,
}


@dataclass
class Frame(ModeState):
    """The state of the translation that emitters read and change."""

    sites: Sites
    """The instructions of the kernel that may fault."""
    natives: set[str] = field(default_factory=set)
    """The native functions that the code calls so far."""
    write_mask: Value | None = None
    """The lanes that a vector result goes to, i32; None for those of EXEC."""
    source_override: Value | None = None
    """Replaces operand 0, after DPP."""
    dpp_sources: list[list[Value]] = field(default_factory=list)
    """The dwords that DPP moves between the halves of a wave64, for each half."""
    index_modes: Mapping[int, int] = field(default_factory=dict)
    """Where the numbers of vector registers have an index in this block (`index_modes.py`)."""
    access_mask: Value | None = None
    """The lanes that access memory, if not those of EXEC."""
    deferred: list[tuple[int, Value]] | None = None
    """Scalars that one half of a wave64 has written while the other half must still read the old
    ones."""
    mode: Mode = USUAL_MODE
    """What is known of MODE at this instruction."""
    keeps_denormals: bool = True
    """Whether float operations keep denormal numbers at this instruction."""
    modes: Modes = USUAL_MODES
    """What is known of MODE at the start of each block."""
    instruments: tuple[Instrument, ...] = ()
    """The checks, which are told of every access and instruction."""

    def accessed(
        self,
        instruction: Instruction,
        kind: AccessKind,
        address: tuple[str, list[Value]],
        size: int,
        values: Sequence[Value] = (),
        element: int = 0,
    ) -> None:
        """Report an access to the checks: its space and address, the bytes of a lane."""
        if not self.instruments:
            return
        lanes = constant("i32", 1) if address[0] == "k" else self.access_bits()
        access = MemoryAccess(
            kind,
            address[0],
            address=tuple(address[1]),
            size=size,
            lanes=lanes,
            values=tuple(values),
            element=element or size,
        )
        for instrument in self.instruments:
            instrument.accessed(self, instruction, access)

    def begin_block(self, block: Block) -> None:
        """Report the start of a machine block to the checks."""
        for instrument in self.instruments:
            instrument.begin_block(self, block)

    def before(self, instruction: Instruction) -> None:
        """Report the next instruction to the checks."""
        for instrument in self.instruments:
            instrument.before(self, instruction)

    def after(self, instruction: Instruction) -> None:
        """Report an instruction that was emitted to the checks."""
        for instrument in self.instruments:
            instrument.after(self, instruction)

    @property
    def lane_context(self) -> Value:
        """The context for native functions that work on the lanes of the half."""
        return UPPER_CONTEXT if self.registers.wave_half else CONTEXT

    # Sources

    def source(self, instruction: Instruction, index: int, code: str = "") -> Value:
        """Read operand `index` into all lanes, with its modifiers.

        Its type is the one in the opcode table (`OperandSpec.type`), unless `code` overrides it.
        """
        code = code or instruction.opcode.operands[index].type
        operand = instruction.operands[index]
        if code == "mask":
            return self.lane_conditions(operand)
        if is_packed(code):
            return self._raw(instruction, operand, index, code)
        return self.flushed_source(self.unflushed_source(instruction, index, code))

    def unflushed_source(self, instruction: Instruction, index: int, code: str = "") -> Value:
        """Read operand `index` as `source` does, but keep denormals in every mode."""
        code = code or instruction.opcode.operands[index].type
        operand = instruction.operands[index]
        element = ELEMENTS[code]
        value = self._raw(instruction, operand, index, code)
        number = source_number(instruction, index)
        if number is not None:
            modifiers = instruction.modifiers
            negate, absolute = bool(modifiers.neg >> number & 1), bool(modifiers.abs >> number & 1)
            value = modify_input(self.builder, value, negate, absolute)
        return self.builder.bitcast(value, element)

    def _raw(
        self, instruction: Instruction, operand: Operand | None, index: int, code: str
    ) -> Value:
        sdwa = instruction.modifiers.sdwa
        half = instruction.half_of(index) or 0
        number = source_number(instruction, index)
        if sdwa is not None and number in (0, 1):
            return self._selected(instruction, index, sdwa, code)
        if is_vector(operand):
            override = self.source_override if number == 0 else None
            return self._vector_register(operand, code, override, half)
        if isinstance(operand, (InlineConstant, Literal)):
            bits = constant_bits(operand, code)
            return constant_value(self.builder, V32, element_type(code), bits)
        return self._uniform(operand, code, instruction, half)

    def _selected(self, instruction: Instruction, index: int, sdwa: Sdwa, code: str) -> Value:
        """Return the part of a source that SDWA selects."""
        b, number = self.builder, int(instruction.opcode.operands[index].role[3])
        operand, element = instruction.operands[index], element_type(code)
        if is_vector(operand):
            whole = self.registers.vector(vector_number(operand))
        else:
            whole = b.splat(self.scalar_operand(operand, "b32", instruction))
        signed = bool(sdwa.extended >> number & 1)
        part = selected_part(b, whole, sdwa.sources[number], signed)
        return self._part(part, 0, bits_of(element), element)

    def _vector_register(
        self, register: Register, code: str, override: Value | None, half: int
    ) -> Value:
        if is_packed(code):
            return override or self.registers.vector(vector_number(register))
        element = ELEMENTS[code]
        width = bits_of(element)
        if override is not None:
            return self._part(override, half, width, element)
        if width == 64:
            return self.registers.vector_wide(vector_number(register), element)
        if width == 16:
            return self.registers.half(vector_number(register), half, element)
        return self.registers.vector(vector_number(register), element)

    def _part(self, whole: Value, half: int, width: int, element: str) -> Value:
        if width == 16:
            shifted = self.builder.shift("lshr", whole, 16) if half else whole
            whole = self.builder.resize(shifted, 16)
        return self.builder.bitcast(whole, element)

    def _uniform(
        self, operand: Operand | None, code: str, instruction: Instruction, half: int
    ) -> Value:
        element = element_type(code)
        width = bits_of(element)
        if isinstance(operand, Register) and width != 64:
            slot = scalar_slot(operand) if operand.file is not RegisterFile.SCC else None
            if slot is not None:
                whole = self.registers.scalar_splat(slot)
                return self._part(whole, half, width, element)
        scalar = self.scalar_operand(operand, "b64" if width == 64 else "b32", instruction)
        splat = self.builder.splat(scalar)
        return self._part(splat, half if width == 16 else 0, width, element)

    def scalar_source(self, instruction: Instruction, index: int, code: str = "") -> Value:
        """Read operand `index` as a scalar of the type in the opcode table, unless `code` overrides
        it."""
        code = code or instruction.opcode.operands[index].type
        return self.flushed_source(
            self.scalar_operand(instruction.operands[index], code, instruction)
        )

    def scalar_operand(self, operand: Operand | None, code: str, instruction: Instruction) -> Value:
        """Read a scalar operand as type `code`."""
        element = ELEMENTS[code]
        if isinstance(operand, (InlineConstant, Literal)):
            return constant_value(self.builder, element, element, constant_bits(operand, code))
        width = bits_of(element)
        bits = self._scalar_bits(operand, width, instruction)
        return self.builder.bitcast(self.builder.resize(bits, width), element)

    def _scalar_bits(self, operand: Operand | None, width: int, instruction: Instruction) -> Value:
        registers = self.registers
        if isinstance(operand, SpecialSource):
            return self._special(operand.name, width, instruction)
        if not isinstance(operand, Register):
            raise Untranslatable(instruction, "a scalar operand is missing")
        if operand.file is RegisterFile.SCC:
            return self.builder.resize(registers.condition_code, max(width, 32))
        if is_vector(operand):
            raise Untranslatable(instruction, "a vector register where a scalar is expected")
        slot = scalar_slot(operand)
        if slot is None:
            return constant("i64", 0)
        return registers.scalar_wide(slot) if width == 64 else registers.scalar(slot)

    def _special(self, name: str, width: int, instruction: Instruction) -> Value:
        if name in ("src_vccz", "src_execz"):
            zero = self.compare_with_zero("eq", VCC_LO if name == "src_vccz" else EXEC_LO)
            return self.builder.resize(zero, 32)
        if name not in _SPECIAL_VALUES:
            raise Untranslatable(instruction, f"{name} is not emulated")
        value = _SPECIAL_VALUES[name]
        # A 32-bit read of an aperture returns its high dword, as in the SALU (LLVM AMDGPU guide,
        # "Address Spaces").
        narrow = name.startswith(("src_shared", "src_private")) and width == 32
        return constant("i64", value >> 32 if narrow else value)

    def compare_with_zero(self, predicate: str, slot: int) -> Value:
        """Compare VCC or EXEC, in the width of the wave, with 0."""
        bits = self.registers.scalar(slot)
        if self.registers.halves == 2:
            bits = self.builder.or_(bits, self.registers.scalar(slot + 1))
        return self.builder.compare(predicate, bits, constant("i32", 0))

    def lane_conditions(self, operand: Operand | None) -> Value:
        """Read the half's 32 conditions of a lane mask operand."""
        half = self.registers.wave_half
        if isinstance(operand, Register):
            slot = scalar_slot(operand)
            return (
                Value(FULL_MASK.type, "zeroinitializer")
                if slot is None
                else self.registers.mask(slot + half)
            )
        if isinstance(operand, (InlineConstant, Literal)):
            return self.builder.lane_mask(
                constant("i32", constant_bits(operand, "b64") >> 32 * half & 0xFFFFFFFF)
            )
        raise AssertionError(f"no lane mask: {operand}")

    def access_bits(self) -> Value:
        """Return the lanes of this instruction's memory access as i32."""
        return self.access_mask or self.registers.exec_bits()

    # Results

    def mask(self) -> Value:
        """Return the lanes that this instruction writes."""
        if self.write_mask is not None:
            return self.write_mask
        return self.registers.exec_mask()

    def write(self, instruction: Instruction, index: int, value: Value) -> None:
        """Write a vector result to operand `index`, with clamp and omod if it is a float."""
        register = instruction.operands[index]
        assert isinstance(register, Register)
        value = self.finished(value, instruction)
        opcode, sdwa = instruction.opcode, instruction.modifiers.sdwa
        if bits_of(value.type) == 16 and (opcode.zeroes_high_half or sdwa is not None):
            value = self.builder.resize(self.builder.bitcast(value, "i16"), 32)
        if sdwa is not None and sdwa.destination is not None:
            if opcode.operands[index].read and sdwa.destination != 6:
                raise Untranslatable(instruction, "no document says what a part is added to")
            old = self.registers.vector(vector_number(register))
            value = merged_part(self.builder, self.builder.bitcast(value, "i32"), sdwa, old)
        if opcode.selects_halves and bits_of(value.type) == 16:
            register = replace(register, half=instruction.half_of(index))
        self.write_register(register, value)

    def write_register(self, register: Register, value: Value) -> None:
        """Write a vector of 16, 32 or 64-bit elements to a vector register in the lanes of this
        instruction."""
        width = bits_of(value.type)
        mask = self.mask()
        if width == 64:
            self.registers.write_vector_wide(vector_number(register), value, mask)
        elif width == 16:
            self.registers.write_half(vector_number(register), register.half or 0, value, mask)
        else:
            self.registers.write_vector(vector_number(register), value, mask)

    def write_scalar(self, operand: Operand | None, value: Value) -> None:
        """Write a scalar of 16, 32 or 64 bits to a scalar register or `null`."""
        assert isinstance(operand, Register)
        slot = scalar_slot(operand)
        if slot is None:
            return
        width = bits_of(value.type)
        bits = self.builder.bitcast(value, f"i{width}")
        if width == 64:
            self.registers.write_scalar_wide(slot, bits)
            return
        bits = self.builder.resize(bits, 32)
        # Where a float is read as a mask, LLVM would turn it into conditions and abort: x86 has no
        # such conversion.
        self.registers.write_scalar(
            slot, self.builder.opaque(bits) if is_float(value.type) else bits
        )

    def write_conditions(self, operand: Operand | None, conditions: Value) -> None:
        """Write the half's part of a lane mask; inactive lanes get 0."""
        bits = self.builder.mask_bits(conditions)
        mask = self.mask()
        if mask is not FULL_MASK:
            active = (
                self.registers.exec_bits()
                if self.write_mask is None
                else self.builder.mask_bits(mask)
            )
            bits = self.builder.and_(bits, active)
        assert isinstance(operand, Register)
        slot = scalar_slot(operand)
        if slot is not None:
            self.write_half_mask(slot + self.registers.wave_half, bits)

    def write_half_mask(self, slot: int, bits: Value) -> None:
        """Write a scalar register once all halves have read their operands."""
        if self.deferred is None:
            self.registers.write_scalar(slot, bits)
        else:
            self.deferred.append((slot, bits))

    # The context and native functions

    def context(self, member: Context) -> Value:
        """Read a 64-bit field of the context."""
        return self.builder.load("i64", self.builder.offset(CONTEXT, member * FIELD_BYTES), 8)

    def native(self, name: str, result: str, arguments: list[Value]) -> Value:
        """Call a native function."""
        self.natives.add(name)
        return self.builder.call(name, result, arguments)

    def native_void(self, name: str, arguments: list[Value]) -> None:
        """Call a native function that returns nothing."""
        self.natives.add(name)
        self.builder.call_void(name, arguments)

    def staging(self, index: int) -> Value:
        """Return the address of vector `index` of the staging area."""
        assert index < STAGING_VECTORS
        return self.builder.offset(STAGING, index * 128)


def source_number(instruction: Instruction, index: int) -> int | None:
    """Return n for an operand with the role srcn, otherwise None."""
    role = instruction.opcode.operands[index].role
    return int(role[3]) if role.startswith("src") else None


# Bytes and halves of registers: what SDWA selects of its sources, and what becomes of the rest of
# its result (Vega ISA document, "SDWA").

_WHOLE = 6
_SIGN, _PRESERVE = 1, 2


def extent_of(selection: int) -> tuple[int, int]:
    """Return the first bit that a selection names, and how many there are."""
    if selection == _WHOLE:
        return 0, 32
    return (selection * 8, 8) if selection < 4 else ((selection - 4) * 16, 16)


def selected_part(b: Builder, whole: Value, selection: int, is_signed: bool) -> Value:
    """Return a part of dwords, extended by zeros or by its sign."""
    first, size = extent_of(selection)
    if size == 32:
        return whole
    shifted = b.shift("lshr", whole, first) if first else whole
    return b.resize(b.resize(shifted, size), 32, is_signed)


def merged_part(b: Builder, value: Value, sdwa: Sdwa, old: Value) -> Value:
    """Return the dwords of a destination: a result, a dword or a half of one, in its place. old:
    what the destination holds."""
    assert sdwa.destination is not None
    first, size = extent_of(sdwa.destination)
    if size == 32:
        return value
    if sdwa.unused == _SIGN:
        extended = b.resize(b.resize(value, size), 32, True)
        return b.shift("shl", extended, first) if first else extended
    ones = (1 << size) - 1
    part = b.and_(value, b.const(value, ones))
    placed = b.shift("shl", part, first) if first else part
    if sdwa.unused != _PRESERVE:
        return placed
    return b.or_(placed, b.and_(old, b.const(old, ~(ones << first))))


# The interface between the translation and the checks.
#
# A check derives from `Instrument` and overrides the methods that it needs; each may append code to
# `frame.builder`. The translator calls them for every instruction and knows no check by name:
#
#     begin_function                         once, before anything is translated
#     entry                                  once, for the code where a wave starts or resumes
#     begin_block                            at the start of each machine block
#       before                               each instruction
#         accessed                           each access: before a store, after any other
#       after                                each instruction that does not end the block
#
# Without checks nothing is called and nothing is added.


class AccessKind(IntEnum):
    """What an access does."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """One access of a wave: a load or an atomic that has been made, a store that is about to be."""

    kind: AccessKind
    space: str
    """The letter of the space, as in the native functions of `instructions/memory/access_native.py`
    (`s`, `v`, `f`, `l`, `p`), or `k` for a scalar load."""
    address: tuple[Value, ...]
    """The values that these functions take; for `k` one i64."""
    size: int
    """Bytes of a lane."""
    lanes: Value
    """The mask of lanes that access, i32."""
    values: tuple[Value, ...] = ()
    """The dwords that are loaded or stored, one vector each, if they are at hand."""
    element: int = 0
    """Bytes of each part that the instruction accesses separately (the two-address forms of LDS
    have two)."""


class Instrument:
    """A check's part of the translation; one object for each kernel that is translated.

    name: part of the cache's key. every_instruction: it may add code to any instruction, so that
    none may be translated twice (`tiers/full.py`); False if it adds none to instructions that
    only compute vector registers. By default the methods do nothing.
    """

    name: ClassVar[str]
    every_instruction: ClassVar[bool] = True

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Prepare for a kernel. full_waves: all lanes of every wave start active."""

    def entry(self, frame: Frame) -> None:
        """Add code at the function's entry, where a wave starts or resumes; `LAUNCH` is known
        there."""

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Add code at the start of a machine block."""

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Add code before an instruction, one that ends a block included."""

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Add code after an instruction that does not end a block."""

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Add code after a load or an atomic, or before a store: what it overwrites is still
        there."""


Instruments = tuple[type[Instrument], ...]


def begin_function(
    kinds: Instruments, graph: Graph, full_waves: bool, wave_size: int
) -> tuple[Instrument, ...]:
    """Make the instruments for one kernel."""
    made = tuple(kind() for kind in kinds)
    for instrument in made:
        instrument.begin_function(graph, full_waves, wave_size)
    return made
