"""How an n-dimensional array lies in memory: pure functions of shape, strides (bytes) and item
size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Shape = tuple[int, ...]


class View(NamedTuple):
    """The result of basic indexing."""

    offset: int
    """Bytes from the array's first element."""
    shape: Shape
    strides: Shape
    """The strides in bytes."""


def contiguous_strides(shape: Shape, itemsize: int) -> Shape:
    """Return the strides in bytes of a C-contiguous array."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def is_c_contiguous(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether the elements lie in C order without gaps; axes of extent 1 may have any stride."""
    step = itemsize
    if 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1:
            if stride != step:
                return False
            step *= extent
    return True


def has_rows(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether neighbours along the last axis are adjacent and no stride is negative.

    Axes of extent 1 may have any stride.
    """
    real = [(extent, stride) for extent, stride in zip(shape, strides, strict=True) if extent != 1]
    beside = shape[-1] == 1 or strides[-1] == itemsize
    return beside and all(stride >= 0 for _, stride in real)


def byte_span(shape: Shape, strides: Shape, itemsize: int) -> tuple[int, int]:
    """Return the bytes that the elements cover, as (low, high) from the first element.

    (0, 0) if there are none."""
    low, high = 0, itemsize
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 0:
            return 0, 0
        if stride < 0:
            low += (extent - 1) * stride
        else:
            high += (extent - 1) * stride
    return low, high


def may_overlap_itself(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether two indices may share a byte. True may be wrong for odd interleavings, False is
    certain."""
    if math.prod(shape) == 0:
        return False
    covered = itemsize
    for stride, extent in sorted((abs(s), e) for s, e in zip(strides, shape, strict=True) if e > 1):
        if stride < covered:
            return True
        covered += (extent - 1) * stride
    return False


def basic_view(key: object, shape: Shape, strides: Shape) -> View:
    """Return the view `array[key]` for ints, slices, None and Ellipsis (NumPy's basic indexing).

    Raises TypeError for other keys and IndexError for an index out of range or too many of them.
    """
    entries = list(key) if isinstance(key, tuple) else [key]
    _refuse_advanced(entries)
    offset, axis = 0, 0
    new_shape: list[int] = []
    new_strides: list[int] = []
    for entry in _expand_ellipsis(entries, len(shape)):
        if entry is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        extent, stride = shape[axis], strides[axis]
        axis += 1
        if isinstance(entry, slice):
            start, stop, step = entry.indices(extent)
            count = len(range(start, stop, step))
            offset += start * stride if count else 0
            new_shape.append(count)
            new_strides.append(stride * step)
        else:
            offset += _checked_index(entry, extent, axis - 1) * stride
    return View(offset, tuple(new_shape), tuple(new_strides))


def _refuse_advanced(entries: Sequence[object]) -> None:
    for entry in entries:
        is_index = (
            hasattr(entry, "__index__")
            and not isinstance(entry, bool)
            and getattr(entry, "ndim", 0) == 0
        )
        if not (entry is None or entry is Ellipsis or isinstance(entry, slice) or is_index):
            raise TypeError(
                "a DeviceArray takes integers, slices, None and ... as index, not "
                f"{type(entry).__name__}; "
                "copy_to_host() first to index with arrays or masks"
            )


def _expand_ellipsis(entries: Sequence[object], ndim: int) -> list[object]:
    used = sum(1 for entry in entries if entry is not None and entry is not Ellipsis)
    ellipses = sum(1 for entry in entries if entry is Ellipsis)
    if used > ndim:
        raise IndexError(f"too many indices: {used} were given, the array has {ndim} axes")
    if ellipses > 1:
        raise IndexError("an index can have only one ...")
    rest: list[object] = [slice(None)] * (ndim - used)
    if not ellipses:
        return [*entries, *rest]
    place = next(i for i, entry in enumerate(entries) if entry is Ellipsis)
    return [*entries[:place], *rest, *entries[place + 1 :]]


def _checked_index(entry: object, extent: int, axis: int) -> int:
    index = int(entry.__index__())  # type: ignore[attr-defined]
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is outside axis {axis}, which has {extent} elements")
    return index + extent if index < 0 else index
