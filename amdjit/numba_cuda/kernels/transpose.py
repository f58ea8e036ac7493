"""Numba's `numba.cuda.kernels.transpose`."""

from __future__ import annotations

from typing import Any

from amdjit.arrays.copying import copy_array
from amdjit.numba_cuda.arrays import device_array, to_device
from amdjit.numba_cuda.streams import stream_of

__all__ = ["transpose"]


def transpose(a: Any, b: Any = None) -> Any:
    """Write the transposed matrix `a`, of the host or the device, to the device array `b`, and
    return `b`, by default a new array in C order. ValueError if `a` has not two axes."""
    if len(a.shape) != 2:
        raise ValueError(f"an array of shape {a.shape} is no matrix: `array.T` is a view of any")
    stream = getattr(a, "stream", 0)
    made = device_array(a.shape[::-1], a.dtype) if b is None else b
    copy_array(made, to_device(a, stream).T, stream_of(stream))
    return made
