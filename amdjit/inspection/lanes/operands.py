"""What is known of an instruction's operands."""

from __future__ import annotations

from amdjit.inspection.lanes.state import State
from amdjit.inspection.lanes.values import UNIFORM, Value, constant
from amdjit.isa.instruction import (
    InlineConstant,
    Literal,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.register_numbers import scalar_slot

__all__ = ["read"]


def read(state: State, operand: Operand | None) -> Value | None:
    """Return what is known of an operand in the active lanes."""
    if isinstance(operand, InlineConstant):
        return constant(operand.value) if isinstance(operand.value, int) else UNIFORM
    if isinstance(operand, Literal):
        return constant(operand.value)
    if not isinstance(operand, Register):
        return UNIFORM
    if operand.file is RegisterFile.VGPR:
        return _vector(state, operand)
    if operand.file is RegisterFile.AGPR:
        return None
    if operand.dwords > 1 or operand.file is RegisterFile.SCC:
        return UNIFORM
    slot = scalar_slot(operand)
    return constant(0) if slot is None else state.scalars.get(slot, UNIFORM)


def _vector(state: State, register: Register) -> Value | None:
    values = [
        state.vector(number) for number in range(register.index, register.index + register.dwords)
    ]
    if len(values) == 1 and register.half is None:
        return values[0]
    is_uniform = all(value is not None and value.steps is None for value in values)
    return UNIFORM if is_uniform else None
