"""Release of waves that wait at the barrier of their workgroup."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, Variable, i32, i64
from amdjit.emulator.host.record import WaveState
from amdjit.emulator.layout import (
    END_SITE_SLOT,
    SYNC_DIFFERENT,
    SYNC_OVERRUN,
    SYNC_UNREACHED,
    WAITED_SLOT,
    WAVE_ARRIVES,
    WAVE_NAMED,
    Barrier,
    Context,
    FaultKind,
)
from amdjit.emulator.scheduling.fault_record import fault
from amdjit.emulator.scheduling.group import Group
from amdjit.emulator.scheduling.report_rows import SYNC_REPORT

# The bit of a wave that waits at a barrier; the low bits are the id to resume from.
WAITING = 1 << 30
RESUME = WAVE_ARRIVES - 1


def release_together(f: NativeFunction, group: Group, common: Value) -> None:
    """Wake all waves of a workgroup, which have come to the same place in one round.

    The workgroup's barrier has completed now, and only now: had it had signals before, or fewer
    members, some wave would not have been in time. common: what each wave returned.
    """
    group.begin_epoch()
    completed = _times(f, group)
    resume = f.and_(common, i32(RESUME))
    with f.count_to(group.waves) as wave:
        group.set_resume(wave, resume)
        group.state(wave).set(WAITED_SLOT, completed)


def release_waiting(f: NativeFunction, group: Group, ended: Value, stopped: Value) -> None:
    """Wake the waves that the workgroup's barrier releases, and report those that wait at another
    place.

    They may wait there: the barrier counts waves, wherever they are (RDNA 4 ISA, "Barriers"). If
    the barrier lets no wave go on, the function returns `ended`, or `stopped` after a fault where
    some wave would wait forever.
    """
    completed = _times(f, group)
    place, gone, stuck = f.variable(i32(-1)), f.variable(i64(-1)), f.variable(i64(-1))
    with f.count_to(group.waves) as wave, f.section() as look:
        resume = group.resume(wave)
        with f.if_(f.compare("slt", resume, i32(0))):
            gone.set(wave)
            look.leave()
        with f.unless(_may_go(f, group, group.state(wave), resume, completed)):
            stuck.set(wave)
            look.leave()
        _compare_places(f, wave, resume, place.get())
        place.set(resume)
    with f.if_(f.compare("eq", place.get(), i32(-1))):
        with f.if_(f.compare("slt", stuck.get(), i64(0))):
            f.give(ended)
        _fault_of_deadlock(f, group, stuck.get())
        f.give(stopped)
    group.begin_epoch()
    with f.unless(f.compare("slt", gone.get(), i64(0))):
        _report_unreached(f, group, place, gone.get())
    _wake(f, group, completed)


def _times(f: NativeFunction, group: Group) -> Value:
    """Return how often the workgroup's barrier has completed, as waves note it."""
    return f.resize(group.barrier.get(Barrier.COMPLETED), 32)


def _may_go(
    f: NativeFunction, group: Group, state: WaveState, resume: Value, completed: Value
) -> Value:
    """Return whether a wave waits at the workgroup's barrier and may go on: the barrier has
    completed, or the wave is the only one."""
    is_told = f.compare("ne", state.get(WAITED_SLOT), completed)
    is_alone = f.compare("eq", group.waves, i64(1))
    is_own = f.compare("ult", resume, i32(WAITING | WAVE_NAMED))
    return f.and_(f.or_(is_told, is_alone), is_own)


def _report(f: NativeFunction, kind: int, site: Value, value: Value) -> None:
    f.invoke(SYNC_REPORT, f.parameter("context"), i32(kind), site, value)


def _compare_places(f: NativeFunction, wave: Value, resume: Value, place: Value) -> None:
    """Report a wave that waits at another place than the one before it. place: -1 if it is the
    first."""
    is_first = f.compare("eq", place, i32(-1))
    with f.unless(f.or_(is_first, f.compare("eq", place, resume))):
        f.thread.set(Context.WAVE, wave)
        other = f.resize(f.and_(place, i32(RESUME)), 64)
        _report(f, SYNC_DIFFERENT, f.and_(resume, i32(RESUME)), other)


def _report_unreached(f: NativeFunction, group: Group, place: Variable, gone: Value) -> None:
    """Report a wave that ended before the barrier, and where."""
    site = f.resize(group.state(gone).get(END_SITE_SLOT), 64)
    both = f.or_(f.shift("shl", site, 32), gone)
    _report(f, SYNC_UNREACHED, f.and_(place.get(), i32(RESUME)), both)


def _wake(f: NativeFunction, group: Group, completed: Value) -> None:
    """Make all waves runnable that the barrier releases."""
    with f.count_to(group.waves) as wave, f.section() as look:
        resume, state = group.resume(wave), group.state(wave)
        look.leave_if(f.compare("slt", resume, i32(0)))
        look.leave_unless(_may_go(f, group, state, resume, completed))
        ready = f.and_(resume, i32(RESUME))
        group.set_resume(wave, ready)
        missed = f.sub(completed, state.get(WAITED_SLOT))
        state.set(WAITED_SLOT, completed)
        with f.if_(f.compare("ugt", missed, i32(1))):
            f.thread.set(Context.WAVE, wave)
            _report(f, SYNC_OVERRUN, ready, i64(-1))


def _fault_of_deadlock(f: NativeFunction, group: Group, stuck: Value) -> None:
    f.thread.set(Context.WAVE, stuck)
    fault(f, FaultKind.DEADLOCK, f.and_(group.resume(stuck), i32(RESUME)))
