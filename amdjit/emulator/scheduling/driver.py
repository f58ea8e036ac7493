"""The driver of one host thread: takes workgroups and runs them until there are none left."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import Declaration, declare
from amdjit.emulator.host.function import FALSE, TRUE, NativeFunction, i32, i64, module_text
from amdjit.emulator.layout import FIELD_BYTES, SLOT_ROW, Context, Launch, SlotField
from amdjit.emulator.scheduling.standstill import Standstill, digest, stuck
from amdjit.emulator.scheduling.workgroup import ENDED, RUN_GROUP, WAITS, run_group
from amdjit.emulator.scheduling.workgroup_begin import BEGIN_GROUP, begin_group
from amdjit.isa.register_numbers import HALF_LANES

TAKE_GROUP = declare("aj_take_group", "i64", context="ptr", chunk="ptr")

# Resident workgroups run this often without one that ends before more are taken in. A sweep counts
# for more if all their waves wait.
_IDLE_SWEEPS = 256
_WAITING_WEIGHT = 64


def driver_symbol(wave_size: int) -> str:
    """Return the name of the driver of waves of 32 or 64 lanes."""
    return _driver(wave_size).name


def _driver(wave_size: int) -> Declaration:
    return declare(f"aj_drive{wave_size}", context="ptr")


def driver_text(wave_size: int, attributes: str) -> str:
    """Return `aj_drive32(context)`: run workgroups until there are none left or the launch is
    stopped.

    Several workgroups are resident at the same time where their waves may wait for those of other
    workgroups: while none of the resident ones makes progress, more are taken in, up to
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
        """Want twice as many resident workgroups."""
        twice = self._f.shift("shl", self._used.get(), 1)
        self._wanted.set(_lesser(self._f, twice, self._residents))

    def _sweep(self) -> None:
        """Let each resident workgroup run; put the next one where one has ended."""
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
