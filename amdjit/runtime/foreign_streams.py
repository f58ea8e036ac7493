"""Streams of other libraries: PyTorch's, CuPy's, Numba's, or whatever names a HIP stream."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from amdjit.diagnostics.errors import LaunchError

__all__ = ["device_index_of", "handle_number_of"]

# `torch.cuda.Stream.cuda_stream`, `cupy.cuda.Stream.ptr`.
_HANDLES = ("cuda_stream", "ptr")
_DEVICES = ("device_index", "device_id")
_PROTOCOL_VERSION = 0


def handle_number_of(stream: Any) -> int | None:
    """Return the HIP handle of another library's stream, 0 for the default stream; None for other
    objects.

    A stream is any object with `__cuda_stream__`, `cuda_stream` or `ptr`, or the handle itself as
    an int or a ctypes.c_void_p. LaunchError for a `__cuda_stream__` of a version that amdjit does
    not know.
    """
    if isinstance(stream, bool):
        return None
    if isinstance(stream, (int, np.integer)):
        return int(stream) if stream >= 0 else None
    if isinstance(stream, ctypes.c_void_p):
        return stream.value or 0
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # cuda.core calls a method, some libraries have a property.
        version, handle = protocol() if callable(protocol) else protocol
        if version != _PROTOCOL_VERSION:
            raise LaunchError(
                f"the stream {stream!r} has version {version} of __cuda_stream__; amdjit knows "
                f"version {_PROTOCOL_VERSION}: give the handle itself, as an int"
            )
        return int(handle)
    handles = (getattr(stream, name, None) for name in _HANDLES)
    return next((handle for handle in handles if isinstance(handle, int)), None)


def device_index_of(stream: Any) -> int | None:
    """Return the index of the GPU that another library's stream says it is on."""
    indices = (getattr(stream, name, None) for name in _DEVICES)
    return next((index for index in indices if isinstance(index, int) and index >= 0), None)
