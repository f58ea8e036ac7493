"""Bit patterns as numbers and back. Patterns are arrays of uint64, integers are arrays of Python's
integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.emulator.exact_rounding import fused

Bits = NDArray[np.uint64]
Numbers = NDArray[Any]

FLOATS: dict[str, type] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_UNSIGNED = {16: np.uint16, 32: np.uint32, 64: np.uint64}


def width(code: str) -> int:
    """Bits of a type code such as f32, u16, i24 (a part of a wider register) or 2xf16."""
    count, _, element = code.rpartition("x")
    return int(count or 1) * int(element.lstrip("bfpiu"))


def integers(values: list[int] | Bits) -> Numbers:
    return np.array([int(value) for value in values], object)


def numbers(bits: Bits, code: str) -> Numbers:
    """Patterns as numbers of that type; upper bits are ignored."""
    size = width(code)
    if code in FLOATS:
        return bits.astype(_UNSIGNED[size]).view(FLOATS[code])
    if code == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    mask = (1 << size) - 1
    if code[0] == "i":
        sign = 1 << size - 1
        return integers([((int(value) & mask) ^ sign) - sign for value in bits])
    return integers([int(value) & mask for value in bits])


def patterns(values: Numbers, code: str) -> Bits:
    """Numbers of a type as patterns; integers are taken modulo the width."""
    size = width(code)
    if code in FLOATS:
        return np.asarray(values, FLOATS[code]).view(_UNSIGNED[size]).astype(np.uint64)
    mask = (1 << size) - 1
    return np.array([int(value) & mask for value in values], np.uint64)


def saturated(values: Numbers, code: str) -> Numbers:
    """Integers limited to the range of a type."""
    size = width(code)
    low, high = (-(1 << size - 1), (1 << size - 1) - 1) if code[0] == "i" else (0, (1 << size) - 1)
    return integers([min(max(int(value), low), high) for value in values])


def each(function: Callable[..., Any], *arrays: Numbers) -> Numbers:
    """Apply a function of scalars element by element."""
    return np.array([function(*items) for items in zip(*arrays, strict=True)], object)


def each_float(kind: type, function: Callable[..., float], *arrays: Numbers) -> Numbers:
    """Apply a function of Python's floats; its results are rounded to `kind`, once."""
    with np.errstate(all="ignore"):
        return np.array(
            [function(*map(float, items)) for items in zip(*arrays, strict=True)]
        ).astype(kind)


def fma(x: Numbers, y: Numbers, z: Numbers) -> Numbers:
    """x * y + z, rounded once to the type of z."""
    kind = np.asarray(z).dtype.type
    return each_float(kind, lambda a, b, c: fused(a, b, c, kind), x, y, z)


def halves(low: Bits, high: Bits) -> Bits:
    return low & np.uint64(0xFFFF) | (high & np.uint64(0xFFFF)) << np.uint64(16)


def choose(condition: Any, yes: Any, no: Any) -> Numbers:
    """Element by element; keeps the numbers' own type."""
    return np.where(np.asarray(condition, bool), yes, no)


def parts(bits: Bits, code: str) -> list[tuple[str, Bits]]:
    """A pattern as elements: `2xf16` are two f16, the low one first; others are themselves."""
    count, _, element = code.rpartition("x")
    size = width(element)
    return [(element, bits >> np.uint64(size * index)) for index in range(int(count or 1))]


def _ordered(values: Numbers) -> NDArray[Any]:
    """Floats as integers in the order of their values, one apart from the next."""
    size = values.dtype.itemsize * 8
    bits = values.view(_UNSIGNED[size]).astype(object)
    sign = 1 << size - 1
    return np.where(bits >= sign, sign - bits, bits)


def _eighth_nan(bits: Bits, element: str) -> NDArray[np.bool_]:
    """Return which bytes are NaNs of an 8-bit format."""
    above = {"fp8": 0x7E, "bf8": 0x7C}.get(element)
    return (
        np.zeros(len(bits), bool) if above is None else (bits & np.uint64(0x7F)) > np.uint64(above)
    )


def differences(
    found: Bits, expected: Bits, code: str, ulps: int, absolute: float, nans: bool = False
) -> NDArray[np.bool_]:
    """Where results differ. ulps, absolute: what floats may be off (either is enough). nans: they
    are not all alike."""
    wrong = np.zeros(len(found), bool)
    wanted = parts(expected, code)
    for (element, mine), (_, right) in zip(parts(found, code), wanted, strict=True):
        if element not in FLOATS and element != "bf16":
            mask = np.uint64((1 << width(element)) - 1)
            both = _eighth_nan(mine, element) & _eighth_nan(right, element)
            wrong |= ((mine & mask) != (right & mask)) & ~both
            continue
        x, y = numbers(mine, element), numbers(right, element)
        both = np.isnan(x) & np.isnan(y)
        if nans:
            size = _UNSIGNED[width(element)]
            wrong |= both & (mine.astype(size) != right.astype(size))
        same = (
            _ordered(x) == _ordered(y)
            if ulps
            else mine.astype(_UNSIGNED[width(element)]) == right.astype(_UNSIGNED[width(element)])
        )
        if ulps:
            clean = ~(np.isnan(x) | np.isnan(y))
            distance = np.abs(np.where(clean, _ordered(x) - _ordered(y), 0))
            same = clean & (distance <= ulps)
        if absolute:
            with np.errstate(all="ignore"):
                same |= np.abs(x.astype(np.float64) - y.astype(np.float64)) <= absolute
        wrong |= ~(both | same)
    return wrong
