"""Sends arguments to another process, and there to a device.

Arrays arrive with the same shape, strides and alignment, so that the kernel is compiled for the
same types. An array that is passed twice is one array there, too.
"""

from __future__ import annotations

import dataclasses
import pickle
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amdjit.arrays.creation import asarray, to_device
from amdjit.diagnostics import LaunchError
from amdjit.late import late
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.tuning.errors import TuningError

if TYPE_CHECKING:
    import cloudpickle
else:
    cloudpickle = late("cloudpickle")

__all__ = ["SentArray", "by_name", "dumps", "on_device", "on_host", "sent"]

# Allocations are aligned to this.
_ALIGNMENT = 256


@dataclass(frozen=True, eq=False)
class SentArray:
    """An array of a device in a form that can be sent to another process."""

    contents: NDArray[Any]
    strides: tuple[int, ...]
    offset: int
    """The offset of the first element from the start of an allocation, modulo the alignment."""

    def place(self, device: Device) -> DeviceArray:
        """Return such an array on a device."""
        contents = self.contents
        low, high = _span(contents.shape, self.strides, contents.itemsize)
        start = (self.offset + low) % _ALIGNMENT
        memory = np.zeros(start + high - low, np.uint8)
        first = start - low
        view: NDArray[Any] = np.ndarray(
            contents.shape, contents.dtype, memory.data, first, self.strides
        )
        view[...] = contents
        whole = to_device(memory, device=device)
        return DeviceArray(
            device,
            whole.address + first,
            shape=contents.shape,
            dtype=contents.dtype,
            strides=self.strides,
            owner=whole,
        )


def _span(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    if not all(shape):
        return 0, 0
    ends = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends) + itemsize


def sent(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments in a form that can be pickled, with SentArrays in place of arrays of
    devices."""
    known: dict[int, Any] = {}

    def send(value: Any) -> Any:
        if id(value) not in known:
            known[id(value)] = value, _sent(value)
        return known[id(value)][1]

    return {name: _mapped(value, send) for name, value in arguments.items()}


def _sent(value: Any) -> Any:
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        value = value if isinstance(value, DeviceArray) else asarray(value)
    if isinstance(value, DeviceArray):
        return SentArray(value.copy_to_host(), value.strides, value.address % _ALIGNMENT)
    return value


def on_device(arguments: Mapping[str, Any], device: Device) -> dict[str, Any]:
    """Return sent arguments with new arrays on a device."""
    known: dict[int, DeviceArray] = {}

    def place(value: Any) -> Any:
        if not isinstance(value, (SentArray, np.ndarray)):
            return value
        if id(value) not in known:
            if isinstance(value, SentArray):
                known[id(value)] = value.place(device)
            else:
                known[id(value)] = to_device(value, device=device)
        return known[id(value)]

    return {name: _mapped(value, place) for name, value in arguments.items()}


def on_host(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with new NumPy arrays in place of all arrays."""

    def copy(value: Any) -> Any:
        if isinstance(value, SentArray):
            return value.contents.copy()
        if isinstance(value, np.ndarray):
            return value.copy()
        found = _sent(value)
        return found.contents if isinstance(found, SentArray) else value

    return {name: _mapped(value, copy) for name, value in arguments.items()}


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return a value with a function applied to each item of its records."""
    if isinstance(value, tuple):
        items = [_mapped(item, function) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, SentArray)):
        fields = {
            each.name: _mapped(getattr(value, each.name), function)
            for each in dataclasses.fields(value)
            if each.init
        }
        return dataclasses.replace(value, **fields)
    return function(value)


def by_name(tuned: Any) -> Any:
    """Return the object that other processes find by its name: a tuned kernel, or the kernel that
    it contains."""
    module, _, name = f"{tuned.function.__module__}:{tuned.__qualname__}".partition(":")
    with suppress(AttributeError, KeyError):
        if attrgetter(name)(sys.modules[module]) is tuned.kernel:
            return tuned.kernel
    return tuned


def dumps(value: Any, what: str) -> bytes:
    """Return a pickle, which may contain what a script, a notebook or another function defines.
    TuningError with the remedy if it cannot be pickled."""
    try:
        return bytes(cloudpickle.dumps(value))
    except (pickle.PicklingError, TypeError, AttributeError, LaunchError) as problem:
        raise TuningError(
            f"{what} cannot be sent to another process: {problem}. Leave out what belongs to this "
            "process, such as open files and locks, or tune in this process's threads: "
            "executor=concurrent.futures.ThreadPoolExecutor()"
        ) from None
