"""Finds where two results differ and classifies how, in words that can be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from amdjit.probe.case import Difference, Results, bits_of

__all__ = ["differences_of", "kinds_of"]

_MOST = 64
_STEPS = (
    (1, "1 ulp"),
    (2, "2 ulp"),
    (4, "3 or 4 ulp"),
    (16, "5 to 16 ulp"),
    (256, "17 to 256 ulp"),
)


def differences_of(
    chip: Results, emulator: Results, inputs: Callable[[int, int], str]
) -> tuple[int, tuple[Difference, ...]]:
    """Return how many elements differ, and the first 64 of them."""
    count = 0
    found: list[Difference] = []
    for number, (there, here) in enumerate(zip(chip, emulator, strict=True)):
        bits, expected = bits_of(there), bits_of(here)
        places = np.nonzero(bits != expected)[0]
        count += len(places)
        for place in places[: _MOST - len(found)].tolist():
            words = inputs(number, place)
            found.append(Difference(number, place, words, int(bits[place]), int(expected[place])))
    return count, tuple(found)


def kinds_of(chip: Results, emulator: Results) -> dict[str, int]:
    """Return how many elements differ, for each kind of difference.

    Beside the kinds of single elements it counts three kinds of all of them: "from an even result",
    "at the same bits" (the same bits are wrong everywhere) and "in other places" (all values are
    there, but elsewhere).
    """
    kinds: Counter[str] = Counter()
    for there, here in zip(chip, emulator, strict=True):
        kinds.update(_kinds(there.reshape(-1), here.reshape(-1)))
    return {kind: count for kind, count in kinds.most_common() if count}


def _kinds(chip: NDArray[Any], emulator: NDArray[Any]) -> Counter[str]:
    bits, expected = bits_of(chip), bits_of(emulator)
    where = bits != expected
    kinds: Counter[str] = Counter()
    if not where.any():
        return kinds
    if np.array_equal(np.sort(bits), np.sort(expected)):
        kinds["in other places"] = int(where.sum())
    bits, expected = bits[where], expected[where]
    if is_float(chip.dtype):
        with np.errstate(all="ignore"):
            kinds.update(_float_kinds(chip[where], emulator[where], bits, expected))
    else:
        kinds.update(_integer_kinds(bits, expected))
    return kinds


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is one of real numbers, NumPy's or ml_dtypes'."""
    if np.issubdtype(dtype, np.floating):
        return True
    return dtype.kind == "V" and "float" in dtype.name


def _integer_kinds(bits: NDArray[Any], expected: NDArray[Any]) -> Counter[str]:
    masks = np.unique(bits ^ expected)
    change = bits - expected  # wraps
    one, minus_one = change.dtype.type(1), ~change.dtype.type(0)
    is_more, is_less = change == one, change == minus_one
    kinds = Counter({"1 more": int(is_more.sum()), "1 less": int(is_less.sum())})
    kinds["other bits"] = int((~is_more & ~is_less).sum())
    if len(masks) == 1 and len(bits) > 1:
        kinds["at the same bits"] = len(bits)
    return kinds


def _float_kinds(
    chip: NDArray[Any], emulator: NDArray[Any], bits: NDArray[Any], expected: NDArray[Any]
) -> Counter[str]:
    there, here = chip.astype(np.float64), emulator.astype(np.float64)
    smallest = float(ml_dtypes.finfo(chip.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    is_nan, was_nan = np.isnan(there), np.isnan(here)
    is_tiny = (np.abs(there) < smallest) & (there != 0)
    was_tiny = (np.abs(here) < smallest) & (here != 0)
    ways = (
        ("another NaN", is_nan & was_nan),
        ("NaN on the chip only", is_nan),
        ("NaN in the emulator only", was_nan),
        ("the other sign of zero", (there == 0) & (here == 0)),
        ("a denormal in the emulator, zero on the chip", was_tiny & (there == 0)),
        ("a denormal on the chip, zero in the emulator", is_tiny & (here == 0)),
        ("infinity on the chip only", np.isinf(there) & ~np.isinf(here)),
        ("infinity in the emulator only", np.isinf(here) & ~np.isinf(there)),
        ("the other sign", there == -here),
    )
    kinds: Counter[str] = Counter()
    left = np.ones(len(bits), bool)
    for words, where in ways:
        kinds[words] += int((left & where).sum())
        left &= ~where
    kinds.update(_step_kinds(there[left], here[left], bits[left], expected[left]))
    return kinds


def _step_kinds(
    there: NDArray[Any], here: NDArray[Any], bits: NDArray[Any], expected: NDArray[Any]
) -> Counter[str]:
    """Count the differences by units in the last place, and by direction."""
    kinds: Counter[str] = Counter()
    sign = 1 << (8 * bits.dtype.itemsize - 1)
    steps = np.abs(_ordered(bits, sign) - _ordered(expected, sign))
    outward = np.abs(there) > np.abs(here)
    below = 0
    for most, words in _STEPS:
        inside = (steps > below) & (steps <= most)
        kinds[f"{words} away from zero"] += int((inside & outward).sum())
        kinds[f"{words} toward zero"] += int((inside & ~outward).sum())
        below = most
    kinds["more than 256 ulp"] += int((steps > below).sum())
    kinds["from an even result"] += int(((steps == 1) & (expected % 2 == 0)).sum())
    return kinds


def _ordered(bits: NDArray[Any], sign: int) -> NDArray[Any]:
    """Return numbers whose differences are units in the last place. For f64 values that are far
    apart the last bits may be lost, which does not matter."""
    magnitude = (bits & bits.dtype.type(sign - 1)).astype(np.int64)
    ordered: NDArray[Any] = np.where(bits & bits.dtype.type(sign), -magnitude, magnitude)
    return ordered
