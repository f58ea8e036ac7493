"""The native functions that code checked for races calls."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from amdjit.emulator.checks.race.accesses import process_symbol, process_text
from amdjit.emulator.checks.race.barriers import (
    arrive_text,
    clock_of,
    split_barrier_text,
    split_text,
    waited_text,
    waits_text,
)
from amdjit.emulator.checks.race.conflicting_accesses import (
    ACCESS_PARAMETERS,
    CONFLICT,
    dword_text,
    find_text,
    global_symbol,
    global_text,
    lds_symbol,
    lds_text,
    report_race,
)
from amdjit.emulator.checks.race.in_flight_accesses import (
    access_code,
    issue_text,
    keep_text,
    landed_text,
    repeat_text,
)
from amdjit.emulator.checks.race.layout import RING_ENTRIES, SHADOW_ROW, Group, Race, Summary, Wave
from amdjit.emulator.checks.race.tags import dword_symbol
from amdjit.emulator.checks.race.time import (
    entry_of,
    epoch_text,
    fence_text,
    get,
    get_entry,
    group_number,
    group_of,
    lane_order_text,
    put,
    race_pointer,
    sync_text,
    table_index,
    wave_text,
)
from amdjit.emulator.host.builder import NULL, Value, constant, sequence
from amdjit.emulator.host.function import V32, V64, NativeFunction, i32, i64
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.layout import FIELD_BYTES, RACE_KINDS, Context
from amdjit.emulator.wave.frame import AccessKind

# What is ordered before what in the race check: the look at one tag.


def ordered_text(attributes: str) -> str:
    """Return `aj_race_ordered(context, row, tag, load, lds)`: whether a tag's access comes before
    what the wave does now.

    1 if it does, 0 if nothing orders the two, 2 if all that is missing is a wait for stores before
    a barrier.
    """
    parameters = [
        ("ptr", "context"),
        ("ptr", "row"),
        ("i64", "tag"),
        ("i64", "load"),
        ("i64", "lds"),
    ]
    function = NativeFunction("aj_race_ordered", "i32", parameters)
    race, row = race_pointer(function), function.parameter("row")
    home = group_of(function, row)
    then = function.shift("lshr", function.parameter("tag"), 32)
    is_lds = function.compare("ne", function.parameter("lds"), i64(0))
    is_load = function.compare("ne", function.parameter("load"), i64(0))
    first = function.select(
        is_lds, get(function, home, Group.START), get(function, race, Race.FIRST)
    )
    stale = function.compare("ult", then, first)
    age = function.sub(get(function, race, Race.TIME), then)
    old = function.compare("uge", age, i64(RING_ENTRIES))
    with function.if_(function.or_(stale, old)):
        function.give(i32(1))
    place = function.and_(then, i64(RING_ENTRIES - 1))
    owner = get_entry(function, get(function, race, Race.RING, "ptr"), place)
    group, wave = function.shift("lshr", owner, 6), function.and_(owner, i64(63))
    index = table_index(function, race, group, wave)
    fence = get_entry(function, get(function, race, Race.FENCES, "ptr"), index)
    fenced = function.compare("ugt", fence, then)
    never_waits = function.or_(is_lds, is_load)
    same = function.compare("eq", group, get(function, home, Group.NUMBER))
    with function.if_(same):
        _within_group(
            function, race, row=row, then=then, wave=wave, never_waits=never_waits, fenced=fenced
        )
    _between_groups(function, race, row=row, then=then, group=group, index=index, is_load=is_load)
    return function.text(f"noinline {attributes}")


def _within_group(
    function: NativeFunction,
    race: Value,
    row: Value,
    then: Value,
    wave: Value,
    never_waits: Value,
    fenced: Value,
) -> None:
    """Order accesses of one workgroup. never_waits: the earlier access is no store to global
    memory."""
    mine = function.compare("eq", wave, get(function, row, Wave.NUMBER))
    home = group_of(function, row)
    rows = get(function, home, Group.WAVES, "ptr")
    other = function.offset(rows, function.mul(wave, i64(Wave.FIELDS * FIELD_BYTES)))
    shown = function.compare("ugt", get(function, other, Wave.RELEASED), then)
    seen = function.compare("ugt", get(function, row, Wave.SEEN), then)
    with function.if_(function.or_(mine, function.and_(shown, seen))):
        function.give(i32(1))
    before = function.compare("ule", then, get(function, home, Group.BARRIER))
    with function.unless(before):
        told = function.compare("ule", then, clock_of(function, race, row, wave))
        with function.unless(told):
            function.give(i32(0))
    always = function.compare("eq", get(function, race, Race.WGP), i64(0))
    clean = function.compare("ule", then, get(function, home, Group.CLEAN))
    fine = function.or_(function.or_(never_waits, always), function.or_(clean, fenced))
    function.give(function.select(fine, i32(1), i32(2)))


def _between_groups(
    function: NativeFunction,
    race: Value,
    row: Value,
    then: Value,
    group: Value,
    index: Value,
    is_load: Value,
) -> None:
    """Order accesses of two workgroups. index: of the earlier access's wave in the tables."""
    atomic = get_entry(function, get(function, race, Race.ATOMICS, "ptr"), index)
    place = function.and_(group, get(function, race, Race.TABLE_MASK))
    horizon = get_entry(function, get(function, race, Race.HORIZONS, "ptr"), place)
    shown = function.or_(
        function.compare("ugt", atomic, then), function.compare("ule", then, horizon)
    )
    release = get_entry(function, get(function, race, Race.RELEASES, "ptr"), index)
    horizons = get(function, race, Race.RELEASED_HORIZONS, "ptr")
    passed_on = function.compare("ule", then, get_entry(function, horizons, place))
    # Released before a barrier, after which an atomic of another wave came.
    passed = get_entry(function, get(function, race, Race.PASSED, "ptr"), index)
    after = function.and_(
        function.compare("ugt", passed, then), function.compare("ule", passed, horizon)
    )
    fenced = function.or_(function.compare("ugt", release, then), function.or_(passed_on, after))
    released = function.select(is_load, shown, fenced)
    seen = function.compare("ugt", get(function, row, Wave.SEEN_AGENT), then)
    function.give(function.resize(function.and_(released, seen), 32))


# Lanes of one store that write different values to one address: among 32 lanes, and between the
# halves of a wave64.

_PARAMETERS = [
    ("ptr", "context"), ("i32", "site"), ("ptr", "addresses"), ("i32", "lanes"), ("i32", "size"),
    ("i64", "lds"), ("ptr", "stored"),
]  # fmt: skip
_LOWER = [("ptr", "lower.addresses"), ("i32", "lower.lanes"), ("ptr", "lower.stored")]
# An address that changes no minimum, and one that changes no maximum.
_HIGHEST, _LOWEST = i64(-1), i64(0)


def conflicts_text(attributes: str) -> str:
    """Return `aj_lane_conflicts(context, site, addresses, lanes, size, lds, stored)`: called
    before a store.

    Lanes that store to one address are compared with the first of them; one whose value differs is
    reported.
    """
    f = NativeFunction("aj_lane_conflicts", "void", _PARAMETERS)
    other = f.allocate("[4 x i64]", 8)
    wide = f.load(V64, f.parameter("addresses"), 64)
    steps = f.mul(f.splat(f.resize(f.parameter("size"), 64)), sequence("i64", range(32)))
    bases = f.sub(wide, steps)
    first = f.resize(f.intrinsic("cttz", f.parameter("lanes"), flags=[constant("i1", 0)]), 64)
    start = f.extract(bases, f.and_(first, i64(31)))
    strangers = f.and_(f.mask_bits(f.compare("ne", bases, f.splat(start))), f.parameter("lanes"))
    with f.if_(f.compare("ne", strangers, i32(0))), f.loop(left=f.parameter("lanes")) as each:
        each.leave_if(f.compare("eq", each.left, i32(0)))
        lane = f.resize(f.intrinsic("cttz", each.left, flags=[constant("i1", 1)]), 64)
        address = f.extract(wide, lane)
        together = f.and_(f.mask_bits(f.compare("eq", wide, f.splat(address))), each.left)
        others = f.and_(together, f.sub(together, i32(1)))
        with f.if_(f.compare("ne", others, i32(0))):
            differ = f.and_(_other_values(f, lane, "stored"), together)
            with f.if_(f.compare("ne", differ, i32(0))):
                rival = f.add(_last(f, differ), f.context(Context.LANE_BASE))
                _tell(f, lane, address, rival, other)
        each.again(left=f.and_(each.left, f.not_(together)))
    f.give()
    return f.text(f"noinline {attributes}")


def conflicts_across_text(attributes: str) -> str:
    """Return `aj_lane_conflicts_across(..., lower_addresses, lower_lanes, lower_stored)`: called
    before the store of a wave64's upper half.

    Each of its lanes is compared with all lanes of the lower half.
    """
    f = NativeFunction("aj_lane_conflicts_across", "void", [*_PARAMETERS, *_LOWER])
    other = f.allocate("[4 x i64]", 8)
    row = f.allocate(f"[{SHADOW_ROW} x i64]", 8)
    wide, lower = (f.load(V64, f.parameter(name), 64) for name in ("addresses", "lower.addresses"))
    with f.unless(_apart(f, wide, lower)), f.each_lane(f.parameter("lanes")) as each:
        address = f.extract(wide, each.lane)
        same = f.mask_bits(f.compare("eq", lower, f.splat(address)))
        together = f.and_(same, f.parameter("lower.lanes"))
        with f.if_(f.compare("ne", together, i32(0))):
            differ = f.and_(_other_values(f, each.lane, "lower.stored"), together)
            with (
                f.if_(f.compare("ne", differ, i32(0))),
                f.if_(_is_memory(f, address, row)),
            ):
                _tell(f, each.lane, address, _last(f, differ), other)
    f.give()
    return f.text(f"noinline {attributes}")


def _apart(f: NativeFunction, upper: Value, lower: Value) -> Value:
    """Return whether all addresses of one half are below those of the other, as in most stores."""
    ends = []
    for values, name in ((upper, "lanes"), (lower, "lower.lanes")):
        active = f.lane_mask(f.parameter(name))
        least = _reduced(f, "umin", f.select(active, values, f.splat(_HIGHEST)))
        most = _reduced(f, "umax", f.select(active, values, f.splat(_LOWEST)))
        ends.append((least, most))
    (first, last), (lower_first, lower_last) = ends
    return f.or_(f.compare("ugt", first, lower_last), f.compare("ugt", lower_first, last))


def _reduced(f: NativeFunction, name: str, values: Value) -> Value:
    return f.call(f"llvm.vector.reduce.{name}.v32i64", "i64", [values])


def _is_memory(f: NativeFunction, address: Value, row: Value) -> Value:
    """Return whether the store accesses LDS or an allocation. row: room for what `aj_race_find`
    finds."""
    end = f.add(address, f.resize(f.parameter("size"), 64))
    in_lds = f.compare("ne", f.parameter("lds"), i64(0))
    inside = f.compare("ule", end, f.context(Context.LDS_SIZE))
    found = f.call("aj_race_find", "i32", [race_pointer(f), row, address])
    return f.select(in_lds, inside, f.compare("ne", found, i32(0)))


def _other_values(f: NativeFunction, lane: Value, theirs: str) -> Value:
    """Return the lanes of `theirs` whose element differs from that of `lane`, in any of its
    dwords."""
    bits = f.shift("shl", f.intrinsic("umin", f.parameter("size"), i32(4)), 3)
    kept = f.resize(f.sub(f.shift("shl", i64(1), f.resize(bits, 64)), i64(1)), 32)
    differ = i32(0)
    for dword in range(4):
        mine, others = (
            f.load(V32, f.offset(f.parameter(name), 128 * dword), 64) for name in ("stored", theirs)
        )
        changed = f.and_(f.xor(others, f.splat(f.extract(mine, lane))), f.splat(kept))
        odd = f.mask_bits(f.compare("ne", changed, constant(V32, 0)))
        there = f.compare("ugt", f.parameter("size"), i32(4 * dword))
        differ = f.or_(differ, f.select(there, odd, i32(0)))
    return differ


def _last(f: NativeFunction, lanes: Value) -> Value:
    return f.resize(f.sub(i32(31), f.intrinsic("ctlz", lanes, flags=[constant("i1", 0)])), 64)


def _tell(f: NativeFunction, lane: Value, address: Value, rival: Value, other: Value) -> None:
    """Report a lane, and the lane of the wave that stores another value to its address."""
    site = f.resize(f.parameter("site"), 64)
    for index, value in enumerate(
        (site, group_number(f, race_pointer(f)), f.context(Context.WAVE), rival)
    ):
        f.store(value, f.offset(other, index * FIELD_BYTES), 8)
    in_lds = f.compare("ne", f.parameter("lds"), i64(0))
    kind = f.select(in_lds, i32(RACE_KINDS + CONFLICT + 1), i32(RACE_KINDS + CONFLICT))
    report_race(f, kind, lane=lane, address=address, size=f.parameter("size"), other=other)


# Scalar loads in the race check.


def scalar_text(attributes: str) -> str:
    """Return `aj_race_scalar(context, site, addresses, lanes, size, flags, stored)`: a scalar load,
    dword by dword."""
    f = NativeFunction("aj_race_scalar", "void", ACCESS_PARAMETERS)
    race = race_pointer(f)
    address = f.load("i64", f.parameter("addresses"), 8)
    sites = get(f, race, Race.SITES, "ptr")
    cache = f.offset(sites, f.mul(f.resize(f.parameter("site"), 64), i64(SHADOW_ROW * FIELD_BYTES)))
    with f.loop() as look, f.section() as missing:
        start, end = f.load("i64", cache, 8), f.load("i64", f.offset(cache, 8), 8)
        inside = f.and_(f.compare("uge", address, start), f.compare("ult", address, end))
        look.leave_if(inside)
        found = f.call("aj_race_find", "i32", [race, cache, address])
        missing.leave_if(f.compare("ne", found, i32(0)))
        f.give()
    shadow, plane = f.load("ptr", f.offset(cache, 16), 8), f.load("i64", f.offset(cache, 24), 8)
    with f.if_(f.compare("ne", shadow, NULL)):
        row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
        _scalar_dwords(
            f, ScalarLoad(race, row, address=address, start=start, shadow=shadow, plane=plane)
        )
    f.give()
    return f.text(attributes)


class ScalarLoad(NamedTuple):
    """A scalar load whose shadow has been found."""

    race: Value
    row: Value
    address: Value
    start: Value
    shadow: Value
    plane: Value


def _scalar_dwords(f: NativeFunction, load: ScalarLoad) -> None:
    head = f.offset(load.shadow, -Summary.FIELDS * FIELD_BYTES)
    last = f.intrinsic("umax", get(f, head, Summary.STORED), get(f, head, Summary.ATOMIC))
    quiet = f.compare("ult", last, get(f, load.race, Race.FIRST))
    put(f, head, Summary.READ, get(f, load.race, Race.TIME))
    mine = get(f, load.row, Wave.INTERVAL)
    site = f.resize(f.parameter("site"), 64)
    known = f.select(f.compare("ult", site, i64(1 << 16)), site, i64(0))
    tag = f.or_(f.or_(f.shift("shl", mine, 32), f.shift("shl", known, 16)), i64(15))
    first = f.shift("shl", f.shift("lshr", f.sub(load.address, load.start), 2), 3)
    readers = f.offset(load.shadow, f.add(load.plane, first))
    earlier = f.offset(readers, load.plane)
    size = f.resize(f.parameter("size"), 64)
    dwords = f.shift("lshr", f.add(size, i64(3)), 2)
    with f.count_to(dwords) as index:
        with f.unless(quiet):
            place = f.add(load.address, f.shift("shl", index, 2))
            arguments = [f.parameter("context"), f.parameter("site"), load.row]
            arguments += [f.parameter("flags"), load.start, load.shadow, load.plane, i64(0)]
            arguments += [f.parameter("size"), i32(AccessKind.LOAD), place]
            f.call_void("aj_race_dword", [*arguments, i64(0), i64(15), i64(-1)])
        _note_reader(f, readers, earlier=earlier, index=index, tag=tag, mine=mine)


def _note_reader(
    f: NativeFunction, readers: Value, earlier: Value, index: Value, tag: Value, mine: Value
) -> None:
    """Write a tag, and keep that of another wave as the earlier reader."""
    place = entry_of(f, readers, index)
    before = f.load("i64", place, 8)
    f.store(tag, place, 8)
    with f.if_(f.compare("ne", f.shift("lshr", before, 32), mine)):
        f.store(before, entry_of(f, earlier, index), 8)


_WAYS = [(kind, by_lane) for kind in AccessKind for by_lane in (False, True)]
_NOTING = {
    access_code(kind, lds): (lds_symbol if lds else global_symbol)(kind)
    for kind in (AccessKind.LOAD, AccessKind.STORE)
    for lds in (False, True)
}
NATIVES = NativeSources(
    {
        "aj_race_wave": wave_text,
        "aj_race_epoch": epoch_text,
        "aj_race_fence": fence_text,
        "aj_race_ordered": ordered_text,
        "aj_race_arrive": arrive_text,
        "aj_race_waits": waits_text,
        "aj_race_waited": waited_text,
        "aj_race_split": split_text,
        "aj_race_split_barrier": split_barrier_text,
        "aj_race_sync": sync_text,
        "aj_race_lane_order": lane_order_text,
        **{dword_symbol(by_lane): partial(dword_text, by_lane) for by_lane in (False, True)},
        "aj_race_issue": issue_text,
        "aj_race_landed": landed_text,
        "aj_race_keep": keep_text,
        "aj_race_repeat": partial(repeat_text, _NOTING),
        "aj_race_find": find_text,
        "aj_race_scalar": scalar_text,
        "aj_lane_conflicts": conflicts_text,
        "aj_lane_conflicts_across": conflicts_across_text,
        **{process_symbol(*way): partial(process_text, *way) for way in _WAYS},
        **{global_symbol(*way): partial(global_text, *way) for way in _WAYS},
        **{lds_symbol(*way): partial(lds_text, *way) for way in _WAYS},
    }
)
