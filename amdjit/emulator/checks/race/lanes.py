"""Lanes of one store that write different values to one address: among 32 lanes, and between the
halves of a wave64."""

from __future__ import annotations

from amdjit.emulator.checks.race.layout import SHADOW_ROW
from amdjit.emulator.checks.race.rivals import CONFLICT, report_race
from amdjit.emulator.checks.race.time import group_number, race_pointer
from amdjit.emulator.host.builder import Value, constant, sequence
from amdjit.emulator.host.function import V32, V64, NativeFunction, i32, i64
from amdjit.emulator.layout import FIELD_BYTES, RACE_KINDS, Context

_PARAMETERS = [
    ("ptr", "context"), ("i32", "site"), ("ptr", "addresses"), ("i32", "lanes"), ("i32", "size"),
    ("i64", "lds"), ("ptr", "stored"),
]  # fmt: skip
_LOWER = [("ptr", "lower.addresses"), ("i32", "lower.lanes"), ("ptr", "lower.stored")]
# An address that changes no minimum, and one that changes no maximum.
_HIGHEST, _LOWEST = i64(-1), i64(0)


def conflicts_text(attributes: str) -> str:
    """Return `aj_lane_conflicts(context, site, addresses, lanes, size, lds, stored)`: called
    before a store.

    Lanes that store to one address are compared with the first of them; one whose value differs is
    reported.
    """
    f = NativeFunction("aj_lane_conflicts", "void", _PARAMETERS)
    other = f.allocate("[4 x i64]", 8)
    wide = f.load(V64, f.parameter("addresses"), 64)
    steps = f.mul(f.splat(f.resize(f.parameter("size"), 64)), sequence("i64", range(32)))
    bases = f.sub(wide, steps)
    first = f.resize(f.intrinsic("cttz", f.parameter("lanes"), flags=[constant("i1", 0)]), 64)
    start = f.extract(bases, f.and_(first, i64(31)))
    strangers = f.and_(f.mask_bits(f.compare("ne", bases, f.splat(start))), f.parameter("lanes"))
    f.branch_if(f.compare("eq", strangers, i32(0)), "done", "start")
    left, rest, lane = _next_lane(f)
    address = f.extract(wide, lane)
    together = f.and_(f.mask_bits(f.compare("eq", wide, f.splat(address))), left)
    alone = f.compare("eq", f.and_(together, f.sub(together, i32(1))), i32(0))
    f.branch_if(alone, "more", "compare")
    f.label("compare")
    differ = f.and_(_other_values(f, lane, "stored"), together)
    f.branch_if(f.compare("eq", differ, i32(0)), "more", "tell")
    f.label("tell")
    base = f.load("i64", f.offset(f.parameter("context"), Context.LANE_BASE * FIELD_BYTES), 8)
    _tell(f, lane, address, f.add(_last(f, differ), base), other)
    _go_on(f, left, rest, together)
    return f.text(f"noinline {attributes}")


def conflicts_across_text(attributes: str) -> str:
    """Return `aj_lane_conflicts_across(..., lower_addresses, lower_lanes, lower_stored)`: called
    before the store of a wave64's upper half.

    Each of its lanes is compared with all lanes of the lower half.
    """
    f = NativeFunction("aj_lane_conflicts_across", "void", [*_PARAMETERS, *_LOWER])
    other = f.allocate("[4 x i64]", 8)
    row = f.allocate(f"[{SHADOW_ROW} x i64]", 8)
    wide, lower = (f.load(V64, f.parameter(name), 64) for name in ("addresses", "lower.addresses"))
    f.branch_if(_apart(f, wide, lower), "done", "start")
    left, rest, lane = _next_lane(f)
    own = f.binary("shl", i32(1), f.resize(lane, 32))
    address = f.extract(wide, lane)
    together = f.and_(
        f.mask_bits(f.compare("eq", lower, f.splat(address))), f.parameter("lower.lanes")
    )
    f.branch_if(f.compare("eq", together, i32(0)), "more", "compare")
    f.label("compare")
    differ = f.and_(_other_values(f, lane, "lower.stored"), together)
    f.branch_if(f.compare("eq", differ, i32(0)), "more", "place")
    f.label("place")
    f.branch_if(_is_memory(f, address, row), "tell", "more")
    f.label("tell")
    _tell(f, lane, address, _last(f, differ), other)
    _go_on(f, left, rest, own)
    return f.text(f"noinline {attributes}")


def _next_lane(f: NativeFunction) -> tuple[Value, str, Value]:
    """Begin a loop over the lanes that access, at label `start`.

    Return the lanes that are left, the name of those for the next round, and the first lane.
    """
    rest = f.name()
    f.label("start")
    f.branch("next")
    f.label("next")
    left = f.emit("i32", f"phi i32 [ {f.parameter('lanes').text}, %start ], [ {rest}, %more ]")
    f.branch_if(f.compare("eq", left, i32(0)), "done", "some")
    f.label("some")
    lane = f.resize(f.intrinsic("cttz", left, flags=[constant("i1", 1)]), 64)
    return left, rest, lane


def _go_on(f: NativeFunction, left: Value, rest: str, done: Value) -> None:
    """End the loop at label `more`, without the lanes that are `done`, and the function."""
    f.branch("more")
    f.label("more")
    f.line(f"{rest} = and i32 {left.text}, {f.not_(done).text}")
    f.branch("next")
    f.label("done")
    f.give()


def _apart(f: NativeFunction, upper: Value, lower: Value) -> Value:
    """Return whether all addresses of one half are below those of the other, as in most stores."""
    ends = []
    for values, name in ((upper, "lanes"), (lower, "lower.lanes")):
        active = f.lane_mask(f.parameter(name))
        least = _reduced(f, "umin", f.select(active, values, f.splat(_HIGHEST)))
        most = _reduced(f, "umax", f.select(active, values, f.splat(_LOWEST)))
        ends.append((least, most))
    (first, last), (lower_first, lower_last) = ends
    return f.or_(f.compare("ugt", first, lower_last), f.compare("ugt", lower_first, last))


def _reduced(f: NativeFunction, name: str, values: Value) -> Value:
    return f.call(f"llvm.vector.reduce.{name}.v32i64", "i64", [values])


def _is_memory(f: NativeFunction, address: Value, row: Value) -> Value:
    """Return whether the store accesses LDS or an allocation. row: room for what `aj_race_find`
    finds."""
    end = f.add(address, f.resize(f.parameter("size"), 64))
    in_lds = f.compare("ne", f.parameter("lds"), i64(0))
    inside = f.compare("ule", end, f.context(Context.LDS_SIZE))
    found = f.call("aj_race_find", "i32", [race_pointer(f), row, address])
    return f.select(in_lds, inside, f.compare("ne", found, i32(0)))


def _other_values(f: NativeFunction, lane: Value, theirs: str) -> Value:
    """Return the lanes of `theirs` whose element differs from that of `lane`, in any of its
    dwords."""
    bits = f.shift("shl", f.intrinsic("umin", f.parameter("size"), i32(4)), 3)
    kept = f.resize(f.sub(f.shift("shl", i64(1), f.resize(bits, 64)), i64(1)), 32)
    differ = i32(0)
    for dword in range(4):
        mine, others = (
            f.load(V32, f.offset(f.parameter(name), 128 * dword), 64) for name in ("stored", theirs)
        )
        changed = f.and_(f.xor(others, f.splat(f.extract(mine, lane))), f.splat(kept))
        odd = f.mask_bits(f.compare("ne", changed, constant(V32, 0)))
        there = f.compare("ugt", f.parameter("size"), i32(4 * dword))
        differ = f.or_(differ, f.select(there, odd, i32(0)))
    return differ


def _last(f: NativeFunction, lanes: Value) -> Value:
    return f.resize(f.sub(i32(31), f.intrinsic("ctlz", lanes, flags=[constant("i1", 0)])), 64)


def _tell(f: NativeFunction, lane: Value, address: Value, rival: Value, other: Value) -> None:
    """Report a lane, and the lane of the wave that stores another value to its address."""
    site = f.resize(f.parameter("site"), 64)
    for index, value in enumerate(
        (site, group_number(f, race_pointer(f)), f.context(Context.WAVE), rival)
    ):
        f.store(value, f.offset(other, index * FIELD_BYTES), 8)
    in_lds = f.compare("ne", f.parameter("lds"), i64(0))
    kind = f.select(in_lds, i32(RACE_KINDS + CONFLICT + 1), i32(RACE_KINDS + CONFLICT))
    report_race(f, kind, lane, address, f.parameter("size"), other)
