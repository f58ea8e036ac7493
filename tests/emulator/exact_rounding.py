"""Round exact numbers to a binary format once, to nearest even: a model that shares nothing with the emulator."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

_FORMATS = {np.float16: (10, -14, 15), np.float32: (23, -126, 127), np.float64: (52, -1022, 1023)}


def rounded(value: Fraction, kind: type[np.floating]) -> float:
    """Return the nearest number of a NumPy float type as a Python float; ties go to the even one."""
    if not value:
        return 0.0
    mantissa, lowest, highest = _FORMATS[kind]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, lowest) - mantissa)
    count = round(magnitude / step)
    result = count * step
    sign = -1.0 if value < 0 else 1.0
    return sign * (math.inf if result >= Fraction(2) ** (highest + 1) else float(result))


def fused(x: float, y: float, z: float, kind: type[np.floating]) -> float:
    """x * y + z, rounded once."""
    if math.isfinite(x) and math.isfinite(y) and math.isinf(z):
        return z
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        with np.errstate(all="ignore"):
            return float(np.float64(x) * np.float64(y) + np.float64(z))
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact:
        return rounded(exact, kind)
    negative = math.copysign(1, x) * math.copysign(1, y) < 0
    if negative and math.copysign(1, z) < 0 and not (Fraction(x) * Fraction(y)):
        return -0.0
    return 0.0
