"""Run one Python function twice: by Python on NumPy's scalars, and as a kernel on the emulator,
once a lane."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit

DEVICE = "emulator:gfx1201"


@amdjit.kernel
def _each_of_1(function: amdjit.Const, lanes, a):
    i = amdjit.grid(1)
    if i < lanes:
        function(i, a)


@amdjit.kernel
def _each_of_2(function: amdjit.Const, lanes, a, b):
    i = amdjit.grid(1)
    if i < lanes:
        function(i, a, b)


@amdjit.kernel
def _each_of_3(function: amdjit.Const, lanes, a, b, c):
    i = amdjit.grid(1)
    if i < lanes:
        function(i, a, b, c)


_KERNELS = {1: _each_of_1, 2: _each_of_2, 3: _each_of_3}


def same_as_python(function: Callable[..., Any], *arrays: NDArray[Any], lanes: int = 40) -> None:
    """Check that `function(lane, *arrays)` leaves the same bits in the arrays in both ways, lane by
    lane."""
    expected = [array.copy() for array in arrays]
    with np.errstate(all="ignore"):
        for lane in range(lanes):
            _for_python(function)(np.int32(lane), *expected)
    found = [array.copy() for array in arrays]
    with amdjit.use(DEVICE):
        _KERNELS[len(arrays)][-(-lanes // 32), 32](function, lanes, *found)
    for position, (left, right) in enumerate(zip(found, expected, strict=True)):
        assert_same_bits(left, right, f"{function.__name__}, array {position}")


def _for_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give Python ranges and arrays for the names that have a meaning in kernels only."""
    local = SimpleNamespace(array=lambda shape, type: np.zeros(shape, type.dtype))
    names = {"static_range": range, "unroll": lambda rounds, times=0: rounds, "local": local}
    assert isinstance(function, FunctionType)
    known = {**function.__globals__, **names}
    return FunctionType(
        function.__code__, known, function.__name__, function.__defaults__, function.__closure__
    )


def assert_same_bits(found: NDArray[Any], expected: NDArray[Any], what: str) -> None:
    """Compare two arrays bit by bit; all NaN count as one."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    bits = np.dtype(f"u{found.dtype.itemsize}")
    wrong = np.ascontiguousarray(found).view(bits) != np.ascontiguousarray(expected).view(bits)
    if not np.issubdtype(found.dtype, np.integer) and found.dtype != np.bool_:
        wrong &= ~((found != found) & (expected != expected))
    if wrong.any():
        first = np.argwhere(wrong)[0]
        place = tuple(int(n) for n in first)
        message = f"{what}: {int(wrong.sum())} elements differ, first {list(place)}: "
        raise AssertionError(f"{message}{found[place]!r}, Python says {expected[place]!r}")
