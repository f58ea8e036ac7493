"""The entry points of accesses in the race check, and the exact comparison for dwords whose tags
show an access that conflicts with this one."""

from __future__ import annotations

from amdjit.emulator.checks.race.accesses import process_symbol
from amdjit.emulator.checks.race.layout import (
    DEVICE_SCOPE,
    IN_FLIGHT,
    IN_FLIGHT_BIT,
    MAYBE_ATOMIC,
    MAYBE_BIT,
    READS_ONLY,
    RING_ENTRIES,
    SCOPE_BITS,
    SHADOW_ROW,
    Group,
    Plane,
    Race,
    Wave,
)
from amdjit.emulator.checks.race.tags import OPERATIONS, dword_symbol
from amdjit.emulator.checks.race.time import get, get_entry, group_of, race_pointer
from amdjit.emulator.host.builder import NULL, Value, constant
from amdjit.emulator.host.function import V64, NativeFunction, i32, i64
from amdjit.emulator.layout import FIELD_BYTES, RACE_KINDS, Context
from amdjit.emulator.wave.frame import AccessKind

# Numbers of reports. Those below 18 say what both accesses are, and whether in LDS or in global
# memory. Then come a store that was not waited for, two stores that race unless both are atomic,
# lanes that store different values at one address, and accesses of which one was issued before a
# barrier and may not be complete: the older one or this one, in global memory and in LDS.
LACKING = 18
UNLESS_ATOMIC = 19
CONFLICT = 20
OLDER_IN_FLIGHT, NOW_IN_FLIGHT = 22, 24
_CONTEXT = ("ptr", "context")


_DWORD = [
    _CONTEXT, ("i32", "site"), ("ptr", "row"), ("i32", "flags"), ("i64", "start"),
    ("ptr", "shadow"), ("i64", "plane"), ("i64", "lds"), ("i32", "size"), ("i32", "kind"),
    ("i64", "address"), ("i64", "lane"), ("i64", "bytes"), ("i64", "value"),
]  # fmt: skip
_THEIRS = {
    Plane.WRITER: AccessKind.STORE,
    Plane.READER: AccessKind.LOAD,
    Plane.EARLIER_READER: AccessKind.LOAD,
    Plane.ATOMIC: AccessKind.ATOMIC,
}


def dword_text(by_lane: bool, attributes: str) -> str:
    """Return `aj_race_dword`: look at all tags of a dword closely, and report what is not
    ordered."""
    f = NativeFunction(dword_symbol(by_lane), "void", _DWORD)
    other = f.allocate("[4 x i64]", 8)
    for plane, theirs in _THEIRS.items():
        _look_at(f, plane, theirs, other, by_lane)
    f.give()
    return f.text(f"noinline cold {attributes}")


def _look_at(
    f: NativeFunction, plane: Plane, theirs: AccessKind, other: Value, by_lane: bool
) -> None:
    dword = f.shift("lshr", f.sub(f.parameter("address"), f.parameter("start")), 2)
    place = f.offset(f.parameter("shadow"), f.mul(f.parameter("plane"), i64(plane)))
    tag = get_entry(f, place, dword)
    overlaps = f.compare("ne", f.and_(f.mask(tag, 4), f.parameter("bytes")), i64(0))
    conflicting = f.and_(overlaps, _conflict(f, theirs, tag))
    if theirs is AccessKind.STORE:
        conflicting = f.and_(conflicting, f.not_(_stores_the_same(f)))
    with f.if_(conflicting):
        load = i64(int(theirs is AccessKind.LOAD))
        arguments = [f.parameter("context"), f.parameter("row"), tag, load, f.parameter("lds")]
        verdict = f.call("aj_race_ordered", "i32", arguments)
        bad = f.compare("ne", verdict, i32(1))
        if by_lane:
            bad = f.or_(bad, _is_unordered_lane(f, tag))
        with f.if_(bad):
            _describe(f, tag, other)
            kind = _kind(f, theirs, verdict, tag)
            address, size = f.parameter("address"), f.parameter("size")
            report_race(f, kind, lane=f.parameter("lane"), address=address, size=size, other=other)


def _kind(f: NativeFunction, theirs: AccessKind, verdict: Value, tag: Value) -> Value:
    in_lds = f.compare("ne", f.parameter("lds"), i64(0))
    kind = f.add(f.mul(f.parameter("kind"), i32(3)), i32(RACE_KINDS + theirs))
    kind = f.add(kind, f.select(in_lds, i32(9), i32(0)))
    lacking = f.compare("eq", verdict, i32(2))
    if theirs is AccessKind.STORE:
        kind = f.select(_both_maybe(f, tag), i32(RACE_KINDS + UNLESS_ATOMIC), kind)
    kind = f.select(lacking, i32(RACE_KINDS + LACKING), kind)
    older = f.compare("ne", f.and_(tag, i64(1 << IN_FLIGHT_BIT)), i64(0))
    now = f.compare("ne", f.and_(f.parameter("flags"), i32(IN_FLIGHT)), i32(0))
    space = f.select(in_lds, i32(RACE_KINDS + 1), i32(RACE_KINDS))
    kind = f.select(older, f.add(space, i32(OLDER_IN_FLIGHT)), kind)
    return f.select(now, f.add(space, i32(NOW_IN_FLIGHT)), kind)


def _conflict(f: NativeFunction, theirs: AccessKind, tag: Value) -> Value:
    """Return whether both accesses can race. Two loads cannot; two atomics only in global memory,
    if the scope of one is narrower than the device.

    An atomic load of LDS is the same instruction as a plain one: next to atomics, every load counts
    as one. Stores that may be atomic are, where the dword is used atomically elsewhere.
    """
    mine = f.parameter("kind")
    in_lds = f.compare("ne", f.parameter("lds"), i64(0))
    if theirs is AccessKind.STORE:
        atomic = f.compare("eq", mine, i32(AccessKind.ATOMIC))
        both = f.or_(
            f.and_(atomic, _is_maybe(f, tag)), f.and_(_both_maybe(f, tag), _known_as_atomic(f))
        )
        return f.not_(both)
    reads = f.compare("ne", f.and_(f.parameter("flags"), i32(READS_ONLY)), i32(0))
    if theirs is AccessKind.LOAD:
        loads = f.compare("eq", mine, i32(AccessKind.LOAD))
        beside = f.and_(in_lds, f.compare("eq", mine, i32(AccessKind.ATOMIC)))
        return f.not_(f.or_(f.or_(loads, reads), beside))
    load = f.and_(in_lds, f.compare("eq", mine, i32(AccessKind.LOAD)))
    maybe = f.compare("ne", f.and_(f.parameter("flags"), i32(MAYBE_ATOMIC)), i32(0))
    atomic = f.or_(f.compare("eq", mine, i32(AccessKind.ATOMIC)), maybe)
    scope = f.and_(f.resize(f.parameter("flags"), 64), i64(SCOPE_BITS))
    least = f.intrinsic("umin", scope, f.mask(f.shift("lshr", tag, 4), 2))
    enough = f.or_(f.compare("uge", least, i64(DEVICE_SCOPE)), in_lds)
    same = f.compare("eq", _group_of(f, tag), get(f, group_of(f, f.parameter("row")), Group.NUMBER))
    return f.not_(f.or_(load, f.and_(atomic, f.or_(enough, same))))


def _is_unordered_lane(f: NativeFunction, tag: Value) -> Value:
    """Return whether a tag is of another instruction in another lane of the wave, and nothing has
    ordered the wave's lanes since."""
    row = f.parameter("row")
    mine = f.or_(
        f.shift("shl", get(f, group_of(f, row), Group.NUMBER), 6), get(f, row, Wave.NUMBER)
    )
    since = f.compare("uge", f.shift("lshr", tag, 32), get(f, row, Wave.ORDERED))
    lane = f.add(f.parameter("lane"), f.context(Context.LANE_BASE))
    site = f.resize(f.parameter("site"), 64)
    tests = (
        f.compare("eq", _owner_of(f, tag), mine),
        since,
        f.compare("ne", f.mask(f.shift("lshr", tag, 10), 6), lane),
        f.compare("ne", f.mask(f.shift("lshr", tag, 16), 16), site),
    )
    return f.and_(f.and_(tests[0], tests[1]), f.and_(tests[2], tests[3]))


def _is_maybe(f: NativeFunction, tag: Value) -> Value:
    return f.compare("ne", f.and_(tag, i64(1 << MAYBE_BIT)), i64(0))


def _both_maybe(f: NativeFunction, tag: Value) -> Value:
    mine = f.compare("ne", f.and_(f.parameter("flags"), i32(MAYBE_ATOMIC)), i32(0))
    return f.and_(mine, _is_maybe(f, tag))


def _known_as_atomic(f: NativeFunction) -> Value:
    """Return whether anything in this launch has surely used the dword atomically."""
    dword = f.shift("lshr", f.sub(f.parameter("address"), f.parameter("start")), 2)
    clocks = f.offset(f.parameter("shadow"), f.mul(f.parameter("plane"), i64(Plane.CLOCK)))
    used = f.shift("lshr", get_entry(f, clocks, dword), 32)
    return f.compare("uge", used, get(f, race_pointer(f), Race.FIRST))


def _stores_the_same(f: NativeFunction) -> Value:
    """Return whether the store, which has not been made yet, leaves the dword as it is, which is
    harmless.

    value: the new dword, in its place, or -1 if it is not known; bytes: those that are stored.
    """
    value, covered = f.parameter("value"), f.parameter("bytes")
    narrow = f.compare("ult", f.parameter("size"), i32(4))
    address = f.add(f.parameter("address"), f.parameter("lds"))
    place = f.select(narrow, f.and_(address, i64(-4)), address)
    now = f.load("i32", f.pointer(place), 1)
    bits = f.convert("sext", f.cast("bitcast", f.resize(covered, 4), "<4 x i1>"), "i8")
    mask = f.cast("bitcast", bits, "i32")
    changed = f.and_(f.xor(now, f.resize(value, 32)), mask)
    known = f.compare("sge", value, i64(0))
    return f.and_(known, f.compare("eq", changed, i32(0)))


def _owner_of(f: NativeFunction, tag: Value) -> Value:
    ring = get(f, race_pointer(f), Race.RING, "ptr")
    place = f.and_(f.shift("lshr", tag, 32), i64(RING_ENTRIES - 1))
    return get_entry(f, ring, place)


def _group_of(f: NativeFunction, tag: Value) -> Value:
    return f.shift("lshr", _owner_of(f, tag), 6)


def _describe(f: NativeFunction, tag: Value, other: Value) -> None:
    """Write a tag's site, group, wave and lane, as `aj_report` takes them."""
    owner = _owner_of(f, tag)
    site = f.mask(f.shift("lshr", tag, 16), 16)
    lane = f.mask(f.shift("lshr", tag, 10), 6)
    for index, value in enumerate((site, f.shift("lshr", owner, 6), f.mask(owner, 6), lane)):
        f.store(value, f.offset(other, index * FIELD_BYTES), 8)


def report_race(
    f: NativeFunction, kind: Value, lane: Value, address: Value, size: Value, other: Value
) -> None:
    """Report a lane's access with another place: site, group, wave and lane."""
    f.store(i64(0), f.context_field(Context.OFFSET_BASE), 8)
    f.call_void(
        "aj_report", [f.parameter("context"), kind, f.parameter("site"), lane, address, size, other]
    )


ACCESS_PARAMETERS = [
    _CONTEXT,
    ("i32", "site"),
    ("ptr", "addresses"),
    ("i32", "lanes"),
    ("i32", "size"),
    ("i32", "flags"),
    ("ptr", "stored"),
]


def global_symbol(kind: AccessKind, by_lane: bool = False) -> str:
    """Return the name of `global_text`'s function."""
    return f"aj_race_{'lanes_' * by_lane}global_{OPERATIONS[kind]}"


def lds_symbol(kind: AccessKind, by_lane: bool = False) -> str:
    """Return the name of `lds_text`'s function."""
    return f"aj_race_{'lanes_' * by_lane}lds_{OPERATIONS[kind]}"


def global_text(kind: AccessKind, by_lane: bool, attributes: str) -> str:
    """Return `aj_race_global_load` and so on: an access of global memory, one allocation at a
    time."""
    f = NativeFunction(global_symbol(kind, by_lane), "void", ACCESS_PARAMETERS)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    race = race_pointer(f)
    wide = f.load(V64, f.parameter("addresses"), 64)
    sites = get(f, race, Race.SITES, "ptr")
    cache = f.offset(sites, f.mul(f.resize(f.parameter("site"), 64), i64(SHADOW_ROW * FIELD_BYTES)))
    with f.loop(left=f.parameter("lanes")) as each:
        each.leave_if(f.compare("eq", each.left, i32(0)))
        start, end = f.load("i64", cache, 8), f.load("i64", f.offset(cache, 8), 8)
        above, below = f.compare("uge", wide, f.splat(start)), f.compare("ult", wide, f.splat(end))
        here = f.and_(f.mask_bits(f.and_(above, below)), each.left)
        with f.if_(f.compare("ne", here, i32(0))):
            shadow = f.load("ptr", f.offset(cache, 16), 8)
            with f.if_(f.compare("ne", shadow, NULL)):
                plane = f.load("i64", f.offset(cache, 24), 8)
                _process(
                    f,
                    kind,
                    by_lane=by_lane,
                    row=row,
                    lanes=here,
                    memory=(start, shadow, plane, i64(0)),
                )
            each.again(left=f.and_(each.left, f.not_(here)))
        lane = f.resize(f.intrinsic("cttz", each.left, flags=[constant("i1", 1)]), 64)
        found = f.call("aj_race_find", "i32", [race, cache, f.extract(wide, lane)])
        bit = f.binary("shl", i32(1), f.resize(lane, 32))
        unknown = f.select(f.compare("ne", found, i32(0)), i32(0), bit)
        each.again(left=f.and_(each.left, f.not_(unknown)))
    f.give()
    return f.text(attributes)


def _process(
    f: NativeFunction,
    kind: AccessKind,
    by_lane: bool,
    row: Value,
    lanes: Value,
    memory: tuple[Value, ...],
) -> None:
    """Compare the access of some lanes with the shadow. memory: its start, shadow, bytes of a
    plane, and LDS or 0."""
    before = [f.parameter("context"), f.parameter("site"), row, f.parameter("addresses"), lanes]
    before += [f.parameter("size"), f.parameter("flags")]
    f.call_void(process_symbol(kind, by_lane), [*before, *memory, f.parameter("stored")])


def find_text(attributes: str) -> str:
    """Return `aj_race_find(race, cache, address)`: copy the row of an address's shadow to the
    cache; 0 if there is none."""
    f = NativeFunction(
        "aj_race_find", "i32", [("ptr", "race"), ("ptr", "cache"), ("i64", "address")]
    )
    race = f.parameter("race")
    rows, count = get(f, race, Race.SHADOWS, "ptr"), get(f, race, Race.SHADOW_COUNT)
    with f.loop(index=i64(0)) as each:
        each.leave_if(f.compare("uge", each.index, count))
        row = f.offset(rows, f.mul(each.index, i64(SHADOW_ROW * FIELD_BYTES)))
        above = f.compare("uge", f.parameter("address"), f.load("i64", row, 8))
        below = f.compare("ult", f.parameter("address"), f.load("i64", f.offset(row, 8), 8))
        with f.if_(f.and_(above, below)):
            for part in range(SHADOW_ROW):
                field = f.load("i64", f.offset(row, 8 * part), 8)
                f.store(field, f.offset(f.parameter("cache"), 8 * part), 8)
            f.give(i32(1))
        each.again(index=f.add(each.index, i64(1)))
    f.give(i32(0))
    return f.text(f"noinline cold {attributes}")


def lds_text(kind: AccessKind, by_lane: bool, attributes: str) -> str:
    """Return `aj_race_lds_load` and so on: an access of LDS, without the lanes outside of it."""
    f = NativeFunction(lds_symbol(kind, by_lane), "void", ACCESS_PARAMETERS)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    race = race_pointer(f)
    wide = f.load(V64, f.parameter("addresses"), 64)
    room = f.sub(f.context(Context.LDS_SIZE), f.resize(f.parameter("size"), 64))
    inside = f.mask_bits(f.compare("sle", wide, f.splat(room)))
    lanes = f.and_(f.parameter("lanes"), inside)
    with f.if_(f.compare("ne", lanes, i32(0))):
        shadow = get(f, group_of(f, row), Group.LDS_SHADOW, "ptr")
        memory = (i64(0), shadow, get(f, race, Race.LDS_PLANE), f.context(Context.LDS))
        _process(f, kind, by_lane=by_lane, row=row, lanes=lanes, memory=memory)
    f.give()
    return f.text(attributes)
