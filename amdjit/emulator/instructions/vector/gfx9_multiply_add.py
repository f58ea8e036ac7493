"""The multiply-adds of gfx9 that round twice: V_MAD and V_MAC.

The product is rounded before the addition, and denormals are zeros whatever MODE says: operands,
product and sum (LLVM: SIISelLowering, `isFMADLegal`: "v_mad_f32 does not support denormals ever",
and `llvm.amdgcn.fmad.ftz`, which is V_MAD in single and half precision). That halves are flushed,
too, if MODE keeps their denormals, is an assumption: compilers do not use them then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.nans import fused_nan, settled, with_nans
from amdjit.emulator.host.builder import Builder, Value, element_of
from amdjit.emulator.instructions.operation import Emitter, VectorOp, source_places, vector_ops
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import flush_denormals
from amdjit.isa.instruction import Instruction


@dataclass(frozen=True, slots=True)
class MultiplyAdd:
    """x * y + z, rounded twice. legacy: a product by 0 is 0 (DX9 rules)."""

    legacy: bool = False

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        operands = [
            flush_denormals(frame.builder, frame.source(instruction, place))
            for place in source_places(instruction.opcode)
        ]
        if element_of(operands[0].type) == "half":
            frame.refuse_overflow(instruction)
        result = self._sum(frame.builder, operands)
        frame.write(instruction, 0, flush_denormals(frame.builder, result))

    def _sum(self, b: Builder, operands: list[Value]) -> Value:
        x, y, z = operands
        product = flush_denormals(b, _rounded(b, "fmul", x, y))
        rule = fused_nan
        if self.legacy:
            zero = b.const(x, 0.0)
            either = b.or_(b.compare("oeq", x, zero), b.compare("oeq", y, zero))
            product, rule = b.select(either, zero, product), fx.legacy_nan
        return settled(b, _rounded(b, "fadd", product, z), operands, rule)


def _rounded(b: Builder, operation: str, x: Value, y: Value) -> Value:
    expression = ix.binary(operation)
    return (fx.through_float(expression) if element_of(x.type) == "half" else expression)(b, x, y)


_PLAIN = MultiplyAdd()
_FUSED_HALF = with_nans(fx.fma_half, fused_nan)

VECTOR_MULTIPLY_ADD: Mapping[str, Emitter] = {
    "v_mad_f32": _PLAIN,
    "v_mad_f16": _PLAIN,
    "v_mad_legacy_f16": _PLAIN,
    "v_mad_legacy_f32": MultiplyAdd(legacy=True),
    **{f"v_{name}_{code}": _PLAIN for name in ("mac", "madmk", "madak") for code in ("f16", "f32")},
    **vector_ops(
        {
            "v_fma_legacy_f16": _FUSED_HALF,
            "v_fmac_f64": with_nans(fx.fma, fused_nan),
            # They differ from V_MAD_U16 and V_MAD_I16 in what becomes of the other half.
            "v_mad_legacy_u16": VectorOp(ix.mad, clamped=ix.saturating_mad(signed=False)),
            "v_mad_legacy_i16": VectorOp(ix.mad, clamped=ix.saturating_mad(signed=True)),
        }
    ),
}
