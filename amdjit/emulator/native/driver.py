"""The driver of one host thread: takes workgroups, runs their waves in turn until each has ended."""

from __future__ import annotations

from amdjit.emulator.layout import (
    EXEC_LO,
    FIELD_BYTES,
    HALF_LANES,
    HALF_VGPRS,
    SCALAR_BYTES,
    TTMP7,
    TTMP8,
    TTMP9,
    VGPR_BYTES,
    WAVE_STOPPED,
    WAVE_YIELDED,
    Context,
    FaultKind,
    Launch,
)
from amdjit.emulator.native.faults import FAULT_DECLARATION


def _field(base: str, name: str, index: int, type_name: str = "i64") -> str:
    return (
        f"  %{name}.at = getelementptr i8, ptr %{base}, i64 {index * FIELD_BYTES}\n"
        f"  %{name} = load {type_name}, ptr %{name}.at"
    )


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
  %states.offset = mul i64 %w, %statebytes
  %state = getelementptr i8, ptr %states, i64 %states.offset
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


def driver_symbol(wave_size: int) -> str:
    """Return the name of the driver of waves of 32 or 64 lanes."""
    return f"aj_drive{wave_size}"


def driver_text(wave_size: int, attributes: str) -> str:
    """Return `aj_drive32(context)`: run workgroups until there are none left or the launch is stopped.

    A wave's entry in `resumes` is: >= 0 ready to run from that id; with bit 30 set, waits at the barrier of the
    low bits' id; -1 ended.
    """
    waiting = 1 << 30
    return f"""
{FAULT_DECLARATION}
declare void @aj_stopped(ptr, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @{driver_symbol(wave_size)}(ptr %context) {attributes} {{
entry:
{_field("context", "launch", Context.LAUNCH, "ptr")}
{_field("context", "states", Context.STATES, "ptr")}
{_field("context", "resumes", Context.RESUMES, "ptr")}
{_field("context", "scratchall", Context.SCRATCH_ALL)}
{_field("context", "lanebytes", Context.SCRATCH_LANE_BYTES)}
{_field("launch", "groups", Launch.GROUPS)}
{_field("launch", "chunk", Launch.CHUNK)}
{_field("launch", "gridx", Launch.GRID_X)}
{_field("launch", "gridy", Launch.GRID_Y)}
{_field("launch", "waves", Launch.WAVES)}
{_field("launch", "wavefunction", Launch.WAVE_FUNCTION, "ptr")}
{_field("launch", "statebytes", Launch.STATE_BYTES)}
{_field("launch", "scalars", Launch.SCALARS, "ptr")}
{_field("launch", "execs", Launch.EXECS, "ptr")}
{_field("launch", "itemids", Launch.ITEM_IDS, "ptr")}
  %next.at = getelementptr i8, ptr %launch, i64 {Launch.NEXT_GROUP * FIELD_BYTES}
  %gx.at = getelementptr i8, ptr %context, i64 {Context.GROUP_X * FIELD_BYTES}
  %gy.at = getelementptr i8, ptr %context, i64 {Context.GROUP_Y * FIELD_BYTES}
  %gz.at = getelementptr i8, ptr %context, i64 {Context.GROUP_Z * FIELD_BYTES}
  %epoch.at = getelementptr i8, ptr %context, i64 {Context.EPOCH * FIELD_BYTES}
  %wave.at = getelementptr i8, ptr %context, i64 {Context.WAVE * FIELD_BYTES}
  %scratch.at = getelementptr i8, ptr %context, i64 {Context.SCRATCH * FIELD_BYTES}
  %wavebytes = mul i64 %lanebytes, {wave_size}
  br label %take
take:
  %first = atomicrmw add ptr %next.at, i64 %chunk seq_cst
  %any = icmp ult i64 %first, %groups
  br i1 %any, label %clip, label %finish
clip:
  %past = add i64 %first, %chunk
  %over = icmp ugt i64 %past, %groups
  %last = select i1 %over, i64 %groups, i64 %past
  br label %group
group:
  %g = phi i64 [ %first, %clip ], [ %gnext, %groupdone ]
  %gx = urem i64 %g, %gridx
  %gq = udiv i64 %g, %gridx
  %gy = urem i64 %gq, %gridy
  %gz = udiv i64 %gq, %gridy
  store i64 %gx, ptr %gx.at
  %groupepoch = load i64, ptr %epoch.at
  %groupepoch1 = add i64 %groupepoch, 1
  store i64 %groupepoch1, ptr %epoch.at
  store i64 %gy, ptr %gy.at
  store i64 %gz, ptr %gz.at
  %gx32 = trunc i64 %gx to i32
  %gy32 = trunc i64 %gy to i32
  %gz32 = trunc i64 %gz to i32
  %gzhigh = shl i32 %gz32, 16
  %gyz = or i32 %gy32, %gzhigh
  br label %begin
begin:
  %w = phi i64 [ 0, %group ], [ %wnext, %begin ]
{_begin_wave(wave_size // HALF_LANES)}
  %wnext = add i64 %w, 1
  %morewaves = icmp ult i64 %wnext, %waves
  br i1 %morewaves, label %begin, label %round
round:
  br label %each
each:
  %v = phi i64 [ 0, %round ], [ %vnext, %eachnext ]
  %ran = phi i1 [ false, %round ], [ %rannext, %eachnext ]
  %at = getelementptr i32, ptr %resumes, i64 %v
  %resume = load i32, ptr %at
  %ended = icmp slt i32 %resume, 0
  %waits = icmp sge i32 %resume, {waiting}
  %idle = or i1 %ended, %waits
  br i1 %idle, label %eachnext, label %run
run:
  store i64 %v, ptr %wave.at
  %vstate.offset = mul i64 %v, %statebytes
  %vstate = getelementptr i8, ptr %states, i64 %vstate.offset
  %vscratch.offset = mul i64 %v, %wavebytes
  %vscratch = add i64 %scratchall, %vscratch.offset
  store i64 %vscratch, ptr %scratch.at
  %result = call i32 %wavefunction(ptr %vstate, ptr %context, i32 %resume)
  %stopped = icmp eq i32 %result, {WAVE_STOPPED}
  br i1 %stopped, label %finish, label %keep
keep:
  %isend = icmp eq i32 %result, 0
  %flipped = xor i32 %result, {WAVE_YIELDED}
  %stored = select i1 %isend, i32 -1, i32 %flipped
  store i32 %stored, ptr %at
  br label %eachnext
eachnext:
  %rannext = phi i1 [ %ran, %each ], [ true, %keep ]
  %vnext = add i64 %v, 1
  %morev = icmp ult i64 %vnext, %waves
  br i1 %morev, label %each, label %rounddone
rounddone:
  %flag = load atomic i64, ptr %launch monotonic, align 8
  %stop = icmp ne i64 %flag, 0
  br i1 %stop, label %stopround, label %goon
stopround:
  call void @aj_stopped(ptr %context, i32 0)
  br label %finish
goon:
  br i1 %rannext, label %round, label %barrier
barrier:
  %b = phi i64 [ 0, %goon ], [ %bnext, %barriernext ]
  %id = phi i32 [ -1, %goon ], [ %idnext, %barriernext ]
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
  %bnext = add i64 %b, 1
  %moreb = icmp ult i64 %bnext, %waves
  br i1 %moreb, label %barrier, label %release
release:
  %none = icmp eq i32 %idnext, -1
  br i1 %none, label %groupdone, label %wakeup
wakeup:
  %epoch = load i64, ptr %epoch.at
  %epoch1 = add i64 %epoch, 1
  store i64 %epoch1, ptr %epoch.at
  br label %wakeall
wakeall:
  %u = phi i64 [ 0, %wakeup ], [ %unext, %wakenext ]
  %uat = getelementptr i32, ptr %resumes, i64 %u
  %uresume = load i32, ptr %uat
  %uended = icmp slt i32 %uresume, 0
  %uready = and i32 %uresume, {waiting - 1}
  %ustored = select i1 %uended, i32 %uresume, i32 %uready
  store i32 %ustored, ptr %uat
  br label %wakenext
wakenext:
  %unext = add i64 %u, 1
  %moreu = icmp ult i64 %unext, %waves
  br i1 %moreu, label %wakeall, label %round
differ:
  %bsite = and i32 %bresume, {waiting - 1}
  store i64 %b, ptr %wave.at
  call void @aj_fault(ptr %context, i32 {FaultKind.BARRIER:d}, i32 %bsite, i64 -1, i64 0, i32 0)
  br label %finish
groupdone:
  %gnext = add i64 %g, 1
  %moreg = icmp ult i64 %gnext, %last
  br i1 %moreg, label %group, label %take
finish:
  ret void
}}
"""
