"""Barriers of a workgroup: its own and the named ones, as counts of signals.

A barrier completes when it has as many signals as members; its signals are then counted from 0
again, and each wave concerned has a bit that says so, which `s_barrier_wait` waits for and clears
(RDNA 4 ISA, 5.6.1 "Barrier State"). For the workgroup's barrier the bit is whether it has completed
since the wave last waited, so that nobody has to visit all waves. Named barriers are GFX12.5's in
LLVM's document "AMDGPU Execution Synchronization", whose model this is; its undefined cases are
faults. A workgroup of one wave has no barriers: their instructions do nothing (RDNA 4 ISA, 5.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.record import Record, WaveState
from amdjit.emulator.layout import (
    BARRIER_ROW,
    DWORD_BYTES,
    JOINED_SLOT,
    NAMED_BARRIERS,
    NAMED_COMPLETE_SLOT,
    NAMED_SIGNALLED_SLOT,
    SIGNALLED_SLOT,
    SLOT_ROW,
    SYNC_OVERRUN,
    SYNC_TWICE,
    Barrier,
    BarrierMisuse,
    Context,
    FaultKind,
    Launch,
    SlotField,
)
from amdjit.emulator.scheduling.fault_record import FAULT
from amdjit.emulator.scheduling.report_rows import SYNC_REPORT

BARRIER_COMPLETE = declare("aj_barrier_complete", context="ptr", site="i32", number="i32")
BARRIER_ARRIVE = declare("aj_barrier_arrive", "i32", context="ptr", state="ptr", site="i32")
BARRIER_SIGNAL = declare(
    "aj_barrier_signal",
    "i32",
    context="ptr",
    state="ptr",
    site="i32",
    number="i32",
    members="i32",
)
BARRIER_INIT = declare("aj_barrier_init", context="ptr", site="i32", number="i32", members="i32")
BARRIER_JOIN = declare("aj_barrier_join", context="ptr", state="ptr", site="i32", number="i32")
BARRIER_LEAVE = declare("aj_barrier_leave", context="ptr", state="ptr", site="i32")
BARRIER_WAIT = declare(
    "aj_barrier_wait", "i32", context="ptr", state="ptr", site="i32", number="i32"
)
BARRIER_STATE = declare("aj_barrier_state", "i32", context="ptr", site="i32", number="i32")
BARRIER_END = declare("aj_barrier_end", context="ptr", state="ptr", site="i32")

# Counts have 7 bits: RDNA 4 ISA, S_GET_BARRIER_STATE.
_MOST_MEMBERS = 127


class _Operation(NativeFunction):
    """A barrier's instruction: `context`, perhaps the wave's `state`, `site` and `number`."""

    @property
    def launch(self) -> Record:
        return self.thread.follow(Context.LAUNCH)

    @property
    def kept(self) -> WaveState:
        """What the wave keeps of barriers."""
        return WaveState(self, self.parameter("state"))

    def barrier(self, index: Value) -> Record:
        """Return a barrier; index 0 is the workgroup's."""
        slot = self.thread.follow(Context.SLOTS).row(self.context(Context.SLOT), SLOT_ROW)
        barriers = Record(self, slot.at(SlotField.BARRIERS))
        return barriers.row(index, BARRIER_ROW)

    def misused(
        self, wrong: Value, misuse: BarrierMisuse, number: Value, result: Value | None = None
    ) -> None:
        """Fault and return where a condition holds."""
        with self.if_(wrong):
            context, site = self.parameter("context"), self.parameter("site")
            kind = i32(FaultKind.BARRIER_MISUSE)
            self.invoke(FAULT, context, kind, site, i64(-1), i64(misuse), number)
            self.give(result)

    def alone(self, result: Value | None = None) -> None:
        """Return where the workgroup is one wave."""
        self.give_if(self.compare("eq", self.launch.get(Launch.WAVES), i64(1)), result)

    def give_if(self, condition: Value, result: Value | None = None) -> None:
        """Return where a condition holds."""
        with self.if_(condition):
            self.give(result)

    def no_such(self, number: Value, result: Value | None = None) -> None:
        """Fault for a number that is no named barrier's."""
        is_wrong = self.compare("ugt", number, i32(NAMED_BARRIERS))
        self.misused(is_wrong, BarrierMisuse.NO_SUCH, number, result)

    def not_initialised(self, barrier: Record, number: Value, result: Value | None = None) -> None:
        """Fault for a named barrier that nobody has initialised."""
        is_wrong = self.compare("eq", barrier.get(Barrier.INITIALISED), i64(0))
        self.misused(is_wrong, BarrierMisuse.NOT_INITIALISED, number, result)

    def complete(self, index: Value) -> None:
        """Complete a named barrier."""
        self.invoke(BARRIER_COMPLETE, self.parameter("context"), self.parameter("site"), index)

    def complete_own(self, barrier: Record) -> None:
        """Complete the workgroup's barrier."""
        barrier.set(Barrier.SIGNALS, i64(0))
        barrier.set(Barrier.COMPLETED, self.add(barrier.get(Barrier.COMPLETED), i64(1)))

    def phase(self, barrier: Record) -> Value:
        """Return what a wave notes when it signals the workgroup's barrier, as i32."""
        return self.resize(self.add(barrier.get(Barrier.COMPLETED), i64(1)), 32)

    def drop_member(self, barrier: Record, members: Value) -> Value:
        """Take a member off; return whether that completes the barrier."""
        left, signals = self.sub(members, i64(1)), barrier.get(Barrier.SIGNALS)
        barrier.set(Barrier.MEMBERS, left)
        is_full = self.compare("eq", signals, left)
        return self.and_(is_full, self.compare("ne", signals, i64(0)))


def _complete_text(attributes: str) -> str:
    """Return `aj_barrier_complete`: tell the waves that have joined, and count from 0 again."""
    f = _Operation.of(BARRIER_COMPLETE)
    number = f.parameter("number")
    f.barrier(number).set(Barrier.SIGNALS, i64(0))
    others = f.not_(f.shift("shl", i32(1), number))
    waves, stride = f.launch.get(Launch.WAVES), f.launch.get(Launch.STATE_BYTES)
    first = f.mul(f.context(Context.SLOT), waves)
    states = f.offset(f.thread.get(Context.STATES), f.mul(first, stride))
    with f.count_to(waves) as wave, f.section() as telling:
        kept = WaveState(f, f.offset(states, f.mul(wave, stride)))
        kept.set(NAMED_SIGNALLED_SLOT, f.and_(kept.get(NAMED_SIGNALLED_SLOT), others))
        has_joined = f.compare("eq", kept.get(JOINED_SLOT), f.add(number, i32(1)))
        telling.leave_unless(has_joined)
        told = kept.get(NAMED_COMPLETE_SLOT)
        kept.set(NAMED_COMPLETE_SLOT, i32(1))
        # A wave that has ended does not wait.
        place = f.shift("shl", f.add(first, wave), 2)
        resume = f.load("i32", f.offset(f.thread.get(Context.RESUMES), place), DWORD_BYTES)
        is_alive = f.compare("sge", resume, i32(0))
        with f.if_(f.and_(f.compare("ne", told, i32(0)), is_alive)):
            context, site = f.parameter("context"), f.parameter("site")
            f.invoke(SYNC_REPORT, context, i32(SYNC_OVERRUN), site, wave)
    f.give()
    return f.text(f"noinline {attributes}")


def _arrive_text(attributes: str) -> str:
    """Return `aj_barrier_arrive`: signal the workgroup's barrier.

    The result is whether it is the first signal, -1 in a workgroup of one wave.
    """
    f = _Operation.of(BARRIER_ARRIVE)
    context, _, site = f.parameters
    f.alone(i32(-1))
    barrier = f.barrier(i32(0))
    phase = f.phase(barrier)
    with f.if_(f.compare("eq", f.kept.get(SIGNALLED_SLOT), phase)):
        f.invoke(SYNC_REPORT, context, i32(SYNC_TWICE), site, i64(0))
    f.kept.set(SIGNALLED_SLOT, phase)
    signals = barrier.get(Barrier.SIGNALS)
    now = f.add(signals, i64(1))
    barrier.set(Barrier.SIGNALS, now)
    with f.if_(f.compare("eq", now, barrier.get(Barrier.MEMBERS))):
        f.complete_own(barrier)
    f.give(f.resize(f.compare("eq", signals, i64(0)), 32))
    return f.text(attributes)


def _signal_text(attributes: str) -> str:
    """Return `aj_barrier_signal`. members: a new count, 0 to keep the old one.

    The result is whether it is the first signal, -1 in a workgroup of one wave.
    """
    f = _Operation.of(BARRIER_SIGNAL)
    number, members = f.parameter("number"), f.resize(f.parameter("members"), 64)
    f.alone(i32(-1))
    # 0 is the barrier that does nothing, -2 the trap handler's: S_BARRIER_SIGNAL.
    f.give_if(f.or_(f.compare("eq", number, i32(0)), f.compare("eq", number, i32(-2))), i32(0))
    f.no_such(number, i32(0))
    barrier = f.barrier(number)
    f.not_initialised(barrier, number, i32(0))
    signals = barrier.get(Barrier.SIGNALS)
    changes = f.compare("ne", members, i64(0))
    reached = f.and_(changes, f.compare("ule", members, signals))
    f.misused(reached, BarrierMisuse.COUNT_REACHED, number, i32(0))
    wanted = f.select(changes, members, barrier.get(Barrier.MEMBERS))
    f.misused(f.compare("eq", wanted, i64(0)), BarrierMisuse.NO_MEMBERS, number, i32(0))
    barrier.set(Barrier.MEMBERS, wanted)
    now = f.add(signals, i64(1))
    barrier.set(Barrier.SIGNALS, now)
    own = f.shift("shl", i32(1), number)
    f.kept.set(NAMED_SIGNALLED_SLOT, f.or_(f.kept.get(NAMED_SIGNALLED_SLOT), own))
    with f.if_(f.compare("eq", now, wanted)):
        f.complete(number)
    f.give(f.resize(f.compare("eq", signals, i64(0)), 32))
    return f.text(attributes)


def _init_text(attributes: str) -> str:
    """Return `aj_barrier_init`: give a named barrier its count of members."""
    f = _Operation.of(BARRIER_INIT)
    number, members = f.parameter("number"), f.parameter("members")
    f.alone()
    f.give_if(f.compare("eq", number, i32(0)))
    f.no_such(number)
    too_many = f.compare("ugt", members, i32(_MOST_MEMBERS))
    f.misused(f.or_(f.compare("eq", members, i32(0)), too_many), BarrierMisuse.NO_COUNT, number)
    barrier = f.barrier(number)
    barrier.set(Barrier.SIGNALS, i64(0))
    barrier.set(Barrier.MEMBERS, f.resize(members, 64))
    barrier.set(Barrier.INITIALISED, i64(1))
    f.give()
    return f.text(attributes)


def _join_text(attributes: str) -> str:
    """Return `aj_barrier_join`: completions of the barrier that was joined before are forgotten."""
    f = _Operation.of(BARRIER_JOIN)
    number = f.parameter("number")
    f.alone()
    f.no_such(number)
    is_missing = f.compare("eq", f.barrier(number).get(Barrier.INITIALISED), i64(0))
    is_named = f.compare("ne", number, i32(0))
    f.misused(f.and_(is_missing, is_named), BarrierMisuse.NOT_INITIALISED, number)
    f.kept.set(JOINED_SLOT, f.add(number, i32(1)))
    f.kept.set(NAMED_COMPLETE_SLOT, i32(0))
    f.give()
    return f.text(attributes)


def _leave_text(attributes: str) -> str:
    """Return `aj_barrier_leave`: one member fewer, which may complete the barrier."""
    f = _Operation.of(BARRIER_LEAVE)
    f.alone()
    joined = f.kept.get(JOINED_SLOT)
    f.misused(f.compare("eq", joined, i32(0)), BarrierMisuse.LEAVE_NOT_JOINED, i32(0))
    number = f.sub(joined, i32(1))
    f.kept.set(JOINED_SLOT, i32(0))
    f.give_if(f.compare("eq", number, i32(0)))
    barrier = f.barrier(number)
    own = f.and_(f.kept.get(NAMED_SIGNALLED_SLOT), f.shift("shl", i32(1), number))
    f.misused(f.compare("ne", own, i32(0)), BarrierMisuse.LEAVE_SIGNALLED, number)
    members = barrier.get(Barrier.MEMBERS)
    f.misused(f.compare("eq", members, i64(0)), BarrierMisuse.NO_MEMBERS, number)
    with f.if_(f.drop_member(barrier, members)):
        f.complete(number)
    f.give()
    return f.text(attributes)


def _wait_text(attributes: str) -> str:
    """Return `aj_barrier_wait`: whether the wave has to wait for a named barrier.

    It is the barrier that the wave has joined, whatever the number is: LLVM, "Code Sequences".
    """
    f = _Operation.of(BARRIER_WAIT)
    number = f.parameter("number")
    f.alone(i32(0))
    joined = f.kept.get(JOINED_SLOT)
    null, none = f.compare("eq", number, i32(0)), f.compare("ule", joined, i32(1))
    f.give_if(f.and_(null, none), i32(0))
    f.misused(null, BarrierMisuse.WAIT_FOR_NULL, f.sub(joined, i32(1)), i32(0))
    f.misused(f.compare("eq", joined, i32(0)), BarrierMisuse.WAIT_NOT_JOINED, number, i32(0))
    f.give(f.resize(f.compare("ne", joined, i32(1)), 32))
    return f.text(attributes)


def _state_text(attributes: str) -> str:
    """Return `aj_barrier_state`: signals << 16 | members << 4 | valid (S_GET_BARRIER_STATE)."""
    f = _Operation.of(BARRIER_STATE)
    number = f.parameter("number")
    one = f.compare("eq", f.launch.get(Launch.WAVES), i64(1))
    f.misused(f.or_(one, f.compare("eq", number, i32(0))), BarrierMisuse.NO_STATE, number, i32(0))
    index = f.select(f.compare("eq", number, i32(-1)), i32(0), number)
    f.no_such(index, i32(0))
    barrier = f.barrier(index)
    f.not_initialised(barrier, number, i32(0))
    signals = f.shift("shl", barrier.get(Barrier.SIGNALS), 16)
    counts = f.or_(signals, f.shift("shl", barrier.get(Barrier.MEMBERS), 4))
    f.give(f.resize(f.or_(counts, i64(1)), 32))
    return f.text(attributes)


def _end_text(attributes: str) -> str:
    """Return `aj_barrier_end`: a wave has ended, and no longer counts at the workgroup's barrier.

    A wave that has signalled it and ends before it completes would count once too often (LLVM,
    "Barrier drop races").
    """
    f = _Operation.of(BARRIER_END)
    f.alone()
    barrier = f.barrier(i32(0))
    own = f.compare("eq", f.kept.get(SIGNALLED_SLOT), f.phase(barrier))
    f.misused(own, BarrierMisuse.ENDED_SIGNALLED, i32(-1))
    with f.if_(f.drop_member(barrier, barrier.get(Barrier.MEMBERS))):
        f.complete_own(barrier)
    f.give()
    return f.text(attributes)


BARRIERS: Mapping[str, Callable[[str], str]] = {
    BARRIER_COMPLETE.name: _complete_text,
    BARRIER_ARRIVE.name: _arrive_text,
    BARRIER_SIGNAL.name: _signal_text,
    BARRIER_INIT.name: _init_text,
    BARRIER_JOIN.name: _join_text,
    BARRIER_LEAVE.name: _leave_text,
    BARRIER_WAIT.name: _wait_text,
    BARRIER_STATE.name: _state_text,
    BARRIER_END.name: _end_text,
}
