"""The search of the allocation table, for accesses outside the allocation that their instruction
accessed last."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import Lane, NativeFunction, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import Allocation, Context, FaultKind, SiteRange
from amdjit.emulator.scheduling.fault_record import FAULT

RESOLVE = declare(
    "aj_resolve",
    "i32",
    context="ptr",
    site="i32",
    addresses="ptr",
    exec="i32",
    size="i32",
    kind="i32",
)


def resolve_text(attributes: str) -> str:
    """Return `aj_resolve`: find each active lane's allocation, and refresh the site's cache; fault
    for lanes that have none.

    The result is `exec` without the lanes whose access is not allowed.
    """
    f = NativeFunction.of(RESOLVE)
    known = Record(f, f.site_row())
    size = f.resize(f.parameter("size"), 64)
    valid = f.variable(f.parameter("exec"))
    with f.each_lane(f.parameter("exec")) as each:
        address = f.load("i64", f.offset(f.parameter("addresses"), f.shift("shl", each.lane, 3)), 8)
        first, span = known.get(SiteRange.FIRST), known.get(SiteRange.SIZE)
        is_cached = _fits(f, f.sub(address, first), span, size)
        with f.unless(is_cached), f.unless(_find(f, address, size, known)):
            _refuse(f, each, address)
            without = f.not_(f.shift("shl", i32(1), each.number))
            valid.set(f.and_(valid.get(), without))
    f.give(valid.get())
    return f.text(f"noinline {attributes}")


def _fits(f: NativeFunction, distance: Value, span: Value, size: Value) -> Value:
    """Return whether an access that far from the start of a range is inside."""
    is_inside = f.compare("ult", distance, span)
    return f.and_(is_inside, f.compare("uge", f.sub(span, distance), size))


def _find(f: NativeFunction, address: Value, size: Value, known: Record) -> Value:
    """Return whether an allocation holds the access and allows it; it becomes the site's range."""
    table = f.thread.follow(Context.TABLE)
    rows = _rows_before(f, table, address)
    found = f.variable(Value("i1", "false"))
    with f.unless(f.compare("eq", rows, i64(0))):
        row = table.row(f.sub(rows, i64(1)), Allocation.FIELDS)
        first = row.get(Allocation.FIRST)
        span = f.sub(row.get(Allocation.END), first)
        is_allowed = f.or_(
            f.compare("ne", row.get(Allocation.WRITABLE), i64(0)),
            f.compare("ne", f.parameter("kind"), i32(FaultKind.GLOBAL_STORE)),
        )
        is_found = f.and_(_fits(f, f.sub(address, first), span, size), is_allowed)
        with f.if_(is_found):
            known.set(SiteRange.FIRST, first)
            known.set(SiteRange.SIZE, span)
        found.set(is_found)
    return found.get()


def _rows_before(f: NativeFunction, table: Record, address: Value) -> Value:
    """Return how many rows of the sorted table begin at or before an address: a binary search."""
    with f.loop(low=i64(0), high=f.thread.get(Context.TABLE_COUNT)) as search:
        search.leave_unless(f.compare("ult", search.low, search.high))
        middle = f.shift("lshr", f.add(search.low, search.high), 1)
        begins = table.row(middle, Allocation.FIELDS).get(Allocation.FIRST)
        is_before = f.compare("ule", begins, address)
        search.again(
            low=f.select(is_before, f.add(middle, i64(1)), search.low),
            high=f.select(is_before, search.high, middle),
        )
    return search.low


def _refuse(f: NativeFunction, each: Lane, address: Value) -> None:
    context, kind, site = (f.parameter(name) for name in ("context", "kind", "site"))
    f.invoke(FAULT, context, kind, site, each.lane, address, f.parameter("size"))
