"""The memory system as host code: when a request's lines have come from the level that has them."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.cycles.engine.layout import TICKS, Access, Cache, Memory
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import FALSE, TRUE, NativeFunction, i64, module_text
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

# kind: an `Access`. half: the compute unit of the workgroup processor, 0 or 1. keys: of the lines:
# bit 0 says that another workgroup processor brings the line into L2, the rest is the line's
# number; lines of which bit 1 is set are this workgroup's alone: `salt` makes them others for each
# workgroup that repeats a recorded one. time, result: cycles.
ACCESS = declare(
    "aj_cycles_access",
    "i64",
    memory="ptr",
    kind="i64",
    half="i64",
    keys="ptr",
    count="i64",
    salt="i64",
    time="i64",
)
SHARED_BIT, PRIVATE_BIT, KEY_SHIFT = 1, 2, 2


def access_text(attributes: str) -> str:
    """Return `aj_cycles_access`: the cycle at which the last line of a request is there, or has
    been written."""
    f = NativeFunction.of(ACCESS)
    system = _System.of(f)
    time, count = f.mul(f.parameter("time"), i64(TICKS)), f.parameter("count")
    latest = f.variable(time)
    with f.if_(f.compare("ne", count, i64(0))), f.count_to(count) as number:
        place = f.offset(f.parameter("keys"), f.mul(number, i64(FIELD_BYTES)))
        key = system.salted(f.load("i64", place, FIELD_BYTES))
        done = system.line(key, time)
        latest.set_if(f.compare("ugt", done, latest.get()), done)
    f.give(f.binary("udiv", f.add(latest.get(), i64(TICKS - 1)), i64(TICKS)))
    return module_text((f, look_up()), attributes)


@dataclass(frozen=True, slots=True)
class _System:
    """The memory system under one request. first_*: of the cache that the request meets first."""

    f: NativeFunction
    record: Record
    is_store: Value
    skips_first: Value
    first_cache: Value
    first_busy: Value
    first_latency: Value
    first_cost: Value

    @classmethod
    def of(cls, f: NativeFunction) -> _System:
        record = Record(f, f.parameter("memory"))
        kind, half = f.parameter("kind"), f.parameter("half")
        is_scalar = f.compare("eq", kind, i64(Access.SCALAR))
        is_store = f.compare("eq", kind, i64(Access.STORE))
        is_atomic = f.compare("eq", kind, i64(Access.ATOMIC))
        cache = f.mul(half, i64(Memory.OTHER_VECTOR_CACHE - Memory.VECTOR_CACHE))
        cache = f.select(is_scalar, i64(Memory.SCALAR_CACHE), cache)
        busy = f.add(half, i64(Memory.VECTOR_BUSY))
        busy = f.select(is_scalar, i64(Memory.SCALAR_BUSY), busy)
        latency, cost = (
            f.select(is_scalar, record.get(scalar), record.get(vector))
            for scalar, vector in (
                (Memory.SCALAR_LATENCY, Memory.VECTOR_LATENCY),
                (Memory.SCALAR_COST, Memory.VECTOR_COST),
            )
        )
        return cls(
            f,
            record,
            is_store,
            f.or_(is_store, is_atomic),
            f.offset(record.address, f.mul(cache, i64(FIELD_BYTES))),
            f.offset(record.address, f.mul(busy, i64(FIELD_BYTES))),
            latency,
            cost,
        )

    def salted(self, key: Value) -> Value:
        """Return the key of a line in this workgroup."""
        f = self.f
        is_private = f.compare("ne", f.and_(key, i64(PRIVATE_BIT)), i64(0))
        return f.select(is_private, f.add(key, f.parameter("salt")), key)

    def line(self, key: Value, time: Value) -> Value:
        """Return the tick at which a line is there or written."""
        f, record = self.f, self.record
        done = f.variable(time)
        number = f.shift("lshr", key, KEY_SHIFT)
        with f.section() as first:
            start = self._take(self.first_busy, time, self.first_cost)
            with f.unless(self.skips_first):
                done.set(f.add(start, self.first_latency))
                first.leave_if(f.invoke(LOOK_UP, self.first_cache, number))
            at_l2 = self._take(record.at(Memory.L2_BUSY), start, record.get(Memory.L2_COST))
            self._count(Memory.L2_LINES)
            done.set(f.add(at_l2, record.get(Memory.L2_LATENCY)))
            l2 = f.offset(record.address, Memory.L2_CACHE * FIELD_BYTES)
            first.leave_if(f.invoke(LOOK_UP, l2, number))
            first.leave_if(f.compare("ne", f.and_(key, i64(SHARED_BIT)), i64(0)))
            far = self._take(record.at(Memory.FAR_BUSY), at_l2, record.get(Memory.FAR_COST))
            self._count(Memory.FAR_LINES)
            # A store is done when L2 has it; what is behind L2 gets it later.
            first.leave_if(self.is_store)
            done.set(f.add(far, record.get(Memory.FAR_LATENCY)))
        return done.get()

    def _take(self, busy: Value, time: Value, cost: Value) -> Value:
        """Take bandwidth from a tick on; return the tick at which that begins."""
        f = self.f
        until = f.load("i64", busy, FIELD_BYTES)
        start = f.select(f.compare("ugt", until, time), until, time)
        f.store(f.add(start, cost), busy, FIELD_BYTES)
        return start

    def _count(self, lines: Memory) -> None:
        self.record.set(lines, self.f.add(self.record.get(lines), i64(1)))


__all__ = ["ACCESS", "KEY_SHIFT", "PRIVATE_BIT", "SHARED_BIT", "access_text"]


# A set-associative cache with least-recently-used replacement, as host code.

LOOK_UP = declare("aj_cycles_look_up", "i1", cache="ptr", key="i64")

# Sets are chosen by a multiplicative hash (Knuth, The Art of Computer Programming 6.4): a power of
# two as a stride must not fall into one set.
HASH = 0x9E3779B97F4A7C15
HASH_SHIFT = 32


def look_up() -> NativeFunction:
    """Return `aj_cycles_look_up(cache, key)`: whether a line is there. Afterwards it is, as the
    most recent one of its set."""
    f = NativeFunction.of(LOOK_UP, "internal")
    cache, key = Record(f, f.parameter("cache")), f.parameter("key")
    ways = cache.get(Cache.WAYS)
    hashed = f.shift("lshr", f.mul(key, i64(HASH)), HASH_SHIFT)
    place = f.mul(f.binary("urem", hashed, cache.get(Cache.SETS)), ways)
    first = f.offset(cache.get(Cache.TAGS), f.mul(place, i64(FIELD_BYTES)))
    # Each tag moves one way back until the place of the key is filled.
    with f.loop(way=i64(0), moved=key) as each:
        tag = f.offset(first, f.mul(each.way, i64(FIELD_BYTES)))
        old = f.load("i64", tag, FIELD_BYTES)
        f.store(each.moved, tag, FIELD_BYTES)
        with f.if_(f.compare("eq", old, key)):
            f.give(TRUE)
        following = f.add(each.way, i64(1))
        each.again_if(f.compare("ult", following, ways), way=following, moved=old)
    f.give(FALSE)
    return f
