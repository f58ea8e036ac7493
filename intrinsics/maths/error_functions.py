"""Error functions of f32, in f32 arithmetic and one `v_exp_f32`; special cases of C23, F.10.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amdjit.declarations import device_function
from amdjit.intrinsics.maths import device_library as library
from amdjit.intrinsics.maths import double_functions as double
from amdjit.intrinsics.maths.float_evaluation import DOUBLES, SMALL_FLOATS, prefers_library, single
from amdjit.intrinsics.maths.native_math import copysign, fast_exp2, ldexp, rcp
from amdjit.intrinsics.maths.single_evaluation import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    horner,
    nearest,
    nearest_multiple,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.late import late
from amdjit.types import f32, f64

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import error_and_gamma as doubles
else:
    doubles = late("amdjit.intrinsics.maths.doubles.error_and_gamma")

__all__ = ["erf", "erfc"]

# Polynomials: tests/intrinsics/fit_polynomials.py
# erf(x) / x - 1 over x * x in [0, 1]
_ERROR = (
    7.920368e-05,
    -8.0307614e-04,
    5.190734e-03,
    -2.6855126e-02,
    1.1283618e-01,
    -3.761263e-01,
    1.2837917e-01,
)
# log2(erfc(x)) over x in [1, 3.95]
_ORDERS = (
    2.68884e-04, -4.2525483e-03, 3.1505644e-02, -1.4875169e-01, -9.2064816e-01, -1.6260462e+00,
    -4.9265585e-04,
)  # fmt: skip
# (1 + 2x) exp(x*x) erfc(x) over t = (x - 2.875) / (x + 2.875) for x in [0.79, 10.1]
_COMPLEMENT = (
    1.9915586e-03, -6.57917e-04, -1.700818e-02, 6.0865995e-02, -1.1762157e-01, 1.374682e-01,
    -5.8954816e-02, -1.3335602e-01, 1.2558708e+00,
)  # fmt: skip
# exp(r) - 1 - r over r * r, for |r| <= ln(2) / 2
_EXPONENTIAL = (1.3898117e-03, 8.366172e-03, 4.1666858e-02, 1.6666548e-01, 5.0e-01)
_MIDDLE = 2.875
_LARGEST = 10.1  # beyond it erfc is 0


@device_function
def erf(x):
    """Return the error function."""
    if isinstance(x, DOUBLES):
        return library.erf(f64(x)) if prefers_library() else doubles.erf(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_erf(f32(x)), x, double.erf)
    return _erf(single(x))


@device_function
def erfc(x):
    """Return 1 minus the error function."""
    if isinstance(x, DOUBLES):
        return library.erfc(f64(x)) if prefers_library() else doubles.erfc(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_erfc(f32(x)), x, double.erfc)
    return _erfc(single(x))


@device_function
def _erf(x):
    magnitude = abs(x)
    small = fma(horner(x * x, _ERROR), x, x)
    large = copysign(1 - fast_exp2(horner(min(magnitude, f32(3.95)), _ORDERS)), x)
    return small if magnitude < 1 else large


@device_function
def _erfc(x):
    magnitude = min(abs(x), f32(_LARGEST))
    # The quotient of the polynomial, and of 1 + 2x, as a pair. An error in t hardly matters, but
    # that of v_rcp_f32 is too large for far results, and is taken out.
    below, above = magnitude - _MIDDLE, magnitude + _MIDDLE
    guess = rcp(above)
    t = below * guess
    polynomial = horner(fma(fma(-t, above, below), guess, t), _COMPLEMENT)
    inverse = rcp(fma(magnitude, f32(2), f32(1)))
    high = polynomial * inverse
    low = (fma(high, magnitude * -2, polynomial) - high) * inverse
    # exp(-x * x) as a pair and a power of 2.
    square = magnitude * magnitude
    whole, n = nearest_multiple(square, f32(-LOG2_E))
    reduced = fma(whole, -LN2_HIGH, -square)
    r = reduced - fma(whole, LN2_LOW, fma(magnitude, magnitude, -square))
    less_1 = fma(r * r, horner(r, _EXPONENTIAL), r)
    falling = 1 + less_1
    rest = less_1 - (falling - 1)
    tail = ldexp(fma(falling, high, fma(falling, low, rest * high)), n)
    small = fma(-x, horner(x * x, _ERROR), 1 - x)
    return small if abs(x) < 0.8 else 2 - tail if x < 0 else tail
