"""What is ordered before what in the race check: the look at one tag."""

from __future__ import annotations

from amdjit.emulator.checks.race.barriers import clock_of
from amdjit.emulator.checks.race.layout import RING_ENTRIES, Group, Race, Wave
from amdjit.emulator.checks.race.time import get, get_entry, group_of, race_pointer, table_index
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import FIELD_BYTES


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
        _within_group(function, race, row, then, wave, never_waits, fenced)
    _between_groups(function, race, row, then, group, index, is_load)
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
