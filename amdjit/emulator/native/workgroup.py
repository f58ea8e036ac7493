"""A workgroup in its slot of a host thread: its waves are set up, and run in turn until they wait or end."""

from __future__ import annotations

from amdjit.emulator.layout import (
    EXEC_LO,
    FIELD_BYTES,
    HALF_VGPRS,
    SCALAR_BYTES,
    SLOT_ROW,
    SYNC_DIFFERENT,
    SYNC_UNREACHED,
    TTMP7,
    TTMP8,
    TTMP9,
    VGPR_BYTES,
    WAVE_STOPPED,
    WAVE_WAITS,
    WAVE_YIELDED,
    Context,
    FaultKind,
    Launch,
    SlotField,
)

# A workgroup's waves go round so often while one of them ends or comes to a barrier; then the next workgroup's do.
_ROUNDS = 256
# A wave at a barrier.
_WAITING = 1 << 30


def field(base: str, name: str, index: int, type_name: str = "i64") -> str:
    return (
        f"  %{name}.at = getelementptr i8, ptr %{base}, i64 {index * FIELD_BYTES}\n"
        f"  %{name} = load {type_name}, ptr %{name}.at"
    )


def _put(base: str, name: str, index: int, value: str, type_name: str = "i64") -> str:
    return (
        f"  %{name}.put = getelementptr i8, ptr %{base}, i64 {index * FIELD_BYTES}\n"
        f"  store {type_name} {value}, ptr %{name}.put"
    )


def _part(name: str, base: str, stride: str) -> str:
    """Point to the part of a buffer that belongs to slot %slot."""
    return f"  %{name}.offset = mul i64 %slot, {stride}\n  %{name} = getelementptr i8, ptr %{base}, i64 %{name}.offset"


def _first_lanes(half: int) -> str:
    """Give a half of a wave its EXEC and its v0."""
    return f"""
  %exec{half}.number = add i64 %execs.first, {half}
  %exec{half}.at = getelementptr i32, ptr %execs, i64 %exec{half}.number
  %exec{half} = load i32, ptr %exec{half}.at
  %slotexec{half} = getelementptr i8, ptr %state, i64 {(EXEC_LO + half) * 4}
  store i32 %exec{half}, ptr %slotexec{half}
  %ids{half}.offset = mul i64 %exec{half}.number, {VGPR_BYTES}
  %ids{half} = getelementptr i8, ptr %itemids, i64 %ids{half}.offset
  %v0half{half} = getelementptr i8, ptr %state, i64 {SCALAR_BYTES + half * HALF_VGPRS * VGPR_BYTES}
  call void @llvm.memcpy.p0.p0.i64(ptr %v0half{half}, ptr %ids{half}, i64 {VGPR_BYTES}, i1 false)"""


def _begin_wave(halves: int) -> str:
    # RDNA 4 ISA, 3.5 "Initial wave state": TTMP9 = workgroup x, TTMP7 = y | z << 16, TTMP8[29:25] = wave in group.
    def scalar(slot: int, value: str) -> str:
        offset = f"  %slot{slot} = getelementptr i8, ptr %state, i64 {slot * 4}"
        return f"{offset}\n  store i32 {value}, ptr %slot{slot}"

    return f"""
  %wavestate.offset = mul i64 %w, %statebytes
  %state = getelementptr i8, ptr %states, i64 %wavestate.offset
  call void @llvm.memcpy.p0.p0.i64(ptr %state, ptr %scalars, i64 {SCALAR_BYTES}, i1 false)
  %wave32 = trunc i64 %w to i32
  %waveid = shl i32 %wave32, 25
{scalar(TTMP8, "%waveid")}
{scalar(TTMP9, "%gx32")}
{scalar(TTMP7, "%gyz")}
  %execs.first = mul i64 %w, {halves}
{"".join(_first_lanes(half) for half in range(halves))}
  %resume.at = getelementptr i32, ptr %resumes, i64 %w
  store i32 0, ptr %resume.at
"""


def begin_text(halves: int, attributes: str) -> str:
    """Return `aj_begin_group(context, slot, group)`: set up all waves of a workgroup."""
    return f"""
define internal void @aj_begin_group(ptr %context, i64 %slot, i64 %group) {attributes} {{
entry:
{_slot_text()}
{field("launch", "gridx", Launch.GRID_X)}
{field("launch", "gridy", Launch.GRID_Y)}
{field("launch", "scalars", Launch.SCALARS, "ptr")}
{field("launch", "execs", Launch.EXECS, "ptr")}
{field("launch", "itemids", Launch.ITEM_IDS, "ptr")}
  %gx = urem i64 %group, %gridx
  %gq = udiv i64 %group, %gridx
  %gy = urem i64 %gq, %gridy
  %gz = udiv i64 %gq, %gridy
{_put("row", "gx", SlotField.GROUP_X, "%gx")}
{_put("row", "gy", SlotField.GROUP_Y, "%gy")}
{_put("row", "gz", SlotField.GROUP_Z, "%gz")}
{_new_epoch()}
  %gx32 = trunc i64 %gx to i32
  %gy32 = trunc i64 %gy to i32
  %gz32 = trunc i64 %gz to i32
  %gzhigh = shl i32 %gz32, 16
  %gyz = or i32 %gy32, %gzhigh
  br label %begin
begin:
  %w = phi i64 [ 0, %entry ], [ %wnext, %begin ]
{_begin_wave(halves)}
  %wnext = add i64 %w, 1
  %morewaves = icmp ult i64 %wnext, %waves
  br i1 %morewaves, label %begin, label %done
done:
  ret void
}}
"""


def _new_epoch() -> str:
    return f"""
{field("context", "epochs", Context.EPOCHS)}
  %epoch.new = add i64 %epochs, 1
{_put("context", "epochs", Context.EPOCHS, "%epoch.new")}
{_put("context", "epoch", Context.EPOCH, "%epoch.new")}
{_put("row", "epoch.row", SlotField.EPOCH, "%epoch.new")}
"""


def _slot_text() -> str:
    """Find what belongs to slot %slot: its row, the states and the resume ids of its waves."""
    return f"""
{field("context", "launch", Context.LAUNCH, "ptr")}
{field("context", "allstates", Context.STATES, "ptr")}
{field("context", "allresumes", Context.RESUMES, "ptr")}
{field("context", "rows", Context.SLOTS, "ptr")}
{field("launch", "waves", Launch.WAVES)}
{field("launch", "statebytes", Launch.STATE_BYTES)}
  %groupbytes = mul i64 %waves, %statebytes
  %resumebytes = mul i64 %waves, 4
{_part("states", "allstates", "%groupbytes")}
{_part("resumes", "allresumes", "%resumebytes")}
{_part("row", "rows", str(SLOT_ROW * FIELD_BYTES))}
"""


def _run_entry(wave_size: int) -> str:
    """Put the slot's group, LDS and epoch into the context."""
    return f"""entry:
{_slot_text()}
{field("context", "scratchall", Context.SCRATCH_ALL)}
{field("context", "lanebytes", Context.SCRATCH_LANE_BYTES)}
{field("context", "ldsall", Context.LDS_ALL, "ptr")}
{field("context", "ldsstride", Context.LDS_STRIDE)}
{field("launch", "wavefunction", Launch.WAVE_FUNCTION, "ptr")}
{field("row", "gx", SlotField.GROUP_X)}
{field("row", "gy", SlotField.GROUP_Y)}
{field("row", "gz", SlotField.GROUP_Z)}
{_part("lds", "ldsall", "%ldsstride")}
{_put("context", "gx", Context.GROUP_X, "%gx")}
{_put("context", "gy", Context.GROUP_Y, "%gy")}
{_put("context", "gz", Context.GROUP_Z, "%gz")}
{_put("context", "lds", Context.LDS, "%lds", "ptr")}
{field("row", "epoch.kept", SlotField.EPOCH)}
{_put("context", "epoch.kept", Context.EPOCH, "%epoch.kept")}
{_put("context", "slot", Context.SLOT, "%slot")}
  %wave.at = getelementptr i8, ptr %context, i64 {Context.WAVE * FIELD_BYTES}
  %scratch.at = getelementptr i8, ptr %context, i64 {Context.SCRATCH * FIELD_BYTES}
  %wavebytes = mul i64 %lanebytes, {wave_size}
  %firstwave = mul i64 %slot, %waves
  br label %round
"""


def _run_each() -> str:
    """Run each wave that is ready once."""
    return f"""round:
  %rounds = phi i32 [ {_ROUNDS}, %entry ], [ %roundsleft, %again ], [ %rounds, %wakenext ]
  br label %each
each:
  %v = phi i64 [ 0, %round ], [ %vnext, %eachnext ]
  %ran = phi i1 [ false, %round ], [ %rannext, %eachnext ]
  %moved = phi i1 [ false, %round ], [ %movednext, %eachnext ]
  %busy = phi i1 [ false, %round ], [ %busynext, %eachnext ]
  %at = getelementptr i32, ptr %resumes, i64 %v
  %resume = load i32, ptr %at
  %ended = icmp slt i32 %resume, 0
  %waits = icmp sge i32 %resume, {_WAITING}
  %idle = or i1 %ended, %waits
  br i1 %idle, label %eachnext, label %run
run:
  store i64 %v, ptr %wave.at
  %vstate.offset = mul i64 %v, %statebytes
  %vstate = getelementptr i8, ptr %states, i64 %vstate.offset
  %vslot = add i64 %firstwave, %v
  %vscratch.offset = mul i64 %vslot, %wavebytes
  %vscratch = add i64 %scratchall, %vscratch.offset
  store i64 %vscratch, ptr %scratch.at
  %result = call i32 %wavefunction(ptr %vstate, ptr %context, i32 %resume)
  %failed = icmp eq i32 %result, {WAVE_STOPPED}
  br i1 %failed, label %finish, label %keep
"""


def _run_noted() -> str:
    """Note what the wave that ran waits for, look at the stop flag, and go on to the next wave."""
    return f"""keep:
  %isend = icmp eq i32 %result, 0
  %flipped = xor i32 %result, {WAVE_YIELDED}
  %resumeid = and i32 %flipped, {~WAVE_WAITS}
  %stored = select i1 %isend, i32 -1, i32 %resumeid
  store i32 %stored, ptr %at
  %yielded = icmp sge i32 %result, {WAVE_YIELDED}
  %pausedelsewhere = xor i1 %yielded, true
  %movedrun = or i1 %moved, %pausedelsewhere
  %computes = icmp slt i32 %result, {WAVE_YIELDED | WAVE_WAITS}
  %busyrun = or i1 %busy, %computes
  %flag = load atomic i64, ptr %launch monotonic, align 8
  %stop = icmp ne i64 %flag, 0
  br i1 %stop, label %stopped, label %eachnext
stopped:
  call void @aj_stopped(ptr %context, i32 0)
  br label %finish
eachnext:
  %rannext = phi i1 [ %ran, %each ], [ true, %keep ]
  %movednext = phi i1 [ %moved, %each ], [ %movedrun, %keep ]
  %busynext = phi i1 [ %busy, %each ], [ %busyrun, %keep ]
  %vnext = add i64 %v, 1
  %morev = icmp ult i64 %vnext, %waves
  br i1 %morev, label %each, label %rounddone
"""


def _run_again() -> str:
    """Go round while waves run and move; else give way, or look at the barrier."""
    return """rounddone:
  br i1 %rannext, label %again, label %barrier
again:
  %roundsleft = sub i32 %rounds, 1
  %patient = icmp ne i32 %roundsleft, 0
  %goon = and i1 %movednext, %patient
  br i1 %goon, label %round, label %giveway
giveway:
  %giveway.result = select i1 %busynext, i32 0, i32 2
  ret i32 %giveway.result
"""


def _run_barrier() -> str:
    """See whether all waves that have not ended wait at the same barrier."""
    return """barrier:
  %b = phi i64 [ 0, %rounddone ], [ %bnext, %barriernext ]
  %id = phi i32 [ -1, %rounddone ], [ %idnext, %barriernext ]
  %gone = phi i64 [ -1, %rounddone ], [ %gonenext, %barriernext ]
  %bat = getelementptr i32, ptr %resumes, i64 %b
  %bresume = load i32, ptr %bat
  %bended = icmp slt i32 %bresume, 0
  br i1 %bended, label %barriernext, label %agree
agree:
  %unset = icmp eq i32 %id, -1
  %same = icmp eq i32 %id, %bresume
  %fine = or i1 %unset, %same
  br i1 %fine, label %wake, label %differ
wake:
  br label %barriernext
barriernext:
  %idnext = phi i32 [ %id, %barrier ], [ %bresume, %wake ]
  %gonenext = phi i64 [ %b, %barrier ], [ %gone, %wake ]
  %bnext = add i64 %b, 1
  %moreb = icmp ult i64 %bnext, %waves
  br i1 %moreb, label %barrier, label %release
release:
  %none = icmp eq i32 %idnext, -1
  br i1 %none, label %groupdone, label %wakeup
"""


def _run_wake() -> str:
    """Begin an epoch, report a wave that ended early, and make all waves ready."""
    return f"""wakeup:
{_new_epoch()}
  %anygone = icmp sge i64 %gonenext, 0
  br i1 %anygone, label %unreached, label %wakefirst
unreached:
  %reached = and i32 %idnext, {_WAITING - 1}
  call void @aj_sync_report(ptr %context, i32 {SYNC_UNREACHED}, i32 %reached, i64 %gonenext)
  br label %wakefirst
wakefirst:
  br label %wakeall
wakeall:
  %u = phi i64 [ 0, %wakefirst ], [ %unext, %wakenext ]
  %uat = getelementptr i32, ptr %resumes, i64 %u
  %uresume = load i32, ptr %uat
  %uended = icmp slt i32 %uresume, 0
  %uready = and i32 %uresume, {_WAITING - 1}
  %ustored = select i1 %uended, i32 %uresume, i32 %uready
  store i32 %ustored, ptr %uat
  br label %wakenext
wakenext:
  %unext = add i64 %u, 1
  %moreu = icmp ult i64 %unext, %waves
  br i1 %moreu, label %wakeall, label %round
"""


def _run_end() -> str:
    """Fault where barriers differ, and return."""
    return f"""differ:
  %bsite = and i32 %bresume, {_WAITING - 1}
  %osite = and i32 %id, {_WAITING - 1}
  %osite64 = zext i32 %osite to i64
  store i64 %b, ptr %wave.at
  call void @aj_sync_report(ptr %context, i32 {SYNC_DIFFERENT}, i32 %bsite, i64 %osite64)
  call void @aj_fault(ptr %context, i32 {FaultKind.BARRIER:d}, i32 %bsite, i64 -1, i64 %osite64, i32 0)
  br label %finish
groupdone:
  ret i32 1
finish:
  ret i32 -1
"""


def run_text(wave_size: int, attributes: str) -> str:
    """Return `aj_run_group(context, slot)`: run the waves of a workgroup, each until it waits, gives way or ends.

    The result is 1 when all have ended, 0 when others should run meanwhile, 2 when they should and all that ran only
    wait for other waves, -1 when the launch is stopped.
    """
    return f"""
define internal i32 @aj_run_group(ptr %context, i64 %slot) {attributes} {{
{_run_entry(wave_size)}{_run_each()}{_run_noted()}{_run_again()}{_run_barrier()}{_run_wake()}{_run_end()}}}
"""
