"""The emulated device's memory: host memory with a table of allocations, and gaps between them.

A device address is the host's. Every allocation ends with a gap that belongs to no allocation, so
that running over its end is noticed even if the next allocation is near.

Checks learn what happens to memory as `MemoryObserver`s; this module knows none of them.
"""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from amdjit.diagnostics.errors import Allocation, BackendError
from amdjit.emulator.layout import TABLE_ROW
from amdjit.forking import Lock
from amdjit.late_methods import dataclass

# As hipMalloc aligns. The gap after each allocation belongs to no allocation, so that an access
# slightly beyond its end is found, rather than hitting the next allocation.
ALIGNMENT = 256
GAP = 4096

# First byte, one past the last, and whether kernels may write it.
Piece = tuple[int, int, bool]


@dataclass(frozen=True, slots=True)
class Range:
    """An allocation: [start, end), and a label for faults, which only amdjit's own have."""

    start: int
    end: int
    label: str
    rows: bytes
    """Its rows of the table, which say what kernels may write."""
    storage: NDArray[np.uint8]
    content: NDArray[np.uint8]
    """The memory, which lies in `storage`."""


class MemoryObserver:
    """What a check knows about a device's memory; `DeviceMemory.observer` attaches one.

    The methods are called after the fact, from any thread and from finalizers: like
    `DeviceMemory`, an observer has no lock. By default they do nothing.
    """

    def allocated(self, allocation: Range) -> None:
        """Note a new allocation, in which nothing has been written yet."""

    def freed(self, allocation: Range) -> None:
        """Note that an allocation is gone."""

    def wrote(self, allocation: Range, first: int, nbytes: int) -> None:
        """Note that the host has written bytes of an allocation, from byte `first` on."""

    def wrote_rows(
        self,
        allocation: Range,
        first: int,
        strides: tuple[int, ...],
        shape: tuple[int, ...],
        nbytes: int,
    ) -> None:
        """Note that the host has written rows of bytes, the first one from byte `first` on."""

    def shared(self, allocation: Range) -> None:
        """Note that others may write an allocation unobserved from now on."""

    def launched(self) -> None:
        """Note that a kernel has run whose writes nobody observed."""

    def explain_free(self, address: int) -> str:
        """Return why no allocation starts at `address`, to end an error message; "" if unknown."""
        return ""


_Observer = TypeVar("_Observer", bound=MemoryObserver)


def _rows(start: int, pieces: tuple[Piece, ...]) -> bytes:
    """Return rows of the table for (first byte, one past the last, writable) of each piece,
    relative to the start."""
    fields = [
        field for first, end, may in pieces for field in (start + first, start + end, int(may))
    ]
    return struct.pack(f"={len(fields)}Q", *fields)


@dataclass(frozen=True, slots=True)
class Table:
    """All allocations at one time. rows: start, end, writable, sorted. storages: keep the memory
    alive."""

    rows: NDArray[np.uint64]
    storages: tuple[NDArray[np.uint8], ...]


class DeviceMemory:
    """Allocations by address. Safe to use from several threads.

    Allocating and freeing takes no lock. Finalizers free arrays, and the garbage collector may run
    them in the middle of any method here: they would wait forever for a lock that this thread
    already holds. Instead, each step is one operation of a dict, which neither another thread nor a
    collection can interrupt (docs.python.org/3/faq/library.html, thread-safe operations).
    """

    def __init__(self, limit: int | None = None) -> None:
        """Allow `limit` bytes in all, or as many as the host has if it is None."""
        self.limit = limit
        self._sizes: dict[int, int] = {}
        # What `_change` was when the garbage was last collected.
        self._collected: object = None
        self._ranges: dict[int, Range] = {}
        self._change = object()  # replaced after each change of `_ranges`
        self._table: tuple[object, Table] | None = None  # with its `_change`
        self._observers: tuple[MemoryObserver, ...] = ()
        self._attaching = Lock()  # no finalizer attaches an observer

    def observer(self, kind: type[_Observer]) -> _Observer:
        """Return the observer of a kind; the first call attaches it, and it knows nothing of what
        happened before."""
        with self._attaching:
            for known in self._observers:
                if isinstance(known, kind):
                    return known
            made = kind()
            self._observers = (*self._observers, made)
            return made

    def allocate(
        self,
        nbytes: int,
        label: str = "",
        pieces: tuple[Piece, ...] | None = None,
        gap: int = GAP,
        zeroed: bool = False,
    ) -> int:
        """Reserve memory, at least one byte, and return its address. BackendError if the host has
        none left.

        pieces: what kernels may access; by default all of it, writable. gap: bytes after it that
        belong to no allocation. zeroed: whether it holds zeros, and counts as written.
        """
        if nbytes < 0:
            raise BackendError(f"cannot allocate {nbytes} bytes")
        size = max(nbytes, 1)
        if self.limit is not None and size > self.limit - self.used:
            self._make_room(size)
        try:
            make = np.zeros if zeroed else np.empty  # new pages are zeros anyway
            storage: NDArray[np.uint8] = make(size + ALIGNMENT + gap, np.uint8)
        except (MemoryError, ValueError) as error:
            raise BackendError(f"out of memory: {nbytes} bytes asked for") from error
        base = storage.ctypes.data
        first = -base % ALIGNMENT
        start, content = base + first, storage[first : first + size]
        self._sizes[start] = size
        rows = _rows(start, pieces or ((0, size, True),))
        allocation = Range(
            start, start + size, label=label, rows=rows, storage=storage, content=content
        )
        self._add(allocation)
        if zeroed:
            self._wrote(allocation, 0, size)
        return start

    def _add(self, allocation: Range) -> None:
        self._ranges[allocation.start] = allocation
        for observer in self._observers:
            observer.allocated(allocation)
        self._change = object()

    def adopt(self, address: int, nbytes: int, is_writable: bool = True) -> None:
        """Let kernels access memory of the host until it is freed here; it counts as written."""
        there = memoryview((ctypes.c_ubyte * nbytes).from_address(address)).cast("B")
        content = np.frombuffer(there, np.uint8)
        rows = _rows(address, ((0, nbytes, is_writable),))
        self._add(
            Range(address, address + nbytes, label="", rows=rows, storage=content, content=content)
        )
        self.share(address)

    def free(self, address: int) -> None:
        """Free an allocation. BackendError if none starts at `address`."""
        freed = self._ranges.pop(address, None)
        self._sizes.pop(address, None)
        if freed is None:
            why = "".join(observer.explain_free(address) for observer in self._observers)
            raise BackendError(f"free: no allocation starts at {address:#x}{why}")
        for observer in self._observers:
            observer.freed(freed)
        self._change = object()

    def share(self, address: int) -> None:
        """Tell observers that others may write the allocation that holds `address` unobserved."""
        allocation = self._holding_all(address, 0)
        for observer in self._observers:
            observer.shared(allocation)

    def launched(self) -> None:
        """Tell observers that a kernel has run whose writes nobody observed."""
        for observer in self._observers:
            observer.launched()

    @property
    def used(self) -> int:
        """Bytes of all allocations."""
        return sum(list(self._sizes.values()))

    @property
    def room(self) -> int | None:
        """Bytes that may still be allocated, None if only the host limits them."""
        return None if self.limit is None else max(self.limit - self.used, 0)

    def collect(self) -> None:
        """Free what arrays in reference cycles hold, if anything was allocated or freed since the
        last time."""
        if self._collected is not self._change:
            gc.collect()
            self._collected = self._change

    def _make_room(self, size: int) -> None:
        gc.collect()  # frees arrays in reference cycles
        assert self.limit is not None
        if size > self.limit - self.used:
            raise BackendError(
                f"out of memory: {size} bytes asked for, {self.used} of the emulator's "
                f"{self.limit} are in use "
                "(AMDJIT_EMULATOR_MEMORY sets how many it has)"
            )

    def table(self) -> Table:
        """Return all allocations as they are now. The table keeps their memory alive, freed or
        not."""
        change, known = self._change, self._table
        if known is not None and known[0] is change:
            return known[1]
        # There may be thousands: sort and join in C, from rows made with each allocation.
        found = self._ranges.copy()
        ranges = [found[start] for start in sorted(found)]
        rows = np.frombuffer(
            bytearray().join([allocation.rows for allocation in ranges]), np.uint64
        )
        table = Table(
            rows.reshape(-1, TABLE_ROW), tuple([allocation.storage for allocation in ranges])
        )
        self._table = (change, table)
        return table

    def contents(self) -> list[NDArray[np.uint8]]:
        """Return the memory of each allocation."""
        return [allocation.content for allocation in self._ranges.copy().values()]

    def bounds(self) -> list[tuple[int, int]]:
        """Return the first byte, and one past the last, of each allocation."""
        return [(allocation.start, allocation.end) for allocation in self._ranges.copy().values()]

    def check(self, address: int, nbytes: int) -> int:
        """Return the start of the allocation that holds [address, address + nbytes).

        BackendError if none holds all of it.
        """
        return self._holding_all(address, nbytes).start

    def _holding_all(self, address: int, nbytes: int) -> Range:
        allocation = self._ranges.get(address)
        if allocation is None:
            ranges = self._ranges.copy()
            start = max((start for start in ranges if start <= address), default=0)
            allocation = ranges.get(start)
        if allocation is None or address + nbytes > allocation.end:
            raise BackendError(
                f"{nbytes} bytes at {address:#x} are in no allocation of this device"
            )
        return allocation

    def view(self, address: int, nbytes: int) -> memoryview:
        """Return the first bytes of the allocation that starts at `address`; the view keeps them
        alive."""
        return self._ranges[address].content[:nbytes].data

    def write(self, address: int, data: memoryview) -> None:
        """Copy host bytes in."""
        allocation = self._holding_all(address, data.nbytes)
        if data.nbytes:
            first = address - allocation.start
            allocation.content[first : first + data.nbytes] = np.frombuffer(data, np.uint8)
            self._wrote(allocation, first, data.nbytes)

    def read(self, destination: memoryview, address: int) -> None:
        """Copy bytes out to writable host memory."""
        allocation = self._holding_all(address, destination.nbytes)
        if destination.nbytes:
            first = address - allocation.start
            np.frombuffer(destination, np.uint8)[:] = allocation.content[
                first : first + destination.nbytes
            ]

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        """Copy between two places, which may overlap."""
        allocation = self._holding_all(destination, nbytes)
        self.check(source, nbytes)
        if nbytes:
            ctypes.memmove(destination, source, nbytes)
            self._wrote(allocation, destination - allocation.start, nbytes)

    def copy_rows(
        self,
        destination: tuple[int, tuple[int, ...]],
        source: tuple[int, tuple[int, ...]],
        shape: tuple[int, ...],
        nbytes: int,
    ) -> None:
        """Copy rows of bytes, `shape` of them along each axis: (address, strides in bytes) each."""
        into, first = self._rows_at(*destination, shape, nbytes)
        source_rows, source_first = self._rows_at(*source, shape, nbytes)
        row = np.dtype((np.void, nbytes))
        rows = np.ndarray(shape, row, source_rows.content, source_first, source[1])
        np.ndarray(shape, row, into.content, first, destination[1])[...] = rows
        for observer in self._observers:
            observer.wrote_rows(into, first, destination[1], shape, nbytes)

    def _rows_at(
        self, address: int, strides: tuple[int, ...], shape: tuple[int, ...], nbytes: int
    ) -> tuple[Range, int]:
        """Return the allocation that holds rows of bytes, and where in it the first one is."""
        steps = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
        low = address + sum(step for step in steps if step < 0)
        high = address + sum(step for step in steps if step > 0) + nbytes
        allocation = self._holding_all(low, high - low)
        return allocation, address - allocation.start

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Write a pattern `count` times, one after another."""
        nbytes = len(pattern) * count
        allocation = self._holding_all(address, nbytes)
        if nbytes:
            first = address - allocation.start
            content = allocation.content[first : first + nbytes]
            if len(pattern) in (1, 2, 4, 8):  # NumPy fills with numbers faster than with rows
                content.view(f"u{len(pattern)}").fill(int.from_bytes(pattern, sys.byteorder))
            else:
                content.reshape(count, -1)[...] = np.frombuffer(pattern, np.uint8)
            self._wrote(allocation, first, nbytes)

    def _wrote(self, allocation: Range, first: int, nbytes: int) -> None:
        for observer in self._observers:
            observer.wrote(allocation, first, nbytes)

    def holding(self, address: int) -> Range | None:
        """Return the allocation that contains an address."""
        ranges = self._ranges.copy().values()
        return next(
            (allocation for allocation in ranges if allocation.start <= address < allocation.end),
            None,
        )

    def nearest(self, address: int) -> Allocation | None:
        """Return the allocation nearest to an address, None if there are none."""
        ranges = list(self._ranges.copy().values())
        if not ranges:
            return None
        best = min(ranges, key=lambda r: max(r.start - address, address - r.end, 0))
        distance = address - best.end if address >= best.end else address - best.start
        return Allocation(best.start, best.end - best.start, distance, best.label)
