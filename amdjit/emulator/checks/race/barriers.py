"""What named barriers order in the race check: only their members, each with what it had done when
it signalled.

A clock has a time for each wave of the workgroup: that wave's accesses in intervals up to this time
come before. Each wave has one clock, and each named barrier two: `all`, of all waves that have
signalled, and `before`, which is `all` as it was at the first signal of the barrier's current
round, so that waves that go on late do not see signals of the next round. Intervals are never
reused: clocks of earlier workgroups are merely old.

After the times of waves, a clock has two more: the wave's `SEEN` and `SEEN_AGENT`.
"""

from __future__ import annotations

from amdjit.emulator.checks.race.layout import Group, Race, Wave
from amdjit.emulator.checks.race.time import (
    entry_of,
    get,
    get_entry,
    group_of,
    next_interval,
    put,
    put_greater,
    race_pointer,
)
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import (
    BARRIER_ROW,
    FIELD_BYTES,
    JOINED_SLOT,
    NAMED_BARRIERS,
    SLOT_ROW,
    Context,
    SlotField,
)

_EXTRA = 2


def clock_entries(waves: int) -> int:
    """Return how many entries the clocks of a workgroup have: those of its waves, then two clocks
    of each named barrier."""
    return (waves + 2 * NAMED_BARRIERS) * (waves + _EXTRA)


class _Clocks:
    """The clocks of a wave's workgroup."""

    def __init__(self, function: NativeFunction, race: Value, row: Value) -> None:
        self._f = function
        self._first = get(function, group_of(function, row), Group.CLOCKS, "ptr")
        self.waves = get(function, race, Race.WAVE_COUNT)
        self.entries = function.add(self.waves, i64(_EXTRA))

    def wave(self, number: Value) -> Value:
        """Return the clock of a wave."""
        return entry_of(self._f, self._first, self._f.mul(number, self.entries))

    def barrier(self, number: Value, before: Value) -> Value:
        """Return the clock of barrier `number`, an i64: `before` if that is 1, `all` if it is
        0."""
        f = self._f
        index = f.add(f.shift("shl", f.sub(number, i64(1)), 1), before)
        return self.wave(f.add(self.waves, index))

    def merge(self, target: Value, source: Value) -> None:
        """Write the later of each pair of times to `target`."""
        f = self._f
        with f.count_to(self.entries) as index:
            place = entry_of(f, target, index)
            later = f.intrinsic("umax", f.load("i64", place, 8), get_entry(f, source, index))
            f.store(later, place, 8)


def clock_of(f: NativeFunction, race: Value, row: Value, other: Value) -> Value:
    """Return the time up to which named barriers order the accesses of wave `other` before what a
    wave of its group does now."""
    clock = _Clocks(f, race, row).wave(get(f, row, Wave.NUMBER))
    return get_entry(f, clock, other)


def arrive_text(attributes: str) -> str:
    """Return `aj_race_arrive(context, state, number)`: a wave signals a named barrier, or, with
    number -1, leaves the one that it has joined. The barrier has not counted that yet."""
    f = NativeFunction(
        "aj_race_arrive", "void", [("ptr", "context"), ("ptr", "state"), ("i32", "number")]
    )
    race = race_pointer(f)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    joined = f.sub(f.load("i32", f.offset(f.parameter("state"), JOINED_SLOT * 4), 4), i32(1))
    leaves = f.compare("eq", f.parameter("number"), i32(-1))
    number = f.resize(f.select(leaves, joined, f.parameter("number")), 64)
    with f.if_(f.compare("ult", f.sub(number, i64(1)), i64(NAMED_BARRIERS))):
        clocks = _Clocks(f, race, row)
        everybody, before = clocks.barrier(number, i64(0)), clocks.barrier(number, i64(1))
        with f.if_(f.compare("eq", _signals(f, number), i64(0))):
            clocks.merge(before, everybody)
        wave = get(f, row, Wave.NUMBER)
        own = clocks.wave(wave)
        f.store(get(f, row, Wave.INTERVAL), entry_of(f, own, wave), 8)
        for index, field in enumerate((Wave.SEEN, Wave.SEEN_AGENT)):
            f.store(get(f, row, field), entry_of(f, own, f.add(clocks.waves, i64(index))), 8)
        clocks.merge(everybody, own)
        next_interval(f, race, row)
    f.give()
    return f.text(attributes)


def _signals(f: NativeFunction, number: Value) -> Value:
    """Return how many signals a named barrier of the running workgroup has."""
    place = f.add(f.mul(number, i64(BARRIER_ROW)), i64(SlotField.BARRIERS))
    slot = f.mul(f.context(Context.SLOT), i64(SLOT_ROW))
    return get_entry(f, f.context_pointer(Context.SLOTS), f.add(slot, place))


def waits_text(attributes: str) -> str:
    """Return `aj_race_waits(context, state)`: a wave waits for the named barrier that it has
    joined."""
    f = NativeFunction("aj_race_waits", "void", [("ptr", "context"), ("ptr", "state")])
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    joined = f.load("i32", f.offset(f.parameter("state"), JOINED_SLOT * 4), 4)
    number = f.intrinsic("umax", joined, i32(1))
    put(f, row, Wave.WAITED, f.resize(f.sub(number, i32(1)), 64))
    f.give()
    return f.text(attributes)


def waited_text(attributes: str) -> str:
    """Return `aj_race_waited(context, race, row)`: the wave goes on after the named barrier of its
    `WAITED`."""
    f = NativeFunction(
        "aj_race_waited", "void", [("ptr", "context"), ("ptr", "race"), ("ptr", "row")]
    )
    race, row = f.parameter("race"), f.parameter("row")
    number = get(f, row, Wave.WAITED)
    put(f, row, Wave.WAITED, i64(0))
    clocks = _Clocks(f, race, row)
    next_round = f.resize(f.compare("ne", _signals(f, number), i64(0)), 64)
    own = clocks.wave(get(f, row, Wave.NUMBER))
    put(f, row, Wave.ORDERED, next_interval(f, race, row))
    clocks.merge(own, clocks.barrier(number, next_round))
    for index, field in enumerate((Wave.SEEN, Wave.SEEN_AGENT)):
        put_greater(f, row, field, get_entry(f, own, f.add(clocks.waves, i64(index))))
    f.give()
    return f.text(f"noinline {attributes}")


def split_text(attributes: str) -> str:
    """Return `aj_race_split(context)`: a wave signals the workgroup's barrier and has accesses
    before it waits."""
    f = NativeFunction("aj_race_split", "void", [("ptr", "context")])
    race = race_pointer(f)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    put(f, row, Wave.SPLIT, get(f, row, Wave.INTERVAL))
    next_interval(f, race, row)
    f.give()
    return f.text(attributes)


def split_barrier_text(attributes: str) -> str:
    """Return `aj_race_split_barrier(race, group, time)`: the workgroup's barrier has completed, and
    some waves have accesses after their signals.

    Each wave sees what the others did before they signalled.
    """
    f = NativeFunction(
        "aj_race_split_barrier", "void", [("ptr", "race"), ("ptr", "group"), ("i64", "time")]
    )
    race, group, time = (f.parameter(name) for name in ("race", "group", "time"))
    waves = get(f, race, Race.WAVE_COUNT)
    entries = f.add(waves, i64(_EXTRA))
    clocks, rows = get(f, group, Group.CLOCKS, "ptr"), get(f, group, Group.WAVES, "ptr")
    with f.count_to(waves) as other:
        row = f.offset(rows, f.mul(other, i64(Wave.FIELDS * FIELD_BYTES)))
        split = get(f, row, Wave.SPLIT)
        until = f.select(f.compare("eq", split, i64(0)), time, split)
        put(f, row, Wave.SPLIT, i64(0))
        with f.count_to(waves) as wave:
            place = entry_of(f, clocks, f.add(f.mul(wave, entries), other))
            f.store(f.intrinsic("umax", f.load("i64", place, 8), until), place, 8)
    f.give()
    return f.text(f"noinline {attributes}")
