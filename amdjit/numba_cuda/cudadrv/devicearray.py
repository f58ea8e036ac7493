"""Numba's `cudadrv.devicearray`: the class of device arrays, and functions about them."""

from typing import Any

from amdjit.numba_cuda.arrays import DeviceNDArray as DeviceNDArray
from amdjit.numba_cuda.arrays import DeviceRecord as DeviceRecord
from amdjit.numba_cuda.arrays import array_core as array_core
from amdjit.numba_cuda.arrays import auto_device as auto_device
from amdjit.numba_cuda.arrays import device_array_like as from_array_like
from amdjit.numba_cuda.arrays import from_record_like as from_record_like
from amdjit.numba_cuda.arrays import is_cuda_ndarray as is_cuda_ndarray

__all__ = [
    "DeviceNDArray",
    "DeviceRecord",
    "array_core",
    "auto_device",
    "from_array_like",
    "from_record_like",
    "is_contiguous",
    "is_cuda_ndarray",
    "require_cuda_ndarray",
    "verify_cuda_ndarray_interface",
]


def is_contiguous(ary: Any) -> bool:
    """Whether the elements of `array_core` are adjacent in C order."""
    step = ary.dtype.itemsize
    for extent, stride in zip(reversed(ary.shape), reversed(ary.strides), strict=True):
        if extent > 1 and stride:
            if stride != step:
                return False
            step *= extent
    return True


def require_cuda_ndarray(obj: Any) -> None:
    """Raise ValueError for anything but an array on the device."""
    if not is_cuda_ndarray(obj):
        raise ValueError("require an cuda ndarray object")


def verify_cuda_ndarray_interface(obj: Any) -> None:
    """Raise ValueError for anything but an array on the device, and AttributeError for one without
    Numba's attributes."""
    require_cuda_ndarray(obj)
    for name in ("shape", "strides", "dtype", "size"):
        getattr(obj, name)
