"""Dual-issue instructions: both halves are read before either is written (RDNA 4 ISA, 7.7 "Dual
Issue VALU")."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.matrix.dots import float_dot
from amdjit.emulator.instructions.operation import VectorOp
from amdjit.emulator.instructions.refused import refusal
from amdjit.emulator.instructions.vector.floats import VECTOR_FLOAT
from amdjit.emulator.instructions.vector.integers import VECTOR_INTEGER
from amdjit.emulator.wave.errors import NOT_THERE, Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.floats.modes import rounding_shift
from amdjit.isa.instruction import Instruction

_OPERATIONS: Mapping[str, VectorOp] = {**VECTOR_INTEGER, **VECTOR_FLOAT}


def _dot_added(frame: Frame, half: Instruction) -> Value:
    return float_dot(frame, half, frame.source(half, 0))


# Instructions that may be either half.
DUAL: Mapping[str, Callable[[Frame, Instruction], Value]] = {
    **dict.fromkeys(("v_dot2acc_f32_f16", "v_dot2acc_f32_bf16"), _dot_added),
    **{name: operation.compute for name, operation in _OPERATIONS.items()},
}


def _half(frame: Frame, half: Instruction) -> Value:
    frame.round_as(rounding_shift(half.traits.rounding))
    compute = DUAL.get(half.traits.operation)
    reason = refusal(half.traits.operation, half.opcode.instruction_set.name)
    if compute is None or reason:
        raise Untranslatable(half, reason or NOT_THERE)
    return compute(frame, half)


def emit_dual(frame: Frame, instruction: Instruction) -> None:
    """Emit both halves of a VOPD instruction."""
    pair = instruction.pair
    assert pair is not None
    first, second = _half(frame, instruction), _half(frame, pair)
    frame.write(instruction, 0, first)
    frame.write(pair, 0, second)
