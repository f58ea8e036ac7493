"""Where whole-array work runs: arguments are arrays of the host or of devices, and results are of
the same kind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from amdjit.arrays.creation import empty, to_device
from amdjit.arrays.device_array import over
from amdjit.devices import current_device, find_device, use
from amdjit.diagnostics.errors import LaunchError
from amdjit.launching.foreign_arguments import borrowed
from amdjit.runtime import dlpack
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.runtime.elements import extents_of
from amdjit.runtime.foreign_arrays import is_foreign, located
from amdjit.runtime.memory import temporary
from amdjit.runtime.place import PLACE, StreamOfDevice, handle_of, is_captured
from amdjit.runtime.streams import Stream
from amdjit.runtime.strides import Shape, contiguous_strides

__all__ = ["Placement", "placement"]


@dataclass(frozen=True, slots=True)
class Placement:
    """The device and stream of some work. on_device: whether results stay there. loans: arrays of
    other libraries, which the work reads."""

    device: Device
    stream: Stream | None
    on_device: bool
    loans: ExitStack

    def place(self, array: Any, what: str) -> DeviceArray:
        """Return an array on the device: as it is, another library's on the same memory, or copied
        from the host."""
        if isinstance(array, DeviceArray):
            return array
        if is_foreign(array):
            try:
                return over(self.loans.enter_context(borrowed(array, self.device, self.stream)))
            except BufferError as error:
                raise BufferError(f"{what} {error}") from None
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(
                f"{what} is a masked array, and a device has no masks: fill it, "
                "`array.filled(value)`, or give .data"
            )
        host = np.asarray(array)
        if host.dtype.hasobject:
            raise TypeError(f"{what} holds Python objects ({host.dtype}), which no device can")
        return to_device(host, self.stream)

    def empty(self, shape: int | Shape, dtype: DTypeLike) -> DeviceArray:
        """Return a new array for results."""
        return empty(shape, dtype)

    def scratch(self, shape: int | Shape, dtype: DTypeLike) -> DeviceArray:
        """Return a new array for what passes from kernel to kernel of this work: only its stream
        may use it. LaunchError while the stream is captured."""
        handle = handle_of(self.stream, self.device)
        if is_captured(handle):
            raise LaunchError(
                "whole-array work needs memory between its kernels, which a graph does not have: "
                "do it before `with stream.capture()` or after it"
            )
        extents, kind = extents_of(shape), np.dtype(dtype)
        memory = temporary(self.device, math.prod(extents) * kind.itemsize, handle)
        strides = contiguous_strides(extents, kind.itemsize)
        return DeviceArray(
            self.device, memory.address, shape=extents, dtype=kind, strides=strides, owner=memory
        )

    def returned(self, result: DeviceArray) -> Any:
        """Return a result as the user gets it; without axes on the host, it is a NumPy scalar."""
        if self.on_device:
            return result
        return result.copy_to_host(stream=self.stream)[()]


@contextmanager
def placement(arrays: Sequence[Any], stream: Stream | None) -> Iterator[Placement]:
    """Choose the device for work on these arrays and make it the current one.

    It is the stream's, else that of the first DeviceArray, else the GPU of another library's array,
    if no `use` says otherwise, else the current one. Results stay on the device if one of the
    arrays is a DeviceArray or another library's on a GPU.
    """
    first = next((array for array in arrays if isinstance(array, DeviceArray)), None)
    gpus = [index for kind, index in _places(arrays) if kind == dlpack.ROCM]
    if isinstance(stream, StreamOfDevice):
        device = stream.device
    elif first is not None:
        device = first.device
    elif gpus and stream is None and PLACE.get() is None:
        device = find_device(f"hip:{gpus[0]}")
    else:
        device = current_device()
    here = nullcontext() if device is current_device() else use(device)  # also its current stream
    with here, ExitStack() as loans:
        yield Placement(device, stream, first is not None or bool(gpus), loans)


def _places(arrays: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the DLPack devices of the arrays that are other libraries'."""
    return [located(array, current_device()) for array in arrays if is_foreign(array)]
