"""Scalar loads in the race check."""

from __future__ import annotations

from typing import NamedTuple

from amdjit.emulator.checks.race.layout import SHADOW_ROW, Race, Summary, Wave
from amdjit.emulator.checks.race.rivals import ACCESS_PARAMETERS
from amdjit.emulator.checks.race.time import entry_of, get, put, race_pointer
from amdjit.emulator.host.builder import NULL, Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.wave.instrument import AccessKind


def scalar_text(attributes: str) -> str:
    """Return `aj_race_scalar(context, site, addresses, lanes, size, flags, stored)`: a scalar load,
    dword by dword."""
    f = NativeFunction("aj_race_scalar", "void", ACCESS_PARAMETERS)
    race = race_pointer(f)
    address = f.load("i64", f.parameter("addresses"), 8)
    sites = get(f, race, Race.SITES, "ptr")
    cache = f.offset(sites, f.mul(f.resize(f.parameter("site"), 64), i64(SHADOW_ROW * FIELD_BYTES)))
    with f.loop() as look, f.section() as missing:
        start, end = f.load("i64", cache, 8), f.load("i64", f.offset(cache, 8), 8)
        inside = f.and_(f.compare("uge", address, start), f.compare("ult", address, end))
        look.leave_if(inside)
        found = f.call("aj_race_find", "i32", [race, cache, address])
        missing.leave_if(f.compare("ne", found, i32(0)))
        f.give()
    shadow, plane = f.load("ptr", f.offset(cache, 16), 8), f.load("i64", f.offset(cache, 24), 8)
    with f.if_(f.compare("ne", shadow, NULL)):
        row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
        _scalar_dwords(f, ScalarLoad(race, row, address, start, shadow, plane))
    f.give()
    return f.text(attributes)


class ScalarLoad(NamedTuple):
    """A scalar load whose shadow has been found."""

    race: Value
    row: Value
    address: Value
    start: Value
    shadow: Value
    plane: Value


def _scalar_dwords(f: NativeFunction, load: ScalarLoad) -> None:
    head = f.offset(load.shadow, -Summary.FIELDS * FIELD_BYTES)
    last = f.intrinsic("umax", get(f, head, Summary.STORED), get(f, head, Summary.ATOMIC))
    quiet = f.compare("ult", last, get(f, load.race, Race.FIRST))
    put(f, head, Summary.READ, get(f, load.race, Race.TIME))
    mine = get(f, load.row, Wave.INTERVAL)
    site = f.resize(f.parameter("site"), 64)
    known = f.select(f.compare("ult", site, i64(1 << 16)), site, i64(0))
    tag = f.or_(f.or_(f.shift("shl", mine, 32), f.shift("shl", known, 16)), i64(15))
    first = f.shift("shl", f.shift("lshr", f.sub(load.address, load.start), 2), 3)
    readers = f.offset(load.shadow, f.add(load.plane, first))
    earlier = f.offset(readers, load.plane)
    size = f.resize(f.parameter("size"), 64)
    dwords = f.shift("lshr", f.add(size, i64(3)), 2)
    with f.count_to(dwords) as index:
        with f.unless(quiet):
            place = f.add(load.address, f.shift("shl", index, 2))
            arguments = [f.parameter("context"), f.parameter("site"), load.row]
            arguments += [f.parameter("flags"), load.start, load.shadow, load.plane, i64(0)]
            arguments += [f.parameter("size"), i32(AccessKind.LOAD), place]
            f.call_void("aj_race_dword", [*arguments, i64(0), i64(15), i64(-1)])
        _note_reader(f, readers, earlier, index, tag, mine)


def _note_reader(
    f: NativeFunction, readers: Value, earlier: Value, index: Value, tag: Value, mine: Value
) -> None:
    """Write a tag, and keep that of another wave as the earlier reader."""
    place = entry_of(f, readers, index)
    before = f.load("i64", place, 8)
    f.store(tag, place, 8)
    with f.if_(f.compare("ne", f.shift("lshr", before, 32), mine)):
        f.store(before, entry_of(f, earlier, index), 8)
