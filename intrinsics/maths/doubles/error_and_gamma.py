"""Gamma and error functions of f64; special cases of C23, F.10.5.

From 2.2 on, Stirling's formula with a logarithm that is a pair of f64; smaller numbers are moved
there, negative ones reflected. The gamma function is within 4 units of the last place, exact for
whole numbers to 18. `lgamma` is, too, for positive numbers; for negative ones, among which it has
zeros, its error is at most 4 units or 2**-51, whichever is more.
"""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import double_reciprocal, pair_of_sum
from amdjit.intrinsics.maths.doubles.pairs import (
    double_exponential_parts,
    double_logarithm_pair,
    double_quotient_pair,
    double_sum,
    quotient_by_product,
)
from amdjit.intrinsics.maths.float_evaluation import polynomial
from amdjit.intrinsics.maths.native_math import copysign, ldexp, rcp, rint
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64

__all__ = ["erf", "erfc", "lgamma", "tgamma"]


_HALF_LN_2PI = (0.9189385332046728, -3.8782941580672414e-17)
_LARGEST = 200.0  # beyond it the gamma function is infinite, or 0
_SCALE = 200  # 2 to this power makes every divisor a normal number
_HUGE = 2.0**100
_GREATEST = 2.0**1023 * (2 - 2.0**-52)
_MIDDLE = 1.5
# Polynomials: tests/intrinsics/fit_doubles.py
# The correction to Stirling's formula, times z, over 1 / (z * z) for z above 2.2
_STIRLING = (
    8.319648533263825, -14.313550057089676, 11.410970585302369, -5.64387322073267,
    1.9706163297768762, -0.5313155228837311, 0.1211474449269051, -0.026249591518080408,
    0.006265018642862831, -0.0019128113047064896, 0.0008416442729153148, -0.0005952365405820838,
    0.0007936507805771264, -0.0027777777777258576, 0.08333333333333327,
)  # fmt: skip
# lgamma(x) / ((x - 1) * (x - 2)) over x - 1.5 in [-0.7, 0.7]
_BETWEEN = (
    -3.4451469088123065e-06, 4.76784496043507e-06, 3.5425141131973644e-06, -3.699724186458114e-06,
    -9.687950998414468e-06, 1.2707453909144657e-05, -7.251777334831515e-06, 1.3356359022062394e-05,
    -2.781197876758933e-05, 4.303949803357139e-05, -6.590783909189825e-05, 0.00010530340700432676,
    -0.00016897480353989455, 0.0002713322173034244, -0.000437984232775609, 0.0007115159386048438,
    -0.0011644154475995477, 0.0019229166034078966, -0.003212074022885612, 0.005446457824415882,
    -0.00942562245017954, 0.01679709863164062, -0.031308487500985874, 0.06291140107456093,
    -0.1459598959143062, 0.4831289505409809,
)  # fmt: skip
# (sin(pi * r) / (pi * r) - 1) / (r * r) over r * r for r in [0, 1/2]
_SINE = (
    2.450933144536662e-07, -6.972167085297247e-06, 0.000148427870685892, -0.0023460809021929895,
    0.026147847806429838, -0.19075182412156103, 0.8117424252833418, -1.6449340668482264,
)  # fmt: skip


@device_function
def tgamma(x):
    """Return the gamma function: infinite at 0, NaN at negative whole numbers."""
    magnitude = min(abs(x), f64(_LARGEST))
    is_low, is_negative = magnitude < 3, x < 0
    # gamma(z) = gamma(x) * x * (x + 1) * (x + 2), or gamma(-x) * -x, or gamma(x)
    moved = f64(3) if is_low else (f64(1) if is_negative else f64(0))
    z, z_low = pair_of_sum(max(magnitude, moved), min(magnitude, moved))
    product = fma(magnitude, z, fma(magnitude, z_low, f64(2))) if is_low else f64(1)
    high, low = _stirling(z, z_low)
    grown, n = double_exponential_parts(high, low)
    # gamma(x) * gamma(-x) = -pi / (x * sin(pi * x))
    numerator = product if is_negative else grown
    first = grown if is_negative else product
    scale = f64(2.0**_SCALE)
    second = _scaled_sine(x) if is_negative else (x * scale if is_low else scale)
    result = ldexp(
        quotient_by_product(numerator, first, second), (-n if is_negative else n) + _SCALE
    )
    # Factorials are exact as far as the error is less than 1/2.
    return rcp(x) if x == 0 else (rint(result) if x == rint(x) else result)


@device_function
def _scaled_sine(x):
    """Return sin(pi * x) / pi times 2**_SCALE; 0 where x is whole, which makes the quotient NaN."""
    turn = fma(rint(0.5 * x), f64(-2), x)
    distance = min(abs(turn), 1 - abs(turn))
    scaled, square = ldexp(distance, _SCALE), distance * distance
    return copysign(fma(scaled * square, polynomial(square, _SINE), scaled), turn)


@device_function
def lgamma(x):
    """Return the natural logarithm of the gamma function's magnitude: infinite at 0 and negative
    whole numbers."""
    if x < -0.2:
        return _of_negative(x)
    if x < 2.2:
        return _between(x)
    if x > _HUGE:
        return x * (double_logarithm_pair(min(x, f64(_GREATEST)))[0] - 1)
    high, low = _stirling(x, f64(0))
    return high + low


@device_function
def _of_negative(x):
    magnitude = min(-x, f64(2.0**60))
    is_low = magnitude < 3
    z, z_low = pair_of_sum(max(magnitude, f64(3)), min(magnitude, f64(3)))
    high, low = _stirling(z if is_low else magnitude, z_low if is_low else f64(0))
    # gamma(x) * gamma(-x) = -pi / (x * sin(pi * x)), everything as pairs: the logarithms cancel.
    sine, sine_low = _sine(magnitude)
    square = magnitude * z
    square_low = fma(magnitude, z, -square) + magnitude * z_low
    product, missed = double_sum(square, f64(2))
    numerator, numerator_low = product, missed + square_low
    denominator = magnitude * sine
    denominator_low = fma(magnitude, sine, -denominator) + magnitude * sine_low
    if is_low:
        denominator, denominator_low = sine, sine_low
    else:
        numerator, numerator_low = f64(1), f64(0)
    quotient = numerator * double_reciprocal(denominator)
    left = fma(-quotient, denominator, numerator) + fma(-quotient, denominator_low, numerator_low)
    less, rest = double_logarithm_pair(quotient)
    result, missed = double_sum(less, -high)
    result += missed + (fma(left, rcp(numerator), rest) - low)
    return f64(math.inf) if x == rint(x) else result


@device_function
def _sine(x):
    """Return the magnitude of sin(pi * x) / pi for nonnegative x, as a pair."""
    distance = abs(x - rint(x))
    square = distance * distance
    beyond = distance * square * polynomial(square, _SINE)
    return pair_of_sum(distance, beyond)


@device_function
def _between(x):
    """Return lgamma(x) by a polynomial with its zeros, from that of x + 1 for x below 0.8."""
    is_low = x < 0.8
    beyond = x if is_low else x - 1
    # 0, not -0, at both zeros
    result = fma(fma(beyond, beyond, -beyond), polynomial(beyond - (_MIDDLE - 1), _BETWEEN), f64(0))
    if is_low:
        high, low = double_logarithm_pair(abs(x))
        result = f64(math.inf) if x == 0 else (result - low) - high
    return result


@device_function
def _stirling(z, z_low):
    """Return log(gamma(z + z_low)) as a pair, for z above 2.2."""
    high, low = double_logarithm_pair(z)
    inverse = double_reciprocal(z)
    factor = z - 0.5
    product = factor * high
    rest = fma(factor, high, -product) + factor * low
    total, missed = double_sum(product, -z)
    rest += missed
    total, missed = double_sum(total, f64(_HALF_LN_2PI[0]))
    rest = fma(inverse, polynomial(inverse * inverse, _STIRLING), rest + (missed + _HALF_LN_2PI[1]))
    # The derivative is log(z) - 1 / (2 z) - 1 / (12 z**2) - ...
    slope = fma(inverse, fma(inverse, f64(-1 / 12), f64(-0.5)), high)
    return total, fma(z_low, slope, rest)


# Error functions of f64, within 4 units of the last place; special cases of C23, F.10.5.
#
# Below 1 a polynomial in the square, above it one for what `erfc` is beside exp(-x * x) / (1 + 2 *
# x).


_ERFC_LARGEST = 28.0  # beyond it erfc is 0
_ERFC_MIDDLE = 4.0
# Polynomials: tests/intrinsics/fit_doubles.py
# erf(x) / x - 1 over x * x in [0, 1]
_ERROR = (
    -4.222799275624528e-12, 8.703723163291527e-11, -1.21630215343162e-09, 1.4792142107370707e-08,
    -1.636461399883599e-07, 1.646204337453873e-06, -1.4925647463311437e-05, 0.00012055332899290384,
    -0.0008548327021851497, 0.005223977625422058, -0.02686617064512973, 0.11283791670955119,
    -0.37612638903183754, 0.1283791670955126,
)  # fmt: skip
# (1 + 2x) exp(x*x) erfc(x) over t = (x - 4) / (x + 4) for x in [1, 28]
_COMPLEMENT = (
    4.9580558849804754e-08, 6.253046536684679e-08, -7.439793541230113e-07, 2.8726084055886564e-07,
    5.655743422994756e-06, -1.1211639822821555e-05, -2.437861781282079e-05, 0.0001506167420724686,
    -0.00019926149586975823, -0.0007577720821484354, 0.005031970668884814, -0.016197734222728542,
    0.037167515477921936, -0.06633036579988517, 0.09373283500118726, -0.10103906603675783,
    0.06809705425462993, 0.01537965210262606, -0.1396211168405621, 1.2329951186255526,
)  # fmt: skip


@device_function
def erf(x):
    """Return the error function."""
    magnitude = abs(x)
    if magnitude < 1:
        return fma(x, polynomial(x * x, _ERROR), x)
    return copysign(1 - _complement(magnitude), x)


@device_function
def erfc(x):
    """Return 1 minus the error function."""
    magnitude = abs(x)
    if magnitude < 1:
        return fma(-x, polynomial(x * x, _ERROR), 1 - x)
    tail = _complement(magnitude)
    return 2 - tail if x < 0 else tail


@device_function
def _complement(x):
    """Return erfc(x) for x above 1."""
    limited = min(x, f64(_ERFC_LARGEST))
    t, _ = double_quotient_pair(limited - _ERFC_MIDDLE, limited + _ERFC_MIDDLE)
    square = limited * limited
    falling, n = double_exponential_parts(-square, -fma(limited, limited, -square))
    factor = polynomial(t, _COMPLEMENT)
    tail, _ = double_quotient_pair(factor * falling, fma(limited, f64(2), f64(1)))
    return ldexp(tail, n)
