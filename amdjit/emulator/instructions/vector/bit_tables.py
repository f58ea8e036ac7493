"""V_BITOP3: any function of three bits; and V_ASHR_PK: shifts whose results are saturated to
bytes."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.vector.packed import half_of
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction


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
