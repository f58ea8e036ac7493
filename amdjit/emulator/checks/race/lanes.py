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
    with f.if_(f.compare("ne", strangers, i32(0))), f.loop(left=f.parameter("lanes")) as each:
        each.leave_if(f.compare("eq", each.left, i32(0)))
        lane = f.resize(f.intrinsic("cttz", each.left, flags=[constant("i1", 1)]), 64)
        address = f.extract(wide, lane)
        together = f.and_(f.mask_bits(f.compare("eq", wide, f.splat(address))), each.left)
        others = f.and_(together, f.sub(together, i32(1)))
        with f.if_(f.compare("ne", others, i32(0))):
            differ = f.and_(_other_values(f, lane, "stored"), together)
            with f.if_(f.compare("ne", differ, i32(0))):
                rival = f.add(_last(f, differ), f.context(Context.LANE_BASE))
                _tell(f, lane, address, rival, other)
        each.again(left=f.and_(each.left, f.not_(together)))
    f.give()
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
    with f.unless(_apart(f, wide, lower)), f.each_lane(f.parameter("lanes")) as each:
        address = f.extract(wide, each.lane)
        same = f.mask_bits(f.compare("eq", lower, f.splat(address)))
        together = f.and_(same, f.parameter("lower.lanes"))
        with f.if_(f.compare("ne", together, i32(0))):
            differ = f.and_(_other_values(f, each.lane, "lower.stored"), together)
            with (
                f.if_(f.compare("ne", differ, i32(0))),
                f.if_(_is_memory(f, address, row)),
            ):
                _tell(f, each.lane, address, _last(f, differ), other)
    f.give()
    return f.text(f"noinline {attributes}")


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
