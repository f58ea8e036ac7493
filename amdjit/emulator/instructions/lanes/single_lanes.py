"""Moves between one lane of a vector register and a scalar register."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.whole_waves import vectors_of
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import FULL_MASK
from amdjit.isa.instruction import Instruction, Operand, Register
from amdjit.isa.register_numbers import EXEC_LO, is_vector, vector_number


def _pick(frame: Frame, halves: list[Value], lane: Value) -> Value:
    """Return the item of one lane, an i32 taken modulo the wave size."""
    b = frame.builder
    place = b.mask(lane, 5)
    items = [b.extract(values, place) for values in halves]
    if len(items) == 1:
        return items[0]
    upper = b.resize(b.shift("lshr", lane, 5), 1)
    return b.select(upper, items[1], items[0])


def _read_lane(frame: Frame, instruction: Instruction) -> None:
    halves = vectors_of(frame, vector_register(instruction, "src0"))
    lane = frame.scalar_source(instruction, 2)
    frame.write_scalar(instruction.operands[0], _pick(frame, halves, lane))


def _read_first_lane(frame: Frame, instruction: Instruction) -> None:
    source = instruction.operands[1]
    if not is_vector_register(source):
        frame.write_scalar(instruction.operands[0], frame.scalar_source(instruction, 1))
        return
    frame.write_scalar(instruction.operands[0], first_lane(frame, source))


def is_vector_register(operand: Operand | None) -> TypeGuard[Register]:
    """Whether an operand is a VGPR."""
    return is_vector(operand)


def first_lane(frame: Frame, register: Register) -> Value:
    """Return a vector register's dword in the wave's first active lane."""
    b = frame.builder
    halves = vectors_of(frame, register)
    if frame.registers.exec_is_full:
        return b.extract(halves[0], 0)
    # Without an active lane, lane 0 is read (RDNA 4 ISA, V_READFIRSTLANE_B32): cttz(0) is the
    # width, which is taken modulo itself.
    bits = frame.registers.exec_bits() if len(halves) == 1 else frame.registers.scalar_wide(EXEC_LO)
    first = b.resize(b.intrinsic("cttz", bits, flags=[Value("i1", "false")]), 32)
    return _pick(frame, halves, first)


def _write_lane(frame: Frame, instruction: Instruction) -> None:
    """V_WRITELANE ignores EXEC."""
    b = frame.builder
    target = vector_register(instruction, "vdst")
    item = frame.scalar_source(instruction, 1)
    lane = frame.scalar_source(instruction, 2)
    place = b.mask(lane, 5)
    for half, values in enumerate(vectors_of(frame, target)):
        changed = b.insert(values, item, place)
        if frame.registers.halves == 2:
            upper = b.resize(b.shift("lshr", lane, 5), 1)
            changed = b.select(upper, *((changed, values) if half else (values, changed)))
        frame.registers.select_half(half)
        frame.registers.write_vector(vector_number(target), changed, FULL_MASK)
    frame.registers.select_half(0)


SINGLE_LANES: Mapping[str, Emitter] = {
    "v_readlane_b32": _read_lane,
    "v_readfirstlane_b32": _read_first_lane,
    "v_writelane_b32": _write_lane,
}
