"""Numba's `cudadrv.devicearray`: the class of device arrays, and functions that recognise them."""

from amdjit.numba_cuda.arrays import DeviceNDArray as DeviceNDArray
from amdjit.numba_cuda.arrays import DeviceRecord as DeviceRecord
from amdjit.numba_cuda.arrays import is_cuda_ndarray as is_cuda_ndarray

__all__ = ["DeviceNDArray", "DeviceRecord", "is_cuda_ndarray"]
