"""Which lines and which addresses the places of an access have in common: native code."""

from __future__ import annotations

from amdjit.emulator.counting.layout import (
    ADDRESSES,
    ADDRESSES_AT,
    IN_LDS,
    IS_ATOMIC,
    LINE_BITS,
    PLACE_ROW,
    Header,
    Place,
)
from amdjit.emulator.counting.places_native import DISTINCT, REPEATED
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import V64, NativeFunction, Variable, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

__all__ = ["distinct_text", "repeated_text"]

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
