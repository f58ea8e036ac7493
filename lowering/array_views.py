"""Arrays in the same memory with other axes.

before: a 6-element contiguous array as a matrix of 2 rows
after:  the same address, with the extents 2 and 3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amdjit.lowering.abi import ArrayValue, unflatten
from amdjit.lowering.builder import Builder
from amdjit.lowering.memory import stride_of
from amdjit.types import Array

__all__ = ["reshaped", "transposed"]


def reshaped(array: ArrayValue, type: Array, extents: Sequence[Any]) -> ArrayValue:
    """Return a contiguous array's memory as an array with these extents."""
    if type.shape is not None:
        return unflatten(type, [array.pointer])  # type: ignore[no-any-return]
    return ArrayValue(type, array.pointer, tuple(extents), None)


def transposed(builder: Builder, array: ArrayValue, type: Array, axes: Sequence[int]) -> ArrayValue:
    """Return an array with its axes in another order."""
    strides = tuple(stride_of(builder, array, axis) for axis in axes)
    return ArrayValue(type, array.pointer, tuple(array.extents[axis] for axis in axes), strides)
