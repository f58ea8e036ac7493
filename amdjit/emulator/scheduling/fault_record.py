"""Recording of the first fault, and the search of the allocation table."""

from __future__ import annotations

from amdjit.emulator.layout import (
    FIELD_BYTES,
    TABLE_ROW,
    TICK_INSTRUCTIONS,
    Context,
    Fault,
    FaultKind,
    Launch,
    Stop,
)
from amdjit.emulator.scheduling.report_rows import REPORT_DECLARATION, field_at

# Faults that are one access of a lane, which is left out.
ACCESS_FAULTS = (
    FaultKind.GLOBAL_LOAD,
    FaultKind.GLOBAL_STORE,
    FaultKind.LDS,
    FaultKind.SCRATCH,
    FaultKind.SCALAR_LOAD,
    FaultKind.MISALIGNED,
)

FAULT_DECLARATION = "declare void @aj_fault(ptr, i32, i32, i64, i64, i32)"


def _fill() -> str:
    """Write the record: where the fault was, from the context, and what it was."""
    copies = []
    for source, target in (
        (Context.GROUP_X, Fault.GROUP_X),
        (Context.GROUP_Y, Fault.GROUP_Y),
        (Context.GROUP_Z, Fault.GROUP_Z),
        (Context.WAVE, Fault.WAVE),
        (Context.OFFSET_BASE, Fault.BASE),
        (Context.THREAD, Fault.THREAD),
        (Context.SLOT, Fault.SLOT),
    ):
        copies += [
            field_at("context", f"from{source}", source),
            f"  %value{source} = load i64, ptr %from{source}",
            field_at("record", f"to{source}", target),
            f"  store i64 %value{source}, ptr %to{source}",
        ]
    values = []
    for field, value in (
        (Fault.KIND, "%kind64"),
        (Fault.SITE, "%site64"),
        (Fault.LANE, "%wavelane"),
        (Fault.ADDRESS, "%address"),
        (Fault.SIZE, "%size64"),
    ):
        values += [
            field_at("record", f"field{field}", field),
            f"  store i64 {value}, ptr %field{field}",
        ]
    return "\n".join(copies + values)


def fault_text(attributes: str) -> str:
    """Return `aj_fault`: the first caller of a launch fills the record; all callers stop the
    launch.

    `lane` counts in the half of the wave that the context is for; -1 is no lane.
    Where the memory check is on, a wrong access becomes a report, and the launch goes on.
    """
    # A switch, because the kinds that are accesses are no range.
    accesses = " ".join(f"i32 {kind:d}, label %report" for kind in ACCESS_FAULTS)
    return f"""
{REPORT_DECLARATION}
define void @aj_fault(ptr %context, i32 %kind, i32 %site, i64 %lane, i64 %address, i32 %size)
  noinline cold {attributes} {{
entry:
  %launch = load ptr, ptr %context
{field_at("launch", "sanitizerfield", Launch.SANITIZER)}
  %sanitizer = load i64, ptr %sanitizerfield
  %plain = icmp eq i64 %sanitizer, 0
  br i1 %plain, label %fault, label %choose
choose:
  switch i32 %kind, label %fault [ {accesses} ]
report:
  call void @aj_report(ptr %context, i32 %kind, i32 %site, i64 %lane, i64 %address, i32 %size, ptr null)
  ret void
{_record()}
}}
"""


def _record() -> str:
    """Fill the record of a launch that has none, and stop the launch."""
    return f"""fault:
{field_at("launch", "recordfield", Launch.FAULT)}
  %record = load ptr, ptr %recordfield
  %kind64 = zext i32 %kind to i64
  %site64 = zext i32 %site to i64
  %size64 = zext i32 %size to i64
{field_at("context", "basefield", Context.LANE_BASE)}
  %base = load i64, ptr %basefield
  %nolane = icmp slt i64 %lane, 0
  %moved = add i64 %lane, %base
  %wavelane = select i1 %nolane, i64 %lane, i64 %moved
  %pair = cmpxchg ptr %record, i64 0, i64 1 seq_cst seq_cst
  %first = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %first, label %claim, label %stop
claim:
{_fill()}
  br label %stop
stop:
  %flag = cmpxchg ptr %launch, i64 {Stop.RUN:d}, i64 {Stop.FAULT:d} seq_cst seq_cst
{field_at("context", "budgetfield", Context.BUDGET)}
  store i64 0, ptr %budgetfield
  ret void"""


def refuse_mode_text(attributes: str) -> str:
    """Return `aj_refuse_mode`: a fault if `wrong` is not 0, because a kernel sets what the emulator
    does not have."""
    return f"""
{FAULT_DECLARATION}
define void @aj_refuse_mode(ptr %context, i32 %site, i32 %wrong) {attributes} {{
entry:
  %bad = icmp ne i32 %wrong, 0
  br i1 %bad, label %fault, label %done
fault:
  call void @aj_fault(ptr %context, i32 {FaultKind.MODE:d}, i32 %site, i64 -1, i64 0, i32 0)
  br label %done
done:
  ret void
}}
"""


def require_lanes_text(attributes: str) -> str:
    """Return `aj_require_lanes`: a fault if a wave's EXEC, both dwords of it, is neither all ones
    nor 0."""
    return f"""
{FAULT_DECLARATION}
define void @aj_require_lanes(ptr %context, i32 %site, i32 %low, i32 %high) {attributes} {{
entry:
  %same = icmp eq i32 %low, %high
  %next = add i32 %low, 1
  %uniform = icmp ult i32 %next, 2
  %whole = and i1 %same, %uniform
  br i1 %whole, label %done, label %fault
fault:
  call void @aj_fault(ptr %context, i32 {FaultKind.PARTIAL_WAVE:d}, i32 %site, i64 -1, i64 0, i32 0)
  br label %done
done:
  ret void
}}
"""


def stopped_text(attributes: str) -> str:
    """Return `aj_stopped`: called when a wave sees the stop flag; a time limit becomes a fault of
    that site."""
    return f"""
{FAULT_DECLARATION}
define void @aj_stopped(ptr %context, i32 %site) noinline cold {attributes} {{
entry:
  %launch = load ptr, ptr %context
  %flag = load atomic i64, ptr %launch monotonic, align 8
  %late = icmp eq i64 %flag, {Stop.TIME_LIMIT:d}
  br i1 %late, label %record, label %done
record:
  call void @aj_fault(ptr %context, i32 {FaultKind.TIME_LIMIT:d}, i32 %site, i64 -1, i64 0, i32 0)
  br label %done
done:
  ret void
}}
"""


def tick_text(attributes: str) -> str:
    """Return `aj_tick(context, site)`: called when the budget is spent; whether the wave has to
    stop.

    It looks at the stop flag and, every so often, lets the host's thread look at the clock and at
    signals.
    """
    return f"""
declare void @aj_stopped(ptr, i32)
define i32 @aj_tick(ptr %context, i32 %site) noinline cold {attributes} {{
entry:
  %launch = load ptr, ptr %context
{field_at("context", "budget", Context.BUDGET)}
  store i64 {TICK_INSTRUCTIONS}, ptr %budget
{field_at("context", "ticks", Context.TICKS)}
  %before = load i64, ptr %ticks
  %left = sub i64 %before, 1
  store i64 %left, ptr %ticks
  %due = icmp slt i64 %left, 0
{field_at("context", "attend.at", Context.ATTEND)}
  %attend = load ptr, ptr %attend.at
  %wanted = icmp ne ptr %attend, null
  %calls = and i1 %due, %wanted
  br i1 %calls, label %call, label %look
call:
  %anew = call i64 %attend()
  store i64 %anew, ptr %ticks
  %goeson = icmp sgt i64 %anew, 0
  br i1 %goeson, label %look, label %raised
raised:
  %pair = cmpxchg ptr %launch, i64 {Stop.RUN:d}, i64 {Stop.INTERRUPT:d} seq_cst seq_cst
  br label %look
look:
  %flag = load atomic i64, ptr %launch monotonic, align 8
  %stop = icmp ne i64 %flag, {Stop.RUN:d}
  br i1 %stop, label %stopped, label %done
stopped:
  call void @aj_stopped(ptr %context, i32 %site)
  ret i32 1
done:
  ret i32 0
}}
"""


def _resolve_entry() -> str:
    """Read the table and the site's range, and find what the access is."""
    return f"""entry:
{field_at("context", "tablefield", Context.TABLE)}
  %table = load ptr, ptr %tablefield
{field_at("context", "countfield", Context.TABLE_COUNT)}
  %count = load i64, ptr %countfield
{field_at("context", "sitesfield", Context.SITES)}
  %sites = load ptr, ptr %sitesfield
  %site64 = zext i32 %site to i64
  %row = shl i64 %site64, 4
  %cache = getelementptr i8, ptr %sites, i64 %row
  %cachesize = getelementptr i8, ptr %cache, i64 8
  %size64 = zext i32 %size to i64
  %write = icmp eq i32 %kind, {FaultKind.GLOBAL_STORE:d}
  br label %head
"""


def _resolve_lane() -> str:
    """Take the next lane; its address may lie in the site's range."""
    return """head:
  %left = phi i32 [ %exec, %entry ], [ %rest, %latch ]
  %valid = phi i32 [ %exec, %entry ], [ %validnext, %latch ]
  %empty = icmp eq i32 %left, 0
  br i1 %empty, label %done, label %lane
lane:
  %lane32 = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %lane64 = zext i32 %lane32 to i64
  %slot = getelementptr i64, ptr %addresses, i64 %lane64
  %address = load i64, ptr %slot
  %lo = load i64, ptr %cache
  %span = load i64, ptr %cachesize
  %distance = sub i64 %address, %lo
  %inside = icmp ult i64 %distance, %span
  %room = sub i64 %span, %distance
  %fits = icmp uge i64 %room, %size64
  %hit = and i1 %inside, %fits
  br i1 %hit, label %good, label %search
"""


def _resolve_search(row: int) -> str:
    """Search the table, sorted by start, for the last row that begins before the address."""
    return f"""search:
  %low = phi i64 [ 0, %lane ], [ %lownext, %step ]
  %high = phi i64 [ %count, %lane ], [ %highnext, %step ]
  %open = icmp ult i64 %low, %high
  br i1 %open, label %step, label %found
step:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %middlebytes = mul i64 %middle, {row}
  %middlerow = getelementptr i8, ptr %table, i64 %middlebytes
  %start = load i64, ptr %middlerow
  %before = icmp ule i64 %start, %address
  %middle1 = add i64 %middle, 1
  %lownext = select i1 %before, i64 %middle1, i64 %low
  %highnext = select i1 %before, i64 %high, i64 %middle
  br label %search
found:
  %none = icmp eq i64 %low, 0
  br i1 %none, label %bad, label %check
"""


def _resolve_check(row: int) -> str:
    """See whether the allocation holds the access and allows it; make it the site's range."""
    return f"""check:
  %last = sub i64 %low, 1
  %lastbytes = mul i64 %last, {row}
  %lastrow = getelementptr i8, ptr %table, i64 %lastbytes
  %first = load i64, ptr %lastrow
  %endfield = getelementptr i8, ptr %lastrow, i64 8
  %end = load i64, ptr %endfield
  %flagfield = getelementptr i8, ptr %lastrow, i64 16
  %flags = load i64, ptr %flagfield
  %newspan = sub i64 %end, %first
  %newdistance = sub i64 %address, %first
  %newinside = icmp ult i64 %newdistance, %newspan
  %newroom = sub i64 %newspan, %newdistance
  %newfits = icmp uge i64 %newroom, %size64
  %writable = icmp ne i64 %flags, 0
  %readonly = xor i1 %writable, true
  %denied = and i1 %write, %readonly
  %allowed = xor i1 %denied, true
  %both = and i1 %newinside, %newfits
  %ok = and i1 %both, %allowed
  br i1 %ok, label %refresh, label %bad
refresh:
  store i64 %first, ptr %cache
  store i64 %newspan, ptr %cachesize
  br label %good
"""


def _resolve_latch() -> str:
    """Fault and leave the lane out, or keep it; go on to the next."""
    return """bad:
  call void @aj_fault(ptr %context, i32 %kind, i32 %site, i64 %lane64, i64 %address, i32 %size)
  %bit = shl i32 1, %lane32
  %others = xor i32 %bit, -1
  %without = and i32 %valid, %others
  br label %latch
good:
  br label %latch
latch:
  %validnext = phi i32 [ %valid, %good ], [ %without, %bad ]
  %minus = sub i32 %left, 1
  %rest = and i32 %left, %minus
  br label %head
done:
  ret i32 %valid
"""


def resolve_text(attributes: str) -> str:
    """Return `aj_resolve`: find each active lane's allocation; refresh the site's cache; fault
    where there is none.

    The result is `exec` without the lanes whose access is not allowed.
    """
    row = TABLE_ROW * FIELD_BYTES
    return f"""
{FAULT_DECLARATION}
declare i32 @llvm.cttz.i32(i32, i1)
define i32 @aj_resolve(ptr %context, i32 %site, ptr %addresses, i32 %exec, i32 %size, i32 %kind)
  noinline {attributes} {{
{_resolve_entry()}{_resolve_lane()}{_resolve_search(row)}{_resolve_check(row)}{_resolve_latch()}}}
"""
