"""VALU arithmetic on floats with one result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions.float_extremes import EXTREMES, median, median_of, older
from amdjit.emulator.expressions.nans import converted_nan, fused_nan, settled, with_nans
from amdjit.emulator.host.builder import Builder, Value, element_of
from amdjit.emulator.instructions.operation import (
    Emitter,
    Rows,
    VectorOp,
    vector_ops,
    vector_register,
)
from amdjit.emulator.instructions.vector.packed import half_of
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import flush_denormals, modify_input
from amdjit.isa import integer_expressions as ix
from amdjit.isa.arithmetic import ELEMENTS
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_rows import in_range
from amdjit.isa.register_numbers import vector_number

_ADD, _SUB, _MUL = ix.binary("fadd"), ix.binary("fsub"), ix.binary("fmul")


def _form(code: str, expression: ix.Expression) -> ix.Expression:
    """Return an expression for one format; half precision is computed in single precision."""
    return with_nans(fx.through_float(expression) if code == "f16" else expression)


def _fused(code: str) -> ix.Expression:
    return with_nans(fx.fma_half if code == "f16" else fx.fma, fused_nan)


def _basic(code: str) -> Rows:
    form = partial(_form, code)
    return {
        f"v_add_{code}": form(_ADD),
        f"v_mul_{code}": form(_MUL),
        f"v_fma_{code}": _fused(code),
        f"v_fract_{code}": form(fx.fraction(ELEMENTS[code])),
        **{f"v_{name}_{code}": form(expression) for name, expression in fx.TO_WHOLE.items()},
        **{f"v_{name}_{code}": expression for name, expression in EXTREMES.items()},
    }


def _narrow(code: str) -> Rows:
    """Return the instructions that double precision does not have."""
    fused = _fused(code)
    low, high = EXTREMES["min_num"], EXTREMES["max_num"]
    least, greatest = EXTREMES["minimum"], EXTREMES["maximum"]
    return {
        f"v_sub_{code}": _form(code, _SUB),
        f"v_subrev_{code}": _form(code, ix.reverse(_SUB)),
        f"v_fmac_{code}": fused,
        f"v_fmaak_{code}": fused,
        f"v_fmamk_{code}": fused,
        f"v_min3_num_{code}": ix.chain(low, low),
        f"v_max3_num_{code}": ix.chain(high, high),
        f"v_minimum3_{code}": ix.chain(least, least),
        f"v_maximum3_{code}": ix.chain(greatest, greatest),
        f"v_med3_num_{code}": median,
        f"v_minmax_num_{code}": ix.chain(low, high),
        f"v_maxmin_num_{code}": ix.chain(high, low),
        f"v_minimummaximum_{code}": ix.chain(least, greatest),
        f"v_maximumminimum_{code}": ix.chain(greatest, least),
    }


def _by_mode(
    make: Callable[[ix.Expression, ix.Expression], ix.Expression],
) -> VectorOp:
    """Return the row of an extreme of gfx11, made of its minimum and maximum."""
    quieting, other = (make(older(False, ieee), older(True, ieee)) for ieee in (True, False))
    return VectorOp(quieting, unquieted=other)


def _older_extremes(code: str) -> Rows:
    """Return the extremes of gfx11 for one format."""
    both: Rows = {
        f"v_min_{code}": _by_mode(lambda low, high: low),
        f"v_max_{code}": _by_mode(lambda low, high: high),
    }
    if code == "f64":
        return both
    return {
        **both,
        f"v_min3_{code}": _by_mode(lambda low, high: ix.chain(low, low)),
        f"v_max3_{code}": _by_mode(lambda low, high: ix.chain(high, high)),
        f"v_med3_{code}": _by_mode(median_of),
        f"v_minmax_{code}": _by_mode(lambda low, high: ix.chain(low, high)),
        f"v_maxmin_{code}": _by_mode(lambda low, high: ix.chain(high, low)),
    }


def _exponent_16(b: Builder, x: Value) -> Value:
    return b.resize(fx.frexp_exponent(b, b.convert("fpext", x, "float")), 16)


def _ldexp_half(b: Builder, x: Value, exponent: Value) -> Value:
    wide = fx.ldexp_single(b, b.convert("fpext", x, "float"), exponent)
    # ldexp_single rounds to 24 bits first; a half has 11, so its scaled value is exact there unless
    # it underflows.
    return b.convert("fptrunc", wide, "half")


_PARTS: Rows = {
    "v_frexp_exp_i32_f32": in_range(fx.frexp_exponent),
    "v_frexp_exp_i32_f64": in_range(fx.frexp_exponent),
    "v_frexp_exp_i16_f16": in_range(_exponent_16),
    "v_frexp_mant_f32": with_nans(fx.frexp_mantissa),
    "v_frexp_mant_f64": with_nans(fx.frexp_mantissa),
    "v_frexp_mant_f16": with_nans(fx.through_float(fx.frexp_mantissa)),
    **{
        f"v_ldexp_{code}": VectorOp(with_nans(ldexp), tiny=fx.tiny_if_scaled(ldexp))
        for code, ldexp in (
            ("f16", _ldexp_half),
            ("f32", fx.ldexp_single),
            ("f64", fx.ldexp_double),
        )
    },
    "v_mul_dx9_zero_f32": with_nans(fx.multiply_legacy),
    "v_fmac_dx9_zero_f32": with_nans(fx.fma_legacy, fx.legacy_nan),
    "v_fma_dx9_zero_f32": with_nans(fx.fma_legacy, fx.legacy_nan),
}

# Their bits have not been published; those of f16 and f32 are in `approximate.py`.
_DOUBLE_APPROXIMATIONS: Rows = {
    "v_rcp_f64": with_nans(fx.reciprocal),
    "v_sqrt_f64": with_nans(fx.square_root),
    "v_rsq_f64": with_nans(fx.reciprocal_root),
}

VECTOR_FLOAT: Mapping[str, VectorOp] = vector_ops(
    {
        **_DOUBLE_APPROXIMATIONS,
        **_older_extremes("f16"),
        **_older_extremes("f32"),
        **_older_extremes("f64"),
        **_basic("f16"),
        **_basic("f32"),
        **_basic("f64"),
        **_narrow("f16"),
        **_narrow("f32"),
        **_PARTS,
    }
)


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


def _fma(half: int | None) -> Emitter:
    """V_FMA_MIX*: multiply-add in f32. `half`: the half of the result register that an f16 result
    goes to."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sources = [_source(frame, instruction, number) for number in range(3)]
        result = settled(b, fx.fma(b, *sources), sources, fused_nan)
        if half is None:
            frame.write(instruction, 0, result)
            return
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
