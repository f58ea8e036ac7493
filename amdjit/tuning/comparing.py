"""Compares a candidate's results with the right ones, and finds where they first differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

__all__ = ["Tolerance", "difference", "tolerances"]

Results = Mapping[str, NDArray[Any]]

# Relative tolerances of floats. Candidates may add in another order, or round differently.
_RELATIVE = {
    np.dtype(np.float64): 1e-9,
    np.dtype(np.float32): 1e-4,
    np.dtype(np.float16): 4e-3,
    np.dtype(ml_dtypes.bfloat16): 3e-2,
    np.dtype(np.complex64): 1e-4,
    np.dtype(np.complex128): 1e-9,
}
# For types with at most three bits of mantissa, two steps.
_COARSE = 0.25


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much results may differ: |found - expected| <= atol + rtol |expected|. None stands for
    the tolerance of the type.

    By default, integers and booleans must be equal, and atol is the relative tolerance of the type
    times the largest expected number, because sums that nearly cancel lose relative precision.
    """

    rtol: float | None = None
    atol: float | None = None


def tolerances(dtype: np.dtype[Any], largest: float, given: Tolerance) -> tuple[float, float]:
    """Return the relative and the absolute tolerance of an array of some type. largest: the largest
    expected number."""
    if dtype.kind in "biu" or dtype.kind in "mM":
        return given.rtol or 0.0, given.atol or 0.0
    usual = _RELATIVE.get(dtype, _COARSE)
    relative = usual if given.rtol is None else given.rtol
    absolute = relative * largest if given.atol is None else given.atol
    return relative, absolute


def difference(found: Results, expected: Results, given: Tolerance) -> str:
    """Return what is different, "" if nothing is: the first element of the first array that
    differs, and how many elements differ."""
    missing = sorted(set(expected) - set(found))
    if missing:
        return f"it has no array {missing[0]}"
    for name, wanted in expected.items():
        text = _array_difference(name, found[name], wanted, given)
        if text:
            return text
    return ""


def _array_difference(
    name: str, found: NDArray[Any], wanted: NDArray[Any], given: Tolerance
) -> str:
    wanted = np.asarray(wanted)
    if found.shape != wanted.shape:
        return f"{name} has the shape {found.shape}, the reference {wanted.shape}"
    wrong = _differing(found, wanted, given)
    count = int(np.count_nonzero(wrong))
    if not count:
        return ""
    place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    index = ", ".join(str(int(each)) for each in place)
    return (
        f"{name}[{index}] is {found[place]!s}, not {wanted[place]!s}; {count} of {wrong.size} "
        "elements differ"
    )


def _differing(found: NDArray[Any], wanted: NDArray[Any], given: Tolerance) -> NDArray[np.bool_]:
    if found.dtype.kind in "biu" and not (given.rtol or given.atol):
        return np.atleast_1d(found != wanted)
    if found.dtype.names is not None or found.dtype.kind in "SUO":
        return np.atleast_1d(found != wanted)
    wide: Any = np.complex128 if found.dtype.kind == "c" else np.float64
    ours, theirs = np.atleast_1d(found.astype(wide)), np.atleast_1d(wanted.astype(wide))
    finite = np.abs(theirs[np.isfinite(theirs)])
    largest = float(finite.max()) if finite.size else 0.0
    relative, absolute = tolerances(found.dtype, largest, given)
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(ours - theirs) <= absolute + relative * np.abs(theirs)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    wrong: NDArray[np.bool_] = ~(same | (close & np.isfinite(theirs)))
    return wrong
