"""Arrays that the user gives for results: what they may be, and how results get there."""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.algorithms.kernels.elementwise import BLOCK, elementwise, same
from amdjit.algorithms.placement import Placement
from amdjit.algorithms.views import index_type, merged_axes, strided
from amdjit.api import Kernel
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.strides import Shape, may_overlap_itself
from amdjit.types import from_dtype

__all__ = [
    "check_output",
    "contiguous",
    "copy_elements",
    "holds",
    "overlaps",
    "shares_memory",
    "target",
]

_COPY = Kernel(elementwise, {"block": BLOCK, "warnings": False})


def check_output(out: Any, dtype: np.dtype[Any], shape: Shape | None = None) -> None:
    """Refuse an `out` that is no array, is read-only, or cannot hold results of this type and
    shape."""
    if not isinstance(out, (np.ndarray, DeviceArray)):
        raise TypeError(f"out is an array to write to, not a {type(out).__name__}")
    if isinstance(out, np.ma.MaskedArray):
        raise TypeError("out is a masked array, and a device has no masks: give its .data")
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only")
    if may_overlap_itself(out.shape, out.strides, out.dtype.itemsize):
        raise ValueError("out has elements that share memory, as broadcast arrays have")
    if shape is not None and out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, the result {shape}")
    if not holds(out.dtype, dtype):
        raise TypeError(
            f"out holds {out.dtype}, which a result of {dtype} does not become by itself: give "
            f"an array of {dtype}"
        )


def holds(out: np.dtype[Any], result: np.dtype[Any]) -> bool:
    """Whether a store converts: integers to any number, floats to any float or complex number."""
    if out == result:
        return True
    to, origin = from_dtype(out), from_dtype(result)
    if origin is None:
        return result.kind == "c" and out.kind == "c"
    if to is None:
        return out.kind == "c"
    return to.is_float or not (origin.is_float or to.bits == 1)


def shares_memory(one: DeviceArray, other: DeviceArray) -> bool:
    """Whether writing one array may change another one at other places than those written.

    The same elements in the same order do not count: each is read before it is written.
    """
    same_places = (one.address, one.shape, one.strides, one.dtype) == (
        other.address,
        other.shape,
        other.strides,
        other.dtype,
    )
    return overlaps(one, other) and not same_places


def overlaps(one: DeviceArray, other: DeviceArray) -> bool:
    """Whether the memory between the ends of two arrays has bytes in common."""
    (low, high), (first, last) = one.byte_span, other.byte_span
    return (
        one.device is other.device
        and one.address + low < other.address + last
        and other.address + first < one.address + high
    )


def copy_elements(source: DeviceArray, out: Any, place: Placement) -> None:
    """Copy to an array of the same shape, with NumPy's conversion to its type where they differ."""
    if isinstance(out, np.ndarray):
        np.copyto(out, source.copy_to_host(stream=place.stream), casting="unsafe")
    elif source.size:
        _launch_copy(source, out, place)


def _launch_copy(source: DeviceArray, out: DeviceArray, place: Placement) -> None:
    shape, strides = merged_axes(out.shape, [out.strides, source.strides])
    to, origin = strided(out, shape, strides[0]), strided(source, shape, strides[1])
    groups = -(-out.size // BLOCK)
    index = index_type([to, origin], groups * BLOCK)
    _COPY[groups, BLOCK, place.stream](same, (True,), index, (origin,), (to,))


def contiguous(array: DeviceArray, place: Placement) -> DeviceArray:
    """Return an array as it is if it lies in C order, else a copy that does."""
    if array.is_contiguous:
        return array
    copy = place.empty(array.shape, array.dtype)
    copy_elements(array, copy, place)
    return copy


def target(
    out: Any, shape: Shape, dtype: np.dtype[Any], inputs: tuple[DeviceArray, ...], place: Placement
) -> DeviceArray:
    """Return a C-contiguous array for results: `out` itself where that works, else a new one."""
    if out is None:
        return place.empty(shape, dtype)
    check_output(out, dtype, shape)
    direct = (
        isinstance(out, DeviceArray)
        and out.dtype == dtype
        and out.is_contiguous
        and not any(shares_memory(out, x) or out.address == x.address for x in inputs)
    )
    return out if direct else place.empty(shape, dtype)
