"""Host memory for the device under Numba's names: pinned, mapped and managed arrays."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from amdjit.arrays import creation
from amdjit.numba_cuda.arrays import element_dtype, like_strides, order_of, over_host, to_device
from amdjit.runtime.elements import element_type, extents_of

__all__ = [
    "InPlaceArray",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "pinned",
    "pinned_array",
    "pinned_array_like",
]


class InPlaceArray(np.ndarray):
    """A NumPy array in mapped or managed memory, which offers that memory to libraries for GPUs.

    stream: the stream of its CUDA array interface, 0 for the default stream.
    """

    stream: Any = 0

    def __array_finalize__(self, made_of: Any) -> None:
        self.stream = getattr(made_of, "stream", 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface; AttributeError for an array that has other memory, such as a
        sum."""
        return over_host(self, self.stream).__cuda_array_interface__

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address on the device."""
        return over_host(self).device_ctypes_pointer


def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> Any:
    """Return a NumPy array in pinned memory."""
    return _ordered(creation.pinned_empty, shape, dtype, order, strides)


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> Any:
    """Return a NumPy array in memory that the device reads and writes, too."""

    def make(extents: Any, kind: Any) -> Any:
        return creation.pinned_empty(extents, kind, mapped=True)

    return _in_place(_ordered(make, shape, dtype, order, strides), stream)


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> Any:
    """Return a NumPy array in managed memory."""
    return _in_place(_ordered(creation.managed_empty, shape, dtype, order, strides), stream)


def _in_place(array: Any, stream: Any) -> InPlaceArray:
    made: InPlaceArray = array.view(InPlaceArray)
    made.stream = stream
    return made


def _ordered(make: Any, shape: Any, dtype: Any, order: str, strides: Any = None) -> Any:
    extents, kind = extents_of(shape), element_type(element_dtype(dtype))
    if strides is None:
        return make(extents[::-1], kind).T if order == "F" else make(extents, kind)
    axes = sorted(range(len(extents)), key=lambda axis: -strides[axis])
    return make(tuple(extents[axis] for axis in axes), kind).transpose(np.argsort(axes))


def pinned_array_like(ary: Any) -> Any:
    """Return pinned memory of the same shape, type and order."""
    return pinned_array(ary.shape, ary.dtype, like_strides(ary), order=order_of(ary))


def mapped_array_like(ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> Any:
    """Return mapped memory of the same shape, type and order."""
    return mapped_array(ary.shape, ary.dtype, like_strides(ary), order_of(ary), stream)


@contextlib.contextmanager
def pinned(*arrays: Any) -> Any:
    """Do nothing to arrays in pageable memory: copies of them need no pinning."""
    yield


@contextlib.contextmanager
def mapped(*arrays: Any, stream: Any = 0) -> Iterator[Any]:
    """Make NumPy arrays available on the device for a block: arrays with their contents, which are
    copied back at its end."""
    made = [to_device(each, stream) for each in arrays]
    try:
        yield made[0] if len(made) == 1 else made
    finally:
        for host, there in zip(arrays, made, strict=True):
            there.copy_to_host(host, stream)
