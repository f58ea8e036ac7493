"""Float operations as expressions over scalars and vectors. The host code never contracts
them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amdjit.isa.arithmetic import Arithmetic, Value, bits_of, element_of, like
from amdjit.isa.floats.nans import bits, converted_nan, first_nan, quieted, settled
from amdjit.isa.integer_expressions import Expression, intrinsic

# Roundings to whole numbers, by the ISA's name.
TO_WHOLE: Mapping[str, Expression] = {
    "floor": intrinsic("floor"),
    "ceil": intrinsic("ceil"),
    "trunc": intrinsic("trunc"),
    "rndne": intrinsic("roundeven"),
}
_MANTISSA = {32: 23, 64: 52, 16: 10}
_BIAS = {32: 127, 64: 1023, 16: 15}


def through_float(inner: Expression) -> Expression:
    """Compute a half-precision result in single precision: exact for + - * / sqrt, min, max and
    rounding.

    Rounding to 24 bits before rounding to 11 does not change the result of these operations (2 * 11
    + 2 <= 24).
    """

    def expression(b: Arithmetic, *operands: Value) -> Value:
        wide = [
            b.convert("fpext", v, "float") if element_of(v.type) == "half" else v for v in operands
        ]
        result = inner(b, *wide)
        return (
            b.convert("fptrunc", result, "half") if element_of(result.type) == "float" else result
        )

    return expression


def fma_half(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """Multiply and add in half precision: exact in double, then rounded once."""
    product = b.binary("fmul", *(b.convert("fpext", v, "double") for v in (x, y)))
    return narrow_to_half(b, b.binary("fadd", product, b.convert("fpext", z, "double")))


def narrow_to_half(b: Arithmetic, value: Value) -> Value:
    """Round double to half once: keep 22 mantissa bits and a sticky one, which single precision
    holds exactly."""
    bits = b.bitcast(value, "i64")
    dropped = b.mask(bits, 30)
    sticky = b.resize(b.compare("ne", dropped, b.const(bits, 0)), 64)
    kept = b.and_(bits, b.const(bits, -(1 << 30)))
    odd = b.or_(kept, b.shift("shl", sticky, 30))
    single = b.convert("fptrunc", b.bitcast(odd, "double"), "float")
    return b.convert("fptrunc", single, "half")


def fma(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """x * y + z with one rounding."""
    return b.intrinsic("fma", x, y, z)


def multiply_legacy(b: Arithmetic, x: Value, y: Value) -> Value:
    """Return x * y, but 0 if either is 0 (DX9 rules)."""
    zero = b.const(x, 0.0)
    either = b.or_(b.compare("oeq", x, zero), b.compare("oeq", y, zero))
    return b.select(either, zero, b.binary("fmul", x, y))


def fma_legacy(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """Return x * y + z, but z + 0 if x or y is 0 (DX9 rules)."""
    zero = b.const(x, 0.0)
    either = b.or_(b.compare("oeq", x, zero), b.compare("oeq", y, zero))
    return b.select(either, b.binary("fadd", zero, z), fma(b, x, y, z))


def legacy_nan(b: Arithmetic, operands: Sequence[Value]) -> Value:
    """Return the NaN of `fma_legacy`: the addend's if a factor is 0."""
    x, y, z = operands
    zero = b.const(x, 0.0)
    either = b.or_(b.compare("oeq", x, zero), b.compare("oeq", y, zero))
    return b.select(either, quieted(b, z), first_nan(b, operands))


def reciprocal(b: Arithmetic, x: Value) -> Value:
    """1 / x."""
    return b.binary("fdiv", b.const(x, 1.0), x)


def square_root(b: Arithmetic, x: Value) -> Value:
    """sqrt(x)."""
    return b.intrinsic("sqrt", x)


def reciprocal_root(b: Arithmetic, x: Value) -> Value:
    """1 / sqrt(x)."""
    return reciprocal(b, b.intrinsic("sqrt", x))


_BELOW_ONE = {"float": 1 - 2.0**-24, "double": 1 - 2.0**-53, "half": 1 - 2.0**-11}


def fraction(limit: str) -> Expression:
    """Return x - floor(x), kept below 1 in the format `limit`; of whole numbers +0 in every
    rounding mode."""

    def expression(b: Arithmetic, x: Value) -> Value:
        part = b.intrinsic("fabs", b.binary("fsub", x, b.intrinsic("floor", x)))
        return b.intrinsic("minimum", part, b.const(x, _BELOW_ONE[limit]))

    return expression


def flush_denormals(b: Arithmetic, value: Value) -> Value:
    """Replace denormals by zeros of their sign."""
    width = bits_of(value.type)
    raw = bits(b, value)
    infinity = (1 << width - 1) - (1 << _MANTISSA[width])
    exponent = b.and_(raw, b.const(raw, infinity))
    zero = b.and_(raw, b.const(raw, 1 << (width - 1)))
    flushed = b.select(b.compare("eq", exponent, b.const(raw, 0)), zero, raw)
    return b.bitcast(flushed, element_of(value.type))


def clamp_unit(b: Arithmetic, value: Value) -> Value:
    """Clamp a float to [0, 1]; NaN becomes 0 (on gfx12 always, RDNA 4 ISA 6.2.5)."""
    zero = b.const(value, 0.0)
    low = b.select(b.compare("ogt", value, zero), value, zero)
    one = b.const(value, 1.0)
    return b.select(b.compare("olt", low, one), low, one)


def _integer_view(b: Arithmetic, x: Value) -> Value:
    return b.bitcast(x, f"i{bits_of(x.type)}")


def _is_finite_nonzero(b: Arithmetic, x: Value) -> Value:
    magnitude = b.intrinsic("fabs", x)
    finite = b.compare("olt", magnitude, b.const(x, float("inf")))
    return b.and_(finite, b.compare("ogt", magnitude, b.const(x, 0.0)))


def _normalised(b: Arithmetic, x: Value) -> tuple[Value, Value]:
    """Scale a denormal up by 2**64 (2**128 in double); return it and the exponent to subtract
    again."""
    width = bits_of(x.type)
    amount = 64 if width == 32 else 128
    smallest = b.const(x, 2.0 ** (1 - _BIAS[width]))
    tiny = b.compare("olt", b.intrinsic("fabs", x), smallest)
    scaled = b.select(tiny, b.binary("fmul", x, b.const(x, 2.0**amount)), x)
    shape = Value(like(x.type, "i32"), "")
    return scaled, b.select(tiny, b.const(shape, amount), b.const(shape, 0))


def unbiased_exponent(b: Arithmetic, x: Value) -> Value:
    """Return the exponent field, with its bias, as i32."""
    width = bits_of(x.type)
    field = b.shift("lshr", _integer_view(b, x), _MANTISSA[width])
    return b.resize(b.mask(field, width - 1 - _MANTISSA[width]), 32)


def frexp_exponent(b: Arithmetic, x: Value) -> Value:
    """Return the exponent e of x = m * 2**e with 0.5 <= |m| < 1, as i32; 0 for 0, Inf and NaN."""
    scaled, taken = _normalised(b, x)
    biased = unbiased_exponent(b, scaled)
    exponent = b.sub(b.sub(biased, b.const(biased, _BIAS[bits_of(x.type)] - 1)), taken)
    return b.select(_is_finite_nonzero(b, x), exponent, b.const(exponent, 0))


def frexp_mantissa(b: Arithmetic, x: Value) -> Value:
    """Return the mantissa m of `frexp_exponent`; 0, Inf and NaN are returned unchanged."""
    width = bits_of(x.type)
    scaled, _ = _normalised(b, x)
    bits = _integer_view(b, scaled)
    exponent_mask = ((1 << (width - 1 - _MANTISSA[width])) - 1) << _MANTISSA[width]
    kept = b.and_(bits, b.const(bits, ~exponent_mask))
    half = b.or_(kept, b.const(bits, (_BIAS[width] - 1) << _MANTISSA[width]))
    return b.select(_is_finite_nonzero(b, x), b.bitcast(half, element_of(x.type)), x)


def power_of_two(b: Arithmetic, exponent: Value) -> Value:
    """Return 2**n as double for an i32 n in [-1022, 1023]."""
    wide = b.resize(exponent, 64, signed=True)
    biased = b.add(wide, b.const(wide, 1023))
    return b.bitcast(b.shift("shl", biased, 52), "double")


def ldexp_single(b: Arithmetic, x: Value, exponent: Value) -> Value:
    """Return x * 2**n in single precision (x may be a narrower number held in it), rounded once."""
    wide = b.resize(exponent, 32, signed=True)
    low = b.intrinsic("smax", wide, b.const(wide, -300))
    limited = b.intrinsic("smin", low, b.const(wide, 300))
    product = b.binary("fmul", b.convert("fpext", x, "double"), power_of_two(b, limited))
    return b.convert("fptrunc", product, "float")


def ldexp_double(b: Arithmetic, x: Value, exponent: Value) -> Value:
    """Return x * 2**n in double precision, rounded once: large steps are exact powers of two."""
    low = b.intrinsic("smax", exponent, b.const(exponent, -2200))
    left = b.intrinsic("smin", low, b.const(exponent, 2200))
    value = x
    for _ in range(2):
        above = b.compare("sgt", left, b.const(left, 1023))
        value = b.select(above, b.binary("fmul", value, b.const(x, 2.0**1023)), value)
        left = b.select(above, b.sub(left, b.const(left, 1023)), left)
        below = b.compare("slt", left, b.const(left, -1022))
        value = b.select(below, b.binary("fmul", value, b.const(x, 2.0**-969)), value)
        left = b.select(below, b.add(left, b.const(left, 969)), left)
    left = b.intrinsic("smax", b.intrinsic("smin", left, b.const(left, 1023)), b.const(left, -1022))
    return b.binary("fmul", value, power_of_two(b, left))


# Results are compared with the normal numbers after a multiplication by this power of two.
_RAISED = 16


def _below_normal(b: Arithmetic, raised: Value) -> Value:
    """Return where a float is below the smallest normal number times 2**_RAISED."""
    width = bits_of(raised.type)
    size = b.mask(bits(b, raised), width - 1)
    return b.compare("ult", size, b.const(size, (1 + _RAISED) << _MANTISSA[width]))


def _step(b: Arithmetic, x: Value) -> Value:
    return b.const(x, 2.0**_RAISED)


def tiny_if_narrowed(element: str) -> Expression:
    """Return where a float is below the normal numbers of a narrower format, rounded to its
    precision."""

    def expression(b: Arithmetic, x: Value) -> Value:
        raised = b.binary("fmul", x, _step(b, x))
        return _below_normal(b, b.convert("fptrunc", raised, element))

    return expression


def tiny_if_scaled(ldexp: Expression) -> Expression:
    """Return where x * 2**n is below the normal numbers, rounded to their precision."""

    def expression(b: Arithmetic, x: Value, exponent: Value) -> Value:
        wide = b.resize(exponent, 32, signed=True)
        raised = b.add(b.intrinsic("smin", wide, b.const(wide, 1 << 16)), b.const(wide, _RAISED))
        return _below_normal(b, ldexp(b, x, raised))

    return expression


def tiny_if_fused(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """Return where x * y + z is below the normal numbers, rounded to their precision; false if x or
    z is so large that it cannot be."""
    if element_of(x.type) == "half":
        product = b.binary("fmul", *(b.convert("fpext", v, "double") for v in (x, y)))
        total = b.binary("fadd", product, b.convert("fpext", z, "double"))
        return _below_normal(b, narrow_to_half(b, b.binary("fmul", total, _step(b, total))))
    raised = [b.binary("fmul", v, _step(b, v)) for v in (x, z)]
    return _below_normal(b, fma(b, raised[0], y, raised[1]))


def tiny_if_multiplied(b: Arithmetic, x: Value, y: Value) -> Value:
    """Return the same of x * y."""
    return _below_normal(b, b.binary("fmul", b.binary("fmul", x, _step(b, x)), y))


def to_integer(signed: bool, element: str = "i32") -> Expression:
    """Return the truncation towards zero, saturated; NaN becomes 0."""
    name = "fptosi" if signed else "fptoui"

    def expression(b: Arithmetic, x: Value) -> Value:
        return b.convert(f"{name}.sat", x, element)

    return expression


def from_integer(signed: bool, element: str) -> Expression:
    """Return the conversion of integers, rounding to nearest even."""

    def expression(b: Arithmetic, x: Value) -> Value:
        return b.convert("sitofp" if signed else "uitofp", x, element)

    return expression


def cast(operation: str, element: str) -> Expression:
    """Return the expression of a plain conversion."""

    def expression(b: Arithmetic, x: Value) -> Value:
        return b.convert(operation, x, element)

    return expression


def _to_integer_by_sign(b: Arithmetic, x: Value, rounded: Value) -> Value:
    """Convert to i32, where a NaN becomes the limit on its side, not 0 as in the ISA document
    (rocjitsu, `conversion.h`)."""
    number = to_integer(True)(b, rounded)
    raw = bits(b, x)
    limit = b.xor(b.shift("ashr", raw, 31), b.const(raw, 0x7FFFFFFF))
    return b.select(b.compare("uno", x, x), limit, number)


def nearest_up(b: Arithmetic, x: Value) -> Value:
    """floor(x + 0.5) as i32 (V_CVT_NEAREST_I32_F32); double precision does not round the sum across
    a whole number."""
    wide = b.convert("fpext", x, "double")
    return _to_integer_by_sign(
        b, x, b.intrinsic("floor", b.binary("fadd", wide, b.const(wide, 0.5)))
    )


def floor_to_integer(b: Arithmetic, x: Value) -> Value:
    """floor(x) as i32 (V_CVT_FLOOR_I32_F32)."""
    return _to_integer_by_sign(b, x, b.intrinsic("floor", x))


def half_towards_zero(b: Arithmetic, x: Value) -> Value:
    """Convert single to half, rounding towards zero: overflow yields the largest finite number."""
    nearest = settled(b, b.convert("fptrunc", x, "half"), [x], converted_nan("half"))
    bits = b.bitcast(nearest, "i16")
    back = b.convert("fpext", nearest, "float")
    away = b.compare("ogt", b.intrinsic("fabs", back), b.intrinsic("fabs", x))
    return b.bitcast(b.select(away, b.sub(bits, b.const(bits, 1)), bits), "half")


def pack_towards_zero(b: Arithmetic, x: Value, y: Value) -> Value:
    """Convert two singles to two halves in a dword, x low (V_CVT_PK_RTZ_F16_F32)."""
    low, high = (b.resize(bits(b, half_towards_zero(b, v)), 32) for v in (x, y))
    return b.or_(low, b.shift("shl", high, 16))


def brain_to_single(b: Arithmetic, x: Value) -> Value:
    """Convert the bits of bfloat16 (i16) to single precision: they are its upper half."""
    return b.bitcast(b.shift("shl", b.resize(x, 32), 16), "float")
