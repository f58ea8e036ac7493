"""Error functions of f32 and 16-bit floats, within 0.501 units of the last place, special cases of C23, F.10.5."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics import device_library as library
from amdjit.intrinsics.float_evaluation import DOUBLES, exponential, polynomial, rounded, single
from amdjit.intrinsics.native_math import copysign
from amdjit.types import f64

__all__ = ["erf", "erfc", "lgamma", "tgamma"]

# erf(x) / x over x * x in [0, 1], relative error 3.4e-11: tests/intrinsics/fit_polynomials.py
_ERROR = (
    -9.634994925508068e-06, 0.00011254642103026775, -0.0008482507932061501, 0.005220923229716031,
    -0.026865392129445696, 0.11283781839175153, -0.37612638425960976, 1.1283791670570982,
)  # fmt: skip
# (1 + 2x) exp(x*x) erfc(x) over t = (x - 4) / (x + 4) for x in [1, 10.1], relative error 2.2e-10: the same script
_COMPLEMENT = (
    -0.00037777172713062264, 0.004986279901586373, -0.01636359112138462, 0.0371622987794519, -0.06630216771767079,
    0.0937346278766768, -0.1010411182806742, 0.06809694268266972, 0.015379706170359646, -0.1396211153264261,
    1.2329951183923338,
)  # fmt: skip
_LARGEST = 10.1  # beyond it erfc is 0 in f32


@device_function
def erf(x):
    """Return the error function."""
    if isinstance(x, DOUBLES):
        return library.erf(f64(x))
    value = f64(single(x))
    if abs(value) < 1:
        return rounded(value * polynomial(value * value, _ERROR), x)
    return rounded(value if value != value else copysign(1 - _complement(abs(value)), value), x)


@device_function
def erfc(x):
    """Return 1 less the error function."""
    if isinstance(x, DOUBLES):
        return library.erfc(f64(x))
    value = f64(single(x))
    if abs(value) < 1:
        return rounded(1 - value * polynomial(value * value, _ERROR), x)
    tail = _complement(abs(value))
    if value != value:
        tail = value
    return rounded(2 - tail if value < 0 else tail, x)


@device_function
def tgamma(x):
    """Return the gamma function, evaluated in f64 by the device library for every type."""
    result = library.tgamma(f64(x))
    return result if isinstance(x, DOUBLES) else rounded(result, x)


@device_function
def lgamma(x):
    """Return the natural logarithm of the gamma function's magnitude, evaluated as `tgamma` is."""
    result = library.lgamma(f64(x))
    return result if isinstance(x, DOUBLES) else rounded(result, x)


@device_function
def _complement(x):
    limited = min(x, _LARGEST)
    t = (limited - 4) / (limited + 4)
    falling = exponential(-limited * limited)
    return polynomial(t, _COMPLEMENT) * falling / (1 + 2 * limited) if x < _LARGEST else f64(0)
