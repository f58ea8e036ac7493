"""Copies between device arrays, which may be strided, broadcast, overlapping, of different types or
on different devices."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from amdjit.api import Kernel
from amdjit.arrays.kernels import convert, gather
from amdjit.arrays.layouts import (
    Rows,
    broadcast_strides,
    common_rows,
    share_memory,
    unit_of,
)
from amdjit.devices import current_device, use
from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime import arrays
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device, Layout
from amdjit.runtime.memory import temporary
from amdjit.runtime.place import is_captured, keep_for_graph
from amdjit.runtime.streams import Stream, handle_of
from amdjit.runtime.strides import Shape, contiguous_strides
from amdjit.types import Scalar, bf8, bf8_fnuz, bf16, f16, f32, fp8, fp8_fnuz, from_dtype

_BLOCK = 256
_MOST_BLOCKS = 65535
_NARROW = (f16, bf16)
# Types whose conversions differ between processors, or from NumPy's: they go through the host.
_BY_HOST = (fp8, bf8, fp8_fnuz, bf8_fnuz)


def copy_array(target: DeviceArray, source: DeviceArray, stream: Stream | None = None) -> None:
    """Copy an array into another, as NumPy's `target[...] = source` does.

    The source is broadcast and converted; the two may overlap and be on different devices.
    ValueError if the shapes do not fit.
    """
    strides = broadcast_strides(source, target.shape)
    handle = handle_of(stream, target.device)
    if target.size == 0:
        return
    if source.device is not target.device:
        if _is_plain(target, source):
            _copy_across(target, source, handle)
            return
        source = copied_to(target.device, source, stream)
        strides = broadcast_strides(source, target.shape)
    if target.dtype != source.dtype:
        source = converted(source, target.dtype, stream)
        strides = broadcast_strides(source, target.shape)
    elif share_memory(target, source):
        if (target.address, target.strides) == (source.address, strides):
            return
        source = duplicate(source, stream)
        strides = broadcast_strides(source, target.shape)
    _copy_elements(target, source, strides, handle, stream)


def spread_first(target: DeviceArray, stream: Stream | None = None) -> None:
    """Copy the first element of an array to all others."""
    handle = handle_of(stream, target.device)
    _copy_elements(target, target, (0,) * target.ndim, handle, stream)


def duplicate(source: DeviceArray, stream: Stream | None = None) -> DeviceArray:
    """Return a C-contiguous copy that only the work of this stream uses."""
    handle = handle_of(stream, source.device)
    copy = _scratch(source.device, source.shape, source.dtype, handle)
    if source.size:
        _copy_elements(copy, source, source.strides, handle, stream)
    return copy


def converted(
    source: DeviceArray, dtype: np.dtype[Any], stream: Stream | None = None
) -> DeviceArray:
    """Return a C-contiguous copy of another type, for the work of one stream."""
    handle = handle_of(stream, source.device)
    kinds = from_dtype(source.dtype), from_dtype(dtype)
    if None in kinds or any(kind in _BY_HOST for kind in kinds):
        host = source.copy_to_host(stream=stream).astype(dtype)
        return arrays.to_device(source.device, host, stream)
    if not source.is_contiguous:
        source = duplicate(source, stream)
    result = _scratch(source.device, source.shape, dtype, handle)
    if source.size:
        flat = source.reshape(-1), result.reshape(-1), np.int64(source.size)
        _launch(convert, source.device, source.size, stream, *flat, kinds[1], _by_way_of(*kinds))
    return result


def _by_way_of(source: Scalar | None, target: Scalar | None) -> Scalar | None:
    """Return the type through which NumPy converts: it makes f16 from f32, so that f64 is rounded
    twice."""
    if target in _NARROW and source is not None and source not in (f16, bf16, f32):
        return target if (source.name, target) == ("f64", f16) else f32
    return target


def _is_plain(target: DeviceArray, source: DeviceArray) -> bool:
    """Whether a copy between devices of one kind can copy the bytes without changing the layout."""
    same = (target.shape, target.dtype) == (source.shape, source.dtype)
    kinds = type(target.device) is type(source.device)
    return same and kinds and target.is_contiguous and source.is_contiguous


def copied_to(device: Device, source: DeviceArray, stream: Stream | None = None) -> DeviceArray:
    """Return a C-contiguous copy of another device's array, for the work of a stream."""
    copy = arrays.empty(device, source.shape, source.dtype)
    handle = handle_of(stream, device)
    if not source.size:
        return copy
    if type(source.device) is not type(device):
        copy.copy_from_host(source.copy_to_host(), stream)
        return copy
    _copy_across(copy, source if source.is_contiguous else duplicate(source), handle)
    return copy


def _copy_across(target: DeviceArray, source: DeviceArray, handle: Any) -> None:
    """Copy the bytes of another device's array, after the work that its current stream has now and
    before its later work."""
    if is_captured(handle):
        raise LaunchError(
            f"a copy from {source.device.name} to {target.device.name} cannot be captured: a graph "
            "is of one device. Copy before the capture."
        )
    device, other = target.device, source.device
    theirs = handle_of(None, other)
    ready = other.create_event(timing=False)
    other.record_event(ready, theirs)
    device.wait_event(handle, ready)
    device.copy_from_device(target.address, other, source.address, source.nbytes, handle)
    done = device.create_event(timing=False)
    device.record_event(done, handle)
    other.wait_event(theirs, done)


def _scratch(device: Device, shape: Shape, dtype: np.dtype[Any], handle: Any) -> DeviceArray:
    if is_captured(handle):
        raise LaunchError(
            "a copy that converts, or whose source and target overlap, needs memory in between, "
            "which a graph does not have: copy in two steps, through an array that you made before "
            "the capture"
        )
    memory = temporary(device, math.prod(shape) * dtype.itemsize, handle)
    strides = contiguous_strides(shape, dtype.itemsize)
    return DeviceArray(
        device, memory.address, shape=shape, dtype=dtype, strides=strides, owner=memory
    )


def _copy_elements(
    target: DeviceArray, source: DeviceArray, strides: Shape, handle: Any, stream: Stream | None
) -> None:
    """Copy elements of one type between memory that does not overlap."""
    device = target.device
    keep_for_graph(handle, target, source)
    rows = common_rows(target.shape, target.itemsize, target.strides, strides)
    if not rows.shape:
        device.copy_on_device(target.address, source.address, rows.nbytes, handle)
        return
    into = Layout(target.address, rows.strides[0])
    if not device.copy_rows(
        into, Layout(source.address, rows.strides[1]), rows.shape, rows.nbytes, handle
    ):
        _copy_units(target, source, rows, stream)


def _copy_units(
    target: DeviceArray, source: DeviceArray, rows: Rows, stream: Stream | None
) -> None:
    unit = unit_of(rows, target.address, source.address)
    inner = rows.nbytes // unit
    shape = [*rows.shape, inner] if inner > 1 else [*rows.shape]
    strides = [
        [*(stride // unit for stride in part), 1] if inner > 1 else [s // unit for s in part]
        for part in rows.strides
    ]
    count = math.prod(shape)
    flat, starts = zip(*(_units(array, unit) for array in (target, source)), strict=True)
    _launch(
        gather,
        target.device,
        count,
        stream,
        *flat,
        np.int64(count),
        _numbers(starts),
        _numbers(shape[::-1]),
        _numbers(strides[0][::-1]),
        _numbers(strides[1][::-1]),
    )


def _units(array: DeviceArray, unit: int) -> tuple[DeviceArray, int]:
    """Return the memory that an array spans, as units of bytes, and where its first element is."""
    low, high = array.byte_span
    dtype, shape = np.dtype(f"u{unit}"), ((high - low) // unit,)
    address, owner = array.address + low, array
    return DeviceArray(
        array.device, address, shape=shape, dtype=dtype, strides=(unit,), owner=owner
    ), -low // unit


def _numbers(values: Any) -> tuple[np.int64, ...]:
    return tuple(np.int64(value) for value in values)


def _launch(
    code: Kernel, device: Device, count: int, stream: Stream | None, *arguments: Any
) -> None:
    blocks = min(-(-count // _BLOCK), _MOST_BLOCKS)
    here = contextlib.nullcontext() if device is current_device() else use(device)
    with here:
        code[blocks, _BLOCK, stream](*arguments)
