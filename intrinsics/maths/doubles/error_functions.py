"""Error functions of f64, within 4 units of the last place; special cases of C23, F.10.5.

Below 1 a polynomial in the square, above it one for what `erfc` is beside
exp(-x * x) / (1 + 2 * x).
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.pairs import double_exponential_parts, double_quotient_pair
from amdjit.intrinsics.maths.float_evaluation import polynomial
from amdjit.intrinsics.maths.native_math import copysign, ldexp
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64

__all__ = ["erf", "erfc"]

_LARGEST = 28.0  # beyond it erfc is 0
_MIDDLE = 4.0
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
    limited = min(x, f64(_LARGEST))
    t, _ = double_quotient_pair(limited - _MIDDLE, limited + _MIDDLE)
    square = limited * limited
    falling, n = double_exponential_parts(-square, -fma(limited, limited, -square))
    factor = polynomial(t, _COMPLEMENT)
    tail, _ = double_quotient_pair(factor * falling, fma(limited, f64(2), f64(1)))
    return ldexp(tail, n)
