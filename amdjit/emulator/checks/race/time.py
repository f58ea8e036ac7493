"""Time in the race check: intervals of waves, and what is ordered before what.

A wave's execution is cut into intervals at its barriers, atomics and fences. Intervals are numbered
in the order in which they begin, in all launches of a device: a number is a point in time, and tags
of earlier launches are stale by themselves. A ring maps intervals to waves. Race-checked launches
run on one host thread: none of this needs locks, and reports are the same each time.

What orders the accesses of two waves (LLVM AMDGPU guide, "Memory Model gfx12"):
- a barrier of their workgroup, or a named one for its members (`barriers.py`); stores to global
  memory in WGP mode also need `s_wait_storecnt 0` before it,
- an atomic that one does after its access, if the other then does an atomic on the same location
  before its own access: within a workgroup that is enough. Between workgroups, a store needs
  `s_wait_storecnt 0` (release) before the first atomic, and the other wave a `global_inv` of the
  device's scope (acquire) after the second. Barriers pass on both: the wave that waits for its
  stores may be another than the one that has stored, and all waves have seen an atomic that one of
  them has seen, and may acquire (the order is transitive: "Memory Model", "happens-before").
If machine code does not show whether accesses are ordered, they count as ordered: whatever is
reported is a race.
"""

from __future__ import annotations

from enum import IntEnum

from amdjit.emulator.checks.race.layout import (
    MAYBE_ATOMIC,
    READS_ONLY,
    RING_ENTRIES,
    Group,
    Plane,
    Race,
    Wave,
)
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import FIELD_BYTES, Context, Launch, Sanitizer


def race_pointer(function: NativeFunction) -> Value:
    """Return the address of the launch's `Race`."""
    launch = function.context_pointer(Context.LAUNCH)
    sanitizer = function.load("ptr", function.offset(launch, Launch.SANITIZER * FIELD_BYTES), 8)
    return function.load("ptr", function.offset(sanitizer, Sanitizer.RACE * FIELD_BYTES), 8)


def get(function: NativeFunction, base: Value, field: IntEnum, kind: str = "i64") -> Value:
    """Read a 64-bit field."""
    return function.load(kind, function.offset(base, field * FIELD_BYTES), 8)


def put(function: NativeFunction, base: Value, field: IntEnum, value: Value) -> None:
    """Write a 64-bit field."""
    function.store(value, function.offset(base, field * FIELD_BYTES), 8)


def put_greater(function: NativeFunction, base: Value, field: IntEnum, value: Value) -> None:
    """Write a 64-bit field if the value is greater than the one there."""
    put(function, base, field, function.intrinsic("umax", get(function, base, field), value))


def entry_of(function: NativeFunction, base: Value, index: Value) -> Value:
    """Return the address of an i64 of an array."""
    return function.offset(base, function.shift("shl", index, 3))


def get_entry(function: NativeFunction, base: Value, index: Value) -> Value:
    """Read an i64 of an array."""
    return function.load("i64", entry_of(function, base, index), 8)


def group_of(function: NativeFunction, row: Value) -> Value:
    """Return the address of a wave's `Group`."""
    return get(function, row, Wave.GROUP, "ptr")


def current_group(function: NativeFunction, race: Value) -> Value:
    """Return the address of the `Group` that runs."""
    slot = function.mul(function.context(Context.SLOT), i64(Group.FIELDS * FIELD_BYTES))
    return function.offset(get(function, race, Race.GROUPS, "ptr"), slot)


def next_interval(function: NativeFunction, race: Value, row: Value) -> Value:
    """Begin another interval of a wave; return its number."""
    time = function.add(get(function, race, Race.TIME), i64(1))
    put(function, race, Race.TIME, time)
    put(function, row, Wave.INTERVAL, time)
    place = function.and_(time, i64(RING_ENTRIES - 1))
    number = get(function, group_of(function, row), Group.NUMBER)
    owner = function.or_(function.shift("shl", number, 6), get(function, row, Wave.NUMBER))
    function.store(owner, entry_of(function, get(function, race, Race.RING, "ptr"), place), 8)
    return time


def table_index(function: NativeFunction, race: Value, group: Value, wave: Value) -> Value:
    """Return the index of a wave of the launch in FENCES and ATOMICS."""
    number = function.add(function.mul(group, get(function, race, Race.WAVE_COUNT)), wave)
    return function.and_(number, get(function, race, Race.TABLE_MASK))


def wave_text(attributes: str) -> str:
    """Return `aj_race_wave(context)`: the running wave's row, in its current interval."""
    function = NativeFunction("aj_race_wave", "ptr", [("ptr", "context")])
    race = race_pointer(function)
    group = current_group(function, race)
    rows = get(function, group, Group.WAVES, "ptr")
    row = function.offset(
        rows, function.mul(function.context(Context.WAVE), i64(Wave.FIELDS * FIELD_BYTES))
    )
    same = function.compare("eq", get(function, row, Wave.EPOCH), function.context(Context.EPOCH))
    with function.unless(same):
        function.call_void("aj_race_epoch", [function.parameter("context"), race, row, group])
    waited = function.compare("ne", get(function, row, Wave.WAITED), i64(0))
    with function.if_(waited):
        function.call_void("aj_race_waited", [function.parameter("context"), race, row])
    function.give(row)
    return function.text(attributes)


def epoch_text(attributes: str) -> str:
    """Return `aj_race_epoch(context, race, row, group)`: the wave runs for the first time after a
    barrier or in a workgroup."""
    parameters = [("ptr", "context"), ("ptr", "race"), ("ptr", "row"), ("ptr", "group")]
    function = NativeFunction("aj_race_epoch", "void", parameters)
    race, row, group = (function.parameter(name) for name in ("race", "row", "group"))
    epoch = function.context(Context.EPOCH)
    known = function.compare("eq", get(function, group, Group.EPOCH), epoch)
    with function.unless(known):
        put(function, group, Group.EPOCH, epoch)
        number = group_number(function, race)
        time = get(function, race, Race.TIME)
        same = function.compare("eq", get(function, group, Group.NUMBER), number)
        with function.if_else(same) as (goes_on, begins):
            with goes_on:
                _join_waves(function, race, group, time)
            with begins:
                _begin_group(function, race, group, number, time)
    put(function, row, Wave.EPOCH, epoch)
    put(function, row, Wave.NUMBER, function.context(Context.WAVE))
    put(function, row, Wave.GROUP, group)
    put_greater(function, row, Wave.SEEN, get(function, group, Group.SEEN))
    put_greater(function, row, Wave.SEEN_AGENT, get(function, group, Group.SEEN_AGENT))
    put(function, row, Wave.ORDERED, next_interval(function, race, row))
    function.give()
    return function.text(f"noinline {attributes}")


def group_number(function: NativeFunction, race: Value) -> Value:
    """Return the number of the workgroup that runs, from 0."""
    x, y, z = (
        function.context(field) for field in (Context.GROUP_X, Context.GROUP_Y, Context.GROUP_Z)
    )
    above = function.add(function.mul(z, get(function, race, Race.GRID_Y)), y)
    return function.add(function.mul(above, get(function, race, Race.GRID_X)), x)


# Later than any interval.
_NEVER = 1 << 62


def _begin_group(
    function: NativeFunction, race: Value, group: Value, number: Value, time: Value
) -> None:
    """Begin a workgroup in its slot. A slot other than the first means that workgroups take turns
    from now on."""
    put(function, group, Group.NUMBER, number)
    further = function.resize(function.compare("ne", function.context(Context.SLOT), i64(0)), 64)
    interleaved = function.or_(get(function, race, Race.INTERLEAVED), further)
    put(function, race, Race.INTERLEAVED, interleaved)
    start = function.add(time, i64(1))
    put(function, group, Group.START, start)
    put(function, group, Group.OWN_START, start)
    put(function, group, Group.BARRIER, time)
    put(function, group, Group.CLEAN, time)
    put(function, group, Group.SEEN, i64(0))
    put(function, group, Group.SEEN_AGENT, i64(0))
    put(function, group, Group.HORIZON, i64(0))
    size = function.mul(get(function, race, Race.WAVE_COUNT), i64(Wave.FIELDS * FIELD_BYTES))
    rows = get(function, group, Group.WAVES, "ptr")
    function.line(
        f"call void @llvm.memset.p0.i64(ptr {rows.text}, i8 0, i64 {size.text}, i1 false)"
    )
    function.declarations["llvm.memset"] = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"


def own_start(function: NativeFunction, race: Value, group: Value) -> Value:
    """Return the interval from which on all are the workgroup's own; if workgroups take turns,
    there is none."""
    apart = function.compare("eq", get(function, race, Race.INTERLEAVED), i64(0))
    return function.select(apart, get(function, group, Group.OWN_START), i64(_NEVER))


def _join_waves(function: NativeFunction, race: Value, group: Value, time: Value) -> None:
    """At a barrier, all waves have seen and acquired what any of them has. The barrier is clean if
    no wave had stores in flight.

    What waves did between their signals and the wait is not ordered: the barrier then counts as
    early as the first of these signals, and the waves' clocks know the others.
    """
    count = get(function, race, Race.WAVE_COUNT)
    rows = get(function, group, Group.WAVES, "ptr")
    start = {"number": i64(0), "seen": i64(0), "acquired": i64(0), "dirty": i64(0), "bound": time}
    with function.loop(**start) as each:
        row = function.offset(rows, function.mul(each.number, i64(Wave.FIELDS * FIELD_BYTES)))
        _pass_releases(function, race, group, row, each.number)
        split = get(function, row, Wave.SPLIT)
        until = function.select(function.compare("eq", split, i64(0)), time, split)
        bound = function.intrinsic("umin", each.bound, until)
        seen = function.intrinsic("umax", each.seen, get(function, row, Wave.SEEN))
        agent = get(function, row, Wave.SEEN_AGENT)
        acquired = function.intrinsic("umax", each.acquired, agent)
        dirty = function.or_(each.dirty, get(function, row, Wave.DIRTY))
        number = function.add(each.number, i64(1))
        more = function.compare("ult", number, count)
        each.again_if(more, number=number, seen=seen, acquired=acquired, dirty=dirty, bound=bound)
    put_greater(function, group, Group.SEEN, seen)
    put_greater(function, group, Group.SEEN_AGENT, acquired)
    waits = function.and_(dirty, get(function, race, Race.WGP))
    clean = function.compare("eq", waits, i64(0))
    put(function, group, Group.BARRIER, bound)
    last = function.select(clean, bound, get(function, group, Group.CLEAN))
    put(function, group, Group.CLEAN, last)
    with function.if_(function.compare("ne", bound, time)):
        function.call_void("aj_race_split_barrier", [race, group, time])


class Fence(IntEnum):
    """What a wave does to order its accesses: it waits for its stores, releases what comes before,
    or acquires what atomics have shown it."""

    WAIT = 0
    WAIT_AND_RELEASE = 1
    RELEASE = 2
    ACQUIRE = 3


def fence_text(attributes: str) -> str:
    """Return `aj_race_fence(context, fence)`: what one of `Fence` orders."""
    function = NativeFunction("aj_race_fence", "void", [("ptr", "context"), ("i32", "fence")])
    f, fence = function, function.parameter("fence")
    race = race_pointer(f)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    with f.if_(f.compare("eq", fence, i32(Fence.ACQUIRE))):
        put_greater(f, row, Wave.SEEN_AGENT, get(f, row, Wave.SEEN))
        f.give()
    time = next_interval(f, race, row)
    home = group_of(f, row)
    group = get(f, home, Group.NUMBER)
    index = table_index(f, race, group, get(f, row, Wave.NUMBER))
    with f.if_(f.compare("ne", fence, i32(Fence.RELEASE))):
        put(f, row, Wave.DIRTY, i64(0))
        f.store(time, entry_of(f, get(f, race, Race.FENCES, "ptr"), index), 8)
    with f.if_(f.compare("ne", fence, i32(Fence.WAIT))):
        put(f, row, Wave.RELEASE, time)
        put(f, row, Wave.HORIZON, get(f, home, Group.BARRIER))
    f.give()
    return f.text(attributes)


def lane_order_text(attributes: str) -> str:
    """Return `aj_race_lane_order(context)`: something orders the lanes of the wave."""
    f = NativeFunction("aj_race_lane_order", "void", [("ptr", "context")])
    race = race_pointer(f)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    put(f, row, Wave.ORDERED, next_interval(f, race, row))
    f.give()
    return f.text(attributes)


def sync_text(attributes: str) -> str:
    """Return `aj_race_sync(context, row, addresses, lanes, start, shadow, plane, flags)`: what an
    atomic orders.

    The wave sees the time of the last atomic at each address, and leaves its own unless it only
    reads. What is surely atomic says so to stores that may be.
    """
    parameters = [
        ("ptr", "context"), ("ptr", "row"), ("ptr", "addresses"), ("i32", "lanes"),
        ("i64", "start"), ("ptr", "shadow"), ("i64", "plane"), ("i32", "flags"),
    ]  # fmt: skip
    f = NativeFunction("aj_race_sync", "void", parameters)
    race, row = race_pointer(f), f.parameter("row")
    clocks = f.offset(f.parameter("shadow"), f.mul(f.parameter("plane"), i64(Plane.CLOCK)))
    sure = f.compare("eq", f.and_(f.parameter("flags"), i32(MAYBE_ATOMIC)), i32(0))
    now = f.shift("shl", get(f, race, Race.TIME), 32)
    with f.each_lane(f.parameter("lanes")) as each:
        place = _clock_of(f, clocks, each.lane)
        before = f.load("i64", place, 8)
        put_greater(f, row, Wave.SEEN, f.mask(before, 32))
        f.store(f.select(sure, f.or_(f.mask(before, 32), now), before), place, 8)
    with f.if_(f.compare("eq", f.and_(f.parameter("flags"), i32(READS_ONLY)), i32(0))):
        time = next_interval(f, race, row)
        put(f, row, Wave.RELEASED, time)
        home = group_of(f, row)
        group = get(f, home, Group.NUMBER)
        index = table_index(f, race, group, get(f, row, Wave.NUMBER))
        f.store(time, entry_of(f, get(f, race, Race.ATOMICS, "ptr"), index), 8)
        place = entry_of(
            f, get(f, race, Race.HORIZONS, "ptr"), f.and_(group, get(f, race, Race.TABLE_MASK))
        )
        f.store(get(f, home, Group.BARRIER), place, 8)
        _publish(f, race, row, index)
        with f.each_lane(f.parameter("lanes")) as each:
            place = _clock_of(f, clocks, each.lane)
            known = f.and_(f.load("i64", place, 8), i64(-1 << 32))
            f.store(f.or_(known, time), place, 8)
    f.give()
    return f.text(attributes)


def _table(f: NativeFunction, race: Value, table: Race, index: Value) -> Value:
    return entry_of(f, get(f, race, table, "ptr"), index)


def _publish(f: NativeFunction, race: Value, row: Value, index: Value) -> None:
    """An atomic may show others what the wave, or with barriers in between another one, has
    released before."""
    home = group_of(f, row)
    f.store(get(f, row, Wave.RELEASE), _table(f, race, Race.RELEASES, index), 8)
    horizon = f.intrinsic("umax", get(f, row, Wave.HORIZON), get(f, home, Group.HORIZON))
    number = f.and_(get(f, home, Group.NUMBER), get(f, race, Race.TABLE_MASK))
    place = _table(f, race, Race.RELEASED_HORIZONS, number)
    f.store(f.intrinsic("umax", f.load("i64", place, 8), horizon), place, 8)


def _pass_releases(f: NativeFunction, race: Value, group: Value, row: Value, wave: Value) -> None:
    """At a barrier, other waves may from now on show what a wave has released. What they have shown
    before stays so. wave: its number, which the row of a wave without accesses does not have."""
    put_greater(f, group, Group.HORIZON, get(f, row, Wave.HORIZON))
    number = get(f, group, Group.NUMBER)
    index = table_index(f, race, number, wave)
    masked = f.and_(number, get(f, race, Race.TABLE_MASK))
    passed, released = (_table(f, race, table, index) for table in (Race.PASSED, Race.RELEASES))
    before, known = f.load("i64", passed, 8), f.load("i64", released, 8)
    shown = f.compare("ule", before, f.load("i64", _table(f, race, Race.HORIZONS, masked), 8))
    both = f.intrinsic("umax", known, before)
    f.store(f.select(shown, both, known), released, 8)
    f.store(get(f, row, Wave.RELEASE), passed, 8)


def _clock_of(f: NativeFunction, clocks: Value, lane: Value) -> Value:
    address = get_entry(f, f.parameter("addresses"), lane)
    dword = f.shift("lshr", f.sub(address, f.parameter("start")), 2)
    return entry_of(f, clocks, dword)
