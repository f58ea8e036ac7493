"""Cache lines that an access touches, counted by native code.

Waves whose lanes are consecutive, or go on to the same or later lines, are counted by a few vector
instructions; `places_native` counts all others.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.counting.layout import (
    DIRECTORY,
    LINE_BITS,
    LINE_BYTES,
    REGION_LINES,
    AccessField,
    Cursor,
)
from amdjit.emulator.counting.places_native import count_place, new_place, touch
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.native_sources import Source
from amdjit.emulator.host.record import Record
from amdjit.emulator.instructions.memory.addresses_native import consecutive_global, wide_addresses
from amdjit.emulator.instructions.memory.spaces import ADDRESS_PARAMETERS, SIZES, Access
from amdjit.emulator.layout import Allocation
from amdjit.emulator.memory import Table

__all__ = ["SCALAR", "Directories", "TouchedLines", "global_symbol", "line_sources"]


# What each of these functions takes first: the thread's area, the counters of the instruction, and
# where the wave is recorded.
_FIRST = (("ptr", "area"), ("ptr", "row"), ("ptr", "cursor"))
SCALAR = declare("aj_count_scalar", area="ptr", row="ptr", cursor="ptr", address="i64", size="i64")


def global_symbol(space: str, size: int) -> str:
    """Return the name of the function that counts a load or store of global memory."""
    return f"aj_count_{space}{size}"


def _global_text(space: str, size: int, attributes: str) -> str:
    """Return `aj_count_s4(area, row, cursor, address, lanes)` and the like."""
    parameters = [*_FIRST, *ADDRESS_PARAMETERS[space], ("i32", "exec")]
    f = NativeFunction(global_symbol(space, size), "void", parameters)
    place = new_place(f)
    access = Access(space, size, False)
    with f.if_(_is_plain(f)):
        start, consecutive = consecutive_global(f, access)
        with f.if_(consecutive):
            _add_range(f, start, i64(32 * size))
            f.give()
        lines, ends = _lines(f, wide_addresses(f, access), size)
        before = f.shuffle(lines, lines, [0, *range(31)])
        ascends = _all(f, f.compare("uge", lines, before))
        within = _all(f, f.compare("eq", lines, ends))
        with f.if_(f.and_(ascends, within)):
            steps = f.mask_bits(f.compare("ne", lines, before))
            _add(f, i64(32 * size), f.add(f.resize(f.intrinsic("ctpop", steps), 64), i64(1)))
            with f.each_lane(f.or_(steps, i32(1))) as each:
                touch(f, f.extract(lines, each.lane))
            f.give()
    f.store(wide_addresses(f, access), place.address, 64)
    count_place(f, place, f.parameter("exec"), i64(size))
    return f.text(attributes)


def _is_plain(f: NativeFunction) -> Value:
    """Whether all lanes are active and the wave is not recorded."""
    step = Record(f, f.parameter("cursor")).get(Cursor.STEP)
    full = f.compare("eq", f.parameter("exec"), i32(-1))
    return f.and_(full, f.compare("eq", step, i64(0)))


def _lines(f: NativeFunction, wide: Value, size: int) -> tuple[Value, Value]:
    """Return the lines of each lane's first and last byte."""
    first = f.shift("lshr", wide, LINE_BITS)
    return first, f.shift("lshr", f.add(wide, f.const(wide, size - 1)), LINE_BITS)


def _add_range(f: NativeFunction, start: Value, size: Value) -> None:
    """Count an access of `size` bytes from an address on."""
    last = f.shift("lshr", f.sub(f.add(start, size), i64(1)), LINE_BITS)
    with f.loop(line=f.shift("lshr", start, LINE_BITS)) as each:
        touch(f, each.line)
        following = f.add(each.line, i64(1))
        each.again_if(f.compare("ult", each.line, last), line=following)
    first = f.shift("lshr", start, LINE_BITS)
    _add(f, size, f.add(f.sub(last, first), i64(1)))


def _all(f: NativeFunction, conditions: Value) -> Value:
    return f.compare("eq", f.mask_bits(conditions), i32(-1))


def _add(f: NativeFunction, size: Value, lines: Value) -> None:
    row = Record(f, f.parameter("row"))
    for field, amount in (
        (AccessField.REQUESTS, i64(1)),
        (AccessField.BYTES, size),
        (AccessField.CACHE_LINES, lines),
    ):
        row.set(field, f.add(row.get(field), amount))


def _scalar_text(attributes: str) -> str:
    """Return `aj_count_scalar`: a scalar load of up to 64 bytes."""
    f = NativeFunction.of(SCALAR)
    place = new_place(f)
    address, size = f.parameter("address"), f.parameter("size")
    step = Record(f, f.parameter("cursor")).get(Cursor.STEP)
    with f.if_(f.compare("eq", step, i64(0))):
        _add_range(f, address, size)
        f.give()
    f.store(address, place.address, 8)
    count_place(f, place, i32(1), size)
    return f.text(attributes)


def line_sources() -> dict[str, Source]:
    """Return the makers of these functions by symbol."""
    functions: dict[str, Source] = {SCALAR.name: _scalar_text}
    for space in ("s", "v"):
        for size in SIZES:
            functions[global_symbol(space, size)] = partial(_global_text, space, size)
    return functions


# Which cache lines of the device's memory a launch touches: a byte for each line.
#
# The bytes lie in regions of 4 GiB of addresses; a directory has the regions. Those without
# allocations share one that nobody looks at: an access there is a fault.


Bytes = NDArray[np.uint8]


class Directories:
    """Directories of regions, which launches use again. Safe to use from several threads."""

    def __init__(self) -> None:
        self._nowhere: Bytes = np.empty(REGION_LINES, np.uint8)
        self._idle: list[NDArray[np.int64]] = []

    def take(self) -> NDArray[np.int64]:
        """Return a directory in which no region has bytes of its own."""
        try:
            return self._idle.pop()
        except IndexError:
            return np.full(DIRECTORY + 1, self._nowhere.ctypes.data, np.int64)

    def give_back(self, directory: NDArray[np.int64], regions: list[int]) -> None:
        """Keep a directory for another launch. regions: that have bytes of their own."""
        directory[regions] = self._nowhere.ctypes.data
        self._idle.append(directory)


class TouchedLines:
    """The lines of one launch. address: of the directory, for native code."""

    def __init__(self, directories: Directories, table: Table) -> None:
        self._directories = directories
        self._directory = directories.take()
        self._spans = _line_spans(table)
        self._regions: dict[int, Bytes] = {}
        for first, end in self._spans:
            for region in range(first // REGION_LINES, (end - 1) // REGION_LINES + 1):
                if region not in self._regions:
                    self._regions[region] = np.zeros(REGION_LINES, np.uint8)
                    self._directory[region] = self._regions[region].ctypes.data

    @property
    def address(self) -> int:
        """The directory's address."""
        return int(self._directory.ctypes.data)

    def count(self) -> int:
        """Return how many lines the launch has touched."""
        return sum(self._count(first, end) for first, end in self._spans)

    def end(self) -> None:
        """The launch is over: native code uses the directory no more."""
        self._directories.give_back(self._directory, list(self._regions))

    def _count(self, first: int, end: int) -> int:
        count = 0
        while first < end:
            region, place = divmod(first, REGION_LINES)
            size = min(end - first, REGION_LINES - place)
            count += int(np.count_nonzero(self._regions[region][place : place + size]))
            first += size
        return count


def _line_spans(table: Table) -> list[tuple[int, int]]:
    """Return the lines of all allocations as ranges that do not overlap."""
    rows = table.rows.astype(np.int64)
    spans: list[tuple[int, int]] = []
    following = 0
    for first, end in zip(
        rows[:, Allocation.FIRST].tolist(), rows[:, Allocation.END].tolist(), strict=True
    ):
        start, following = max(first // LINE_BYTES, following), -(-end // LINE_BYTES)
        if start < following:
            spans.append((start, following))
    return spans
