"""VALU arithmetic on floats with one result."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value, element_of
from amdjit.emulator.instructions.operation import (
    Emitter,
    VectorOp,
    vector_ops,
    vector_register,
)
from amdjit.emulator.instructions.vector.packed import half_of
from amdjit.emulator.wave.frame import Frame
from amdjit.isa import integer_expressions as ix
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.expressions import flush_denormals
from amdjit.isa.floats.modes import modify_input
from amdjit.isa.floats.nans import converted_nan, fused_nan, settled, with_nans
from amdjit.isa.floats.rows import FLOATS
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number
from amdjit.late_methods import dataclass

VECTOR_FLOAT: Mapping[str, VectorOp] = vector_ops(FLOATS)


# Multiply-add of f32 and f16 operands: V_FMA_MIX*.


def _source(frame: Frame, instruction: Instruction, number: int) -> Value:
    """Return an f32 operand, or an f16 half of one (op_sel_hi says which), as f32."""
    b = frame.builder
    modifiers = instruction.modifiers
    if not modifiers.op_sel_hi >> number & 1:
        return frame.source(instruction, number + 1)
    # As a pair of halves the register is read without the modifiers, which apply to the f32.
    whole = frame.source(instruction, number + 1, "v2f16")
    half = b.bitcast(half_of(b, whole, modifiers.op_sel >> number & 1), "half")
    value = b.convert("fpext", frame.flushed_source(half), "float")
    return modify_input(
        b, value, bool(modifiers.neg >> number & 1), bool(modifiers.abs >> number & 1)
    )


_FUSED = FLOATS["v_fma_f32"]


def _fma(half: int | None) -> Emitter:
    """V_FMA_MIX*: multiply-add in f32. `half`: the half of the result register that an f16 result
    goes to."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sources = [_source(frame, instruction, number) for number in range(3)]
        if half is None:
            frame.write(instruction, 0, frame.computed(_FUSED, sources, instruction))
            return
        result = _FUSED.expression(b, *sources)
        frame.round_as(2)
        narrow = settled(b, b.convert("fptrunc", result, "half"), [result], converted_nan("half"))
        narrow = frame.without_overflow(narrow, sources, instruction)
        if instruction.modifiers.clamp:
            narrow = frame.clamped_unit(narrow, instruction)
        narrow = frame.flushed_result(narrow, instruction)
        target = vector_register(instruction, "vdst")
        frame.registers.write_half(vector_number(target), half, narrow, frame.mask())

    return emit


VECTOR_MIXED: Mapping[str, Emitter] = {
    "v_fma_mix_f32": _fma(None),
    "v_fma_mixlo_f16": _fma(0),
    "v_fma_mixhi_f16": _fma(1),
}


# The multiply-adds of gfx9 that round twice: V_MAD and V_MAC.
#
# The product is rounded before the addition, and denormals are zeros whatever MODE says: operands,
# product and sum (LLVM: SIISelLowering, `isFMADLegal`: "v_mad_f32 does not support denormals ever",
# and `llvm.amdgcn.fmad.ftz`, which is V_MAD in single and half precision). That halves are flushed,
# too, if MODE keeps their denormals, is an assumption: compilers do not use them then.


@dataclass(frozen=True, slots=True)
class MultiplyAdd:
    """x * y + z, rounded twice. legacy: a product by 0 is 0 (DX9 rules)."""

    legacy: bool = False

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        operands = [
            flush_denormals(frame.builder, frame.source(instruction, place))
            for place in instruction.opcode.source_places
        ]
        result = flush_denormals(frame.builder, self._sum(frame.builder, operands))
        frame.write(instruction, 0, frame.without_overflow(result, operands, instruction))

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

VECTOR_MULTIPLY_ADD: Mapping[str, Emitter] = {
    "v_mad_f32": _PLAIN,
    "v_mad_f16": _PLAIN,
    "v_mad_legacy_f16": _PLAIN,
    "v_mad_legacy_f32": MultiplyAdd(legacy=True),
    **{f"v_{name}_{code}": _PLAIN for name in ("mac", "madmk", "madak") for code in ("f16", "f32")},
    **vector_ops(
        {
            "v_fma_legacy_f16": FLOATS["v_fma_f16"],
            "v_fmac_f64": with_nans(fx.fma, fused_nan),
            # They differ from V_MAD_U16 and V_MAD_I16 in what becomes of the other half.
            "v_mad_legacy_u16": VectorOp(ix.mad, clamped=ix.saturating_mad(signed=False)),
            "v_mad_legacy_i16": VectorOp(ix.mad, clamped=ix.saturating_mad(signed=True)),
        }
    ),
}
