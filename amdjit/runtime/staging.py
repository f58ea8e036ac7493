"""The copies of one launch's NumPy arrays to the device and back.

An array that shares no memory with another argument arrives C-contiguous, whatever its strides
were. Arrays that do share memory, or that overlap themselves (zero strides, sliding windows),
arrive as views of one copy of the memory that they span, so that a kernel sees the same aliasing as
NumPy would. Arrays in mapped and managed memory are used in place.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.diagnostics.errors import LaunchError
from amdjit.late_methods import dataclass
from amdjit.runtime import dlpack
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.runtime.elements import bytes_of, refuse_masked
from amdjit.runtime.host_copies import HostPlace
from amdjit.runtime.host_memory import place_on
from amdjit.runtime.memory import Memory, temporary
from amdjit.runtime.streams import Stream, handle_of
from amdjit.runtime.strides import byte_span, contiguous_strides, may_overlap_itself

# The alignment of allocations. Memory that is staged without changing its layout keeps its host
# address modulo this, so that the alignment of its elements is the same.
_ALIGNMENT = 256


@dataclass(slots=True)
class _Group:
    """Host arrays that are staged together."""

    low: int
    """The first byte of host memory that they span."""
    high: int
    """The end of the host memory that they span."""
    positions: list[int] = field(default_factory=list)
    """Their positions among the arguments."""
    as_it_lies: bool = False
    start: int = 0


class Staging:
    """The arguments of one launch with DeviceArrays in place of NumPy arrays.

    `arguments` has the final addresses, shapes and strides from the start; `upload` copies the
    contents. names: one for each value. by_value: the positions of NumPy arrays that stay as they
    are: vectors and compile-time values. stream: of the launch. LaunchError for a DeviceArray or a
    stream of another device.
    """

    def __init__(
        self,
        device: Device,
        names: Sequence[str],
        values: Sequence[Any],
        by_value: Collection[int] = (),
        stream: Stream | None = None,
    ) -> None:
        self.arguments: list[Any] = list(values)
        self._device = device
        self._handle = handle_of(stream, device)
        self.names = names
        self._hosts: dict[int, NDArray[Any]] = {}
        self._in_place: dict[int, NDArray[Any]] = {}
        for position, value in enumerate(values):
            if isinstance(value, DeviceArray):
                self._check_place(position, value)
            elif isinstance(value, np.ndarray):
                self._refuse_masked(position, value)
                if position not in by_value:
                    self._take(position, value)
        self._groups = _group(self._hosts) if self._hosts else []
        if self._groups and device.dlpack_device[0] == dlpack.CPU:
            self._refuse_shared_device_memory()
        for group in self._groups:
            self._place(group)

    def _take(self, position: int, value: NDArray[Any]) -> None:
        """Let the kernel use mapped and managed memory in place; other arrays are copied."""
        address = place_on(self._device, value)
        if address is None or not value.flags.aligned:
            self._hosts[position] = value
            return
        self._in_place[position] = value
        self.arguments[position] = DeviceArray(
            self._device,
            address,
            shape=value.shape,
            dtype=value.dtype,
            strides=value.strides,
            owner=value,
        )

    @property
    def has_host_arrays(self) -> bool:
        """Whether any argument is a NumPy array that is copied: the launch must then wait for its
        results."""
        return bool(self._hosts)

    @property
    def host_places(self) -> list[HostPlace]:
        """Where the NumPy arguments lie."""
        return [
            HostPlace(self.names[p], _address(host), host.nbytes) for p, host in self._hosts.items()
        ]

    def check_writable(self, written: Sequence[bool]) -> None:
        """Raise LaunchError if the kernel writes a read-only array, NumPy's or another library's.

        written: a flag for each argument."""
        for position, array in enumerate(self.arguments):
            if not (written[position] and isinstance(array, DeviceArray)):
                continue
            host = self._hosts.get(position, self._in_place.get(position))
            if array.is_read_only or (host is not None and not host.flags.writeable):
                name = self.names[position]
                kind = "array" if host is None else "NumPy array"
                raise LaunchError(
                    f"the kernel writes argument {name}, a read-only {kind}. "
                    f"Pass a writable array, such as {name}.copy()."
                )

    def upload(self, stream: Stream | None = None) -> None:
        """Copy the host arrays to the device, in the order of the stream."""
        handle = handle_of(stream, self._device)
        for group in self._groups:
            if group.high == group.low:
                continue
            if group.as_it_lies:
                self._device.copy_to_device(group.start, _raw_bytes(group.low, group.high), handle)
            else:
                position = group.positions[0]
                contiguous = np.ascontiguousarray(self._hosts[position])
                self._device.copy_to_device(
                    self.arguments[position].address, bytes_of(contiguous), handle
                )

    def download(self, written: Sequence[bool], stream: Stream | None = None) -> None:
        """Wait for the stream and copy back what the kernel wrote, to the arrays' own elements
        only."""
        for group in self._groups:
            positions = [p for p in group.positions if written[p]]
            if not positions or group.high == group.low:
                continue
            if group.as_it_lies:
                self._download_span(group, positions, stream)
            else:
                host = self._hosts[positions[0]]
                # As a plain ndarray, because assigning to a subclass may do more than store.
                self.arguments[positions[0]].copy_to_host(host.view(np.ndarray), stream)

    def _download_span(
        self, group: _Group, positions: Sequence[int], stream: Stream | None
    ) -> None:
        span = np.empty(group.high - group.low, np.uint8)
        self._device.copy_to_host(bytes_of(span), group.start, handle_of(stream, self._device))
        for position in positions:
            host = self._hosts[position].view(np.ndarray)
            host[...] = np.ndarray(
                host.shape, host.dtype, span, _address(host) - group.low, host.strides
            )

    def _check_place(self, position: int, array: DeviceArray) -> None:
        if array.device is not self._device:
            name = self.names[position]
            raise LaunchError(
                f"argument {name} is on {array.device.name}, the launch on {self._device.name}. "
                f"Copy it: amdjit.to_device({name}.copy_to_host()), or launch inside `with "
                'amdjit.use("'
                f'{array.device.name}"):`.'
            )

    def _refuse_masked(self, position: int, value: NDArray[Any]) -> None:
        try:
            refuse_masked(value, f"argument {self.names[position]}")
        except TypeError as problem:
            raise LaunchError(str(problem)) from None

    def _refuse_shared_device_memory(self) -> None:
        """Raise LaunchError for a NumPy view of device memory beside a DeviceArray over it.

        The view, made by from_dlpack, would be staged as a copy."""
        spans = [
            (position, _span(array))
            for position, array in enumerate(self.arguments)
            if isinstance(array, DeviceArray) and array.has_end
        ]
        for group in self._groups:
            for position, (low, high) in spans:
                if low < group.high and group.low < high:
                    raise LaunchError(
                        f"arguments {self.names[group.positions[0]]} (a NumPy array) and "
                        f"{self.names[position]} "
                        "(a DeviceArray) share memory. Pass DeviceArrays, or views of one, for "
                        "both."
                    )

    def _place(self, group: _Group) -> None:
        if not group.as_it_lies:
            position = group.positions[0]
            host = self._hosts[position]
            memory = temporary(self._device, host.nbytes, self._handle)
            strides = contiguous_strides(host.shape, host.itemsize)
            self._set(position, memory.address, strides, memory)
            return
        padding = group.low % _ALIGNMENT
        memory = temporary(self._device, padding + group.high - group.low, self._handle)
        group.start = memory.address + padding
        for position in group.positions:
            host = self._hosts[position]
            if not host.flags.aligned:
                name = self.names[position]
                raise LaunchError(
                    f"argument {name} shares memory with another argument and its elements are "
                    "not aligned to "
                    f"{host.dtype.alignment} bytes. Pass an aligned array, such as {name}.copy()."
                )
            self._set(position, group.start + _address(host) - group.low, host.strides, memory)

    def _set(self, position: int, address: int, strides: tuple[int, ...], memory: Memory) -> None:
        host = self._hosts[position]
        self.arguments[position] = DeviceArray(
            self._device, address, shape=host.shape, dtype=host.dtype, strides=strides, owner=memory
        )


def _group(hosts: dict[int, NDArray[Any]]) -> list[_Group]:
    """Put arrays whose spans overlap into one group."""
    groups: list[_Group] = []
    spans = sorted((_span_of(host), position) for position, host in hosts.items())
    empty = [_Group(low, high, [position]) for (low, high), position in spans if low == high]
    for (low, high), position in spans:
        if low == high:
            continue
        if groups and low < groups[-1].high:
            groups[-1].high = max(groups[-1].high, high)
            groups[-1].as_it_lies = True
        else:
            host = hosts[position]
            groups.append(
                _Group(
                    low,
                    high,
                    as_it_lies=may_overlap_itself(host.shape, host.strides, host.itemsize),
                )
            )
        groups[-1].positions.append(position)
    return groups + empty


def _address(host: NDArray[Any]) -> int:
    return int(host.__array_interface__["data"][0])


def _span_of(host: NDArray[Any]) -> tuple[int, int]:
    low, high = byte_span(host.shape, host.strides, host.itemsize)
    address = _address(host)
    return address + low, address + high


def _span(array: DeviceArray) -> tuple[int, int]:
    low, high = array.byte_span
    return array.address + low, array.address + high


def _raw_bytes(low: int, high: int) -> memoryview:
    return memoryview((ctypes.c_ubyte * (high - low)).from_address(low)).cast("B")
