"""Conversion between wide floats and those of 8, 6 and 4 bits with a scale, a power of two.

Narrowing divides by the scale, widening multiplies by it. Both are exact in double precision until
the one rounding at the end: to the nearest, ties to even, or by adding random bits and cutting.

What the CDNA 4 ISA document says (7.3): the formats, the rounding, that results of 6 and 4 bits
saturate, and what overflow to 8 bits gives in both states of MODE's FP16_OVFL. It does not say how
random bits are aligned, what a NaN becomes in a format that has none, nor which NaN a wide result
or a scale of 255 gives. There these are the rules of AMD's reference for the host
(`amd_hip_ocp_host.hpp` of HIP):

- As many of the uppermost random bits count as the source has more mantissa bits than the result.
  A result below the smallest normal number is cut to the source's mantissa bits before they are
  added.
- In a format without NaNs, a NaN is the largest number of its sign.
- A scale of 255 gives NaN, with the sign of the number. Wide NaNs are quiet, with that sign:
  without a payload in single precision, with all bits of the mantissa in half precision and
  bfloat16.
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.isa.arithmetic import Arithmetic, Value
from amdjit.isa.floats.elements import half_to_single, single_to_brain, single_to_half
from amdjit.isa.integer_expressions import Expression
from amdjit.isa.integer_rows import Pair, Row
from amdjit.late_methods import dataclass

# The exponent biases of a scale (OCP MX: E8M0) and of f64, and the bits of f64's mantissa.
SCALE_BIAS = 127
_DOUBLE_BIAS, _DOUBLE_MANTISSA = 1023, 52


@dataclass(frozen=True, slots=True)
class SmallFloat:
    """A format: its bits, those of its mantissa, the bias of its exponent, and codes without sign:
    the largest number, and what overflow, infinity and NaN become."""

    bits: int
    mantissa: int
    bias: int
    largest: int
    overflow: int
    infinity: int
    nan: int

    @property
    def lowest_exponent(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias


SMALL_FLOATS: Mapping[str, SmallFloat] = {
    "fp8": SmallFloat(8, 3, bias=7, largest=0x7E, overflow=0x7F, infinity=0x7F, nan=0x7F),
    "bf8": SmallFloat(8, 2, bias=15, largest=0x7B, overflow=0x7C, infinity=0x7C, nan=0x7E),
    "fp6": SmallFloat(6, 3, bias=1, largest=0x1F, overflow=0x1F, infinity=0x1F, nan=0x1F),
    "bf6": SmallFloat(6, 2, bias=3, largest=0x1F, overflow=0x1F, infinity=0x1F, nan=0x1F),
    "fp4": SmallFloat(4, 1, bias=1, largest=0x7, overflow=0x7, infinity=0x7, nan=0x7),
}
# Formats that `narrow` makes without a scale: V_CVT_SR_F16_F32 and V_CVT_SR_BF16_F32.
HALF = SmallFloat(16, 10, bias=15, largest=0x7BFF, overflow=0x7C00, infinity=0x7C00, nan=0x7E00)
BRAIN = SmallFloat(16, 7, bias=127, largest=0x7F7F, overflow=0x7F80, infinity=0x7F80, nan=0x7FC0)
# The bits of the mantissas of wide formats.
MANTISSAS: Mapping[str, int] = {"f32": 23, "f16": 10, "bf16": 7}
# A wide NaN without its sign, and the place of the sign.
_WIDE_NANS: Mapping[str, tuple[int, int]] = {
    "f32": (0x7FC00000, 31),
    "f16": (0x7FFF, 15),
    "bf16": (0x7FFF, 15),
}


def scale_of(b: Arithmetic, value: Value) -> Value:
    """Return the scale's exponent, 0 to 255, of the f32 that an instruction names: the rest of it
    does not count."""
    return b.mask(b.shift("lshr", b.bitcast(value, "i32"), 23), 8)


def narrow(
    b: Arithmetic,
    value: Value,
    form: SmallFloat,
    *,
    scale: Value | None = None,
    random: Value | None = None,
    mantissa: int = 23,
    clamps: bool | Value = False,
) -> Value:
    """Return the code of f32 lanes divided by 2**(scale - 127), in the low bits of i32.

    random: round by it; otherwise to the nearest. mantissa: the bits of the mantissa that the
    source had before it was f32. clamps: overflow and infinities give the largest number.
    """
    magnitude = b.intrinsic("fabs", b.convert("fpext", value, "double"))
    if scale is not None:
        magnitude = b.binary("fmul", magnitude, _power(b, b.sub(b.const(scale, SCALE_BIAS), scale)))
    biased = b.resize(b.shift("lshr", b.bitcast(magnitude, "i64"), _DOUBLE_MANTISSA), 32)
    exponent = b.sub(biased, b.const(biased, _DOUBLE_BIAS))
    exponent = b.intrinsic("smax", exponent, b.const(exponent, form.lowest_exponent))
    steps = b.binary(
        "fmul", magnitude, _power(b, b.sub(b.const(exponent, form.mantissa), exponent))
    )
    whole = _rounded(b, steps, random, mantissa - form.mantissa)
    field = b.sub(exponent, b.const(exponent, form.lowest_exponent))
    code = b.add(b.shift("shl", field, form.mantissa), whole)
    largest = b.const(code, form.largest)
    over = _or_largest(b, form.overflow, largest, clamps)
    code = b.select(b.compare("ugt", code, largest), over, code)
    infinite = b.compare("oeq", magnitude, b.const(magnitude, float("inf")))
    code = b.select(infinite, _or_largest(b, form.infinity, largest, clamps), code)
    code = b.select(_is_nan(b, value, scale), b.const(code, form.nan), code)
    sign = b.shift("lshr", b.bitcast(value, "i32"), 31)
    return b.or_(code, b.shift("shl", sign, form.bits - 1))


def _rounded(b: Arithmetic, steps: Value, random: Value | None, cut: int) -> Value:
    """Return doubles as i32; more than any format has may come out as anything larger."""
    bound = b.const(steps, 2.0 ** (30 - cut))
    if random is None:
        return b.convert("fptoui", b.intrinsic("roundeven", _least(b, steps, bound)), "i32")
    finer = b.binary("fmul", _least(b, steps, bound), b.const(steps, 2.0**cut))
    fixed = b.convert("fptoui", finer, "i32")
    return b.shift("lshr", b.add(fixed, b.shift("lshr", random, 32 - cut)), cut)


def _least(b: Arithmetic, value: Value, bound: Value) -> Value:
    """Return the smaller number, the bound for a NaN."""
    return b.select(b.compare("olt", value, bound), value, bound)


def _or_largest(b: Arithmetic, code: int, largest: Value, clamps: bool | Value) -> Value:
    if isinstance(clamps, Value):
        return b.select(clamps, largest, b.const(largest, code))
    return largest if clamps else b.const(largest, code)


def _is_nan(b: Arithmetic, value: Value, scale: Value | None) -> Value:
    nan = b.compare("uno", value, value)
    return nan if scale is None else b.or_(nan, _is_nan_scale(b, scale))


def _is_nan_scale(b: Arithmetic, scale: Value) -> Value:
    return b.compare("eq", scale, b.const(scale, 255))


def _power(b: Arithmetic, exponent: Value) -> Value:
    """Return 2**n as double for i32 lanes within the normal numbers."""
    wide = b.resize(b.add(exponent, b.const(exponent, _DOUBLE_BIAS)), 64)
    return b.bitcast(b.shift("shl", wide, _DOUBLE_MANTISSA), "double")


def widen(b: Arithmetic, code: Value, form: SmallFloat, scale: Value, to: str) -> Value:
    """Return the low bits of i32 lanes times 2**(scale - 127) as bits of f32, f16 or bf16, in i32
    lanes."""
    magnitude = b.mask(code, form.bits - 1)
    field = b.shift("lshr", magnitude, form.mantissa)
    fraction = b.mask(magnitude, form.mantissa)
    zero = b.const(field, 0)
    lead = b.select(b.compare("eq", field, zero), zero, b.const(field, 1 << form.mantissa))
    place = b.intrinsic("umax", field, b.const(field, 1))
    shift = b.const(field, form.lowest_exponent - 1 - form.mantissa - SCALE_BIAS)
    factor = _power(b, b.add(b.add(place, scale), shift))
    exact = b.binary("fmul", b.convert("uitofp", b.or_(lead, fraction), "double"), factor)
    # So few bits are rounded once only, also where two roundings follow each other.
    single = b.convert("fptrunc", exact, "float")
    infinity = b.const(single, float("inf"))
    if form.infinity > form.largest and form.infinity != form.nan:
        single = b.select(
            b.compare("eq", magnitude, b.const(code, form.infinity)), infinity, single
        )
    nan, sign_place = _WIDE_NANS[to]
    bits = _NARROWED[to](b, single)
    bits = b.select(_is_nan_code(b, magnitude, form, scale), b.const(bits, nan), bits)
    sign = b.mask(b.shift("lshr", code, form.bits - 1), 1)
    return b.or_(bits, b.shift("shl", sign, sign_place))


def _is_nan_code(b: Arithmetic, magnitude: Value, form: SmallFloat, scale: Value) -> Value:
    nan = _is_nan_scale(b, scale)
    last = max(form.largest, form.infinity if form.infinity != form.nan else 0)
    if form.nan == form.largest:
        return nan
    return b.or_(nan, b.compare("ugt", magnitude, b.const(magnitude, last)))


def _single_bits(b: Arithmetic, value: Value) -> Value:
    return b.bitcast(value, "i32")


_NARROWED = {"f32": _single_bits, "f16": single_to_half, "bf16": single_to_brain}


def to_single(b: Arithmetic, lanes: Value, kind: str) -> Value:
    """Return the low bits of i32 lanes, f32, f16 or bf16, as f32: exactly."""
    if kind == "f32":
        return b.bitcast(lanes, "float")
    if kind == "bf16":
        return b.bitcast(b.shift("shl", lanes, 16), "float")
    return half_to_single(b, lanes)


# Instructions from and to f32 that have one number or two in a lane. They read the first byte or
# half of a register and write it; the emulator has all V_CVT_SCALEF32.


def _widened(form: SmallFloat) -> Expression:
    def expression(b: Arithmetic, code: Value, scale: Value) -> Value:
        return b.bitcast(widen(b, code, form, scale_of(b, scale), "f32"), "float")

    return expression


def _widened_pair(form: SmallFloat) -> Pair:
    one = _widened(form)

    def expression(b: Arithmetic, codes: Value, scale: Value) -> tuple[Value, Value]:
        return one(b, codes, scale), one(b, b.shift("lshr", codes, form.bits), scale)

    return expression


def _narrowed_pair(form: SmallFloat, clamps: bool = False) -> Expression:
    def expression(b: Arithmetic, x: Value, y: Value, scale: Value) -> Value:
        fixed = scale_of(b, scale)
        low, high = (narrow(b, v, form, scale=fixed, clamps=clamps) for v in (x, y))
        return b.or_(low, b.shift("shl", high, form.bits))

    return expression


def _narrowed_at_random(form: SmallFloat, clamps: bool = False) -> Expression:
    def expression(b: Arithmetic, x: Value, random: Value, scale: Value) -> Value:
        return narrow(b, x, form, scale=scale_of(b, scale), random=random, clamps=clamps)

    return expression


_BYTES = {name: SMALL_FLOATS[name] for name in ("fp8", "bf8")}
_OF_PAIRS = {**_BYTES, "fp4": SMALL_FLOATS["fp4"]}
SCALED_CONVERSIONS: Mapping[str, Row | Pair] = {
    **{f"v_cvt_scalef32_f32_{name}": Row(_widened(form)) for name, form in _BYTES.items()},
    **{f"v_cvt_scalef32_pk_f32_{name}": _widened_pair(form) for name, form in _OF_PAIRS.items()},
    **{
        f"v_cvt_scalef32_pk_{name}_f32": Row(
            _narrowed_pair(form), limited=_narrowed_pair(form, clamps=True)
        )
        for name, form in _OF_PAIRS.items()
    },
    **{
        f"v_cvt_scalef32_sr_{name}_f32": Row(
            _narrowed_at_random(form), limited=_narrowed_at_random(form, clamps=True)
        )
        for name, form in _BYTES.items()
    },
}
