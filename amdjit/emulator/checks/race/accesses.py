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
from amdjit.emulator.checks.race.ranges import RangeAccess
from amdjit.emulator.checks.race.tags import OPERATIONS, RIVALS
from amdjit.emulator.host.builder import Value, sequence
from amdjit.emulator.host.function import V64, NativeFunction, i32, i64
from amdjit.emulator.wave.instrument import AccessKind

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
                rivals = {plane: self._gather(plane, here, lanes) for plane in RIVALS[self.kind]}
                self._ask_lanes(rivals, mask, part)
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

    def _ask_lanes(self, rivals: dict[Plane, Value], mask: Value, part: Value) -> None:
        f = self.f
        found = i32(0)
        for plane, tags in rivals.items():
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
