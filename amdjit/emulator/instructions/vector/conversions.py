"""VALU conversions between integers and floats, and to packed formats."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.operation import Emitter, VectorOp, vector_op, vector_ops
from amdjit.emulator.instructions.vector.fp8 import VECTOR_FP8
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.floats.conversions import CONVERSIONS, put_byte
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_rows import VECTOR_ROWS, in_range

VECTOR_CONVERSION: Mapping[str, VectorOp] = vector_ops(
    {name: row for name, row in CONVERSIONS.items() if name not in VECTOR_FP8}
)


# Conversions that only gfx9 has, and integers that choose halves of registers there.


def _nothing(frame: Frame, instruction: Instruction) -> None:
    """V_CLREXCP clears exceptions, which the emulator does not keep."""


def _without_halves(operation: VectorOp) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        if instruction.modifiers.op_sel:
            raise Untranslatable(instruction, "no document says what op_sel does to it")
        operation(frame, instruction)

    return emit


GFX9_CONVERSION: Mapping[str, Emitter] = {
    # Its third operand is the destination.
    **vector_ops({"v_cvt_pkaccum_u8_f32": in_range(put_byte)}),
    "v_clrexcp": _nothing,
    **{
        name: _without_halves(vector_op(VECTOR_ROWS[name]))
        for name in ("v_alignbit_b32", "v_alignbyte_b32")
    },
}
