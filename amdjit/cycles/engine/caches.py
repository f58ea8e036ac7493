"""A set-associative cache with least-recently-used replacement, as host code."""

from __future__ import annotations

from amdjit.cycles.engine.layout import Cache
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import FALSE, TRUE, NativeFunction, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES

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
