"""A workgroup in its slot of a host thread: its waves run in turn until they wait or end."""

from __future__ import annotations

from amdjit.emulator.layout import (
    CALL_INSTRUCTIONS,
    END_SITE_SLOT,
    FIELD_BYTES,
    NAMED_COMPLETE_SLOT,
    SIGNALLED_SLOT,
    SYNC_DIFFERENT,
    SYNC_OVERRUN,
    SYNC_TWICE,
    SYNC_UNREACHED,
    WAITED_SLOT,
    WAVE_ARRIVES,
    WAVE_NAMED,
    WAVE_STOPPED,
    WAVE_WAITS,
    WAVE_YIELDED,
    Context,
    FaultKind,
    Launch,
    SlotField,
)
from amdjit.emulator.scheduling.workgroup_begin import field, new_epoch, part, put, slot_text

# A workgroup's waves go round so often while one of them ends or comes to a barrier; then the next
# workgroup's do.
_ROUNDS = 256
# A wave at a barrier; what is left of such an entry is the id to resume from.
_WAITING = 1 << 30
_RESUME = WAVE_ARRIVES - 1
# The last field of a barrier's row, of which the workgroup's is the first.
_COMPLETED = 3


def _run_entry(wave_size: int) -> str:
    """Put the slot's group, LDS and epoch into the context."""
    return f"""entry:
{slot_text()}
{field("context", "scratchall", Context.SCRATCH_ALL)}
{field("context", "lanebytes", Context.SCRATCH_LANE_BYTES)}
{field("context", "ldsall", Context.LDS_ALL, "ptr")}
{field("context", "ldsstride", Context.LDS_STRIDE)}
{field("launch", "wavefunction", Launch.WAVE_FUNCTION, "ptr")}
{field("row", "gx", SlotField.GROUP_X)}
{field("row", "gy", SlotField.GROUP_Y)}
{field("row", "gz", SlotField.GROUP_Z)}
{part("lds", "ldsall", "%ldsstride")}
{put("context", "gx", Context.GROUP_X, "%gx")}
{put("context", "gy", Context.GROUP_Y, "%gy")}
{put("context", "gz", Context.GROUP_Z, "%gz")}
{put("context", "lds", Context.LDS, "%lds", "ptr")}
{field("row", "epoch.kept", SlotField.EPOCH)}
{put("context", "epoch.kept", Context.EPOCH, "%epoch.kept")}
{put("context", "slot", Context.SLOT, "%slot")}
  %wave.at = getelementptr i8, ptr %context, i64 {Context.WAVE * FIELD_BYTES}
  %scratch.at = getelementptr i8, ptr %context, i64 {Context.SCRATCH * FIELD_BYTES}
  %budget.at = getelementptr i8, ptr %context, i64 {Context.BUDGET * FIELD_BYTES}
  %wavebytes = mul i64 %lanebytes, {wave_size}
  %firstwave = mul i64 %slot, %waves
  br label %round
"""


def _run_each() -> str:
    """Run each wave that is ready once."""
    return f"""round:
  %rounds = phi i32 [ {_ROUNDS}, %entry ], [ %roundsleft, %again ], [ %rounds, %wakenext ], [ %openleft, %opened ]
  br label %each
each:
  %v = phi i64 [ 0, %round ], [ %vnext, %eachnext ]
  %ran = phi i1 [ false, %round ], [ %rannext, %eachnext ]
  %moved = phi i1 [ false, %round ], [ %movednext, %eachnext ]
  %busy = phi i1 [ false, %round ], [ %busynext, %eachnext ]
  %common = phi i32 [ -1, %round ], [ %commonnext, %eachnext ]
  %at = getelementptr i32, ptr %resumes, i64 %v
  %kept = load i32, ptr %at
  %vstate.offset = mul i64 %v, %statebytes
  %vstate = getelementptr i8, ptr %states, i64 %vstate.offset
  %ready = icmp ult i32 %kept, {_WAITING}
  br i1 %ready, label %run, label %idle
idle:
  %named = icmp sge i32 %kept, {_WAITING | WAVE_NAMED}
  br i1 %named, label %ask, label %eachnext
ask:
  %complete.at = getelementptr i8, ptr %vstate, i64 {NAMED_COMPLETE_SLOT * 4}
  %complete = load i32, ptr %complete.at
  %left = icmp eq i32 %complete, 0
  br i1 %left, label %eachnext, label %pass
pass:
  store i32 0, ptr %complete.at
  br label %run
run:
  %resume = and i32 %kept, {_RESUME}
  store i64 %v, ptr %wave.at
  %vslot = add i64 %firstwave, %v
  %vscratch.offset = mul i64 %vslot, %wavebytes
  %vscratch = add i64 %scratchall, %vscratch.offset
  store i64 %vscratch, ptr %scratch.at
  %result = call i32 %wavefunction(ptr %vstate, ptr %context, i32 %resume)
  %failed = icmp eq i32 %result, {WAVE_STOPPED}
  br i1 %failed, label %finish, label %keep
"""


def _run_noted() -> str:
    """Note what the wave that ran waits for, count it, and go on to the next wave."""
    return f"""keep:
  %isend = icmp eq i32 %result, 0
  %flipped = xor i32 %result, {WAVE_YIELDED}
  %resumeid = and i32 %flipped, {~(WAVE_WAITS | WAVE_ARRIVES)}
  %stored = select i1 %isend, i32 -1, i32 %resumeid
  store i32 %stored, ptr %at
  %arriving = and i32 %result, {WAVE_ARRIVES}
  %arrives = icmp ne i32 %arriving, 0
  br i1 %arrives, label %arrive, label %ask.end
{_arrive()}
ask.end:
  br i1 %isend, label %over, label %paused
over:
  %over.at = getelementptr i8, ptr %vstate, i64 {END_SITE_SLOT * 4}
  %over.site = load i32, ptr %over.at
  call void @aj_barrier_end(ptr %context, ptr %vstate, i32 %over.site)
  br label %paused
paused:
  %commonrun = phi i32 [ -1, %ask.end ], [ -1, %over ], [ %commonarrived, %arrived ]
  %yielded = icmp sge i32 %result, {WAVE_YIELDED}
  %pausedelsewhere = xor i1 %yielded, true
  %movedrun = or i1 %moved, %pausedelsewhere
  %computes = icmp slt i32 %result, {WAVE_YIELDED | WAVE_WAITS}
  %busyrun = or i1 %busy, %computes
  %budget = load i64, ptr %budget.at
  %budget.left = sub i64 %budget, {CALL_INSTRUCTIONS}
  store i64 %budget.left, ptr %budget.at
  %spent = icmp slt i64 %budget.left, 0
  br i1 %spent, label %tick, label %eachnext
tick:
  %ticked = call i32 @aj_tick(ptr %context, i32 0)
  %stop = icmp ne i32 %ticked, 0
  br i1 %stop, label %finish, label %eachnext
eachnext:
  %rannext = phi i1 [ %ran, %idle ], [ %ran, %ask ], [ true, %paused ], [ true, %tick ]
  %movednext = phi i1 [ %moved, %idle ], [ %moved, %ask ], [ %movedrun, %paused ], [ %movedrun, %tick ]
  %busynext = phi i1 [ %busy, %idle ], [ %busy, %ask ], [ %busyrun, %paused ], [ %busyrun, %tick ]
  %commonnext = phi i32 [ -1, %idle ], [ -1, %ask ], [ %commonrun, %paused ], [ %commonrun, %tick ]
  %vnext = add i64 %v, 1
  %morev = icmp ult i64 %vnext, %waves
  br i1 %morev, label %each, label %rounddone
"""


def _arrive() -> str:
    """Signal the workgroup's barrier, as `aj_barrier_arrive` does.

    `commonarrived` is what the wave and all before it in this round returned, if each has arrived
    in time.
    """
    return f"""arrive:
  %signals.at = getelementptr i8, ptr %row, i64 {SlotField.BARRIERS * FIELD_BYTES}
  %signals = load i64, ptr %signals.at
  %signals.more = add i64 %signals, 1
  %members.at = getelementptr i8, ptr %signals.at, i64 {FIELD_BYTES}
  %members = load i64, ptr %members.at
  %times.at = getelementptr i8, ptr %signals.at, i64 {_COMPLETED * FIELD_BYTES}
  %times = load i32, ptr %times.at
  %times.more = add i32 %times, 1
  %phase.at = getelementptr i8, ptr %vstate, i64 {SIGNALLED_SLOT * 4}
  %phase = load i32, ptr %phase.at
  store i32 %times.more, ptr %phase.at
  %twice = icmp eq i32 %phase, %times.more
  br i1 %twice, label %again.signalled, label %arrived
again.signalled:
  %again.id = and i32 %result, {_RESUME}
  call void @aj_sync_report(ptr %context, i32 {SYNC_TWICE}, i32 %again.id, i64 -1)
  br label %arrived
arrived:
  %full = icmp eq i64 %signals.more, %members
  %signals.kept = select i1 %full, i64 0, i64 %signals.more
  store i64 %signals.kept, ptr %signals.at
  %times.kept = select i1 %full, i32 %times.more, i32 %times
  store i32 %times.kept, ptr %times.at
  %arrived.waited.at = getelementptr i8, ptr %vstate, i64 {WAITED_SLOT * 4}
  %arrived.waited = load i32, ptr %arrived.waited.at
  %intime = icmp eq i32 %arrived.waited, %times
  %isfirst = icmp eq i64 %v, 0
  %islike = icmp eq i32 %common, %result
  %isalike = or i1 %isfirst, %islike
  %isjoined = and i1 %isalike, %intime
  %commonarrived = select i1 %isjoined, i32 %result, i32 -1
  br label %paused"""


def _run_again() -> str:
    """Go round while waves run and move; else give way, or look at the barrier."""
    return """rounddone:
  %isbarrier = icmp sge i32 %commonnext, 0
  br i1 %isbarrier, label %joined, label %apart
apart:
  br i1 %rannext, label %again, label %look
again:
  %roundsleft = sub i32 %rounds, 1
  %patient = icmp ne i32 %roundsleft, 0
  %goon = and i1 %movednext, %patient
  br i1 %goon, label %round, label %giveway
giveway:
  %giveway.result = select i1 %busynext, i32 0, i32 2
  ret i32 %giveway.result
"""


def _run_joined() -> str:
    """All waves have come to the same place in one round: the workgroup's barrier lets them go on
    at once.

    It has completed now, and only now: where it had signals before, or fewer members, some wave was
    not in time.
    """
    return f"""joined:
  %joined.signals.at = getelementptr i8, ptr %row, i64 {SlotField.BARRIERS * FIELD_BYTES}
  %joined.signals = load i64, ptr %joined.signals.at
  %isopen = icmp eq i64 %joined.signals, 0
  br i1 %isopen, label %joinedfirst, label %apart
joinedfirst:
{new_epoch("joined.")}
  %joined.times.at = getelementptr i8, ptr %row, i64 {(SlotField.BARRIERS + _COMPLETED) * FIELD_BYTES}
  %joined.times = load i32, ptr %joined.times.at
  %joined.ready = and i32 %commonnext, {_RESUME}
  br label %joinednext
joinednext:
  %j = phi i64 [ 0, %joinedfirst ], [ %jnext, %joinednext ]
  %joined.at = getelementptr i32, ptr %resumes, i64 %j
  store i32 %joined.ready, ptr %joined.at
  %joined.state.offset = mul i64 %j, %statebytes
  %joined.state = getelementptr i8, ptr %states, i64 %joined.state.offset
  %joined.waited.at = getelementptr i8, ptr %joined.state, i64 {WAITED_SLOT * 4}
  store i32 %joined.times, ptr %joined.waited.at
  %jnext = add i64 %j, 1
  %morej = icmp ult i64 %jnext, %waves
  br i1 %morej, label %joinednext, label %opened
opened:
  %openleft = sub i32 %rounds, 1
  %joined.patient = icmp ne i32 %openleft, 0
  br i1 %joined.patient, label %round, label %giveway
"""


def _run_barrier() -> str:
    """See which waves the workgroup's barrier lets go on, and whether they wait at the same place.

    They need not: the barrier counts waves, wherever they are (RDNA4 ISA, "Barriers"). The sync
    check tells of it.
    """
    return f"""look:
  %completed.at = getelementptr i8, ptr %row, i64 {(SlotField.BARRIERS + _COMPLETED) * FIELD_BYTES}
  %completed = load i32, ptr %completed.at
  %alone = icmp eq i64 %waves, 1
  br label %barrier
barrier:
  %b = phi i64 [ 0, %look ], [ %bnext, %barriernext ]
  %id = phi i32 [ -1, %look ], [ %idnext, %barriernext ]
  %gone = phi i64 [ -1, %look ], [ %gonenext, %barriernext ]
  %stuck = phi i64 [ -1, %look ], [ %stucknext, %barriernext ]
  %bat = getelementptr i32, ptr %resumes, i64 %b
  %bresume = load i32, ptr %bat
  %bended = icmp slt i32 %bresume, 0
  br i1 %bended, label %barriernext, label %asks
asks:
{_complete("b", "bresume")}
  br i1 %b.complete, label %agree, label %barriernext
{_agree()}
barriernext:
  %idnext = phi i32 [ %id, %barrier ], [ %id, %asks ], [ %bresume, %wake ]
  %gonenext = phi i64 [ %b, %barrier ], [ %gone, %asks ], [ %gone, %wake ]
  %stucknext = phi i64 [ %stuck, %barrier ], [ %b, %asks ], [ %stuck, %wake ]
  %bnext = add i64 %b, 1
  %moreb = icmp ult i64 %bnext, %waves
  br i1 %moreb, label %barrier, label %release
release:
  %none = icmp eq i32 %idnext, -1
  br i1 %none, label %nobody, label %wakeup
nobody:
  %allover = icmp slt i64 %stucknext, 0
  br i1 %allover, label %groupdone, label %deadlock
"""


def _agree() -> str:
    """Report a wave that waits at another place than the one before it."""
    return f"""agree:
  %unset = icmp eq i32 %id, -1
  %same = icmp eq i32 %id, %bresume
  %fine = or i1 %unset, %same
  br i1 %fine, label %wake, label %differ
differ:
  %bsite = and i32 %bresume, {_RESUME}
  %osite = and i32 %id, {_RESUME}
  %osite64 = zext i32 %osite to i64
  store i64 %b, ptr %wave.at
  call void @aj_sync_report(ptr %context, i32 {SYNC_DIFFERENT}, i32 %bsite, i64 %osite64)
  br label %wake
wake:
  br label %barriernext"""


def _complete(name: str, resume: str) -> str:
    """Tell whether a wave waits at the workgroup's barrier, and it has completed: the only wave
    never waits."""
    return f"""
  %{name}.state.offset = mul i64 %{name}, %statebytes
  %{name}.state = getelementptr i8, ptr %states, i64 %{name}.state.offset
  %{name}.waited.at = getelementptr i8, ptr %{name}.state, i64 {WAITED_SLOT * 4}
  %{name}.waited = load i32, ptr %{name}.waited.at
  %{name}.told = icmp ne i32 %{name}.waited, %completed
  %{name}.goes = or i1 %{name}.told, %alone
  %{name}.own = icmp ult i32 %{resume}, {_WAITING | WAVE_NAMED}
  %{name}.complete = and i1 %{name}.goes, %{name}.own
"""


def _unreached() -> str:
    """Report a wave that ended before the barrier, and where."""
    return f"""unreached:
  %reached = and i32 %idnext, {_RESUME}
  %gone.offset = mul i64 %gonenext, %statebytes
  %gone.state = getelementptr i8, ptr %states, i64 %gone.offset
  %gone.at = getelementptr i8, ptr %gone.state, i64 {END_SITE_SLOT * 4}
  %gone.site = load i32, ptr %gone.at
  %gone.site64 = zext i32 %gone.site to i64
  %gone.high = shl i64 %gone.site64, 32
  %gone.both = or i64 %gone.high, %gonenext
  call void @aj_sync_report(ptr %context, i32 {SYNC_UNREACHED}, i32 %reached, i64 %gone.both)
  br label %wakefirst"""


def _run_wake() -> str:
    """Begin an epoch, report a wave that ended early, and make all waves ready."""
    return f"""wakeup:
{new_epoch()}
  %anygone = icmp sge i64 %gonenext, 0
  br i1 %anygone, label %unreached, label %wakefirst
{_unreached()}
wakefirst:
  br label %wakeall
wakeall:
  %u = phi i64 [ 0, %wakefirst ], [ %unext, %wakenext ]
  %uat = getelementptr i32, ptr %resumes, i64 %u
  %uresume = load i32, ptr %uat
  %uended = icmp slt i32 %uresume, 0
  br i1 %uended, label %wakenext, label %wakeask
wakeask:
{_complete("u", "uresume")}
  br i1 %u.complete, label %wakeone, label %wakenext
wakeone:
  %uready = and i32 %uresume, {_RESUME}
  store i32 %uready, ptr %uat
  store i32 %completed, ptr %u.waited.at
  %u.times = sub i32 %completed, %u.waited
  %u.missed = icmp ugt i32 %u.times, 1
  br i1 %u.missed, label %missed, label %wakenext
missed:
  store i64 %u, ptr %wave.at
  call void @aj_sync_report(ptr %context, i32 {SYNC_OVERRUN}, i32 %uready, i64 -1)
  br label %wakenext
wakenext:
  %unext = add i64 %u, 1
  %moreu = icmp ult i64 %unext, %waves
  br i1 %moreu, label %wakeall, label %round
"""


def _run_end() -> str:
    """Fault where no wave can go on, and return."""
    return f"""deadlock:
  store i64 %stucknext, ptr %wave.at
  %stuck.at = getelementptr i32, ptr %resumes, i64 %stucknext
  %stuck.kept = load i32, ptr %stuck.at
  %stuck.resume = and i32 %stuck.kept, {_RESUME}
  call void @aj_fault(ptr %context, i32 {FaultKind.DEADLOCK:d}, i32 %stuck.resume, i64 -1, i64 0, i32 0)
  br label %finish
groupdone:
  ret i32 1
finish:
  ret i32 -1
"""


def run_text(wave_size: int, attributes: str) -> str:
    """Return `aj_run_group(context, slot)`: run the waves of a workgroup, each until it waits,
    gives way or ends.

    The result is 1 when all have ended, 0 when others should run meanwhile, 2 when they should and
    all that ran only wait for other waves, -1 when the launch is stopped.
    """
    return f"""
define internal i32 @aj_run_group(ptr %context, i64 %slot) {attributes} {{
{_run_entry(wave_size)}{_run_each()}{_run_noted()}{_run_again()}{_run_joined()}{_run_barrier()}{_run_wake()}{_run_end()}}}
"""
