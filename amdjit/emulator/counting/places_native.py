"""Any access of a wave, counted and recorded by native code: several half waves, several addresses
of a lane, some lanes only."""

from __future__ import annotations

from amdjit.emulator.counting.layout import (
    ADDRESSES,
    ADDRESSES_AT,
    BLOCKS,
    CURSOR_ROW,
    DIRECTORY,
    IN_LDS,
    IN_UPPER_HALF,
    IS_ATOMIC,
    LINE_BITS,
    LINES,
    PLACE_ROW,
    POOL_ROW,
    REGION_BITS,
    REGION_LINES,
    REQUEST_FIELDS,
    REQUESTS,
    STREAM_ROW,
    UNRECORDED_AT,
    AccessField,
    Cursor,
    Header,
    Place,
    Pool,
    Stream,
)
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import V64, NativeFunction, Variable, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES, Context, Launch

__all__ = [
    "DISTINCT",
    "ENTER",
    "LDS_CYCLES",
    "MORE",
    "MOST_PLACES",
    "PLACES",
    "REPEATED",
    "count_place",
    "distinct_text",
    "enter_text",
    "more_text",
    "new_place",
    "places_text",
    "repeated_text",
    "touch",
]


# The counters of an instruction, which has accessed `count` places.
PLACES = declare("aj_count_places", area="ptr", row="ptr", cursor="ptr", places="ptr", count="i64")
# How many different lines of memory are touched; their numbers are written to `found`.
DISTINCT = declare("aj_count_distinct", "i64", places="ptr", count="i64", found="ptr")
# How many lanes of atomics have an address that an earlier one has.
REPEATED = declare("aj_count_repeated", "i64", area="ptr", places="ptr", count="i64")
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


def touch(f: NativeFunction, line: Value) -> None:
    """Note that the launch touches a line."""
    region = f.shift("lshr", line, REGION_BITS - LINE_BITS)
    exists = f.compare("ult", region, i64(DIRECTORY))
    entry = f.shift("shl", f.select(exists, region, i64(DIRECTORY)), 3)
    directory = Record(f, f.parameter("area")).get(Header.TOUCHED)
    lines = f.load("ptr", f.offset(directory, entry), FIELD_BYTES)
    f.store(constant("i8", 1), f.offset(lines, f.and_(line, i64(REGION_LINES - 1))), 1)


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
            contention = f.invoke(
                REPEATED, f.parameter("area"), f.parameter("places"), f.parameter("count")
            )
            row.set(AccessField.CONTENTION, f.add(row.get(AccessField.CONTENTION), contention))
        everything = (f.parameter("places"), f.parameter("count"), self._found)
        self._lines.set(f.invoke(DISTINCT, *everything))
        with f.loop(index=i64(0)) as each:
            each.leave_unless(f.compare("ult", each.index, self._lines.get()))
            place = f.offset(self._found, f.shift("shl", each.index, 3))
            touch(f, f.load("i64", place, FIELD_BYTES))
            each.again(index=f.add(each.index, i64(1)))
        cycles = self._cycles.get()
        for field, amount in (
            (AccessField.REQUESTS, i64(1)),
            (AccessField.BYTES, self._bytes.get()),
            (AccessField.CACHE_LINES, self._lines.get()),
            (AccessField.LDS_CYCLES, f.mask(cycles, 32)),
            (AccessField.LDS_CONFLICT_CYCLES, f.shift("lshr", cycles, 32)),
        ):
            row.set(field, f.add(row.get(field), amount))

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


# Which lines and which addresses the places of an access have in common: native code.


_ENTRY_BYTES = 2 * FIELD_BYTES
# Addresses in LDS get this bit, which no address of a host has, so as not to equal global ones.
_SPACE_BIT = 62


def distinct_text(attributes: str) -> str:
    """Return `aj_count_distinct`. A lane may touch two lines; places in LDS have none."""
    f = NativeFunction.of(DISTINCT)
    finder = _Finder(f)
    with f.count_to(f.parameter("count")) as number, f.section() as look:
        place = Record(f, f.parameter("places")).row(number, PLACE_ROW)
        in_lds = f.and_(place.get(Place.FLAGS), i64(IN_LDS))
        look.leave_if(f.compare("ne", in_lds, i64(0)))
        finder.add(place, i64(0), place.get(Place.LANES))
        extent = f.sub(place.get(Place.SIZE), i64(1))
        first, last = finder.lines(place, i64(0)), finder.lines(place, extent)
        crossing = f.mask_bits(f.compare("ne", first, last))
        finder.add(place, extent, f.and_(place.get(Place.LANES), crossing))
    f.give(finder.count.get())
    return f.text(attributes)


class _Finder:
    """The lines found so far: `count` of them."""

    def __init__(self, f: NativeFunction) -> None:
        self._f = f
        self.count = f.variable(i64(0))

    def lines(self, place: Record, extent: Value) -> Value:
        """Return the line of each lane's byte `extent`."""
        f = self._f
        wide = f.add(f.load(V64, place.address, 64), f.splat(extent))
        return f.shift("lshr", wide, LINE_BITS)

    def add(self, place: Record, extent: Value, lanes: Value) -> None:
        """Add the lines of some lanes that are not there yet."""
        f = self._f
        lines = self.lines(place, extent)
        earlier = self.count.get()
        with f.loop(left=lanes) as each:
            each.leave_if(f.compare("eq", each.left, i32(0)))
            address = _address(f, place, each.left)
            line = f.shift("lshr", f.add(address, extent), LINE_BITS)
            alike = f.mask_bits(f.compare("eq", lines, f.splat(line)))
            self._append(line, earlier)
            each.again(left=f.and_(each.left, f.not_(alike)))

    def _append(self, line: Value, earlier: Value) -> None:
        """Append a line that is not among the first `earlier` ones."""
        f = self._f
        found = f.parameter("found")
        with f.section() as appending:
            with f.loop(index=i64(0)) as search:
                search.leave_unless(f.compare("ult", search.index, earlier))
                known = f.load("i64", f.offset(found, f.shift("shl", search.index, 3)), FIELD_BYTES)
                appending.leave_if(f.compare("eq", known, line))
                search.again(index=f.add(search.index, i64(1)))
            count = self.count.get()
            f.store(line, f.offset(found, f.shift("shl", count, 3)), FIELD_BYTES)
            self.count.set(f.add(count, i64(1)))


def _address(f: NativeFunction, place: Record, lanes: Value) -> Value:
    """Return the address of the first of some lanes."""
    lane = f.resize(f.intrinsic("cttz", lanes, flags=[constant("i1", 1)]), 64)
    return f.load("i64", f.offset(place.address, f.shift("shl", lane, 3)), FIELD_BYTES)


def repeated_text(attributes: str) -> str:
    """Return `aj_count_repeated`: the addresses go into a hash table."""
    f = NativeFunction.of(REPEATED)
    header = Record(f, f.parameter("area"))
    stamp = f.add(header.get(Header.STAMP), i64(1))
    header.set(Header.STAMP, stamp)
    repeated = f.variable(i64(0))
    with f.count_to(f.parameter("count")) as number, f.section() as look:
        place = Record(f, f.parameter("places")).row(number, PLACE_ROW)
        flags = place.get(Place.FLAGS)
        look.leave_if(f.compare("eq", f.and_(flags, i64(IS_ATOMIC)), i64(0)))
        # An offset in LDS is the address of no memory.
        space = f.shift("shl", f.and_(flags, i64(IN_LDS)), _SPACE_BIT)
        with f.each_lane(place.get(Place.LANES)) as each:
            slot = f.offset(place.address, f.shift("shl", each.lane, 3))
            _enter(f, f.or_(f.load("i64", slot, FIELD_BYTES), space), stamp, repeated)
    f.give(repeated.get())
    return f.text(attributes)


def _enter(f: NativeFunction, address: Value, stamp: Value, repeated: Variable) -> None:
    """Put an address into the table, or note that it is there."""
    table = f.offset(f.parameter("area"), ADDRESSES_AT * FIELD_BYTES)
    mask = i64(ADDRESSES - 1)
    with f.loop(place=f.and_(f.shift("lshr", address, 2), mask)) as search:
        entry = f.offset(table, f.mul(search.place, i64(_ENTRY_BYTES)))
        value = f.offset(entry, FIELD_BYTES)
        with f.unless(f.compare("eq", f.load("i64", entry, FIELD_BYTES), stamp)):
            f.store(stamp, entry, FIELD_BYTES)
            f.store(address, value, FIELD_BYTES)
            search.leave()
        with f.if_(f.compare("eq", f.load("i64", value, FIELD_BYTES), address)):
            repeated.set(f.add(repeated.get(), i64(1)))
            search.leave()
        search.again(place=f.and_(f.add(search.place, i64(1)), mask))


# Which waves are recorded, and where: native code of the sample.


ENTER = declare("aj_count_enter", "ptr", context="ptr")
MORE = declare("aj_count_more", "i32", cursor="ptr", stream="i64")

_FOREVER = Value("ptr", "inttoptr (i64 -1 to ptr)")


def enter_text(attributes: str) -> str:
    """Return `aj_count_enter`: the cursor of the wave that starts or resumes."""
    f = NativeFunction.of(ENTER)
    context = f.thread
    area = context.follow(Context.COUNTERS)
    launch = context.follow(Context.LAUNCH)
    rows = f.add(
        context.get(Context.GROUP_Y), f.mul(launch.get(Launch.GRID_Y), context.get(Context.GROUP_Z))
    )
    number = f.add(context.get(Context.GROUP_X), f.mul(launch.get(Launch.GRID_X), rows))
    stride = area.get(Header.STRIDE)
    place = f.binary("udiv", number, stride)
    is_whole = f.compare("eq", f.mul(place, stride), number)
    is_early = f.compare("ult", place, area.get(Header.SAMPLED))
    with f.if_(f.and_(is_whole, is_early)):
        wave = f.add(f.mul(place, launch.get(Launch.WAVES)), context.get(Context.WAVE))
        f.give(area.follow(Header.CURSORS).row(wave, CURSOR_ROW).address)
    f.give(f.offset(area.address, UNRECORDED_AT * FIELD_BYTES))
    return f.text(attributes)


def stream_of(f: NativeFunction, cursor: Record, stream: int | Value) -> Record:
    """Return the row of a stream of a cursor."""
    number = i64(stream) if isinstance(stream, int) else stream
    return Record(f, cursor.at(Cursor.STREAMS)).row(number, STREAM_ROW)


def more_text(attributes: str) -> str:
    """Return `aj_count_more`: take another chunk of a stream for a wave.

    It returns 0 if there is none; the wave is not recorded any more then.
    """
    f = NativeFunction.of(MORE)
    cursor = Record(f, f.parameter("cursor"))
    stream = stream_of(f, cursor, f.parameter("stream"))
    pool = cursor.follow(Cursor.POOLS).row(f.parameter("stream"), POOL_ROW)
    start, size, chunk = pool.get(Pool.START), pool.get(Pool.SIZE), stream.get(Stream.CHUNK)
    with f.unless(f.compare("slt", chunk, i64(0))):
        begin = f.offset(start, f.mul(chunk, size))
        filled = f.sub(_as_number(f, stream.get(Stream.NEXT)), _as_number(f, begin))
        f.store(filled, _entry(f, pool, Pool.FILLED, chunk), FIELD_BYTES)
        stream.set(Stream.CHUNK, i64(-1))
    taken = f.atomic("add", pool.at(Pool.TAKEN), i64(1), "monotonic")
    with f.unless(f.compare("ult", taken, pool.get(Pool.CHUNKS))):
        _stop(f, cursor)
        f.give(i32(0))
    f.store(cursor.get(Cursor.OWNER), _entry(f, pool, Pool.OWNERS, taken), FIELD_BYTES)
    begin = f.offset(start, f.mul(taken, size))
    stream.set(Stream.NEXT, begin)
    stream.set(Stream.END, f.offset(begin, f.sub(size, pool.get(Pool.SLACK))))
    stream.set(Stream.CHUNK, taken)
    f.give(i32(1))
    return f.text(attributes)


def _stop(f: NativeFunction, cursor: Record) -> None:
    """Record nothing more of a wave."""
    cursor.set(Cursor.STEP, i64(0))
    blocks = stream_of(f, cursor, 0)
    blocks.set(Stream.NEXT, cursor.at(Cursor.NOTHING))
    blocks.set(Stream.END, _FOREVER)


def _entry(f: NativeFunction, pool: Record, field: Pool, chunk: Value) -> Value:
    return f.offset(pool.get(field), f.shift("shl", chunk, 3))


def _as_number(f: NativeFunction, pointer: Value) -> Value:
    return f.cast("ptrtoint", pointer, "i64")
