"""VALU instructions on integers and bits that compute one result."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import (
    Emitter,
    VectorOp,
    vector_ops,
    vector_register,
)
from amdjit.emulator.instructions.vector.packed import half_of
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_rows import VECTOR_ROWS

VECTOR_INTEGER: Mapping[str, VectorOp] = vector_ops(
    {name: row for name, row in VECTOR_ROWS.items() if name != "v_pack_b32_f16"}
)

# V_BITOP3: any function of three bits; and V_ASHR_PK: shifts whose results are saturated to
# bytes.


def _truth_table(instruction: Instruction) -> int:
    """Return the 8 bits that stand where others have modifiers (CDNA 4 ISA, V_BITOP3_B32)."""
    modifiers = instruction.modifiers
    return modifiers.omod << 6 | modifiers.abs << 3 | modifiers.neg


def _looked_up(b: Builder, table: int, sources: list[Value]) -> Value:
    """Return for each place the bit of the table whose number the bits of the sources make, that of
    the first source the highest."""
    places = 1 << len(sources)
    if table in (0, (1 << places) - 1):
        return b.const(sources[0], -(table & 1))
    first, *others = sources
    if not others:
        return first if table == 0b10 else b.not_(first)
    low, high = table & (1 << places // 2) - 1, table >> places // 2
    when_clear = _looked_up(b, low, others)
    if low == high:
        return when_clear
    return b.xor(when_clear, b.and_(first, b.xor(when_clear, _looked_up(b, high, others))))


def _bits_of_dwords(frame: Frame, instruction: Instruction) -> None:
    sources = [frame.source(instruction, place, "v2u16") for place in (1, 2, 3)]
    frame.write(instruction, 0, _looked_up(frame.builder, _truth_table(instruction), sources))


def _bits_of_halves(frame: Frame, instruction: Instruction) -> None:
    """op_sel names the half of each source, and that of the result; the other one stays."""
    select = instruction.modifiers.op_sel
    sources = [
        half_of(
            frame.builder,
            frame.source(instruction, number + 1, "v2u16"),
            select >> number & 1,
        )
        for number in range(3)
    ]
    frame.write(instruction, 0, _looked_up(frame.builder, _truth_table(instruction), sources))


def _shift_to_bytes(low: int, high: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        if instruction.modifiers.op_sel & 7:
            raise Untranslatable(instruction, "no document says what this op_sel does")
        b = frame.builder
        first, second, amount = (frame.source(instruction, place) for place in (1, 2, 3))
        parts = []
        for value in (first, second):
            shifted = b.shift("ashr", value, amount)
            least = b.intrinsic("smax", shifted, b.const(shifted, low))
            parts.append(b.mask(b.intrinsic("smin", least, b.const(shifted, high)), 8))
        both = b.or_(parts[0], b.shift("shl", parts[1], 8))
        frame.write(instruction, 0, b.resize(both, 16))

    return emit


VECTOR_BIT_TABLES: Mapping[str, Emitter] = {
    "v_bitop3_b32": _bits_of_dwords,
    "v_bitop3_b16": _bits_of_halves,
    "v_ashr_pk_i8_i32": _shift_to_bytes(-128, 127),
    "v_ashr_pk_u8_i32": _shift_to_bytes(0, 255),
}


# Masked and quadruple sums of absolute differences, and the average of bytes (RDNA 4 ISA,
# 16.12).


def _bytes_of(b: Builder, whole: Value, first: int = 0) -> list[Value]:
    return [b.mask(b.shift("lshr", whole, start), 8) for start in range(first, first + 32, 8)]


def _average(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """Each byte is (x + y + the lowest bit of z's byte) / 2."""
    result = b.const(x, 0)
    for start, left, right in zip(range(0, 32, 8), _bytes_of(b, x), _bytes_of(b, y), strict=True):
        total = b.add(b.add(left, right), b.mask(b.shift("lshr", z, start), 1))
        result = b.or_(result, b.shift("shl", b.shift("lshr", total, 1), start))
    return result


def _differences(b: Builder, values: list[Value], references: list[Value], masked: bool) -> Value:
    """Add |value - reference|; with `masked`, bytes whose reference is 0 are left out."""
    total = b.const(values[0], 0)
    for value, reference in zip(values, references, strict=True):
        difference = b.sub(
            b.intrinsic("umax", value, reference), b.intrinsic("umin", value, reference)
        )
        if masked:
            difference = b.select(
                b.compare("eq", reference, b.const(value, 0)), b.const(value, 0), difference
            )
        total = b.add(total, difference)
    return total


def _masked(b: Builder, x: Value, y: Value, z: Value) -> Value:
    return b.add(_differences(b, _bytes_of(b, x), _bytes_of(b, y), True), z)


def _masked_saturated(b: Builder, x: Value, y: Value, z: Value) -> Value:
    return b.intrinsic("uadd.sat", _differences(b, _bytes_of(b, x), _bytes_of(b, y), True), z)


def _four_differences(frame: Frame, instruction: Instruction, masked: bool) -> list[Value]:
    """Compare the reference with the four bytes that start at byte 0, 1, 2 and 3 of a register
    pair."""
    b = frame.builder
    wide = frame.source(instruction, 1)
    references = _bytes_of(b, frame.source(instruction, 2))
    sums = []
    for first in range(0, 32, 8):
        window = b.resize(b.shift("lshr", wide, first), 32)
        sums.append(_differences(b, _bytes_of(b, window), references, masked))
    return sums


def _packed(masked: bool) -> Emitter:
    """Add each of four sums to 16 bits of the third operand."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        addends = frame.source(instruction, 3)
        result = b.const(addends, 0)
        for number, total in enumerate(_four_differences(frame, instruction, masked)):
            addend = b.mask(b.resize(b.shift("lshr", addends, 16 * number), 32), 16)
            entry = b.add(total, addend)
            if instruction.modifiers.clamp:
                entry = b.intrinsic("umin", entry, b.const(entry, 0xFFFF))
            result = b.or_(result, b.shift("shl", b.resize(b.mask(entry, 16), 64), 16 * number))
        frame.write(instruction, 0, result)

    return emit


def _in_dwords(frame: Frame, instruction: Instruction) -> None:
    """Add each of four masked sums to a dword of the third operand."""
    b = frame.builder
    first = vector_register(instruction, "src2").index
    addends = [frame.registers.vector(first + number) for number in range(4)]
    sums = _four_differences(frame, instruction, True)
    target = vector_register(instruction, "vdst").index
    for number, (total, addend) in enumerate(zip(sums, addends, strict=True)):
        value = (
            b.intrinsic("uadd.sat", total, addend)
            if instruction.modifiers.clamp
            else b.add(total, addend)
        )
        frame.registers.write_vector(target + number, value, frame.mask())


VECTOR_DIFFERENCES: Mapping[str, Emitter] = {
    **vector_ops(
        {"v_lerp_u8": _average, "v_msad_u8": VectorOp(_masked, clamped=_masked_saturated)}
    ),
    "v_qsad_pk_u16_u8": _packed(masked=False),
    "v_mqsad_pk_u16_u8": _packed(masked=True),
    "v_mqsad_u32_u8": _in_dwords,
}
