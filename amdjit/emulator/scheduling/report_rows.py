"""Recording of what a launch's checks find: one row for each kind, site and other site, and how
often it was seen."""

from __future__ import annotations

from amdjit.emulator.layout import FIELD_BYTES, Context, Launch, Report, Sanitizer

REPORT_DECLARATION = "declare void @aj_report(ptr, i32, i32, i64, i64, i32, ptr)"


def field_at(pointer: str, name: str, field: int) -> str:
    """Point %name to a field of what a pointer leads to."""
    return f"  %{name} = getelementptr i8, ptr %{pointer}, i64 {field * FIELD_BYTES}"


def _fill() -> str:
    """The first to come fills the row. `other`: four fields in the order of `Report.OTHER_SITE` and
    on, or null."""
    lines = []
    for source, target in (
        (Context.GROUP_X, Report.GROUP_X),
        (Context.GROUP_Y, Report.GROUP_Y),
        (Context.GROUP_Z, Report.GROUP_Z),
        (Context.WAVE, Report.WAVE),
        (Context.OFFSET_BASE, Report.BASE),
    ):
        lines += [
            field_at("context", f"from{source}", source),
            f"  %value{source} = load i64, ptr %from{source}",
        ]
        lines += [
            field_at("row", f"to{target}", target),
            f"  store i64 %value{source}, ptr %to{target}",
        ]
    for field, value in (
        (Report.KIND, "%kind64"),
        (Report.SITE, "%site64"),
        (Report.LANE, "%wavelane"),
        (Report.ADDRESS, "%address"),
        (Report.SIZE, "%size64"),
        (Report.SEQUENCE, "%number"),
    ):
        lines += [field_at("row", f"to{field}", field), f"  store i64 {value}, ptr %to{field}"]
    return "\n".join(lines)


def _report_entry() -> str:
    """Number the lane in the wave, and read the site of the other access."""
    return f"""entry:
  %launch = load ptr, ptr %context
{field_at("launch", "sanitizerfield", Launch.SANITIZER)}
  %sanitizer = load ptr, ptr %sanitizerfield
  %kind64 = zext i32 %kind to i64
  %site64 = zext i32 %site to i64
  %size64 = zext i32 %size to i64
{field_at("context", "basefield", Context.LANE_BASE)}
  %lanebase = load i64, ptr %basefield
  %nolane = icmp slt i64 %lane, 0
  %baselane = add i64 %lane, %lanebase
  %wavelane = select i1 %nolane, i64 %lane, i64 %baselane
  %alone = icmp eq ptr %other, null
  br i1 %alone, label %search, label %second
second:
  %theirs = load i64, ptr %other
  br label %search
"""


def _report_search(row_bytes: int) -> str:
    """Find the row of this kind and these sites in the table, or claim an empty one."""
    return f"""search:
  %othersite = phi i64 [ 0, %entry ], [ %theirs, %second ]
{field_at("sanitizer", "rowsfield", Sanitizer.ROWS)}
  %rows = load ptr, ptr %rowsfield
{field_at("sanitizer", "maskfield", Sanitizer.ROW_MASK)}
  %mask = load i64, ptr %maskfield
  %kindpart = shl i64 %kind64, 56
  %sitepart = shl i64 %site64, 28
  %low = or i64 %sitepart, %othersite
  %key = or i64 %kindpart, %low
  %mixed = mul i64 %key, -7046029254386353131
  %hash = lshr i64 %mixed, 40
  br label %probe
probe:
  %try = phi i64 [ 0, %search ], [ %next, %further ]
  %sum = add i64 %hash, %try
  %index = and i64 %sum, %mask
  %distance = mul i64 %index, {row_bytes}
  %row = getelementptr i8, ptr %rows, i64 %distance
  %pair = cmpxchg ptr %row, i64 0, i64 %key seq_cst seq_cst
  %old = extractvalue {{ i64, i1 }} %pair, 0
  %first = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %first, label %claim, label %compare
compare:
  %same = icmp eq i64 %old, %key
  br i1 %same, label %count, label %further
further:
  %next = add i64 %try, 1
  %more = icmp ule i64 %next, %mask
  br i1 %more, label %probe, label %full
"""


def _report_row(other_bytes: int) -> str:
    """Fill the row that was claimed, and count what was seen."""
    return f"""full:
{field_at("sanitizer", "lostfield", Sanitizer.LOST)}
  %lost = atomicrmw add ptr %lostfield, i64 1 seq_cst
  ret void
claim:
{field_at("sanitizer", "sequencefield", Sanitizer.SEQUENCE)}
  %number = atomicrmw add ptr %sequencefield, i64 1 seq_cst
{_fill()}
  br i1 %alone, label %count, label %copy
copy:
{field_at("row", "othersplace", Report.OTHER_SITE)}
  call void @llvm.memcpy.p0.p0.i64(ptr %othersplace, ptr %other, i64 {other_bytes}, i1 false)
  br label %count
count:
{field_at("row", "countfield", Report.COUNT)}
  %seen = atomicrmw add ptr %countfield, i64 1 seq_cst
  ret void
"""


def report_text(attributes: str) -> str:
    """Return `aj_report(context, kind, site, lane, address, size, other)`; a full table counts what
    it lost.

    `lane` counts in the half of the wave that the context is for; -1 is no lane.
    """
    row_bytes = Report.FIELDS * FIELD_BYTES
    other_bytes = (Report.OTHER_LANE - Report.OTHER_SITE + 1) * FIELD_BYTES
    return f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @aj_report(ptr %context, i32 %kind, i32 %site, i64 %lane, i64 %address, i32 %size, ptr %other)
  noinline cold {attributes} {{
{_report_entry()}{_report_search(row_bytes)}{_report_row(other_bytes)}}}
"""


def sync_report_text(attributes: str) -> str:
    """Return `aj_sync_report(context, kind, resume id, value)`: a report if the launch's barriers
    are checked."""
    return f"""
{REPORT_DECLARATION}
define void @aj_sync_report(ptr %context, i32 %kind, i32 %site, i64 %value) noinline cold {attributes} {{
entry:
  %launch = load ptr, ptr %context
{field_at("launch", "sanitizerfield", Launch.SANITIZER)}
  %sanitizer = load ptr, ptr %sanitizerfield
  %unchecked = icmp eq ptr %sanitizer, null
  br i1 %unchecked, label %done, label %ask
ask:
{field_at("sanitizer", "syncfield", Sanitizer.SYNC)}
  %wanted = load i64, ptr %syncfield
  %off = icmp eq i64 %wanted, 0
  br i1 %off, label %done, label %report
report:
  call void @aj_report(ptr %context, i32 %kind, i32 %site, i64 -1, i64 %value, i32 0, ptr null)
  br label %done
done:
  ret void
}}
"""
