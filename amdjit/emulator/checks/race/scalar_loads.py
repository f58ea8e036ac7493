"""Scalar loads in the race check."""

from __future__ import annotations

from typing import NamedTuple

from amdjit.emulator.checks.race.layout import SHADOW_ROW, Race, Summary, Wave
from amdjit.emulator.checks.race.rivals import ACCESS_PARAMETERS
from amdjit.emulator.checks.race.time import entry_of, get, put, race_pointer
from amdjit.emulator.host.builder import Value
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
    f.branch("look")
    f.label("look")
    start, end = f.load("i64", cache, 8), f.load("i64", f.offset(cache, 8), 8)
    inside = f.and_(f.compare("uge", address, start), f.compare("ult", address, end))
    f.branch_if(inside, "hit", "miss")
    f.label("miss")
    found = f.call("aj_race_find", "i32", [race, cache, address])
    f.branch_if(f.compare("ne", found, i32(0)), "look", "done")
    f.label("hit")
    shadow, plane = f.load("ptr", f.offset(cache, 16), 8), f.load("i64", f.offset(cache, 24), 8)
    f.branch_if(f.compare("eq", shadow, Value("ptr", "null")), "done", "process")
    f.label("process")
    row = f.call("aj_race_wave", "ptr", [f.parameter("context")])
    _scalar_dwords(f, ScalarLoad(race, row, address, start, shadow, plane))
    f.label("done")
    f.give()
    return f.text(attributes)


class ScalarLoad(NamedTuple):
    """Process a scalar load whose shadow has been found."""

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
    following = f.name()
    f.branch("dword")
    f.label("dword")
    index = f.emit("i64", f"phi i64 [ 0, %process ], [ {following}, %dword.next ]")
    f.branch_if(quiet, "note", "check")
    f.label("check")
    names = ("context", "site")
    arguments = [
        *(f.parameter(name) for name in names),
        load.row,
        f.parameter("flags"),
        load.start,
        load.shadow,
    ]
    arguments += [load.plane, i64(0), f.parameter("size"), i32(AccessKind.LOAD)]
    arguments += [f.add(load.address, f.shift("shl", index, 2)), i64(0), i64(15), i64(-1)]
    f.call_void("aj_race_dword", arguments)
    f.branch("note")
    f.label("note")
    place = entry_of(f, readers, index)
    before = f.load("i64", place, 8)
    other = f.compare("ne", f.shift("lshr", before, 32), mine)
    f.store(tag, place, 8)
    f.branch_if(other, "displace", "dword.next")
    f.label("displace")
    f.store(before, entry_of(f, earlier, index), 8)
    f.branch("dword.next")
    f.label("dword.next")
    f.line(f"{following} = add i64 {index.text}, 1")
    size = f.resize(f.parameter("size"), 64)
    f.branch_if(f.compare("ult", f.shift("shl", Value("i64", following), 2), size), "dword", "done")
