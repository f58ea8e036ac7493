"""What the conversions with a scale read and write: numbers, the scale, random bits, parts of
registers."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.expressions.scaled_floats import SMALL_FLOATS, next_random, scale_of
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.operation import vector_register
from amdjit.emulator.instructions.scaled.native import Narrowing, Widening
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number


def allow_selects(instruction: Instruction, bits: int) -> int:
    """Return op_sel; Untranslatable if a bit is set that the ISA document gives no meaning."""
    select = instruction.modifiers.op_sel
    if select & ~bits:
        raise Untranslatable(instruction, "no document says what this op_sel does")
    return select


def refuse_signs(instruction: Instruction) -> None:
    """Refuse abs and neg of an operand with several numbers; those of the scale change nothing."""
    modifiers = instruction.modifiers
    if (modifiers.abs | modifiers.neg) & 1:
        raise Untranslatable(
            instruction, "no document says which numbers of an operand abs and neg change"
        )


def scale(frame: Frame, instruction: Instruction) -> Value:
    """Return the scale's exponent, in the last operand."""
    place = len(instruction.operands) - 1
    return scale_of(frame.builder, frame.unflushed_source(instruction, place, "f32"))


def halves(frame: Frame, whole: Value) -> list[Value]:
    """Return both halves of dwords as low bits."""
    b = frame.builder
    return [b.mask(whole, 16), b.shift("lshr", whole, 16)]


def registers(frame: Frame, instruction: Instruction, role: str) -> list[Value]:
    """Return the dwords of an operand of several vector registers."""
    register = vector_register(instruction, role)
    first = vector_number(register)
    return [frame.registers.vector(first + index) for index in range(register.dwords)]


def single_bits(frame: Frame, values: list[Value]) -> list[Value]:
    """Return dwords of f32 as the instruction sees them in the denormal mode."""
    b = frame.builder
    return [b.bitcast(frame.flushed_source(b.bitcast(value, "float")), "i32") for value in values]


def write_dwords(frame: Frame, instruction: Instruction, values: list[Value]) -> None:
    """Write consecutive vector registers."""
    first = vector_number(vector_register(instruction, "vdst"))
    for index, value in enumerate(values):
        frame.registers.write_vector(first + index, value, frame.mask())


def insert_bits(
    frame: Frame, instruction: Instruction, value: Value, start: int, count: int
) -> None:
    """Write some bits of the result's register and keep the others."""
    b = frame.builder
    number = vector_number(vector_register(instruction, "vdst"))
    others = constant(V32, ~(((1 << count) - 1) << start))
    kept = b.and_(frame.registers.vector(number), others)
    result = b.or_(kept, b.shift("shl", value, start))
    frame.registers.write_vector(number, result, frame.mask())


@dataclass(frozen=True, slots=True)
class Narrower:
    """Converts numbers of one instruction to few bits, one after the other: each has its own random
    bits (CDNA 4 ISA, 7.3)."""

    conversion: Narrowing
    frame: Frame
    instruction: Instruction

    @property
    def bits(self) -> int:
        """The bits of a result."""
        return SMALL_FLOATS[self.conversion.to].bits

    def codes(self, numbers: list[Value]) -> list[Value]:
        """Return the codes of numbers, which are given by their bits."""
        frame, conversion = self.frame, self.conversion
        fixed = scale(frame, self.instruction)
        random = frame.source(self.instruction, 2, "b32") if conversion.is_random else None
        flags = [frame.overflow_flag()] if conversion.overflows else []
        codes = []
        for number in numbers:
            drawn = [] if random is None else [random]
            codes.append(frame.native(conversion.symbol, V32, [number, fixed, *drawn, *flags]))
            random = None if random is None else next_random(frame.builder, random)
        return codes


def widened(
    frame: Frame, instruction: Instruction, conversion: Widening, codes: list[Value]
) -> list[Value]:
    """Return the bits of the wide numbers of codes."""
    if conversion.to == "f16":
        frame.refuse_overflow(instruction)
    fixed = scale(frame, instruction)
    results = [frame.native(conversion.symbol, V32, [code, fixed]) for code in codes]
    return [_flushed(frame, instruction, value, conversion.to) for value in results]


def _flushed(frame: Frame, instruction: Instruction, bits: Value, kind: str) -> Value:
    if frame.keeps_denormals or kind == "bf16":
        return bits
    b = frame.builder
    number = b.bitcast(bits, "float") if kind == "f32" else b.bitcast(b.resize(bits, 16), "half")
    flushed = frame.flushed_result(number, instruction)
    return b.resize(b.bitcast(flushed, "i32" if kind == "f32" else "i16"), 32)


def joined(frame: Frame, numbers: list[Value]) -> list[Value]:
    """Return dwords of two 16-bit numbers each."""
    b = frame.builder
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [b.or_(low, b.shift("shl", high, 16)) for low, high in pairs]
