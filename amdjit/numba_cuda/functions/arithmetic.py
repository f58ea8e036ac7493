"""Numba's functions of single numbers that Python does not have."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics import arithmetic, sync
from amdjit.intrinsics.arithmetic import clz, fma
from amdjit.intrinsics.math import cbrt
from amdjit.types import u32

popc = arithmetic.popcount
brev = arithmetic.bit_reverse


@device_function
def ffs(x):
    """Return the position of the lowest bit that is 1, counted from 1; 0 for 0."""
    return u32(arithmetic.ffs(x))


@device_function
def selp(condition, a, b):
    """Return `a` where the condition is true, else `b`."""
    return a if condition else b


@device_function
def literal_unroll(items):
    """Return the items of a tuple. A loop over a tuple is unrolled in any case."""
    return items


@device_function
def nanosleep(nanoseconds):
    """Sleep for about this time, and for at least 64 clocks."""
    for _ in range(nanoseconds // 64 + 1):
        sync.sleep(2)


__all__ = ["brev", "cbrt", "clz", "ffs", "fma", "literal_unroll", "nanosleep", "popc", "selp"]
