"""The driver of one host thread: takes workgroups and runs them until there are none left."""

from __future__ import annotations

from amdjit.emulator.layout import FIELD_BYTES, HALF_LANES, SLOT_ROW, Context, Launch
from amdjit.emulator.scheduling.fault_record import FAULT_DECLARATION
from amdjit.emulator.scheduling.workgroup import run_text
from amdjit.emulator.scheduling.workgroup_begin import begin_text, field

# Resident workgroups run so often, and none ends, before more are taken in. It counts for more if
# all their waves wait.
_IDLE_SWEEPS = 256
_WAITING_WEIGHT = 64


def _take_text(attributes: str) -> str:
    """Return `aj_take_group(context, chunk)`: the next workgroup's number, -1 if there is none.

    `chunk`: the first and one past the last workgroup that this thread has taken and not begun.
    """
    return f"""
define internal i64 @aj_take_group(ptr %context, ptr %chunk) {attributes} {{
entry:
{field("context", "launch", Context.LAUNCH, "ptr")}
{field("launch", "groups", Launch.GROUPS)}
{field("launch", "size", Launch.CHUNK)}
  %end.at = getelementptr i8, ptr %chunk, i64 8
  %first = load i64, ptr %chunk
  %end = load i64, ptr %end.at
  %some = icmp ult i64 %first, %end
  br i1 %some, label %give, label %take
take:
  %next.at = getelementptr i8, ptr %launch, i64 {Launch.NEXT_GROUP * FIELD_BYTES}
  %taken = atomicrmw add ptr %next.at, i64 %size seq_cst
  %any = icmp ult i64 %taken, %groups
  br i1 %any, label %clip, label %none
clip:
  %past = add i64 %taken, %size
  %over = icmp ugt i64 %past, %groups
  %last = select i1 %over, i64 %groups, i64 %past
  store i64 %last, ptr %end.at
  br label %give
give:
  %group = phi i64 [ %first, %entry ], [ %taken, %clip ]
  %following = add i64 %group, 1
  store i64 %following, ptr %chunk
  ret i64 %group
none:
  ret i64 -1
}}
"""


def driver_symbol(wave_size: int) -> str:
    """Return the name of the driver of waves of 32 or 64 lanes."""
    return f"aj_drive{wave_size}"


def _drive_grow() -> str:
    """Fill slots with workgroups until as many are resident as are wanted."""
    return f"""entry:
{field("context", "residents", Context.RESIDENTS)}
{field("context", "slots", Context.SLOTS, "ptr")}
  %chunk = alloca [2 x i64], align 8
  store [2 x i64] zeroinitializer, ptr %chunk, align 8
  br label %grow
grow:
  %used = phi i64 [ 0, %entry ], [ %used.sweep, %full ], [ %used.more, %added ]
  %live = phi i64 [ 0, %entry ], [ %live.next, %full ], [ %live.more, %added ]
  %wanted = phi i64 [ 1, %entry ], [ %bounded, %full ], [ %wanted, %added ]
  %enough = icmp uge i64 %used, %wanted
  br i1 %enough, label %begin, label %add
add:
  %new = call i64 @aj_take_group(ptr %context, ptr %chunk)
  %exhausted = icmp slt i64 %new, 0
  br i1 %exhausted, label %begin, label %added
added:
  call void @aj_begin_group(ptr %context, i64 %used, i64 %new)
  %used.more = add i64 %used, 1
  %live.more = add i64 %live, 1
  br label %grow
"""


def _drive_sweep() -> str:
    """Let each resident workgroup run; put the next one where one has ended."""
    return f"""begin:
  br label %sweep
sweep:
  %used.sweep = phi i64 [ %used, %begin ], [ %used.sweep, %again ]
  %live.sweep = phi i64 [ %live, %begin ], [ %live.next, %again ]
  %idle = phi i64 [ 0, %begin ], [ %idle.kept, %again ]
  %over = icmp eq i64 %live.sweep, 0
  br i1 %over, label %finish, label %slot
slot:
  %s = phi i64 [ 0, %sweep ], [ %s.next, %slotdone ]
  %live.now = phi i64 [ %live.sweep, %sweep ], [ %live.next, %slotdone ]
  %anydone = phi i1 [ false, %sweep ], [ %anydone.next, %slotdone ]
  %allwait = phi i1 [ true, %sweep ], [ %allwait.next, %slotdone ]
  %row.offset = mul i64 %s, {SLOT_ROW * FIELD_BYTES}
  %row = getelementptr i8, ptr %slots, i64 %row.offset
  %filled = load i64, ptr %row
  %vacant = icmp slt i64 %filled, 0
  br i1 %vacant, label %slotdone, label %run
run:
  %state = call i32 @aj_run_group(ptr %context, i64 %s)
  %stopped = icmp slt i32 %state, 0
  br i1 %stopped, label %finish, label %ran
ran:
  %done = icmp eq i32 %state, 1
  %waits = icmp eq i32 %state, 2
  %allwait.ran = and i1 %allwait, %waits
  br i1 %done, label %replace, label %slotdone
replace:
  %following = call i64 @aj_take_group(ptr %context, ptr %chunk)
  %nomore = icmp slt i64 %following, 0
  br i1 %nomore, label %vacate, label %refill
refill:
  call void @aj_begin_group(ptr %context, i64 %s, i64 %following)
  br label %slotdone
vacate:
  store i64 -1, ptr %row
  %live.less = sub i64 %live.now, 1
  br label %slotdone
"""


def _drive_swept() -> str:
    """After a sweep, go on, or take more workgroups in if none gets on."""
    return f"""slotdone:
  %live.next = phi i64 [ %live.now, %slot ], [ %live.now, %ran ], [ %live.now, %refill ], [ %live.less, %vacate ]
  %anydone.next = phi i1 [ %anydone, %slot ], [ %anydone, %ran ], [ true, %refill ], [ true, %vacate ]
  %allwait.next = phi i1 [ %allwait, %slot ], [ %allwait.ran, %ran ], [ false, %refill ], [ false, %vacate ]
  %s.next = add i64 %s, 1
  %moreslots = icmp ult i64 %s.next, %used.sweep
  br i1 %moreslots, label %slot, label %swept
swept:
  %weight = select i1 %allwait.next, i64 {_WAITING_WEIGHT}, i64 1
  %idle.more = add i64 %idle, %weight
  %idle.next = select i1 %anydone.next, i64 0, i64 %idle.more
  %room = icmp ult i64 %used.sweep, %residents
  %patient = icmp ult i64 %idle.next, {_IDLE_SWEEPS}
  %stay = xor i1 %room, true
  %keep = or i1 %patient, %stay
  br i1 %keep, label %again, label %full
again:
  %idle.kept = select i1 %patient, i64 %idle.next, i64 0
  br label %sweep
full:
  %twice = shl i64 %used.sweep, 1
  %toomany = icmp ugt i64 %twice, %residents
  %bounded = select i1 %toomany, i64 %residents, i64 %twice
  br label %grow
finish:
  ret void
"""


def driver_text(wave_size: int, attributes: str) -> str:
    """Return `aj_drive32(context)`: run workgroups until there are none left or the launch is
    stopped.

    Several workgroups are resident at once where their waves may wait for those of other
    workgroups: while none of the resident ones gets on, more are taken in, up to `RESIDENTS`; each
    has its own slot of the buffers. A wave's entry in `resumes` is: >= 0 ready to run from that id;
    with bit 30 set, waits at the barrier of the low bits' id, a named one with bit 28; -1 ended.
    """
    return f"""
{FAULT_DECLARATION}
declare i32 @aj_tick(ptr, i32)
declare void @aj_sync_report(ptr, i32, i32, i64)
declare void @aj_barrier_end(ptr, ptr, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
{_take_text(attributes)}
{begin_text(wave_size // HALF_LANES, attributes)}
{run_text(wave_size, attributes)}
define void @{driver_symbol(wave_size)}(ptr %context) {attributes} {{
{_drive_grow()}{_drive_sweep()}{_drive_swept()}}}
"""
