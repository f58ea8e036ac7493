"""Exponentials and logarithms of f32 and 16-bit floats; those of f64 are in `doubles`.

`exp` and `exp10` are f32 arithmetic, within 1 unit of the last place. `exp2` and the logarithms are
`v_exp_f32` and `v_log_f32`; these read and write denormals as 0 (RDNA4 ISA), so numbers are scaled
to where argument and result are normal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amdjit.declarations import device_function
from amdjit.intrinsics.maths import device_library as library
from amdjit.intrinsics.maths import double_functions as double
from amdjit.intrinsics.maths.float_evaluation import (
    DOUBLES,
    SMALL_FLOATS,
    approximates,
    flushes,
    prefers_library,
    single,
)
from amdjit.intrinsics.maths.native_math import fast_exp2, fast_log, fast_log2, fast_log10, ldexp
from amdjit.intrinsics.maths.single_evaluation import (
    exponential_parts,
    horner,
    nearest,
    nearest_multiple,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.late import late
from amdjit.types import f32, f64

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import exponentials as doubles
    from amdjit.intrinsics.maths.doubles import logarithms
else:
    doubles = late("amdjit.intrinsics.maths.doubles.exponentials")
    logarithms = late("amdjit.intrinsics.maths.doubles.logarithms")

__all__ = ["exp", "exp2", "exp10", "log", "log2", "log10"]

_LOG2_10 = 3.321928
_LOG10_2 = (3.0103e-01, -1.4320989e-08)
# ln(2) and log10(2) as pairs of f32 above 0: infinity times one of them stays infinite when the
# other is added.
_LN2_UP = (6.931471e-01, 5.769999e-08)
_LOG10_2_UP = (3.0102998e-01, 1.5481334e-08)
_SMALLEST_NORMAL = 2.0**-126
# v_log_f32 rounds towards minus infinity, and between 1 and 1 + 2**-5 away from zero. Its error is
# centred by 0.18 to 0.35 units of its last place, which keeps the largest one below 2 units of the
# result: more of it would add to the rare errors to the other side.
_CENTRE = 2.0**-25.5
_ROUNDS_UP_BELOW = 1 + 2.0**-5
# 10**r for |r| <= log10(2) / 2: tests/intrinsics/fit_polynomials.py
_POWER_OF_10 = (
    2.0621546e-01, 5.418399e-01, 1.1712942e+00, 2.0346558e+00, 2.6509488e+00, 2.3025851e+00, 1.0,
)  # fmt: skip


@device_function
def exp(x):
    """Return e to the power x."""
    if isinstance(x, DOUBLES):
        return library.exp(f64(x)) if prefers_library() else doubles.exp(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_exp(f32(x)), x, double.exp)
    return _exp(single(x))


@device_function
def exp2(x):
    """Return 2 to the power x."""
    if isinstance(x, DOUBLES):
        return library.exp2(f64(x)) if prefers_library() else doubles.exp2(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_exp2(f32(x)), x, double.exp2)
    return _exp2(single(x))


@device_function
def exp10(x):
    """Return 10 to the power x."""
    if isinstance(x, DOUBLES):
        return library.exp10(f64(x)) if prefers_library() else doubles.exp10(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_exp10(f32(x)), x, double.exp10)
    return _exp10(single(x))


@device_function
def log(x, base=None):
    """Return the natural logarithm, or the logarithm to a base: -infinity at 0, NaN below."""
    return _natural(x) if base is None else _to_base(x, base, type(x + base))


@device_function
def _to_base(x, base, kind):
    return _natural(kind(x)) / _natural(kind(base))


@device_function
def _natural(x):
    if isinstance(x, DOUBLES):
        return library.log(f64(x)) if prefers_library() else logarithms.log(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_log(f32(x)), x, double.log)
    return _log(single(x))


@device_function
def log2(x):
    """Return the logarithm to base 2."""
    if isinstance(x, DOUBLES):
        return library.log2(f64(x)) if prefers_library() else logarithms.log2(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_log2(f32(x)), x, double.log2)
    return _log2(single(x))


@device_function
def log10(x):
    """Return the logarithm to base 10."""
    if isinstance(x, DOUBLES):
        return library.log10(f64(x)) if prefers_library() else logarithms.log10(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_log10(f32(x)), x, double.log10)
    return _log10(single(x))


@device_function
def _exp(x):
    p, n = exponential_parts(min(max(x, f32(-105)), f32(90)))
    return ldexp(p, n)


@device_function
def _exp10(x):
    limited = min(max(x, f32(-46)), f32(39))
    whole, n = nearest_multiple(limited, f32(_LOG2_10))
    r = fma(whole, -_LOG10_2[1], fma(whole, -_LOG10_2[0], limited))
    return ldexp(horner(r, _POWER_OF_10), n)


@device_function
def _exp2(x):
    if flushes() or approximates():
        return fast_exp2(x)
    is_small = x < -126
    return fast_exp2(x + (f32(64) if is_small else f32(0))) * (
        f32(2.0**-64) if is_small else f32(1)
    )


@device_function
def _log2(x):
    if flushes() or approximates():
        return fast_log2(x)
    order, shift = _shifted_order(x)
    return order - shift


@device_function
def _log(x):
    return fast_log(x) if approximates() else _multiple_of_order(x, _LN2_UP)


@device_function
def _log10(x):
    return fast_log10(x) if approximates() else _multiple_of_order(x, _LOG10_2_UP)


@device_function
def _shifted_order(x):
    """Return log2(x) + shift, and the shift."""
    is_small = x < _SMALLEST_NORMAL
    return fast_log2(x * (f32(2.0**32) if is_small else f32(1))), f32(32) if is_small else f32(0)


@device_function
def _multiple_of_order(x, factor):
    """Return log2(x) * (factor[0] + factor[1])."""
    rest = factor[1] - _CENTRE * factor[0]
    if x >= _ROUNDS_UP_BELOW:
        rest = factor[1] + _CENTRE * factor[0]
    if flushes():
        order = fast_log2(x)
        return fma(order, factor[0], order * rest)
    order, shift = _shifted_order(x)
    moved = f32(-32 * (factor[0] + factor[1])) if shift > 0 else f32(0)
    return fma(order, factor[0], fma(order, rest, moved))
