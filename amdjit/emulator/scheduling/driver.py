"""The driver of one host thread: takes workgroups and runs them until there are none left."""

from __future__ import annotations

from enum import IntFlag
from functools import partial

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import Declaration, declare
from amdjit.emulator.host.function import FALSE, TRUE, NativeFunction, i32, i64, module_text
from amdjit.emulator.host.native_sources import Source
from amdjit.emulator.host.record import WaveState
from amdjit.emulator.layout import (
    BARRIER_ROW,
    CALL_INSTRUCTIONS,
    DWORD_BYTES,
    END_SITE_SLOT,
    FIELD_BYTES,
    NAMED_BARRIERS,
    NAMED_COMPLETE_SLOT,
    SCALAR_BYTES,
    SIGNALLED_SLOT,
    SLOT_ROW,
    SYNC_TWICE,
    VGPR_BYTES,
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
from amdjit.emulator.scheduling.standstill import Standstill, digest, stuck
from amdjit.isa.register_numbers import EXEC_LO, HALF_LANES, HALF_VGPRS, TTMP7, TTMP8

TAKE_GROUP = declare("aj_take_group", "i64", context="ptr", chunk="ptr")

# How many sweeps resident workgroups run, without one of them ending, before more workgroups become
# resident. A sweep counts more if all waves wait, because they may wait for those.
_IDLE_SWEEPS = 256
_WAITING_WEIGHT = 64


def driver_symbol(wave_size: int) -> str:
    """Return the name of the driver of waves of 32 or 64 lanes."""
    return _driver(wave_size).name


def _driver(wave_size: int) -> Declaration:
    return declare(f"aj_drive{wave_size}", context="ptr")


def driver_text(wave_size: int, attributes: str) -> str:
    """Return `aj_drive32(context)`: run workgroups until none are left or the launch is stopped.

    Several workgroups are resident at the same time where their waves may wait for those of other
    workgroups: while none of the resident ones makes progress, more become resident, up to
    `RESIDENTS`; each has its own slot of the buffers. A wave's entry in `resumes` is: >= 0 ready to
    run from that id; with bit 30 set, waits at the barrier of the low bits' id, a named one with
    bit 28; -1 ended.
    """
    functions = (
        _take_group(),
        begin_group(wave_size // HALF_LANES),
        run_group(wave_size),
        digest(),
        stuck(),
        _drive(wave_size),
    )
    return module_text(functions, attributes)


def _take_group() -> NativeFunction:
    """Return `aj_take_group`: the next workgroup's number, -1 if there is none.

    `chunk`: the first and one past the last workgroup that this thread has taken and not begun.
    """
    f = NativeFunction.of(TAKE_GROUP, "internal")
    first_at = f.parameter("chunk")
    end_at = f.offset(first_at, FIELD_BYTES)
    group = f.variable(f.load("i64", first_at, FIELD_BYTES))
    with f.unless(f.compare("ult", group.get(), f.load("i64", end_at, FIELD_BYTES))):
        launch = f.thread.follow(Context.LAUNCH)
        groups, size = launch.get(Launch.GROUPS), launch.get(Launch.CHUNK)
        taken = f.atomic("add", launch.at(Launch.NEXT_GROUP), size)
        with f.unless(f.compare("ult", taken, groups)):
            f.give(i64(-1))
        f.store(_lesser(f, f.add(taken, size), groups), end_at, FIELD_BYTES)
        group.set(taken)
    f.store(f.add(group.get(), i64(1)), first_at, FIELD_BYTES)
    f.give(group.get())
    return f


def _lesser(f: NativeFunction, first: Value, second: Value) -> Value:
    return f.select(f.compare("ugt", first, second), second, first)


def _drive(wave_size: int) -> NativeFunction:
    f = NativeFunction.of(_driver(wave_size))
    driver = _Driver(f)
    driver.begin()
    with f.loop():
        driver.fill()
        driver.sweep_often()
        driver.grow()
    return f


class _Driver:
    """The resident workgroups. used: slots that are in use or were. live: workgroups. wanted: as
    many slots as may be used now."""

    def __init__(self, f: NativeFunction) -> None:
        self._f = f
        self._chunk = f.allocate("[2 x i64]", FIELD_BYTES)
        f.store(Value("[2 x i64]", "zeroinitializer"), self._chunk, FIELD_BYTES)
        self._residents = f.thread.get(Context.RESIDENTS)
        self._slots = f.thread.follow(Context.SLOTS)
        self._used, self._live = f.variable(i64(0)), f.variable(i64(0))
        # Workgroups of a cooperative launch wait for all others.
        self._standstill = Standstill.of(f)
        self._wanted = f.variable(f.select(self._standstill.is_watched, self._residents, i64(1)))
        # Sweeps, by their weight, since a workgroup ended.
        self._idle = f.variable(i64(0))
        # Of this sweep: whether a workgroup has ended, and whether all wait.
        self._any_ended, self._all_wait = f.variable(FALSE), f.variable(TRUE)

    def begin(self) -> None:
        """Tell the other threads that this one takes workgroups."""
        self._standstill.join()

    def fill(self) -> None:
        """Fill slots with workgroups until as many are resident as are wanted."""
        f = self._f
        with f.loop() as filling:
            used = self._used.get()
            filling.leave_unless(f.compare("ult", used, self._wanted.get()))
            group = self._take()
            filling.leave_if(f.compare("slt", group, i64(0)))
            self._begin(used, group)
            self._used.set(f.add(used, i64(1)))
            self._live.set(f.add(self._live.get(), i64(1)))

    def sweep_often(self) -> None:
        """Sweep until more workgroups should be taken in, or return when there are none left."""
        f = self._f
        self._idle.set(i64(0))
        with f.loop() as sweeps:
            with f.if_(f.compare("eq", self._live.get(), i64(0))):
                self._standstill.leave()
                f.give()
            self._sweep()
            self._standstill.watch(self._all_wait.get(), self._used.get())
            weight = f.select(self._all_wait.get(), i64(_WAITING_WEIGHT), i64(1))
            idle = f.select(self._any_ended.get(), i64(0), f.add(self._idle.get(), weight))
            is_patient = f.compare("ult", idle, i64(_IDLE_SWEEPS))
            is_full = f.compare("uge", self._used.get(), self._residents)
            sweeps.leave_unless(f.or_(is_patient, is_full))
            self._idle.set(f.select(is_patient, idle, i64(0)))

    def grow(self) -> None:
        """Double the number of workgroups that should be resident."""
        twice = self._f.shift("shl", self._used.get(), 1)
        self._wanted.set(_lesser(self._f, twice, self._residents))

    def _sweep(self) -> None:
        """Run each resident workgroup once; replace those that have ended."""
        f = self._f
        self._any_ended.set(FALSE)
        self._all_wait.set(TRUE)
        with f.count_to(self._used.get()) as slot, f.section() as visit:
            row = self._slots.row(slot, SLOT_ROW)
            visit.leave_if(f.compare("slt", row.get(SlotField.GROUP_X), i64(0)))
            state = f.invoke(RUN_GROUP, f.parameter("context"), slot)
            with f.if_(f.compare("slt", state, i32(0))):
                f.give()
            self._all_wait.set(f.and_(self._all_wait.get(), f.compare("eq", state, i32(WAITS))))
            visit.leave_unless(f.compare("eq", state, i32(ENDED)))
            self._any_ended.set(TRUE)
            self._all_wait.set(FALSE)
            group = self._next()
            with f.if_else(f.compare("slt", group, i64(0))) as (none, another):
                with none:
                    row.set(SlotField.GROUP_X, f.not_(row.get(SlotField.GROUP_X)))
                    self._live.set(f.sub(self._live.get(), i64(1)))
                with another:
                    self._begin(slot, group)

    def _take(self) -> Value:
        return self._f.invoke(TAKE_GROUP, self._f.parameter("context"), self._chunk)

    def _next(self) -> Value:
        """Take a workgroup in the place of one that has ended. Those of a cooperative launch keep
        their slots: there is one for each."""
        group = self._f.variable(i64(-1))
        with self._f.unless(self._standstill.is_watched):
            group.set(self._take())
        return group.get()

    def _begin(self, slot: Value, group: Value) -> None:
        self._f.invoke(BEGIN_GROUP, self._f.parameter("context"), slot, group)


# How a workgroup begins in its slot of a host thread: the first values of its waves' registers and
# of its barriers.

BEGIN_GROUP = declare("aj_begin_group", context="ptr", slot="i64", group="i64")

_BARRIER_BYTES = (1 + NAMED_BARRIERS) * BARRIER_ROW * FIELD_BYTES


def begin_group(halves: int) -> NativeFunction:
    """Return `aj_begin_group`: set up all waves of a workgroup. halves: of a wave."""
    f = NativeFunction.of(BEGIN_GROUP, "internal")
    group = Group.of_slot(f)
    x, y, z = _position(f, group)
    for field, value in (
        (SlotField.GROUP_X, x),
        (SlotField.GROUP_Y, y),
        (SlotField.GROUP_Z, z),
    ):
        group.row.set(field, value)
    group.begin_epoch()
    _begin_barriers(f, group)
    # RDNA 4 ISA, 3.5 "Initial wave state": TTMP9 = workgroup x, TTMP7 = y | z << 16, TTMP8[29:25] =
    # wave in group.
    # Elsewhere each has an SGPR of its own, after the user SGPRs; on gfx9 the distance of the
    # wave's scratch memory, too.
    places = [f.resize(value, 32) for value in (x, y, z)]
    fields = (Launch.X_SLOT, Launch.Y_SLOT, Launch.Z_SLOT, Launch.WAVE_OFFSET_SLOT)
    slots = [group.launch.get(field) for field in fields]
    lanes = f.mul(f.thread.get(Context.SCRATCH_LANE_BYTES), i64(halves * HALF_LANES))
    others = f.or_(places[1], f.shift("shl", places[2], 16))
    with f.count_to(group.waves) as wave:
        state = group.state(wave)
        f.copy(state.address, group.launch.get(Launch.SCALARS), SCALAR_BYTES)
        state.set(TTMP8, f.shift("shl", f.resize(wave, 32), 25))
        state.set(TTMP7, others)
        distance = f.resize(f.mul(wave, lanes), 32)
        for slot, place in zip(slots, [*places, distance], strict=True):
            f.store(place, f.offset(state.address, f.shift("shl", slot, 2)), DWORD_BYTES)
        for half in range(halves):
            number = f.add(f.mul(wave, i64(halves)), i64(half))
            _begin_lanes(f, group, state, half, number)
        group.set_resume(wave, i32(0))
    f.give()
    return f


def _position(f: NativeFunction, group: Group) -> tuple[Value, Value, Value]:
    """Return where a workgroup is in the grid."""
    width, height = group.launch.get(Launch.GRID_X), group.launch.get(Launch.GRID_Y)
    number = f.parameter("group")
    row = f.binary("udiv", number, width)
    return (
        f.binary("urem", number, width),
        f.binary("urem", row, height),
        f.binary("udiv", row, height),
    )


def _begin_barriers(f: NativeFunction, group: Group) -> None:
    """Make all barriers new; the workgroup's own waits for all waves."""
    barrier = group.barrier
    f.fill(barrier.address, 0, _BARRIER_BYTES)
    barrier.set(Barrier.MEMBERS, group.waves)
    barrier.set(Barrier.INITIALISED, i64(1))


def _begin_lanes(
    f: NativeFunction, group: Group, state: WaveState, half: int, number: Value
) -> None:
    """Set EXEC of a half of a wave, and the registers with the work-items' ids, from v0 on. number:
    of the half in the workgroup."""
    execs = f.offset(group.launch.get(Launch.EXECS), f.shift("shl", number, 2))
    state.set(EXEC_LO + half, f.load("i32", execs, DWORD_BYTES))
    size = group.launch.get(Launch.ITEM_BYTES)
    ids = f.offset(group.launch.get(Launch.ITEM_IDS), f.mul(number, size))
    first = SCALAR_BYTES + half * HALF_VGPRS * VGPR_BYTES
    f.copy(f.offset(state.address, first), ids, size)


# A workgroup in its slot of a host thread: its waves run in turn until they wait or end.


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
        with f.count_to(self._group.waves) as wave:
            self.run_wave(wave)

    def run_wave(self, wave: Value) -> None:
        """Run a wave once if it is ready."""
        f = self._f
        with f.section() as turn:
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


# The same in single steps, for those who choose which wave runs next: a workgroup begins in a slot,
# one of its waves runs, the waves that wait at its barrier are released.


class Turn(IntFlag):
    """What a wave did in its turn. RAN: it was ready. MOVED: it ended or came to a barrier. BUSY:
    it computes, and does not only wait for others."""

    RAN = 1
    MOVED = 2
    BUSY = 4


def _single_step(action: str, wave_size: int) -> Declaration:
    return declare(f"aj_{action}{wave_size}", "i32", context="ptr", slot="i64", number="i64")


def single_steps(wave_size: int) -> dict[str, Source]:
    """Return the functions by symbol: `aj_begin32(context, slot, workgroup)`, `aj_turn32(context,
    slot, wave)`, whose result is a `Turn`, and `aj_release32(context, slot, 0)`, whose result is
    BUSY or ENDED. The result STOPPED says that a fault stops the launch."""
    makers = {"begin": _single_begin, "turn": _single_turn, "release": _single_release}
    return {
        single_step_symbol(action, wave_size): partial(make, wave_size)
        for action, make in makers.items()
    }


def single_step_symbol(action: str, wave_size: int) -> str:
    """Return the name of the function of an action: begin, turn or release."""
    return _single_step(action, wave_size).name


def _single_begin(wave_size: int, attributes: str) -> str:
    f = NativeFunction.of(_single_step("begin", wave_size))
    f.invoke(BEGIN_GROUP, *f.parameters)
    f.give(i32(BUSY))
    return module_text((begin_group(wave_size // HALF_LANES), f), attributes)


def _single_turn(wave_size: int, attributes: str) -> str:
    f = NativeFunction.of(_single_step("turn", wave_size))
    group = Group.of_slot(f)
    _enter(f, group)
    turn = _Turn(f, group, wave_size)
    turn.run_wave(f.parameter("number"))
    done = i32(0)
    for flag, bit in ((turn.ran, Turn.RAN), (turn.moved, Turn.MOVED), (turn.busy, Turn.BUSY)):
        done = f.or_(done, f.select(flag.get(), i32(bit), i32(0)))
    f.give(done)
    return f.text(attributes)


def _single_release(wave_size: int, attributes: str) -> str:
    f = NativeFunction.of(_single_step("release", wave_size))
    group = Group.of_slot(f)
    _enter(f, group)
    release_waiting(f, group, ended=i32(ENDED), stopped=i32(STOPPED))
    f.give(i32(BUSY))
    return f.text(attributes)
