"""Conversions and integers that only gfx9 has, or that choose halves of registers there."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.instructions.operation import Emitter, VectorOp, in_range, vector_ops
from amdjit.emulator.instructions.vector.conversions import put_byte
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction


def _nothing(frame: Frame, instruction: Instruction) -> None:
    """V_CLREXCP clears exceptions, which the emulator does not keep."""


def _without_halves(operation: VectorOp) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        if instruction.modifiers.op_sel:
            raise Untranslatable(instruction, "no document says what op_sel does to it")
        operation(frame, instruction)

    return emit


_SUB = ix.reverse(ix.binary("sub"))

GFX9_CONVERSION: Mapping[str, Emitter] = {
    **vector_ops(
        {
            # Its third operand is the destination.
            "v_cvt_pkaccum_u8_f32": in_range(put_byte),
            "v_subrev_u16": VectorOp(_SUB, clamped=ix.reverse(ix.saturating("usub"))),
        }
    ),
    "v_clrexcp": _nothing,
    "v_alignbit_b32": _without_halves(in_range(ix.align(1))),
    "v_alignbyte_b32": _without_halves(in_range(ix.align(8))),
}
