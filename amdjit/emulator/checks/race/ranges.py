"""Accesses in the race check whose lanes are consecutive in memory: 8 tags at a time."""

from __future__ import annotations

from amdjit.emulator.checks.race.layout import Plane
from amdjit.emulator.checks.race.tags import RIVALS, TagAccess
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

    def ranges(self) -> None:
        """Process the tags if the lanes, or each half of them, are consecutive in memory, or if a
        half accesses one place; `spread` is for all others."""
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
        f.branch_if(f.and_(whole, one), "block", "apart")
        f.label("apart")
        steps_of = [
            f.compare("eq", f.and_(stepped, i32(half)), i32(half))
            for half in (0xFFFF, 0xFFFF << 16)
        ]
        fine = f.and_(whole, self._halves_fit(steps_of, alike, f.sub(second, first), size))
        f.branch_if(fine, "halves", "spread")
        f.label("halves")
        counts = [
            f.select(step, f.shift("shl", size, 2), f.shift("lshr", size, 2)) for step in steps_of
        ]
        tables = [f.select(step, size, i64(0)) for step in steps_of]
        f.branch("range")
        f.label("block")
        block = (first, f.shift("shl", size, 3), size)
        f.branch("range")
        self._each_range(block, ((first, counts[0], tables[0]), (second, counts[1], tables[1])))

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

    def _each_range(self, block: Range, halves: tuple[Range, Range]) -> None:
        f = self.f
        f.label("range")
        names = [f.name() for _ in range(3)]
        following = [Value("i64", name) for name in names]
        first, count, table = (
            f.phi(
                "i64", (block[n], "block"), (halves[0][n], "halves"), (following[n], "range.second")
            )
            for n in range(3)
        )
        lane = f.phi("i64", (i64(0), "block"), (i64(0), "halves"), (i64(16), "range.second"))
        more = f.phi("i64", (i64(0), "block"), (i64(1), "halves"), (i64(0), "range.second"))
        for n, name in enumerate(names):
            f.line(
                f"{name} = phi i64 [ 0, %block ], [ {halves[1][n].text}, %halves ], [ 0, "
                "%range.second ]"
            )
        self._range(first, count, table, lane)
        f.branch_if(f.compare("ne", more, i64(0)), "range.second", "range.done")
        f.label("range.second")
        f.branch("range")
        f.label("range.done")
        self.mark_dirty()
        f.branch("end")

    def _range(self, first: Value, count: Value, table: Value, lane: Value) -> None:
        """Process the tags of consecutive dwords, 8 at a time. table: the row of the table of
        lanes, 0 if all dwords are of one lane."""
        f = self.f
        whole = f.and_(count, i64(-_CHUNK))
        following = f.name()
        f.branch("chunk")
        f.label("chunk")
        dword = f.emit("i64", f"phi i64 [ 0, %range ], [ {following}, %chunk.next ]")
        f.branch_if(f.compare("ult", dword, whole), "whole", "rest")
        f.label("whole")
        self._chunk("whole", first, dword, table, lane, None)
        f.branch("chunk.next")
        f.label("chunk.next")
        f.line(f"{following} = add i64 {dword.text}, {_CHUNK}")
        f.branch("chunk")
        f.label("rest")
        f.branch_if(f.compare("eq", whole, count), "chunk.done", "tail")
        f.label("tail")
        # Masked accesses take longer than whole ones.
        inside = f.compare(
            "ult", sequence("i64", range(_CHUNK)), f.splat(f.sub(count, whole), _CHUNK)
        )
        self._chunk("tail", first, whole, table, lane, inside)
        f.branch("chunk.done")
        f.label("chunk.done")

    def _chunk(
        self, name: str, first: Value, dword: Value, table: Value, lane: Value, inside: Value | None
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
        f.branch_if(self.quiet, f"{name}.note", f"{name}.check")
        f.label(f"{name}.check")
        rivals = {plane: self._load(plane, place, inside) for plane in RIVALS[self.kind]}
        self._ask(name, rivals, first, dword, table, lane)
        f.branch(f"{name}.note")
        f.label(f"{name}.note")
        self._note_block(name, tags, place, inside)

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
        self,
        name: str,
        rivals: dict[Plane, Value],
        first: Value,
        dword: Value,
        table: Value,
        lane: Value,
    ) -> None:
        """Look closer at the dwords of a range that have a tag of a possible rival."""
        f = self.f
        found = [self.candidates(tags, plane) for plane, tags in rivals.items()]
        any_found = found[0]
        for more in found[1:]:
            any_found = f.or_(any_found, more)
        bits = f.resize(f.cast("bitcast", any_found, f"i{_CHUNK}"), 32)
        f.branch_if(f.compare("eq", bits, i32(0)), f"{name}.fine", f"{name}.close")
        f.label(f"{name}.close")
        loop = f.each_lane(bits, f"{name}.close")
        byte = f.shift("shl", f.add(dword, loop.lane), 2)
        # Of one lane all dwords are its own.
        element = f.select(f.compare("eq", table, i64(0)), i64(1 << 16), table)
        behind = f.binary("udiv", byte, element)
        owner = f.add(lane, behind)
        inside = f.sub(byte, f.mul(behind, element))
        self.look(f.add(first, byte), owner, i64(15), self._stored_in_range(inside, owner))
        loop.close()
        f.branch(f"{name}.fine")
        f.label(f"{name}.fine")

    def _note_block(self, name: str, tags: Value, place: Value, inside: Value | None) -> None:
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
        f.branch_if(some, f"{name}.move", f"{name}.moved")
        f.label(f"{name}.move")
        self._store(Plane.EARLIER_READER, before, place, others)
        f.branch(f"{name}.moved")
        f.label(f"{name}.moved")

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
