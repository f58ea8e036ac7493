"""The emulated device's memory: host memory with a table of allocations and room between them.

A device address is the host's. Every allocation ends with a gap that belongs to no allocation, so
that running over its end is seen even where the next allocation is near.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amdjit.diagnostics.errors import Allocation, BackendError
from amdjit.emulator.checks.init.written_memory import WrittenMemory
from amdjit.emulator.checks.memory.quarantine import CallPlace, Freed, Quarantine, call_place
from amdjit.emulator.layout import TABLE_ROW

if TYPE_CHECKING:
    from amdjit.emulator.checks.race.memory import RaceMemory

ALIGNMENT = 256
GAP = 4096
# Where the memory check is on: address space is no memory until it is used.
TRACKED_GAP = 1 << 20


Piece = tuple[int, int, bool]


@dataclass(frozen=True, slots=True)
class Range:
    """An allocation: [start, end), what it is called in faults, and what kernels may write of it.

    rows: its rows of the table. content: the memory, which lies in `storage`. made: where in the
    program, if the memory check was on.
    """

    start: int
    end: int
    label: str
    rows: bytes
    storage: NDArray[np.uint8]
    content: NDArray[np.uint8]
    made: CallPlace | None = None


def _rows(start: int, pieces: tuple[Piece, ...]) -> bytes:
    """Return rows of the table for (first byte, one past the last, writable) of each piece,
    relative to the start."""
    fields = [
        field for first, end, may in pieces for field in (start + first, start + end, int(may))
    ]
    return struct.pack(f"={len(fields)}Q", *fields)


@dataclass(frozen=True, slots=True)
class Table:
    """All allocations at one time: `rows` are start, end, writable, sorted. `storages` keeps the
    memory alive."""

    rows: NDArray[np.uint64]
    storages: tuple[NDArray[np.uint8], ...]


class DeviceMemory:
    """Allocations by address. Safe to use from several threads.

    There is no lock: arrays are freed by finalizers, which the garbage collector may run in the
    middle of any method here, and a lock that this thread holds already would never be given.
    Instead each step is one operation of a dict that no other thread and no collection can divide
    (docs.python.org/3/faq/library.html, thread-safe operations).
    """

    def __init__(self, limit: int | None = None) -> None:
        """Allow so many bytes in all, None for as many as the host gives."""
        self.limit = limit
        self._sizes: dict[int, int] = {}
        self._ranges: dict[int, Range] = {}
        self._change = object()  # another one after each change of `_ranges`
        self.quarantine = Quarantine()
        self.written = WrittenMemory()
        self._race: RaceMemory | None = None
        self._table: tuple[object, Table] | None = None  # and the change that it is of

    @property
    def race(self) -> RaceMemory:
        """What the race check keeps of this memory; made at the first use."""
        if self._race is None:
            self._race = importlib.import_module("amdjit.emulator.checks.race.memory").RaceMemory()
        return self._race

    def allocate(
        self,
        nbytes: int,
        label: str = "",
        pieces: tuple[Piece, ...] | None = None,
        tracked: bool = False,
    ) -> int:
        """Reserve memory, at least one byte; returns its address. BackendError when the host has
        none left.

        pieces: what kernels may access, all of it, writable, if not given. tracked: the memory
        check is on.
        """
        if nbytes < 0:
            raise BackendError(f"cannot allocate {nbytes} bytes")
        size = max(nbytes, 1)
        if self.limit is not None and size > self.limit - self.used:
            self._make_room(size)
        gap = TRACKED_GAP if tracked else GAP
        try:
            storage: NDArray[np.uint8] = np.empty(size + ALIGNMENT + gap, np.uint8)
        except (MemoryError, ValueError) as error:
            raise BackendError(f"out of memory: {nbytes} bytes asked for") from error
        base = storage.ctypes.data
        first = -base % ALIGNMENT
        start, content = base + first, storage[first : first + size]
        made = call_place() if tracked else None
        self._sizes[start] = size
        rows = _rows(start, pieces or ((0, size, True),))
        self._ranges[start] = Range(start, start + size, label, rows, storage, content, made)
        if not label:
            self.written.allocated(start, size)
        self._change = object()
        return start

    def free(self, address: int) -> None:
        """Give an allocation back; BackendError if there is none at `address`."""
        freed = self._ranges.pop(address, None)
        self._sizes.pop(address, None)
        if freed is None:
            raise BackendError(
                f"free: no allocation starts at {address:#x}{self._freed_before(address)}"
            )
        if freed.made is not None:
            self.quarantine.add(
                Freed(freed.start, freed.end, freed.made, call_place(), freed.storage)
            )
        self.written.forget(address)
        self._change = object()

    @property
    def used(self) -> int:
        """Bytes of all allocations."""
        return sum(list(self._sizes.values()))

    @property
    def room(self) -> int | None:
        """Bytes that may still be allocated, None for as many as the host gives."""
        return None if self.limit is None else max(self.limit - self.used, 0)

    def _make_room(self, size: int) -> None:
        gc.collect()  # arrays in reference cycles are freed only so
        assert self.limit is not None
        if size > self.limit - self.used:
            raise BackendError(
                f"out of memory: {size} bytes asked for, {self.used} of the emulator's "
                f"{self.limit} are in use "
                "(AMDJIT_EMULATOR_MEMORY sets how many it has)"
            )

    def _freed_before(self, address: int) -> str:
        before = self.quarantine.find(address)
        where = before.freed if before is not None else None
        return f"; it was freed before, at {where.file}:{where.line}" if where is not None else ""

    def tracked(self) -> tuple[Range, ...]:
        """Return the allocations that were made while the memory check was on."""
        return tuple(
            allocation for allocation in self._ranges.copy().values() if allocation.made is not None
        )

    def table(self) -> Table:
        """Return all allocations as they are now. What is freed later stays alive while the table
        does."""
        change, known = self._change, self._table
        if known is not None and known[0] is change:
            return known[1]
        # Of thousands of allocations: sorted and joined in C, each row made with its allocation.
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

    def bounds(self) -> list[tuple[int, int]]:
        """Return the first byte and the one past the last of all allocations."""
        return [(allocation.start, allocation.end) for allocation in self._ranges.copy().values()]

    def check(self, address: int, nbytes: int) -> int:
        """Return the start of the allocation that holds all of [address, address + nbytes);
        BackendError without."""
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
            self.written.wrote(allocation.start, first, data.nbytes)

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
        start = self.check(destination, nbytes)
        self.check(source, nbytes)
        if nbytes:
            ctypes.memmove(destination, source, nbytes)
            self.written.wrote(start, destination - start, nbytes)

    def holding(self, address: int) -> Range | None:
        """Return the allocation that an address lies in."""
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
