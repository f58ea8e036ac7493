"""Accesses in the race check: a tag for each dword of memory says who touched it last.

The shadow of an allocation (or of LDS) is planes of one 64-bit tag a dword: the last store, the last two reading
waves, the last atomic, and the time of the last atomic, which is what others may acquire there. A tag is

    interval << 32 | site << 16 | lane << 10 | scope << 4 | bytes of the dword

Most accesses find no tag of another wave that could matter, which vectors of tags tell at once. For those that do,
`aj_race_dword` asks `aj_race_ordered`, and reports.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.emulator.ir import Value, sequence, vector
from amdjit.emulator.layout import FIELD_BYTES, Context
from amdjit.emulator.native.function import V64, NativeFunction, i32, i64
from amdjit.emulator.native.race_layout import (
    DEVICE_SCOPE,
    READS_ONLY,
    SCOPE_BITS,
    Group,
    Plane,
    Race,
    Summary,
    Wave,
)
from amdjit.emulator.native.race_time import get, group_of, own_start, put, race_pointer
from amdjit.emulator.translate.instrument import AccessKind

OPERATIONS = {AccessKind.LOAD: "load", AccessKind.STORE: "store", AccessKind.ATOMIC: "atomic"}
_CHUNK = 8
_TAGS = vector("i64", _CHUNK)


_NOTED = {
    AccessKind.LOAD: Summary.READ,
    AccessKind.STORE: Summary.STORED,
    AccessKind.ATOMIC: Summary.ATOMIC,
}
# Which planes hold what an access may race with.
_RIVALS = {
    AccessKind.LOAD: (Plane.WRITER, Plane.ATOMIC),
    AccessKind.STORE: (Plane.WRITER, Plane.READER, Plane.EARLIER_READER, Plane.ATOMIC),
    AccessKind.ATOMIC: (Plane.WRITER, Plane.READER, Plane.EARLIER_READER, Plane.ATOMIC),
}
_PROCESS = [
    ("ptr", "context"), ("i32", "site"), ("ptr", "row"), ("ptr", "addresses"), ("i32", "lanes"), ("i32", "size"),
    ("i32", "flags"), ("i64", "start"), ("ptr", "shadow"), ("i64", "plane"), ("i64", "lds"),
    ("ptr", "stored"),
]  # fmt: skip


def process_symbol(kind: AccessKind) -> str:
    """Return the name of `process_text`'s function."""
    return f"aj_race_{OPERATIONS[kind]}"


def process_text(kind: AccessKind, attributes: str) -> str:
    """Return `aj_race_load`, `_store` or `_atomic`: check and note an access whose lanes lie in one shadow.

    addresses: 32 of them, of i64; lanes: which count; start: the first address of the shadow; plane: bytes of one;
    lds: 0 for global memory, else the host address of LDS; stored: what a store stored, a vector for each dword.
    """
    function = NativeFunction(process_symbol(kind), "void", _PROCESS)
    work = _Access(function, kind)
    work.note_summary()
    if kind is not AccessKind.ATOMIC:
        function.branch_if(work.is_block(), "block", "spread")
        function.label("block")
        work.block()
        function.branch("end")
        function.label("spread")
    work.spread()
    if kind is AccessKind.ATOMIC:
        work.synchronise(function.parameter("flags"))
    if kind is AccessKind.STORE:
        arguments = [function.parameter(name) for name in ("context", "site", "addresses", "lanes", "size", "lds")]
        arguments.append(function.parameter("stored"))
        function.call_void("aj_lane_conflicts", arguments)
    function.branch("end")
    function.label("end")
    if kind is AccessKind.LOAD:
        work.see_atomics_of_lds()
    function.give()
    if kind is AccessKind.ATOMIC:
        return function.text(attributes)
    table = sequence("i16", [_lane_of(size, dword) for size in range(17) for dword in range(128)])
    lanes = f"@lanes = internal constant {table.type} {table.text}, align 64"
    return f"{lanes}\n{function.text(attributes)}"


def _lane_of(size: int, dword: int) -> int:
    """Return the lane that accesses a dword of a block of 32 consecutive elements of `size` bytes, in a tag's place."""
    return min(dword * 4 // size, 31) << 10 if size else 0


class _Access:
    """The parts of one process function."""

    def __init__(self, function: NativeFunction, kind: AccessKind) -> None:
        self._f = function
        self._kind = kind
        self._race = race_pointer(function)
        row = function.parameter("row")
        self._mine = get(function, row, Wave.INTERVAL)
        is_lds = function.compare("ne", function.parameter("lds"), i64(0))
        group = group_of(function, row)
        start = get(function, group, Group.START)
        # LDS holds tags of this workgroup only, behind its start.
        self._start = function.select(is_lds, start, own_start(function, self._race, group))
        self._first = function.select(is_lds, start, get(function, self._race, Race.FIRST))
        barrier, clean = get(function, group, Group.BARRIER), get(function, group, Group.CLEAN)
        self._barrier = barrier
        # Stores to global memory need more than a barrier; all else is behind it.
        self._clean = function.select(is_lds, barrier, clean)
        site = function.resize(function.parameter("site"), 64)
        known = function.select(function.compare("ult", site, i64(1 << 16)), site, i64(0))
        scope = function.and_(function.resize(function.parameter("flags"), 64), i64(SCOPE_BITS))
        head = function.or_(function.shift("shl", self._mine, 32), function.shift("shl", known, 16))
        base = function.offset(function.parameter("context"), Context.LANE_BASE * FIELD_BYTES)
        half = function.shift("shl", function.load("i64", base, 8), 10)
        self._tag = function.or_(function.or_(head, half), function.shift("shl", scope, 4))
        self._wide = function.load(V64, function.parameter("addresses"), 64)

    def note_summary(self) -> None:
        """Find out whether there can be rivals at all; leave the time for those who ask next."""
        f = self._f
        head = f.offset(f.parameter("shadow"), -Summary.FIELDS * FIELD_BYTES)
        times = [get(f, head, Summary.STORED), get(f, head, Summary.ATOMIC)]
        if self._kind is not AccessKind.LOAD:
            times.append(get(f, head, Summary.READ))
        last = times[0]
        for time in times[1:]:
            last = f.intrinsic("umax", last, time)
        is_lds = f.compare("ne", f.parameter("lds"), i64(0))
        bound = f.select(is_lds, self._barrier, f.sub(self._first, i64(1)))
        self._quiet = f.compare("ule", last, bound)
        put(f, head, _NOTED[self._kind], get(f, self._race, Race.TIME))

    def synchronise(self, flags: Value) -> None:
        """See what the atomics at these addresses have left."""
        f = self._f
        arguments = [f.parameter(name) for name in ("context", "row", "addresses", "lanes", "start", "shadow", "plane")]
        f.call_void("aj_race_sync", [*arguments, flags])

    def see_atomics_of_lds(self) -> None:
        """An atomic load of LDS looks like any other: where there were atomics since the barrier, it may be one."""
        f = self._f
        head = f.offset(f.parameter("shadow"), -Summary.FIELDS * FIELD_BYTES)
        since = f.compare("ugt", get(f, head, Summary.ATOMIC), self._barrier)
        in_lds = f.compare("ne", f.parameter("lds"), i64(0))
        f.branch_if(f.and_(in_lds, since), "see", "seen")
        f.label("see")
        self.synchronise(i32(READS_ONLY))
        f.branch("seen")
        f.label("seen")

    def is_block(self) -> Value:
        """Return an i1: all lanes access consecutive elements from a dword boundary on."""
        f = self._f
        size = f.resize(f.parameter("size"), 64)
        first = f.extract(self._wide, 0)
        steps = f.mul(f.splat(size), sequence("i64", range(32)))
        stepped = f.compare("eq", f.mask_bits(f.compare("eq", self._wide, f.add(f.splat(first), steps))), i32(-1))
        full = f.compare("eq", f.parameter("lanes"), i32(-1))
        aligned = f.compare("eq", f.mask(first, 2), i64(0))
        return f.and_(f.and_(stepped, full), aligned)

    def candidates(self, tags: Value, plane: Plane) -> Value:
        """Return which tags may be of accesses that are not ordered before this one."""
        f = self._f
        lanes = int(tags.type[1 : tags.type.index(" ")])
        interval = f.shift("lshr", tags, 32)

        def all_lanes(value: Value) -> Value:
            return f.splat(value, lanes)

        elsewhere = f.and_(
            f.compare("uge", interval, all_lanes(self._first)), f.compare("ult", interval, all_lanes(self._start))
        )
        bound = self._clean if plane is Plane.WRITER else self._barrier
        since = f.compare("ugt", interval, all_lanes(bound))
        found = f.and_(f.or_(elsewhere, since), f.compare("ne", interval, all_lanes(self._mine)))
        if self._kind is AccessKind.ATOMIC and plane is Plane.ATOMIC:
            found = f.and_(found, self._narrow(tags, lanes))
        return found

    def _narrow(self, tags: Value, lanes: int) -> Value:
        """Two atomics race only if one of them is not for the whole device."""
        f = self._f
        theirs = f.mask(f.shift("lshr", tags, 4), 2)
        mine = f.splat(f.and_(f.resize(f.parameter("flags"), 64), i64(SCOPE_BITS)), lanes)
        least = f.intrinsic("umin", theirs, mine)
        return f.compare("ult", least, f.splat(i64(DEVICE_SCOPE), lanes))

    def _plane(self, plane: Plane) -> Value:
        f = self._f
        return f.offset(f.parameter("shadow"), f.mul(f.parameter("plane"), i64(plane)))

    def block(self) -> None:
        """Go through the tags of a block, 8 at a time."""
        f = self._f
        size = f.resize(f.parameter("size"), 64)
        first = f.extract(self._wide, 0)
        start = f.shift("lshr", f.sub(first, f.parameter("start")), 2)
        table = f.offset(Value("ptr", "@lanes"), f.shift("shl", size, 8))
        following = f.name()
        f.branch("chunk")
        f.label("chunk")
        chunk = f.emit("i64", f"phi i64 [ 0, %block ], [ {following}, %chunk.next ]")
        dword = f.shift("shl", chunk, 3)
        place = f.shift("shl", f.add(start, dword), 3)
        lanes = f.resize(f.load(vector("i16", _CHUNK), f.offset(table, f.shift("shl", dword, 1)), 16), 64)
        tags = f.or_(f.splat(f.or_(self._tag, i64(15)), _CHUNK), lanes)
        f.branch_if(self._quiet, "chunk.note", "chunk.check")
        f.label("chunk.check")
        rivals = {plane: f.load(_TAGS, f.offset(self._plane(plane), place), 8) for plane in _RIVALS[self._kind]}
        self._ask(rivals, "chunk", dword)
        f.branch("chunk.note")
        f.label("chunk.note")
        self._note_block(tags, place)
        f.branch("chunk.next")
        f.label("chunk.next")
        f.line(f"{following} = add i64 {chunk.text}, 1")
        f.branch_if(f.compare("ult", Value("i64", following), size), "chunk", "chunk.done")
        f.label("chunk.done")
        self._mark_dirty()

    def _ask(self, rivals: dict[Plane, Value], label: str, dword: Value) -> None:
        """Look closer at a block's dwords of which some tag may be a rival."""
        f = self._f
        found = [self.candidates(tags, plane) for plane, tags in rivals.items()]
        any_found = found[0]
        for more in found[1:]:
            any_found = f.or_(any_found, more)
        bits = f.resize(f.cast("bitcast", any_found, f"i{_CHUNK}"), 32)
        f.branch_if(f.compare("eq", bits, i32(0)), f"{label}.fine", f"{label}.close")
        f.label(f"{label}.close")
        loop = f.each_lane(bits, f"{label}.close")
        byte = f.shift("shl", f.add(dword, loop.lane), 2)
        lane = f.binary("udiv", byte, f.resize(f.parameter("size"), 64))
        address = f.add(f.extract(self._wide, 0), byte)
        self._look(address, lane, i64(15), self._stored_in_block(byte, lane))
        loop.close()
        f.branch(f"{label}.fine")
        f.label(f"{label}.fine")

    def _stored_in_block(self, byte: Value, lane: Value) -> Value:
        """Return the dword that the store leaves, -1 for other accesses and where it is of several lanes."""
        f = self._f
        if self._kind is not AccessKind.STORE:
            return i64(-1)
        size = f.resize(f.parameter("size"), 64)
        inside = f.sub(byte, f.mul(lane, size))
        value = self._stored(f.shift("lshr", inside, 2), lane)
        return f.select(f.compare("uge", size, i64(4)), value, i64(-1))

    def _stored_by_lane(self, address: Value, lane: Value, part: Value) -> Value:
        """Return the dword that the store leaves, with what is stored of it in its place; -1 for other accesses."""
        f = self._f
        if self._kind is not AccessKind.STORE:
            return i64(-1)
        value = self._stored(part, lane)
        narrow = f.compare("ult", f.parameter("size"), i32(4))
        shift = f.select(narrow, f.shift("shl", f.mask(address, 2), 3), i64(0))
        return f.mask(f.shift("shl", value, shift), 32)

    def _stored(self, dword: Value, lane: Value) -> Value:
        f = self._f
        place = f.add(f.shift("shl", dword, 7), f.shift("shl", lane, 2))
        return f.resize(f.load("i32", f.offset(f.parameter("stored"), place), 4), 64)

    def _look(self, address: Value, lane: Value, mask: Value, value: Value) -> None:
        f = self._f
        names = ("context", "site", "row", "flags", "start", "shadow", "plane", "lds", "size")
        common = [f.parameter(name) for name in names]
        f.call_void("aj_race_dword", [*common, i32(self._kind), address, lane, mask, value])

    def _note_block(self, tags: Value, place: Value) -> None:
        f = self._f
        if self._kind is AccessKind.STORE:
            f.store(tags, f.offset(self._plane(Plane.WRITER), place), 8)
            return
        readers = f.offset(self._plane(Plane.READER), place)
        before = f.load(_TAGS, readers, 8)
        interval = f.shift("lshr", before, 32)
        fresh = f.compare("uge", interval, f.splat(self._first, _CHUNK))
        others = f.and_(fresh, f.compare("ne", interval, f.splat(self._mine, _CHUNK)))
        some = f.compare("ne", f.cast("bitcast", others, f"i{_CHUNK}"), Value(f"i{_CHUNK}", "0"))
        f.store(tags, readers, 8)
        f.branch_if(some, "move", "moved")
        f.label("move")
        earlier = f.offset(self._plane(Plane.EARLIER_READER), place)
        f.store(f.select(others, before, f.load(_TAGS, earlier, 8)), earlier, 8)
        f.branch("moved")
        f.label("moved")

    def _mark_dirty(self) -> None:
        if self._kind is not AccessKind.STORE:
            return
        f = self._f
        is_global = f.compare("eq", f.parameter("lds"), i64(0))
        row = f.parameter("row")
        put(f, row, Wave.DIRTY, f.or_(get(f, row, Wave.DIRTY), f.resize(is_global, 64)))

    # Lanes anywhere

    def spread(self) -> None:
        """Go through the dwords of each lane's element with gathers and scatters."""
        f = self._f
        size = f.resize(f.parameter("size"), 64)
        offsets = f.sub(self._wide, f.splat(f.parameter("start")))
        bytes_of_lane = f.sub(f.shift("shl", i64(1), f.intrinsic("umin", size, i64(4))), i64(1))
        mask = f.mask(f.shift("shl", f.splat(bytes_of_lane), f.mask(offsets, 2)), 4)
        own = f.or_(f.splat(self._tag), f.or_(sequence("i64", [lane << 10 for lane in range(32)]), mask))
        places = f.shift("shl", f.shift("lshr", offsets, 2), 3)
        before = f.current
        following = f.name()
        f.branch("part")
        f.label("part")
        part = f.emit("i64", f"phi i64 [ 0, %{before} ], [ {following}, %part.next ]")
        here = f.add(places, f.splat(f.shift("shl", part, 3)))
        lanes = f.lane_mask(f.parameter("lanes"))
        f.branch_if(self._quiet, "part.note", "part.check")
        f.label("part.check")
        rivals = {plane: self._gather(plane, here, lanes) for plane in _RIVALS[self._kind]}
        self._ask_lanes(rivals, mask, part)
        f.branch("part.note")
        f.label("part.note")
        self._note_lanes(own, here, lanes)
        f.branch("part.next")
        f.label("part.next")
        f.line(f"{following} = add i64 {part.text}, 1")
        done = f.shift("shl", Value("i64", following), 2)
        f.branch_if(f.compare("ult", done, size), "part", "part.done")
        f.label("part.done")
        self._mark_dirty()

    def _pointers(self, plane: Plane, places: Value) -> Value:
        f = self._f
        base = f.cast("ptrtoint", self._plane(plane), "i64")
        return f.pointer(f.add(f.splat(base), places))

    def _gather(self, plane: Plane, places: Value, lanes: Value) -> Value:
        f = self._f
        arguments = [self._pointers(plane, places), lanes, Value(V64, "zeroinitializer")]
        return _masked(f, "gather", V64, arguments)

    def _scatter(self, plane: Plane, tags: Value, places: Value, lanes: Value) -> None:
        _masked(self._f, "scatter", "void", [tags, self._pointers(plane, places), lanes])

    def _ask_lanes(self, rivals: dict[Plane, Value], mask: Value, part: Value) -> None:
        f = self._f
        found = i32(0)
        for plane, tags in rivals.items():
            found = f.or_(found, f.mask_bits(self.candidates(tags, plane)))
        f.branch_if(f.compare("eq", found, i32(0)), "lanes.fine", "lanes.close")
        f.label("lanes.close")
        loop = f.each_lane(found, "lanes.close")
        address = f.add(f.extract(self._wide, loop.lane), f.shift("shl", part, 2))
        bytes_stored = f.extract(mask, loop.lane)
        self._look(address, loop.lane, bytes_stored, self._stored_by_lane(address, loop.lane, part))
        loop.close()
        f.branch("lanes.fine")
        f.label("lanes.fine")

    def _note_lanes(self, own: Value, places: Value, lanes: Value) -> None:
        f = self._f
        if self._kind is AccessKind.STORE:
            self._scatter(Plane.WRITER, own, places, lanes)
            return
        if self._kind is AccessKind.ATOMIC:
            updates = f.compare("eq", f.and_(f.parameter("flags"), i32(READS_ONLY)), i32(0))
            kept = f.select(updates, f.parameter("lanes"), i32(0))
            self._scatter(Plane.ATOMIC, own, places, f.lane_mask(kept))
            return
        before = self._gather(Plane.READER, places, lanes)
        interval = f.shift("lshr", before, 32)
        fresh = f.compare("uge", interval, f.splat(self._first))
        others = f.and_(fresh, f.compare("ne", interval, f.splat(self._mine)))
        bits = f.mask_bits(others)
        self._scatter(Plane.READER, own, places, lanes)
        f.branch_if(f.compare("eq", bits, i32(0)), "kept", "displace")
        f.label("displace")
        self._scatter(Plane.EARLIER_READER, before, places, others)
        f.branch("kept")
        f.label("kept")


def _masked(f: NativeFunction, verb: str, result: str, arguments: Sequence[Value]) -> Value:
    """Call `llvm.masked.gather` or `scatter` of 64-bit lanes; the alignment stands before the mask."""
    name = f"llvm.masked.{verb}.v32i64.v32p0"
    split = 1 if verb == "gather" else 2
    values = [*arguments[:split], i32(8), *arguments[split:]]
    if verb == "gather":
        return f.call(name, result, values)
    f.call_void(name, values)
    return Value("void", "")
