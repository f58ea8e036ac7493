"""Accesses that may still be in flight after a barrier: the race check repeats them there.

Memory is accessed at some time between the issue of an instruction and the wait for it. If the wave
signals a barrier in between, the check enters the access again at the wait, and at each further
signal. There it is no longer ordered before what other waves do after the barrier, so that their
accesses are found to race with it.

Only kernels with such accesses (`waits/in_flight_at_barriers.py`) are instrumented for this. A wave
counts what it issues on two counters, and records the last accesses of this kind in a ring.
"""

from __future__ import annotations

from enum import IntEnum

from amdjit.emulator.checks.race.layout import IN_FLIGHT, Group, Wave
from amdjit.emulator.checks.race.time import get, group_of, put
from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.wave.frame import AccessKind

# Accesses of a wave that are recorded. If more are in flight at a barrier, the oldest are not
# repeated.
RING = 16
# The layout of a record: fields, 32 addresses of 64 bits, and up to four vectors of 32 dwords.
_FIELDS = 12
_ADDRESSES = _FIELDS * FIELD_BYTES + 32  # vectors of 64 bytes
_VALUES = _ADDRESSES + 256
RECORD_BYTES = _VALUES + 4 * 128


class InFlight(IntEnum):
    """The fields of a record: an access that may be in flight."""

    NUMBER = 0  # how many accesses its wave had issued on COUNTER, this one included
    COUNTER = 1  # 0: LDS; 1: loads of global memory
    CONTEXT = 2  # the address of the wave's context
    SITE = 3  # the number of the instruction that may fault
    LANES = 4  # the active lanes, a bit for each
    SIZE = 5  # bytes of each lane
    FLAGS = 6  # scope and the other bits of `layout`
    ACCESS = 7  # `access_code`: the function to call again
    SIGNALS = 8  # how many barriers its wave had signalled before


_COPIED_FIELDS = {
    InFlight.SITE: "site",
    InFlight.LANES: "lanes",
    InFlight.SIZE: "size",
    InFlight.FLAGS: "flags",
}


def access_code(kind: AccessKind, lds: bool) -> int:
    """Return a number for a kind of access in a space."""
    return kind * 2 + lds


def _field(f: NativeFunction, row: Value, counter: Value, first: Wave) -> Value:
    """Return the address of a wave's field of a counter: LDS is 0, loads of global memory 1."""
    wide = f.resize(counter, 64)
    return f.offset(f.offset(row, first * FIELD_BYTES), f.shift("shl", wide, 3))


def issue_text(attributes: str) -> str:
    """Return `aj_race_issue(context, counter)`: the wave issues an instruction that counts."""
    f = NativeFunction("aj_race_issue", "void", [("ptr", "context"), ("i32", "counter")])
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    place = _field(f, row, f.parameter("counter"), Wave.ISSUED)
    f.store(f.add(f.load("i64", place, 8), i64(1)), place, 8)
    f.give()
    return f.text(attributes)


def landed_text(attributes: str) -> str:
    """Return `aj_race_landed(context, counter, left)`: the wave has waited until no more than
    `left` are under way."""
    parameters = [("ptr", "context"), ("i32", "counter"), ("i32", "left")]
    f = NativeFunction("aj_race_landed", "void", parameters)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    issued = f.load("i64", _field(f, row, f.parameter("counter"), Wave.ISSUED), 8)
    left = f.intrinsic("umin", f.resize(f.parameter("left"), 64), issued)
    place = _field(f, row, f.parameter("counter"), Wave.LANDED)
    f.store(f.intrinsic("umax", f.load("i64", place, 8), f.sub(issued, left)), place, 8)
    f.give()
    return f.text(attributes)


def _record(f: NativeFunction, row: Value, number: Value) -> Value:
    records = get(f, group_of(f, row), Group.IN_FLIGHT, "ptr")
    wave = f.mul(get(f, row, Wave.NUMBER), i64(RING))
    place = f.add(wave, f.and_(number, i64(RING - 1)))
    return f.offset(records, f.mul(place, i64(RECORD_BYTES)))


def keep_text(attributes: str) -> str:
    """Return `aj_race_keep(context, site, addresses, lanes, size, flags, stored, counter, what)`:
    keep the access that was issued last. stored: null, or the values of a store."""
    parameters = [
        ("ptr", "context"), ("i32", "site"), ("ptr", "addresses"), ("i32", "lanes"),
        ("i32", "size"), ("i32", "flags"), ("ptr", "stored"), ("i32", "counter"), ("i32", "what"),
    ]  # fmt: skip
    f = NativeFunction("aj_race_keep", "void", parameters)
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    number = get(f, row, Wave.KEPT)
    put(f, row, Wave.KEPT, f.add(number, i64(1)))
    record = _record(f, row, number)
    issued = _field(f, row, f.parameter("counter"), Wave.ISSUED)
    put(f, record, InFlight.NUMBER, f.load("i64", issued, 8))
    put(f, record, InFlight.COUNTER, f.resize(f.parameter("counter"), 64))
    put(f, record, InFlight.CONTEXT, f.cast("ptrtoint", f.parameter("context"), "i64"))
    put(f, record, InFlight.ACCESS, f.resize(f.parameter("what"), 64))
    put(f, record, InFlight.SIGNALS, get(f, row, Wave.SIGNALS))
    for field, name in _COPIED_FIELDS.items():
        put(f, record, field, f.resize(f.parameter(name), 64))
    _copy(f, f.offset(record, _ADDRESSES), f.parameter("addresses"), 256)
    with f.if_(f.compare("ne", f.cast("ptrtoint", f.parameter("stored"), "i64"), i64(0))):
        _copy(f, f.offset(record, _VALUES), f.parameter("stored"), 4 * 128)
    f.give()
    return f.text(attributes)


def _copy(f: NativeFunction, target: Value, source: Value, nbytes: int) -> None:
    f.line(
        f"call void @llvm.memcpy.p0.p0.i64(ptr {target.text}, ptr {source.text}, i64 {nbytes}, "
        "i1 false)"
    )
    f.declarations["llvm.memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


def repeat_text(symbols: dict[int, str], attributes: str) -> str:
    """Return `aj_race_repeat(context, signals)`: note what is under way from before a barrier once
    more. signals: 1 if the wave signals one now. symbols: the functions that note an access, by
    `access_code`."""
    f = NativeFunction("aj_race_repeat", "void", [("ptr", "context"), ("i32", "signals")])
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    signals = get(f, row, Wave.SIGNALS)
    put(f, row, Wave.SIGNALS, f.add(signals, f.resize(f.parameter("signals"), 64)))
    count = get(f, row, Wave.KEPT)
    ring = f.intrinsic("umin", count, i64(RING))
    with f.count_to(ring) as index:
        record = _record(f, row, f.add(f.sub(count, ring), index))
        counter = f.resize(get(f, record, InFlight.COUNTER), 32)
        landed = f.load("i64", _field(f, row, counter, Wave.LANDED), 8)
        late = f.compare("ugt", get(f, record, InFlight.NUMBER), landed)
        before = f.compare("ne", get(f, record, InFlight.SIGNALS), signals)
        with f.if_(f.and_(late, before)):
            for what, symbol in symbols.items():
                with f.if_(f.compare("eq", get(f, record, InFlight.ACCESS), i64(what))):
                    f.call_void(symbol, _arguments(f, record))
    f.give()
    return f.text(f"noinline {attributes}")


def _arguments(f: NativeFunction, record: Value) -> list[Value]:
    def number(field: InFlight) -> Value:
        return f.resize(get(f, record, field), 32)

    flags = f.or_(number(InFlight.FLAGS), i32(IN_FLIGHT))
    before = [
        get(f, record, InFlight.CONTEXT, "ptr"),
        number(InFlight.SITE),
        f.offset(record, _ADDRESSES),
    ]
    return [
        *before,
        number(InFlight.LANES),
        number(InFlight.SIZE),
        flags,
        f.offset(record, _VALUES),
    ]
