"""Round exact numbers to a binary format once: a model that shares nothing with the emulator."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

_FORMATS = {np.float16: (10, -14, 15), np.float32: (23, -126, 127), np.float64: (52, -1022, 1023)}


NEAREST, UP, DOWN, ZERO = range(4)


def rounded(value: Fraction, kind: type[np.floating], mode: int = NEAREST) -> float:
    """Return the number of a NumPy float type as a Python float; of the nearest ones ties go to the
    even one.

    mode: as the ISA counts: 0 nearest, 1 up, 2 down, 3 towards zero.
    """
    if not value:
        return 0.0
    mantissa, lowest, highest = _FORMATS[kind]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, lowest) - mantissa)
    outward = mode == (UP if value > 0 else DOWN)
    ratio = magnitude / step
    count = round(ratio) if mode == NEAREST else math.ceil(ratio) if outward else math.floor(ratio)
    result = count * step
    if result >= Fraction(2) ** (highest + 1):
        if mode == NEAREST or outward:
            return math.inf if value > 0 else -math.inf
        result = (2 - Fraction(2) ** -mantissa) * Fraction(2) ** highest
    return float(result) if value > 0 else -float(result)


def fused(x: float, y: float, z: float, kind: type[np.floating], mode: int = NEAREST) -> float:
    """x * y + z, rounded once."""
    if math.isfinite(x) and math.isfinite(y) and math.isinf(z):
        return z
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        with np.errstate(all="ignore"):
            return float(np.float64(x) * np.float64(y) + np.float64(z))
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact:
        return rounded(exact, kind, mode)
    negative = math.copysign(1, x) * math.copysign(1, y) < 0, math.copysign(1, z) < 0
    if all(negative) or (mode == DOWN and any(negative)):
        return -0.0
    return 0.0
