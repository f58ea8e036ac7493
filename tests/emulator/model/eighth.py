"""The 8-bit floats of OCP: E4M3 (fp8, no infinity) and E5M2 (bf8); and those of gfx942, which have
no infinity and no -0 (`_fnuz`: CDNA 3 ISA, "8-bit floating point")."""

from __future__ import annotations

import math
from bisect import bisect_left

_SHAPES = {"fp8": (3, 7), "bf8": (2, 15), "fp8_fnuz": (3, 8), "bf8_fnuz": (2, 16)}


def decoded(byte: int, kind: str) -> float:
    """The number of one byte."""
    bits, bias = _SHAPES[kind]
    sign = -1.0 if byte >> 7 else 1.0
    exponent, mantissa = (byte & 127) >> bits, byte & (1 << bits) - 1
    if kind.endswith("fnuz") and byte == 0x80:
        return math.nan
    if kind == "fp8" and byte & 127 == 127:
        return math.nan
    if kind == "bf8" and exponent == 31:
        return math.nan if mantissa else sign * math.inf
    if not exponent:
        return sign * math.ldexp(mantissa, 1 - bias - bits)
    return sign * math.ldexp((1 << bits) + mantissa, exponent - bias - bits)


def _finite(kind: str) -> list[float]:
    found = [decoded(byte, kind) for byte in range(128)]
    return [number for number in found if math.isfinite(number)]


_TABLES = {kind: _finite(kind) for kind in _SHAPES}


def encoded(value: float, kind: str) -> int | None:
    """The byte of a number, rounded to nearest even; None for NaN (any pattern will do).

    Too large a number becomes infinity (bf8) or NaN (others, which have no infinity).
    """
    table = _TABLES[kind]
    if kind.endswith("fnuz") and abs(value) <= table[1] / 2:
        return 0
    sign = 128 if math.copysign(1.0, value) < 0 else 0
    size = abs(value)
    if math.isnan(value):
        return None
    step = table[-1] - table[-2]
    if size > table[-1] + step / 2 or (size == table[-1] + step / 2 and (len(table) - 1) & 1):
        return sign | len(table) if kind == "bf8" else None
    place = bisect_left(table, size)
    if place == len(table):
        return sign | place - 1
    if table[place] == size or place == 0:
        return sign | place
    low, high = size - table[place - 1], table[place] - size
    if low == high:
        return sign | (place if place % 2 == 0 else place - 1)
    return sign | (place if high < low else place - 1)
