"""Numba's `cudadrv.devicearray`: the class of device arrays, and functions about them."""

from typing import Any

from amdjit.numba_cuda.arrays import DeviceNDArray as DeviceNDArray
from amdjit.numba_cuda.arrays import DeviceRecord as DeviceRecord
from amdjit.numba_cuda.arrays import is_cuda_ndarray as is_cuda_ndarray

__all__ = ["DeviceNDArray", "DeviceRecord", "array_core", "is_contiguous", "is_cuda_ndarray"]


def array_core(ary: Any) -> Any:
    """Return an array without the axes along which it repeats the same elements (of stride 0)."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(slice(None) if stride else 0 for stride in ary.strides)]


def is_contiguous(ary: Any) -> bool:
    """Whether the elements of `array_core` are adjacent in C order."""
    step = ary.dtype.itemsize
    for extent, stride in zip(reversed(ary.shape), reversed(ary.strides), strict=True):
        if extent > 1 and stride:
            if stride != step:
                return False
            step *= extent
    return True
