"""The functions of `amdjit.intrinsics.math` in f64 with their true values: libquadmath's in 113
bits for many inputs, and mpmath's for a few thousand inputs and to confirm the largest error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import mpmath

__all__ = ["REFERENCES", "Reference", "real"]

Interval = tuple[float, float]


@dataclass(frozen=True)
class Reference:
    """The true values of one function."""

    quad: str
    """Its value in C, of __float128 x and y."""
    exact: Callable[..., Any] | None
    """mpmath's function of floats, with C's special cases where mpmath raises, and None where it
    cannot tell. None if libquadmath alone decides, as where results are exact."""
    intervals: tuple[Interval | tuple[Interval, Interval], ...] = ()
    """Intervals of interesting inputs, for both arguments or for each; numbers of all exponents are
    always tried."""
    edges: tuple[float, ...] = ()
    """Numbers near which something changes."""
    bound: float = 1.0
    """The largest error that is promised, in units in the last place."""
    least: float = 0.0
    """For results closer to 0, units in the last place of this number are counted."""

    @property
    def arguments(self) -> int:
        """How many numbers the function takes."""
        return 2 if "y" in self.quad.partition("(")[2] else 1


def _erfc(x: Any) -> Any:
    # mpmath fails for arguments beyond 1e154; from 28 on the result is 0 in any double.
    return mpmath.erfc(min(x, mpmath.mpf(40)))


def real(function: Callable[..., Any], **at: float) -> Callable[..., Any]:
    """Return a function of mpmath's, with NaN where its value is not a real number.

    at: values at which mpmath raises, `at_0`, `at_1` and so on; an infinite value gets the sign of
    the argument if that is 0.
    """

    def of(x: float) -> Any:
        given = at.get(f"at_{x:g}".replace("-0", "0"))
        if given is not None:
            return math.copysign(given, x) if x == 0 and given > 0 else given
        try:
            value = function(x)
        except (ValueError, ZeroDivisionError):
            return math.nan
        return math.nan if isinstance(value, mpmath.mpc) else value

    return of


def of_finite(
    function: Callable[..., Any], special: Callable[[float, float], float]
) -> Callable[[float, float], Any]:
    """Return a function that is mpmath's for finite numbers other than 0, and another one for the
    others."""

    def of(x: float, y: float) -> Any:
        if x == 0 or y == 0 or not (math.isfinite(x) and math.isfinite(y)):
            return special(x, y)
        return function(x, y)

    return of


def _root(x: float) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _power(x: float, y: float) -> Any:
    if x > 0:
        return mpmath.power(x, y)
    if y != int(y):
        return math.nan
    return mpmath.power(-x, y) * (-1 if int(y) % 2 else 1)


def _special_power(x: float, y: float) -> float:
    if x == 0 and y < 0:  # Python raises an exception here
        return math.copysign(math.inf, x) if y > -(2.0**60) and y % 2 == 1 else math.inf
    return math.pow(x, y)


_UNIT: Interval = (-1.0, 1.0)
_NEAR_1: Interval = (0.5, 2.0)
_BESIDE_1: Interval = (0.99, 1.01)
_ROOTS_OF_2 = (0.5**0.5, 2.0**0.5)

_ANGLES: tuple[Interval, ...] = (_UNIT, (-10, 10), (-3e5, 3e5))
# The f64 that is nearest to a multiple of pi/2 (J.-M. Muller and others, "Handbook of
# Floating-Point Arithmetic", 11.3.2), others close to one, and numbers at which the evaluation
# changes.
_HARD_ANGLES = (5.319372648326541e255, 6381956970095103.0 * 2.0**797, 1e22, 2.0**28, 2.0**945)


def _finite(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, NaN for infinities."""
    return lambda x: function(x) if mpmath.isfinite(x) else mpmath.nan


def _real(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, NaN where its value is not real."""
    return lambda x: function(x) if abs(x) <= 1 else mpmath.nan


def _atan2(y: Any, x: Any) -> Any:
    """Return the angle of a point, None where the sign of a zero decides: mpmath has no -0."""
    if mpmath.isnan(x) or mpmath.isnan(y):
        return mpmath.nan
    if y == 0 and x <= 0:
        return None
    if mpmath.isinf(x) and mpmath.isinf(y):
        return mpmath.sign(y) * (mpmath.pi / 4 if x > 0 else 3 * mpmath.pi / 4)
    return mpmath.atan2(y, x)


def _gamma(x: Any) -> Any:
    """Return the gamma function, None at 0, whose sign decides."""
    if x == 0:
        return None
    return mpmath.nan if x < 0 and x == mpmath.floor(x) else mpmath.gamma(x)


def _log_gamma(x: Any) -> Any:
    """Return the logarithm of the gamma function's magnitude."""
    if mpmath.isinf(x) or (x <= 0 and x == mpmath.floor(x)):
        return mpmath.inf
    return mpmath.re(mpmath.loggamma(x))


REFERENCES: Mapping[str, Reference] = MappingProxyType(
    {
        # Exponentials, logarithms, powers, hyperbolic functions, roots.
        "exp": Reference(
            "expq(x)",
            mpmath.exp,
            (_UNIT, (-30, 30), (-750, 715)),
            (709.782712893384, -708.3964185322641, -745.1332191019412),
        ),
        "exp2": Reference(
            "exp2q(x)",
            lambda x: mpmath.power(2, x),
            (_UNIT, (-40, 40), (-1080, 1030)),
            (1024.0, -1022.0, -1075.0),
        ),
        "exp10": Reference(
            "powq(10, x)",
            lambda x: mpmath.power(10, x),
            (_UNIT, (-15, 15), (-325, 310)),
            (*map(float, range(-323, 309)), 308.25471555991675, -323.607),
        ),
        "expm1": Reference(
            "expm1q(x)",
            mpmath.expm1,
            (_UNIT, (-40, 5), (-50, 715)),
            (709.782712893384, -37.42994775023705, 2.0**-54),
        ),
        "log": Reference("logq(x)", real(mpmath.log), (_NEAR_1, _BESIDE_1, (0, 1e3)), _ROOTS_OF_2),
        "log2": Reference(
            "log2q(x)",
            real(lambda x: mpmath.log(x) / mpmath.log(2)),
            (_NEAR_1, _BESIDE_1, (0, 1e3)),
            _ROOTS_OF_2,
        ),
        "log10": Reference(
            "log10q(x)", real(mpmath.log10), (_NEAR_1, _BESIDE_1, (0, 1e3)), _ROOTS_OF_2
        ),
        "log1p": Reference(
            "log1pq(x)",
            real(mpmath.log1p),
            (_UNIT, (-0.3, 0.5), (-1, 1e3)),
            (0.5**0.5 - 1, 2.0**0.5 - 1, 2.0**-54),
        ),
        "sinh": Reference(
            "sinhq(x)", mpmath.sinh, (_UNIT, (-5, 5), (-712, 712)), (710.4758600739439, 2.0**-28)
        ),
        "cosh": Reference(
            "coshq(x)", mpmath.cosh, (_UNIT, (-5, 5), (-712, 712)), (710.4758600739439,)
        ),
        "tanh": Reference(
            "tanhq(x)", mpmath.tanh, (_UNIT, (-3, 3), (-25, 25)), (19.06154746539849,)
        ),
        "asinh": Reference("asinhq(x)", mpmath.asinh, (_UNIT, (-5, 5), (-1e9, 1e9)), (2.0**28,)),
        "acosh": Reference(
            "acoshq(x)", real(mpmath.acosh), ((1, 1.01), (1, 3), (1, 1e9)), (2.0**28,)
        ),
        "atanh": Reference(
            "atanhq(x)",
            real(mpmath.atanh),
            (_UNIT, (-0.5, 0.5), (0.999, 1)),
            (2.0**-28, 0.17157287),
        ),
        "sqrt": Reference("sqrtq(x)", real(mpmath.sqrt), ((0, 4),), bound=0.5),
        "rsqrt": Reference(
            "1 / sqrtq(x)", real(lambda x: 1 / mpmath.sqrt(x), at_0=math.inf), ((0, 4),)
        ),
        "cbrt": Reference("cbrtq(x)", _root, ((-8, 8),)),
        "hypot": Reference(
            "hypotq(x, y)", of_finite(mpmath.hypot, math.hypot), (_UNIT, ((-1, 1), (-30, 30)))
        ),
        "power": Reference(
            "powq(x, y)",
            of_finite(_power, _special_power),
            (((0, 2), (-1100, 1100)), ((0.9, 1.1), (-7000, 7000)), ((0, 50), (-150, 150))),
            (0.375**0.5, 0.75**0.5, *map(float, range(40, 60))),
        ),
        # Trigonometric, gamma and error functions, remainders and parts.
        "sin": Reference("sinq(x)", _finite(mpmath.sin), _ANGLES, _HARD_ANGLES),
        "cos": Reference("cosq(x)", _finite(mpmath.cos), _ANGLES, _HARD_ANGLES),
        "tan": Reference("tanq(x)", _finite(mpmath.tan), _ANGLES, _HARD_ANGLES),
        "asin": Reference("asinq(x)", _real(mpmath.asin), (_UNIT,), (0.7071067811865476,)),
        "acos": Reference("acosq(x)", _real(mpmath.acos), (_UNIT,), (0.7071067811865476,)),
        "atan": Reference("atanq(x)", mpmath.atan, ((-3, 3),), (0.4375, 0.6875, 1.1875, 2.4375)),
        "atan2": Reference("atan2q(x, y)", _atan2, (_UNIT, (0, 1000)), (1.75, 2.75)),
        "erf": Reference("erfq(x)", mpmath.erf, ((-1, 1), (-7, 7)), bound=4.0),
        "erfc": Reference("erfcq(x)", _erfc, ((-1, 1), (-7, 28)), (26.5,), bound=4.0),
        "tgamma": Reference(
            'x == 0 ? 1 / x : x < 0 && x == floorq(x) ? nanq("") : tgammaq(x)',
            _gamma,
            ((-4, 4), (-190, 175)),
            (171.6243769563027,),
            bound=4.0,
        ),
        "lgamma": Reference(
            "x <= 0 && x == floorq(x) ? HUGE_VALQ : lgammaq(x)",
            _log_gamma,
            ((0.2, 3), (-20, 30), (-1000, 1000)),
            (-2.457024738220801, -2.747682646727413, -3.1435808883499793, -4.039361839740537),
            bound=4.0,
            least=0.25,
        ),
        "fmod": Reference("fmodq(x, y)", None, ((-1000, 1000), _UNIT)),
        "remainder": Reference("remainderq(x, y)", None, ((-1000, 1000), _UNIT)),
    }
)
"""By name."""
