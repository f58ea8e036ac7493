"""Dual-issue instructions: both halves are read before either is written (RDNA 4 ISA, 7.7 "Dual
Issue VALU")."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.analysis.errors import Untranslatable
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.matrix.dots import float_dot
from amdjit.emulator.instructions.operation import VectorOp
from amdjit.emulator.instructions.vector.floats import VECTOR_FLOAT
from amdjit.emulator.instructions.vector.integers import VECTOR_INTEGER
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.rounding import rounding_shift

_OPERATIONS: Mapping[str, VectorOp] = {**VECTOR_INTEGER, **VECTOR_FLOAT}
# Dot products that add to the old result.
_DOTS = ("v_dot2acc_f32_f16", "v_dot2acc_f32_bf16")
# What a VOPD instruction may do in either half: None for dot products.
DUAL: Mapping[str, VectorOp | None] = {**dict.fromkeys(_DOTS), **_OPERATIONS}


def _half(frame: Frame, half: Instruction) -> Value:
    frame.round_as(rounding_shift(half.traits.rounding))
    name = half.traits.operation
    if name not in DUAL:
        raise Untranslatable(half)
    operation = DUAL[name]
    if operation is None:
        return float_dot(frame, half, frame.source(half, 0))
    return operation.compute(frame, half)


def emit_dual(frame: Frame, instruction: Instruction) -> None:
    """Emit both halves of a VOPD instruction."""
    pair = instruction.pair
    assert pair is not None
    first, second = _half(frame, instruction), _half(frame, pair)
    frame.write(instruction, 0, first)
    frame.write(pair, 0, second)
