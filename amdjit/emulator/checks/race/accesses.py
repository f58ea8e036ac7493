"""Accesses in the race check: a tag for each dword of memory says what last accessed it.

The shadow of an allocation (or of LDS) consists of planes with one 64-bit tag for each dword: the
last store, the last two reading waves, the last atomic, and what others may acquire there: the time
of the last atomic that may have written, and above it that of the last access that was surely
atomic. A tag is

    interval << 32 | site << 16 | lane << 10 | under way << 7 | maybe atomic << 6 | scope << 4
    | bytes of the dword

Most accesses find no tag of another wave that could matter, which comparing vectors of tags shows.
For those that do, `aj_race_dword` asks `aj_race_ordered`, and reports.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.emulator.checks.race.layout import READS_ONLY, Plane
from amdjit.emulator.checks.race.tags import CONFLICTING_PLANES, OPERATIONS, TagAccess
from amdjit.emulator.host.blocks import Section
from amdjit.emulator.host.builder import Value, sequence, vector
from amdjit.emulator.host.function import V64, NativeFunction, i32, i64
from amdjit.emulator.wave.frame import AccessKind

# Accesses in the race check whose lanes are consecutive in memory: 8 tags at a time.

_CHUNK = 8
_TAGS = vector("i64", _CHUNK)
# First address, dwords, row of the table of lanes.
Range = tuple[Value, Value, Value]


class RangeAccess(TagAccess):
    """An access whose lanes, or each half of them, are consecutive, or in which a half has one
    place."""

    def ranges(self, work: Section) -> None:
        """Process the tags and leave the work if the lanes, or each half of them, are consecutive
        in memory, or if a half accesses one place; `spread` is for all others."""
        f = self.f
        size = f.resize(f.parameter("size"), 64)
        first, second = f.extract(self.wide, 0), f.extract(self.wide, 16)
        steps = f.mul(f.splat(size), sequence("i64", [lane % 16 for lane in range(32)]))
        distance = f.sub(self.wide, f.shuffle(self.wide, self.wide, [0] * 16 + [16] * 16))
        stepped = f.mask_bits(f.compare("eq", distance, steps))
        alike = f.mask_bits(f.compare("eq", distance, f.splat(i64(0))))
        full = f.compare("eq", f.parameter("lanes"), i32(-1))
        aligned = f.compare("eq", f.mask(f.or_(first, second), 2), i64(0))
        whole = f.and_(full, aligned)
        through = f.compare("eq", stepped, i32(-1))
        one = f.and_(through, f.compare("eq", f.sub(second, first), f.shift("shl", size, 4)))
        steps_of = [
            f.compare("eq", f.and_(stepped, i32(half)), i32(half))
            for half in (0xFFFF, 0xFFFF << 16)
        ]
        halves_fit = self._halves_fit(steps_of, alike, f.sub(second, first), size)
        with f.if_(f.and_(whole, f.or_(one, halves_fit))):
            counts = [
                f.select(step, f.shift("shl", size, 2), f.shift("lshr", size, 2))
                for step in steps_of
            ]
            tables = [f.select(step, size, i64(0)) for step in steps_of]
            block = (first, f.shift("shl", size, 3), size)
            halves = ((first, counts[0], tables[0]), (second, counts[1], tables[1]))
            self._each_range(one, block, halves)
            self.mark_dirty()
            work.leave()

    def _halves_fit(
        self, stepped: list[Value], alike: Value, distance: Value, size: Value
    ) -> Value:
        """Lanes that store to one place may contradict each other, which only `spread` checks."""
        f = self.f
        if self.kind is AccessKind.STORE:
            length = f.shift("shl", size, 4)
            ahead, behind = (
                f.compare("uge", distance, length),
                f.compare("ule", distance, f.sub(i64(0), length)),
            )
            return f.and_(f.and_(*stepped), f.and_(ahead, behind))
        same = [
            f.compare("eq", f.and_(alike, i32(half)), i32(half)) for half in (0xFFFF, 0xFFFF << 16)
        ]
        either = [f.or_(step, one) for step, one in zip(stepped, same, strict=True)]
        return f.and_(f.and_(*either), f.compare("uge", size, i64(4)))

    def _each_range(self, one: Value, block: Range, halves: tuple[Range, Range]) -> None:
        """Process the whole block if there is one, else both halves."""
        f = self.f
        count, table = (f.select(one, block[n], halves[0][n]) for n in (1, 2))
        more = f.select(one, i64(0), i64(1))
        begin = {"first": block[0], "count": count, "table": table, "lane": i64(0), "more": more}
        with f.loop(**begin) as each:
            self._range(each.first, each.count, each.table, each.lane)
            first, count, table = halves[1]
            second = {"first": first, "count": count, "table": table, "lane": i64(16)}
            each.again_if(f.compare("ne", each.more, i64(0)), more=i64(0), **second)

    def _range(self, first: Value, count: Value, table: Value, lane: Value) -> None:
        """Process the tags of consecutive dwords, 8 at a time. table: the row of the table of
        lanes, 0 if all dwords are of one lane."""
        f = self.f
        whole = f.and_(count, i64(-_CHUNK))
        with f.loop(dword=i64(0)) as each:
            each.leave_unless(f.compare("ult", each.dword, whole))
            self._chunk(first, each.dword, table, lane, None)
            each.again(dword=f.add(each.dword, i64(_CHUNK)))
        with f.if_(f.compare("ne", whole, count)):
            # Masked accesses take longer than whole ones.
            left = f.splat(f.sub(count, whole), _CHUNK)
            inside = f.compare("ult", sequence("i64", range(_CHUNK)), left)
            self._chunk(first, whole, table, lane, inside)

    def _chunk(
        self, first: Value, dword: Value, table: Value, lane: Value, inside: Value | None
    ) -> None:
        f = self.f
        start = f.shift("lshr", f.sub(first, f.parameter("start")), 2)
        row = f.offset(Value("ptr", "@lanes"), f.shift("shl", table, 8))
        own = f.or_(f.or_(self.tag, f.shift("shl", lane, 10)), i64(15))
        place = f.shift("shl", f.add(start, dword), 3)
        lanes = f.resize(
            f.load(vector("i16", _CHUNK), f.offset(row, f.shift("shl", dword, 1)), 16), 64
        )
        # The table counts from lane 0, which never carries into the next field: a half has 16
        # lanes.
        tags = f.add(f.splat(own, _CHUNK), lanes)
        with f.unless(self.quiet):
            conflicting = {
                plane: self._load(plane, place, inside) for plane in CONFLICTING_PLANES[self.kind]
            }
            self._ask(conflicting, first, dword, table, lane)
        self._note_block(tags, place, inside)

    def _load(self, plane: Plane, place: Value, inside: Value | None) -> Value:
        f = self.f
        if inside is None:
            return f.load(_TAGS, f.offset(self.plane(plane), place), 8)
        arguments = [
            f.offset(self.plane(plane), place),
            i32(8),
            inside,
            Value(_TAGS, "zeroinitializer"),
        ]
        return f.call(f"llvm.masked.load.v{_CHUNK}i64.p0", _TAGS, arguments)

    def _store(self, plane: Plane, tags: Value, place: Value, inside: Value | None) -> None:
        f = self.f
        pointer = f.offset(self.plane(plane), place)
        if inside is None:
            f.store(tags, pointer, 8)
            return
        f.call_void(f"llvm.masked.store.v{_CHUNK}i64.p0", [tags, pointer, i32(8), inside])

    def _ask(
        self, conflicting: dict[Plane, Value], first: Value, dword: Value, table: Value, lane: Value
    ) -> None:
        """Look closer at the dwords of a range that have a tag of a possible rival."""
        f = self.f
        found = [self.candidates(tags, plane) for plane, tags in conflicting.items()]
        any_found = found[0]
        for more in found[1:]:
            any_found = f.or_(any_found, more)
        bits = f.resize(f.cast("bitcast", any_found, f"i{_CHUNK}"), 32)
        with f.each_lane(bits) as each:
            byte = f.shift("shl", f.add(dword, each.lane), 2)
            # All dwords of one lane are its own.
            element = f.select(f.compare("eq", table, i64(0)), i64(1 << 16), table)
            number = f.binary("udiv", byte, element)
            owner, inside = f.add(lane, number), f.sub(byte, f.mul(number, element))
            self.look(f.add(first, byte), owner, i64(15), self._stored_in_range(inside, owner))

    def _note_block(self, tags: Value, place: Value, inside: Value | None) -> None:
        f = self.f
        if self.kind is AccessKind.STORE:
            self._store(Plane.WRITER, tags, place, inside)
            return
        before = self._load(Plane.READER, place, inside)
        interval = f.shift("lshr", before, 32)
        fresh = f.compare("uge", interval, f.splat(self.first, _CHUNK))
        others = f.and_(fresh, f.compare("ne", interval, f.splat(self.mine, _CHUNK)))
        some = f.compare("ne", f.cast("bitcast", others, f"i{_CHUNK}"), Value(f"i{_CHUNK}", "0"))
        self._store(Plane.READER, tags, place, inside)
        with f.if_(some):
            self._store(Plane.EARLIER_READER, before, place, others)

    def _stored_in_range(self, inside: Value, lane: Value) -> Value:
        """Return the dword that the store leaves, of several lanes if their elements are narrow;
        -1 for loads."""
        f = self.f
        if self.kind is not AccessKind.STORE:
            return i64(-1)
        size = f.parameter("size")
        dword = self.stored(f.shift("lshr", inside, 2), lane)
        narrow = f.select(
            f.compare("eq", size, i32(2)), self._joined(lane, 2), self._joined(lane, 1)
        )
        return f.select(f.compare("uge", size, i32(4)), dword, narrow)

    def _joined(self, lane: Value, size: int) -> Value:
        """Return the dword that consecutive lanes fill with elements of `size` bytes."""
        f = self.f
        joined = i64(0)
        for index in range(4 // size):
            # Wraps only where elements are dwords, and this is not used.
            owner = f.mask(f.add(lane, i64(index)), 5)
            element = f.mask(self.stored(i64(0), owner), 8 * size)
            joined = f.or_(joined, f.shift("shl", element, 8 * size * index))
        return joined


_PROCESS = [
    ("ptr", "context"), ("i32", "site"), ("ptr", "row"), ("ptr", "addresses"), ("i32", "lanes"),
    ("i32", "size"), ("i32", "flags"), ("i64", "start"), ("ptr", "shadow"), ("i64", "plane"),
    ("i64", "lds"), ("ptr", "stored"),
]  # fmt: skip


def process_symbol(kind: AccessKind, by_lane: bool) -> str:
    """Return the name of `process_text`'s function."""
    return f"aj_race_{'lanes_' * by_lane}{OPERATIONS[kind]}"


def process_text(kind: AccessKind, by_lane: bool, attributes: str) -> str:
    """Return `aj_race_load`, `_store` or `_atomic`: check and note an access whose lanes lie in one
    shadow. by_lane: compare the lanes of a wave, too.

    addresses: 32 i64; lanes: those that access; start: the first address that the shadow covers;
    plane: bytes of one; lds: 0 for global memory, else the host address of LDS; stored: the values
    of a store, a vector for each dword.
    """
    function = NativeFunction(process_symbol(kind, by_lane), "void", _PROCESS)
    work = _Access(function, kind, by_lane)
    work.note_summary()
    with function.section() as whole:
        if kind is not AccessKind.ATOMIC and not by_lane:
            work.ranges(whole)
        work.spread()
        if kind is AccessKind.ATOMIC:
            work.synchronise(function.parameter("flags"))
        if kind is AccessKind.STORE:
            names = ("context", "site", "addresses", "lanes", "size", "lds", "stored")
            function.call_void("aj_lane_conflicts", [function.parameter(name) for name in names])
    if kind is AccessKind.LOAD:
        work.see_atomics_of_lds()
    if kind is AccessKind.STORE:
        work.release_if_atomic()
    function.give()
    if kind is AccessKind.ATOMIC or by_lane:
        return function.text(attributes)
    table = [_lane_of(size, dword) for size in range(17) for dword in range(128)]
    # An array: LLVM aligns a vector to its size, and the linker nothing to more than a page.
    entries = ", ".join(f"i16 {lane}" for lane in table)
    lanes = f"@lanes = internal constant [{len(table)} x i16] [{entries}], align 64"
    return f"{lanes}\n{function.text(attributes)}"


def _lane_of(size: int, dword: int) -> int:
    """Return the lane that accesses a dword of a block of 32 consecutive elements of `size` bytes,
    shifted to its place in a tag."""
    return min(dword * 4 // size, 31) << 10 if size else 0


class _Access(RangeAccess):
    """An access of any lanes, wherever they access memory."""

    def _stored_by_lane(self, address: Value, lane: Value, part: Value) -> Value:
        """Return the dword in which a store has its bytes in their place; -1 for other
        accesses."""
        f = self.f
        if self.kind is not AccessKind.STORE:
            return i64(-1)
        value = self.stored(part, lane)
        narrow = f.compare("ult", f.parameter("size"), i32(4))
        shift = f.select(narrow, f.shift("shl", f.mask(address, 2), 3), i64(0))
        return f.mask(f.shift("shl", value, shift), 32)

    def spread(self) -> None:
        """Go through the dwords of each lane's element with gathers and scatters."""
        f = self.f
        size = f.resize(f.parameter("size"), 64)
        offsets = f.sub(self.wide, f.splat(f.parameter("start")))
        bytes_of_lane = f.sub(f.shift("shl", i64(1), f.intrinsic("umin", size, i64(4))), i64(1))
        mask = f.mask(f.shift("shl", f.splat(bytes_of_lane), f.mask(offsets, 2)), 4)
        own = f.or_(
            f.splat(self.tag), f.or_(sequence("i64", [lane << 10 for lane in range(32)]), mask)
        )
        places = f.shift("shl", f.shift("lshr", offsets, 2), 3)
        lanes = f.lane_mask(f.parameter("lanes"))
        with f.count_to(f.shift("lshr", f.add(size, i64(3)), 2)) as part:
            here = f.add(places, f.splat(f.shift("shl", part, 3)))
            with f.unless(self.quiet):
                conflicting = {
                    plane: self._gather(plane, here, lanes)
                    for plane in CONFLICTING_PLANES[self.kind]
                }
                self._ask_lanes(conflicting, mask, part)
            self._note_lanes(own, here, lanes)
        self.mark_dirty()

    def _pointers(self, plane: Plane, places: Value) -> Value:
        f = self.f
        base = f.cast("ptrtoint", self.plane(plane), "i64")
        return f.pointer(f.add(f.splat(base), places))

    def _gather(self, plane: Plane, places: Value, lanes: Value) -> Value:
        f = self.f
        arguments = [self._pointers(plane, places), lanes, Value(V64, "zeroinitializer")]
        return _masked(f, "gather", V64, arguments)

    def _scatter(self, plane: Plane, tags: Value, places: Value, lanes: Value) -> None:
        _masked(self.f, "scatter", "void", [tags, self._pointers(plane, places), lanes])

    def _ask_lanes(self, conflicting: dict[Plane, Value], mask: Value, part: Value) -> None:
        f = self.f
        found = i32(0)
        for plane, tags in conflicting.items():
            found = f.or_(found, f.mask_bits(self.candidates(tags, plane)))
        with f.each_lane(found) as each:
            address = f.add(f.extract(self.wide, each.lane), f.shift("shl", part, 2))
            stored = self._stored_by_lane(address, each.lane, part)
            self.look(address, each.lane, f.extract(mask, each.lane), stored)

    def _note_lanes(self, own: Value, places: Value, lanes: Value) -> None:
        f = self.f
        if self.kind is AccessKind.STORE:
            self._note_shared(Plane.WRITER, own, places, lanes)
            return
        if self.kind is AccessKind.ATOMIC:
            updates = f.compare("eq", f.and_(f.parameter("flags"), i32(READS_ONLY)), i32(0))
            kept = f.select(updates, f.parameter("lanes"), i32(0))
            self._scatter(Plane.ATOMIC, own, places, f.lane_mask(kept))
            return
        before = self._gather(Plane.READER, places, lanes)
        interval = f.shift("lshr", before, 32)
        fresh = f.compare("uge", interval, f.splat(self.first))
        other = f.compare("ne", interval, f.splat(self.mine))
        if self.by_lane:
            changed = f.mask(f.shift("lshr", f.xor(before, own), 10), 6)
            other = f.or_(other, f.compare("ne", changed, f.splat(i64(0))))
        others = f.and_(fresh, other)
        bits = f.mask_bits(others)
        self._note_shared(Plane.READER, own, places, lanes)
        with f.if_(f.compare("ne", bits, i32(0))):
            self._scatter(Plane.EARLIER_READER, before, places, others)

    def _note_shared(self, plane: Plane, own: Value, places: Value, lanes: Value) -> None:
        """Write tags. If lanes share a dword, the last one's tag stays, with the bytes of all of
        them."""
        f = self.f
        self._scatter(plane, own, places, lanes)
        narrow = f.compare("ult", f.parameter("size"), i32(4))
        with f.if_(narrow), f.loop(tags=own) as each:
            now, wanted = self._gather(plane, places, lanes), f.mask(each.tags, 4)
            lacking = f.and_(lanes, f.compare("ne", f.and_(now, wanted), wanted))
            each.leave_if(f.compare("eq", f.mask_bits(lacking), i32(0)))
            more = f.or_(each.tags, f.mask(now, 4))
            self._scatter(plane, more, places, lacking)
            each.again(tags=more)


def _masked(f: NativeFunction, verb: str, result: str, arguments: Sequence[Value]) -> Value:
    """Call `llvm.masked.gather` or `scatter` on 64-bit lanes; the alignment comes before the
    mask."""
    name = f"llvm.masked.{verb}.v32i64.v32p0"
    split = 1 if verb == "gather" else 2
    values = [*arguments[:split], i32(8), *arguments[split:]]
    if verb == "gather":
        return f.call(name, result, values)
    f.call_void(name, values)
    return Value("void", "")
