"""Any access of a wave, counted and recorded by native code: several half waves, several addresses
of a lane, some lanes only."""

from __future__ import annotations

from amdjit.emulator.counting.layout import (
    BLOCKS,
    IN_LDS,
    IN_UPPER_HALF,
    IS_ATOMIC,
    LINE_BITS,
    LINES,
    PLACE_ROW,
    REQUEST_FIELDS,
    REQUESTS,
    AccessField,
    Cursor,
    Place,
    Stream,
)
from amdjit.emulator.counting.record_native import MORE, stream_of
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import V64, NativeFunction, Variable, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

__all__ = [
    "DISTINCT",
    "LDS_CYCLES",
    "MOST_PLACES",
    "PLACES",
    "count_place",
    "distinct_text",
    "new_place",
    "places_text",
]

# The counters of an instruction, which has accessed `count` places.
PLACES = declare("aj_count_places", area="ptr", row="ptr", cursor="ptr", places="ptr", count="i64")
# How many different numbers the addresses shifted by `bits` have; they are written to `found`.
DISTINCT = declare("aj_count_distinct", "i64", places="ptr", count="i64", bits="i64", found="ptr")
# Cycles of LDS for one place; the upper half of the result: those of them due to conflicts.
LDS_CYCLES = declare("aj_count_lds", "i64", area="ptr", place="ptr")

# Blocks of 32 registers in both halves of a wave64.
MOST_PLACES = 64
_ONE = i64(1)
_MOST_FOUND = MOST_PLACES * 32 * 2
_ROW_BYTES = 4 * REQUEST_FIELDS


def new_place(f: NativeFunction) -> Record:
    """Reserve memory for a place. Only in the entry block."""
    return Record(f, f.allocate(f"[{PLACE_ROW} x i64]"))


def count_place(
    f: NativeFunction,
    place: Record,
    lanes: Value,
    size: Value,
    flags: int = 0,
    times: Value = _ONE,
) -> None:
    """Count one place, whose addresses are there already, and return from the function."""
    place.set(Place.LANES, lanes)
    place.set(Place.SIZE, size)
    place.set(Place.FLAGS, i64(flags))
    place.set(Place.TIMES, times)
    f.invoke(PLACES, *f.parameters[:3], place.address, i64(1))
    f.give()


def places_text(attributes: str) -> str:
    """Return `aj_count_places`."""
    f = NativeFunction.of(PLACES)
    found = f.allocate(f"[{_MOST_FOUND} x i64]")
    work = _Work(f, found)
    with f.section() as all_places:
        all_places.leave_if(f.compare("eq", f.parameter("count"), i64(0)))
        with f.count_to(f.parameter("count")) as number:
            work.add_place(Record(f, f.parameter("places")).row(number, PLACE_ROW))
    lanes = f.add(_bits_set(f, work.lower.get()), _bits_set(f, work.upper.get()))
    with f.unless(f.compare("eq", lanes, i64(0))):
        work.count()
    with f.unless(f.compare("eq", work.cursor.get(Cursor.STEP), i64(0))):
        work.record(lanes)
    f.give()
    return f.text(attributes)


class _Work:
    """What is known of all places together."""

    def __init__(self, f: NativeFunction, found: Value) -> None:
        self._f, self._found = f, found
        self.cursor = Record(f, f.parameter("cursor"))
        # Lanes that access at least one place, in either half of the wave.
        self.lower, self.upper = f.variable(i32(0)), f.variable(i32(0))
        self._bytes, self._lines = f.variable(i64(0)), f.variable(i64(0))
        self._cycles, self._atomics = f.variable(i64(0)), f.variable(i64(0))

    def add_place(self, place: Record) -> None:
        """Add a place."""
        f = self._f
        lanes, flags = place.get(Place.LANES), place.get(Place.FLAGS)
        number, times = _bits_set(f, lanes), place.get(Place.TIMES)
        _increase(f, self._bytes, f.mul(f.mul(number, times), place.get(Place.SIZE)))
        is_upper = _has(f, flags, IN_UPPER_HALF)
        with f.if_else(is_upper) as (upper, lower):
            with upper:
                self.upper.set(f.or_(self.upper.get(), lanes))
            with lower:
                self.lower.set(f.or_(self.lower.get(), lanes))
        with f.if_(_has(f, flags, IS_ATOMIC)):
            _increase(f, self._atomics, number)
        with f.if_(_has(f, flags, IN_LDS)):
            cycles = f.invoke(LDS_CYCLES, f.parameter("area"), place.address)
            _increase(f, self._cycles, f.mul(cycles, times))

    def count(self) -> None:
        """Add to the instruction's counters."""
        f = self._f
        row = Record(f, f.parameter("row"))
        with f.unless(f.compare("eq", self._atomics.get(), i64(0))):
            different = self._distinct(0)
            contention = f.sub(self._atomics.get(), different)
            row.set(AccessField.CONTENTION, f.add(row.get(AccessField.CONTENTION), contention))
        self._lines.set(self._distinct(LINE_BITS))
        cycles = self._cycles.get()
        for field, amount in (
            (AccessField.REQUESTS, i64(1)),
            (AccessField.BYTES, self._bytes.get()),
            (AccessField.CACHE_LINES, self._lines.get()),
            (AccessField.LDS_CYCLES, f.mask(cycles, 32)),
            (AccessField.LDS_CONFLICT_CYCLES, f.shift("lshr", cycles, 32)),
        ):
            row.set(field, f.add(row.get(field), amount))

    def _distinct(self, bits: int) -> Value:
        f = self._f
        return f.invoke(
            DISTINCT, f.parameter("places"), f.parameter("count"), i64(bits), self._found
        )

    def record(self, lanes: Value) -> None:
        """Append a row to the requests of the wave, and its lines."""
        f = self._f
        lines = self._lines.get()
        size = f.shift("shl", lines, 3)
        with f.section() as recording:
            requests = self._with_room(REQUESTS, i64(_ROW_BYTES))
            recording.leave_if(f.compare("eq", self.cursor.get(Cursor.STEP), i64(0)))
            line_stream = self._with_room(LINES, size)
            recording.leave_if(f.compare("eq", self.cursor.get(Cursor.STEP), i64(0)))
            row = requests.get(Stream.NEXT)
            cycles = f.mask(self._cycles.get(), 32)
            for number, value in enumerate((lanes, self._bytes.get(), cycles, lines)):
                f.store(f.resize(value, 32), f.offset(row, 4 * number), 4)
            requests.set(Stream.NEXT, f.offset(row, _ROW_BYTES))
            place = line_stream.get(Stream.NEXT)
            f.copy(place, self._found, size)
            line_stream.set(Stream.NEXT, f.offset(place, size))

    def _with_room(self, stream: int, size: Value) -> Record:
        """Return a stream that has room, unless there is no more room at all."""
        f = self._f
        assert stream != BLOCKS
        row = stream_of(f, self.cursor, stream)
        after = f.cast("ptrtoint", f.offset(row.get(Stream.NEXT), size), "i64")
        end = f.cast("ptrtoint", row.get(Stream.END), "i64")
        with f.if_(f.compare("ugt", after, end)):
            f.invoke(MORE, self.cursor.address, i64(stream))
        return row


def _increase(f: NativeFunction, variable: Variable, amount: Value) -> None:
    variable.set(f.add(variable.get(), amount))


def _has(f: NativeFunction, flags: Value, flag: int) -> Value:
    return f.compare("ne", f.and_(flags, i64(flag)), i64(0))


def _bits_set(f: NativeFunction, bits: Value) -> Value:
    return f.resize(f.intrinsic("ctpop", bits), 64)


def distinct_text(attributes: str) -> str:
    """Return `aj_count_distinct`. With `bits` = 0 addresses are compared, else lines of memory,
    which places in LDS do not have and of which a lane may touch two."""
    f = NativeFunction.of(DISTINCT)
    finder = _Finder(f)
    with f.count_to(f.parameter("count")) as number, f.section() as look:
        place = Record(f, f.parameter("places")).row(number, PLACE_ROW)
        of_lines = f.compare("ne", f.parameter("bits"), i64(0))
        look.leave_if(f.and_(of_lines, _has(f, place.get(Place.FLAGS), IN_LDS)))
        finder.add(place, i64(0), place.get(Place.LANES))
        extent = f.select(of_lines, f.sub(place.get(Place.SIZE), i64(1)), i64(0))
        first, last = finder.numbers(place, i64(0)), finder.numbers(place, extent)
        crossing = f.mask_bits(f.compare("ne", first, last))
        finder.add(place, extent, f.and_(place.get(Place.LANES), crossing))
    f.give(finder.count.get())
    return f.text(attributes)


class _Finder:
    """The numbers found so far: `count` of them."""

    def __init__(self, f: NativeFunction) -> None:
        self._f = f
        self.count = f.variable(i64(0))

    def numbers(self, place: Record, extent: Value) -> Value:
        """Return the number of each lane's byte `extent`."""
        f = self._f
        wide = f.add(f.load(V64, place.address, 64), f.splat(extent))
        return f.binary("lshr", wide, f.splat(f.parameter("bits")))

    def add(self, place: Record, extent: Value, lanes: Value) -> None:
        """Add the numbers of some lanes that are not there yet."""
        f = self._f
        numbers = self.numbers(place, extent)
        earlier = self.count.get()
        with f.loop(left=lanes) as each:
            each.leave_if(f.compare("eq", each.left, i32(0)))
            lane = f.resize(f.intrinsic("cttz", each.left, flags=[constant("i1", 1)]), 64)
            address = f.load("i64", f.offset(place.address, f.shift("shl", lane, 3)), FIELD_BYTES)
            number = f.binary("lshr", f.add(address, extent), f.parameter("bits"))
            alike = f.mask_bits(f.compare("eq", numbers, f.splat(number)))
            self._append(number, earlier)
            each.again(left=f.and_(each.left, f.not_(alike)))

    def _append(self, number: Value, earlier: Value) -> None:
        """Append a number that is not among the first `earlier` ones."""
        f = self._f
        found = f.parameter("found")
        with f.section() as appending:
            with f.loop(index=i64(0)) as search:
                search.leave_unless(f.compare("ult", search.index, earlier))
                known = f.load("i64", f.offset(found, f.shift("shl", search.index, 3)), FIELD_BYTES)
                appending.leave_if(f.compare("eq", known, number))
                search.again(index=f.add(search.index, i64(1)))
            count = self.count.get()
            f.store(number, f.offset(found, f.shift("shl", count, 3)), FIELD_BYTES)
            self.count.set(f.add(count, i64(1)))
