"""A workgroup in its slot of a host thread: its waves run in turn until they wait or end."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import FALSE, TRUE, NativeFunction, i32, i64
from amdjit.emulator.host.record import WaveState
from amdjit.emulator.layout import (
    CALL_INSTRUCTIONS,
    END_SITE_SLOT,
    NAMED_COMPLETE_SLOT,
    SIGNALLED_SLOT,
    SYNC_TWICE,
    WAITED_SLOT,
    WAVE_ARRIVES,
    WAVE_ENDED,
    WAVE_NAMED,
    WAVE_STOPPED,
    WAVE_WAITS,
    WAVE_YIELDED,
    Barrier,
    Context,
    Launch,
    SlotField,
)
from amdjit.emulator.scheduling.barriers import BARRIER_END
from amdjit.emulator.scheduling.fault_record import TICK
from amdjit.emulator.scheduling.group import POSITION, Group
from amdjit.emulator.scheduling.release import RESUME, WAITING, release_together, release_waiting
from amdjit.emulator.scheduling.report_rows import SYNC_REPORT

RUN_GROUP = declare("aj_run_group", "i32", context="ptr", slot="i64")
# What it returns: the launch is stopped; others should run meanwhile; all waves have ended; others
# should run, and all that ran only wait for other waves.
STOPPED, BUSY, ENDED, WAITS = -1, 0, 1, 2

# How many rounds a workgroup's waves run, as long as some of them end or reach a barrier, before
# the next workgroup runs.
_ROUNDS = 256


def run_group(wave_size: int) -> NativeFunction:
    """Return `aj_run_group`: run the waves of a workgroup, each until it waits, yields or
    ends."""
    f = NativeFunction.of(RUN_GROUP, "internal")
    group = Group.of_slot(f)
    _enter(f, group)
    turn = _Turn(f, group, wave_size)
    with f.loop(rounds=i32(_ROUNDS)) as each:
        turn.run_waves()
        left = f.sub(each.rounds, i32(1))
        is_patient = f.compare("ne", left, i32(0))
        is_open = f.compare("eq", group.barrier.get(Barrier.SIGNALS), i64(0))
        with f.if_(f.compare("sge", turn.common.get(), i32(0))), f.if_(is_open):
            release_together(f, group, turn.common.get())
            with f.if_(is_patient):
                each.again(rounds=left)
            turn.yield_to_others()
        with f.if_(turn.ran.get()):
            with f.if_(f.and_(turn.moved.get(), is_patient)):
                each.again(rounds=left)
            turn.yield_to_others()
        release_waiting(f, group, ended=i32(ENDED), stopped=i32(STOPPED))
    return f


def _enter(f: NativeFunction, group: Group) -> None:
    """Put the slot's group, LDS and epoch into the context."""
    context, slot = f.thread, f.parameter("slot")
    for source, target in POSITION:
        context.set(target, group.row.get(source))
    distance = f.mul(slot, context.get(Context.LDS_STRIDE))
    context.set(Context.LDS, f.offset(context.get(Context.LDS_ALL), distance))
    context.set(Context.EPOCH, group.row.get(SlotField.EPOCH))
    context.set(Context.SLOT, slot)


class _Turn:
    """One round of a workgroup's waves, and what is known of it at its end.

    ran: some wave ran. moved: one of those ended or came to a barrier. busy: one computes. common:
    what all waves returned, if all have come to the same place in time; else -1.
    """

    def __init__(self, f: NativeFunction, group: Group, wave_size: int) -> None:
        self._f, self._group = f, group
        self.ran, self.moved, self.busy = (f.variable(FALSE) for _ in range(3))
        self.common = f.variable(i32(-1))
        lane_bytes = f.thread.get(Context.SCRATCH_LANE_BYTES)
        self._scratch = f.thread.get(Context.SCRATCH_ALL)
        self._scratch_bytes = f.mul(lane_bytes, i64(wave_size))
        self._first = f.mul(f.parameter("slot"), group.waves)
        self._function = group.launch.get(Launch.WAVE_FUNCTION)

    def run_waves(self) -> None:
        """Run each wave that is ready once."""
        f = self._f
        for known in (self.ran, self.moved, self.busy):
            known.set(FALSE)
        self.common.set(i32(-1))
        with f.count_to(self._group.waves) as wave, f.section() as turn:
            common = self.common.get()
            self.common.set(i32(-1))
            entry, state = self._group.resume(wave), self._group.state(wave)
            with f.unless(f.compare("ult", entry, i32(WAITING))):
                turn.leave_if(f.compare("slt", entry, i32(WAITING | WAVE_NAMED)))
                turn.leave_if(f.compare("eq", state.get(NAMED_COMPLETE_SLOT), i32(0)))
                state.set(NAMED_COMPLETE_SLOT, i32(0))
            result = self._call(wave, state, f.and_(entry, i32(RESUME)))
            self._note(wave, state, result, common)
            self._count()

    def _call(self, wave: Value, state: WaveState, resume: Value) -> Value:
        """Run a wave."""
        f = self._f
        f.thread.set(Context.WAVE, wave)
        distance = f.mul(f.add(self._first, wave), self._scratch_bytes)
        f.thread.set(Context.SCRATCH, f.add(self._scratch, distance))
        arguments = [state.address, f.parameter("context"), resume]
        result = f.call_pointer(self._function, "i32", arguments)
        with f.if_(f.compare("eq", result, i32(WAVE_STOPPED))):
            f.give(i32(STOPPED))
        return result

    def _note(self, wave: Value, state: WaveState, result: Value, common: Value) -> None:
        """Note what a wave that ran waits for. common: what those before it in this round have in
        common."""
        f = self._f
        has_ended = f.compare("eq", result, i32(WAVE_ENDED))
        waiting = f.and_(f.xor(result, i32(WAVE_YIELDED)), i32(~(WAVE_WAITS | WAVE_ARRIVES)))
        self._group.set_resume(wave, f.select(has_ended, i32(-1), waiting))
        arrives = f.compare("ne", f.and_(result, i32(WAVE_ARRIVES)), i32(0))
        with f.if_else(arrives) as (arriving, others):
            with arriving:
                in_time = self._arrive(state, result)
                is_first = f.compare("eq", wave, i64(0))
                is_alike = f.or_(is_first, f.compare("eq", common, result))
                self.common.set_if(f.and_(is_alike, in_time), result)
            with others, f.if_(has_ended):
                site = state.get(END_SITE_SLOT)
                f.invoke(BARRIER_END, f.parameter("context"), state.address, site)
        self.ran.set(TRUE)
        self.moved.set_if(f.compare("slt", result, i32(WAVE_YIELDED)), TRUE)
        self.busy.set_if(f.compare("slt", result, i32(WAVE_YIELDED | WAVE_WAITS)), TRUE)

    def _arrive(self, state: WaveState, result: Value) -> Value:
        """Signal the workgroup's barrier, as `aj_barrier_arrive` does; return whether the wave came
        in time."""
        f, barrier = self._f, self._group.barrier
        signals = f.add(barrier.get(Barrier.SIGNALS), i64(1))
        completed = barrier.get(Barrier.COMPLETED)
        times = f.resize(completed, 32)
        phase = f.add(times, i32(1))
        is_again = f.compare("eq", state.get(SIGNALLED_SLOT), phase)
        state.set(SIGNALLED_SLOT, phase)
        with f.if_(is_again):
            resume = f.and_(result, i32(RESUME))
            f.invoke(SYNC_REPORT, f.parameter("context"), i32(SYNC_TWICE), resume, i64(-1))
        is_full = f.compare("eq", signals, barrier.get(Barrier.MEMBERS))
        barrier.set(Barrier.SIGNALS, f.select(is_full, i64(0), signals))
        barrier.set(Barrier.COMPLETED, f.select(is_full, f.add(completed, i64(1)), completed))
        return f.compare("eq", state.get(WAITED_SLOT), times)

    def _count(self) -> None:
        """Charge a wave's call to the budget."""
        f = self._f
        left = f.sub(f.thread.get(Context.BUDGET), i64(CALL_INSTRUCTIONS))
        f.thread.set(Context.BUDGET, left)
        with f.if_(f.compare("slt", left, i64(0))):
            stops = f.invoke(TICK, f.parameter("context"), i32(0))
            with f.if_(f.compare("ne", stops, i32(0))):
                f.give(i32(STOPPED))

    def yield_to_others(self) -> None:
        """Return: other workgroups should run."""
        self._f.give(self._f.select(self.busy.get(), i32(BUSY), i32(WAITS)))
