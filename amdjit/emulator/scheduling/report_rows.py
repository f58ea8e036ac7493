"""Recording of what a launch's checks find: one row for each kind, site and other site, with a
count of the finds."""

from __future__ import annotations

from amdjit.emulator.host.builder import NULL, Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import FIELD_BYTES, Context, Launch, Report, Sanitizer

REPORT = declare(
    "aj_report",
    context="ptr",
    kind="i32",
    site="i32",
    lane="i64",
    address="i64",
    size="i32",
    other="ptr",
)
SYNC_REPORT = declare("aj_sync_report", context="ptr", kind="i32", site="i32", value="i64")

_OTHER_BYTES = (Report.OTHER_LANE - Report.OTHER_SITE + 1) * FIELD_BYTES
# Fibonacci hashing: 2**64 divided by the golden ratio.
_FACTOR = 0x9E3779B97F4A7C15
_PLACES = (
    (Context.GROUP_X, Report.GROUP_X),
    (Context.GROUP_Y, Report.GROUP_Y),
    (Context.GROUP_Z, Report.GROUP_Z),
    (Context.WAVE, Report.WAVE),
    (Context.OFFSET_BASE, Report.BASE),
)


def lane_of_wave(f: NativeFunction) -> Value:
    """Return `lane`, which counts in the half of the wave that the context is for, counted in the
    wave. -1 is no lane."""
    lane = f.parameter("lane")
    moved = f.add(lane, f.context(Context.LANE_BASE))
    return f.select(f.compare("slt", lane, i64(0)), lane, moved)


def report_text(attributes: str) -> str:
    """Return `aj_report`: note a find in its row. A full table counts the finds that it loses.

    `lane` counts in the half of the wave that the context is for; -1 is no lane. `other`: four
    fields in the order of `Report.OTHER_SITE` and on, or null.
    """
    f = NativeFunction.of(REPORT)
    sanitizer = f.thread.follow(Context.LAUNCH).follow(Launch.SANITIZER)
    key = _key(f)
    rows, mask = sanitizer.follow(Sanitizer.ROWS), sanitizer.get(Sanitizer.ROW_MASK)
    start = f.shift("lshr", f.mul(key, i64(_FACTOR)), 40)
    with f.loop(tried=i64(0)) as probe:
        row = rows.row(f.and_(f.add(start, probe.tried), mask), Report.FIELDS)
        old, is_first = f.compare_exchange(row.at(Report.KEY), i64(0), key)
        with f.if_(is_first):
            _fill(f, row, sanitizer)
            _count(f, row)
        with f.if_(f.compare("eq", old, key)):
            _count(f, row)
        following = f.add(probe.tried, i64(1))
        probe.again_if(f.compare("ule", following, mask), tried=following)
    f.atomic("add", sanitizer.at(Sanitizer.LOST), i64(1))
    f.give()
    return f.text(f"noinline cold {attributes}")


def _key(f: NativeFunction) -> Value:
    """Return kind, site and other site in one number."""
    other_site = f.variable(i64(0))
    other = f.parameter("other")
    with f.if_(f.compare("ne", other, NULL)):
        other_site.set(f.load("i64", other, FIELD_BYTES))
    kind = f.shift("shl", f.resize(f.parameter("kind"), 64), 56)
    site = f.shift("shl", f.resize(f.parameter("site"), 64), 28)
    return f.or_(kind, f.or_(site, other_site.get()))


def _fill(f: NativeFunction, row: Record, sanitizer: Record) -> None:
    """Write what is known of the first find, and of the other access."""
    for source, target in _PLACES:
        row.set(target, f.thread.get(source))
    row.set(Report.KIND, f.resize(f.parameter("kind"), 64))
    row.set(Report.SITE, f.resize(f.parameter("site"), 64))
    row.set(Report.LANE, lane_of_wave(f))
    row.set(Report.ADDRESS, f.parameter("address"))
    row.set(Report.SIZE, f.resize(f.parameter("size"), 64))
    row.set(Report.SEQUENCE, f.atomic("add", sanitizer.at(Sanitizer.SEQUENCE), i64(1)))
    other = f.parameter("other")
    with f.if_(f.compare("ne", other, NULL)):
        f.copy(row.at(Report.OTHER_SITE), other, _OTHER_BYTES)


def _count(f: NativeFunction, row: Record) -> None:
    """Count a find and return."""
    f.atomic("add", row.at(Report.COUNT), i64(1))
    f.give()


def sync_report_text(attributes: str) -> str:
    """Return `aj_sync_report`: a report if the launch's barriers are checked."""
    f = NativeFunction.of(SYNC_REPORT)
    context, kind, site, value = f.parameters
    sanitizer = f.thread.follow(Context.LAUNCH).follow(Launch.SANITIZER)
    with (
        f.unless(f.compare("eq", sanitizer.address, NULL)),
        f.unless(f.compare("eq", sanitizer.get(Sanitizer.SYNC), i64(0))),
    ):
        f.invoke(REPORT, context, kind, site, i64(-1), value, i32(0), NULL)
    f.give()
    return f.text(f"noinline cold {attributes}")
