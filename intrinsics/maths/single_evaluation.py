"""The building blocks of f32 functions: f32 arithmetic alone, with pairs of f32 where one has too
few bits.

Additions, products and `fma` yield the same bits on every GPU. The last bits of a result depend on
approximate instructions (1 unit of the last place on hardware) only where the function's module
says so.
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.float_evaluation import bitcast, rounded
from amdjit.intrinsics.maths.native_math import fast_log2, ldexp, rcp, rsq
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f32, f64, i32, u32

__all__ = [
    "LN2_HIGH",
    "LN2_LOW",
    "LOG2_E",
    "SQRT_HALF",
    "exponential_parts",
    "horner",
    "logarithm",
    "nearest",
    "nearest_multiple",
    "reciprocal",
    "root_of_normal",
    "rounds_reliably",
    "sum_of_ordered",
]

LN2_HIGH, LN2_LOW = 0.6931472, -1.9046542e-09
"""ln(2) as the sum of two f32."""

LOG2_E = 1.442695
SQRT_HALF = 0x3F3504F3
_INFINITE = 0x7F800000
_ROUNDING, _ROUNDING_BITS = 1.5 * 2.0**23, 0x4B400000
# Relative errors below 2**-28 and 2**-27: tests/intrinsics/fit_polynomials.py
_EXPONENTIAL = (
    1.3821768e-03, 8.368857e-03, 4.166826e-02, 1.666652e-01, 4.9999994e-01, 1.0, 1.0
)  # fmt: skip
_LOGARITHM = (
    -7.636212e-02, 1.2762111e-01, -1.3159627e-01, 1.4201589e-01, -1.6623409e-01, 2.0001242e-01,
    -2.500082e-01, 3.333333e-01,
)  # fmt: skip


@device_function
def horner(x, coefficients):
    """Return the polynomial's value at x in f32; the coefficients start at the highest power."""
    value = fma(f32(coefficients[0]), x, coefficients[1])
    for coefficient in coefficients[2:]:
        value = fma(value, x, coefficient)
    return value


@device_function
def rounds_reliably(value, x, error=2.0**-22):
    """Return whether `value`, with at most the given relative error, determines the nearest 16-bit
    float of x's type.

    error: 2 units of the last place of f32 by default.
    """
    margin = fma(abs(value), error, 2.0**-148)
    return type(x)(value - margin) == type(x)(value + margin)


@device_function
def nearest(value, x, in_f64):
    """Return `value`, good to 2 units, as a 16-bit float of x's type; near a tie `in_f64(x)`
    decides (A. Ziv, 1991)."""
    if rounds_reliably(value, x):
        return type(x)(value)
    return rounded(in_f64(f64(x)), x)


@device_function
def sum_of_ordered(high, low):
    """Return high + low as the nearest f32 and the rest, exactly; |high| >= |low|."""
    total = high + low
    return total, low - (total - high)


@device_function
def reciprocal(x):
    """Return 1 / x for normal x whose reciprocal is normal: the instruction and one step of
    Newton's."""
    guess = rcp(x)
    return fma(fma(-x, guess, f32(1)), guess, guess)


@device_function
def root_of_normal(x):
    """Return sqrt(x), within 0.51 units, and about 1 / (2 sqrt(x)), for x that is 0 or in [2**-100,
    2**100]."""
    guess = rsq(max(x, f32(2.0**-100)))
    root, half = x * guess, 0.5 * guess
    return fma(fma(-root, root, x), half, root), half


@device_function
def nearest_multiple(x, factor):
    """Return the whole number nearest to x * factor, below 2**22, as f32 and as i32 (any number
    where x is NaN).

    A conversion would cost 7 instructions, because LLVM does not know that `v_cvt_i32_f32`
    saturates. Adding 1.5 * 2**23 instead leaves the whole number in the lowest bits.
    """
    moved = fma(x, factor, _ROUNDING)
    return moved - _ROUNDING, i32(bitcast(moved, u32) - _ROUNDING_BITS)


@device_function
def exponential_parts(x):
    """Return p in [0.7, 1.42] and the i32 n with exp(x) = p * 2**n."""
    whole, n = nearest_multiple(x, f32(LOG2_E))
    r = fma(whole, -LN2_LOW, fma(whole, -LN2_HIGH, x))
    return horner(r, _EXPONENTIAL), n


@device_function
def logarithm(high, low, doublings):
    """Return the natural logarithm of (high + low) * 2**doublings: -infinity if high is 0, NaN if
    it is negative.

    high is not denormal, |low| <= 2**-23 * |high|.
    """
    bits = bitcast(high, u32)
    exponent = i32(bits - SQRT_HALF) >> 23
    mantissa = bitcast(bits - u32(exponent << 23), f32)
    f = mantissa - 1
    count = f32(exponent + doublings)
    # The derivative of the logarithm times the part missing from `high`: two correct digits are
    # enough.
    correction = ldexp(low, -exponent) * rcp(mantissa)
    square = f * f
    small = fma(count, LN2_LOW, fma(f * square, horner(f, _LOGARITHM), correction))
    result = fma(count, LN2_HIGH, f - fma(0.5, square, -small))
    return result if bits - 1 < _INFINITE - 1 else fast_log2(high)
