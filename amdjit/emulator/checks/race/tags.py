"""What all accesses in the race check do with tags, whatever their lanes."""

from __future__ import annotations

from amdjit.emulator.checks.race.layout import (
    DEVICE_SCOPE,
    IN_FLIGHT,
    MAYBE_ATOMIC,
    READS_ONLY,
    SCOPE_BITS,
    Group,
    Plane,
    Race,
    Summary,
    Wave,
)
from amdjit.emulator.checks.race.time import get, group_of, own_start, put, race_pointer
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import V64, NativeFunction, i32, i64
from amdjit.emulator.layout import FIELD_BYTES, Context
from amdjit.emulator.wave.frame import AccessKind

OPERATIONS = {AccessKind.LOAD: "load", AccessKind.STORE: "store", AccessKind.ATOMIC: "atomic"}
_NOTED = {
    AccessKind.LOAD: Summary.READ,
    AccessKind.STORE: Summary.STORED,
    AccessKind.ATOMIC: Summary.ATOMIC,
}
# The planes with the accesses that one may race with.
CONFLICTING_PLANES = {
    AccessKind.LOAD: (Plane.WRITER, Plane.ATOMIC),
    AccessKind.STORE: (Plane.WRITER, Plane.READER, Plane.EARLIER_READER, Plane.ATOMIC),
    AccessKind.ATOMIC: (Plane.WRITER, Plane.READER, Plane.EARLIER_READER, Plane.ATOMIC),
}


def dword_symbol(by_lane: bool) -> str:
    """Return the name of the function that looks at all tags of a dword closely."""
    return f"aj_race_{'lanes_' * by_lane}dword"


class TagAccess:
    """An access in one shadow: its own tag, and the tags that matter to it."""

    def __init__(self, function: NativeFunction, kind: AccessKind, by_lane: bool = False) -> None:
        self.f = function
        self.kind = kind
        self.by_lane = by_lane
        self.race = race_pointer(function)
        row = function.parameter("row")
        self.mine = get(function, row, Wave.INTERVAL)
        is_lds = function.compare("ne", function.parameter("lds"), i64(0))
        group = group_of(function, row)
        start = get(function, group, Group.START)
        # After its start, a workgroup's LDS has only tags of its own.
        self.start = function.select(is_lds, start, own_start(function, self.race, group))
        self.first = function.select(is_lds, start, get(function, self.race, Race.FIRST))
        barrier, clean = get(function, group, Group.BARRIER), get(function, group, Group.CLEAN)
        self.barrier = barrier
        # A barrier orders all accesses but stores to global memory.
        self.clean = function.select(is_lds, barrier, clean)
        site = function.resize(function.parameter("site"), 64)
        known = function.select(function.compare("ult", site, i64(1 << 16)), site, i64(0))
        scope = function.and_(function.resize(function.parameter("flags"), 64), i64(SCOPE_BITS))
        head = function.or_(function.shift("shl", self.mine, 32), function.shift("shl", known, 16))
        base = function.offset(function.parameter("context"), Context.LANE_BASE * FIELD_BYTES)
        half = function.shift("shl", function.load("i64", base, 8), 10)
        flags = function.resize(function.parameter("flags"), 64)
        others = function.and_(flags, i64(MAYBE_ATOMIC | IN_FLIGHT))
        kind_bits = function.or_(function.shift("shl", scope, 4), function.shift("shl", others, 3))
        self.tag = function.or_(function.or_(head, half), kind_bits)
        self.wide = function.load(V64, function.parameter("addresses"), 64)

    def note_summary(self) -> None:
        """Find out whether there can be conflicting accesses (`quiet`); leave this access's time
        for others."""
        f = self.f
        head = f.offset(f.parameter("shadow"), -Summary.FIELDS * FIELD_BYTES)
        times = [get(f, head, Summary.STORED), get(f, head, Summary.ATOMIC)]
        if self.kind is not AccessKind.LOAD:
            times.append(get(f, head, Summary.READ))
        last = times[0]
        for time in times[1:]:
            last = f.intrinsic("umax", last, time)
        is_lds = f.compare("ne", f.parameter("lds"), i64(0))
        bound = f.select(is_lds, self.barrier, f.sub(self.first, i64(1)))
        self.quiet = f.compare("ule", last, bound)
        put(f, head, _NOTED[self.kind], get(f, self.race, Race.TIME))

    def synchronise(self, flags: Value) -> None:
        """See the times that atomics at these addresses have left."""
        f = self.f
        arguments = [
            f.parameter(name)
            for name in ("context", "row", "addresses", "lanes", "start", "shadow", "plane")
        ]
        f.call_void("aj_race_sync", [*arguments, flags])

    def release_if_atomic(self) -> None:
        """A store that may be atomic leaves its time, as an atomic one does."""
        f = self.f
        with f.if_(f.compare("ne", f.and_(f.parameter("flags"), i32(MAYBE_ATOMIC)), i32(0))):
            self.synchronise(f.parameter("flags"))

    def see_atomics_of_lds(self) -> None:
        """An atomic load of LDS looks like any other: if there have been atomics since the
        barrier, it may be one."""
        f = self.f
        head = f.offset(f.parameter("shadow"), -Summary.FIELDS * FIELD_BYTES)
        since = f.compare("ugt", get(f, head, Summary.ATOMIC), self.barrier)
        in_lds = f.compare("ne", f.parameter("lds"), i64(0))
        with f.if_(f.and_(in_lds, since)):
            self.synchronise(i32(READS_ONLY))

    def candidates(self, tags: Value, plane: Plane) -> Value:
        """Return the tags whose accesses may not be ordered before this one."""
        f = self.f
        lanes = int(tags.type[1 : tags.type.index(" ")])
        interval = f.shift("lshr", tags, 32)

        def all_lanes(value: Value) -> Value:
            return f.splat(value, lanes)

        elsewhere = f.and_(
            f.compare("uge", interval, all_lanes(self.first)),
            f.compare("ult", interval, all_lanes(self.start)),
        )
        bound = self.clean if plane is Plane.WRITER else self.barrier
        since = f.compare("ugt", interval, all_lanes(bound))
        found = f.and_(f.or_(elsewhere, since), f.compare("ne", interval, all_lanes(self.mine)))
        if self.by_lane:
            ordered = get(f, f.parameter("row"), Wave.ORDERED)
            found = f.or_(found, f.compare("uge", interval, all_lanes(ordered)))
        if self.kind is AccessKind.ATOMIC and plane is Plane.ATOMIC:
            found = f.and_(found, self._narrow(tags, lanes))
        return found

    def _narrow(self, tags: Value, lanes: int) -> Value:
        """Two atomics race only if one of them is not for the whole device."""
        f = self.f
        theirs = f.mask(f.shift("lshr", tags, 4), 2)
        mine = f.splat(f.and_(f.resize(f.parameter("flags"), 64), i64(SCOPE_BITS)), lanes)
        least = f.intrinsic("umin", theirs, mine)
        return f.compare("ult", least, f.splat(i64(DEVICE_SCOPE), lanes))

    def plane(self, plane: Plane) -> Value:
        """Return the address of a plane."""
        f = self.f
        return f.offset(f.parameter("shadow"), f.mul(f.parameter("plane"), i64(plane)))

    def stored(self, dword: Value, lane: Value) -> Value:
        """Return a dword that a lane stores."""
        f = self.f
        place = f.add(f.shift("shl", dword, 7), f.shift("shl", lane, 2))
        return f.resize(f.load("i32", f.offset(f.parameter("stored"), place), 4), 64)

    def look(self, address: Value, lane: Value, mask: Value, value: Value) -> None:
        """Look closer at a dword of a lane. mask: its bytes; value: what is stored, -1 if that is
        not known."""
        f = self.f
        names = ("context", "site", "row", "flags", "start", "shadow", "plane", "lds", "size")
        common = [f.parameter(name) for name in names]
        f.call_void(
            dword_symbol(self.by_lane), [*common, i32(self.kind), address, lane, mask, value]
        )

    def mark_dirty(self) -> None:
        """A store to global memory is in flight until the wave waits for it."""
        if self.kind is not AccessKind.STORE:
            return
        f = self.f
        is_global = f.compare("eq", f.parameter("lds"), i64(0))
        row = f.parameter("row")
        put(f, row, Wave.DIRTY, f.or_(get(f, row, Wave.DIRTY), f.resize(is_global, 64)))
