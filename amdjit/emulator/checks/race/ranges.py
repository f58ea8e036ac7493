"""Accesses in the race check whose lanes are consecutive in memory: 8 tags at a time."""

from __future__ import annotations

from amdjit.emulator.checks.race.layout import Plane
from amdjit.emulator.checks.race.tags import RIVALS, TagAccess
from amdjit.emulator.host.blocks import Section
from amdjit.emulator.host.builder import Value, sequence, vector
from amdjit.emulator.host.function import i32, i64
from amdjit.emulator.wave.instrument import AccessKind

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
            rivals = {plane: self._load(plane, place, inside) for plane in RIVALS[self.kind]}
            self._ask(rivals, first, dword, table, lane)
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
        self, rivals: dict[Plane, Value], first: Value, dword: Value, table: Value, lane: Value
    ) -> None:
        """Look closer at the dwords of a range that have a tag of a possible rival."""
        f = self.f
        found = [self.candidates(tags, plane) for plane, tags in rivals.items()]
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
