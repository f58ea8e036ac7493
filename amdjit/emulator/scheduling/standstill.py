"""Detection of deadlock between the workgroups of a cooperative launch.

A spinning wave looks busy. A sweep is quiet if all its waves wait, with the same registers after it
as before: if memory does not change, they will wait forever. A thread that has seen the same for
many sweeps votes, for the number of changes that all threads have seen so far, and compares after
each sweep from then on. When all threads have voted for one number, each does one whole further
sweep, and confirms if it was quiet as well. When all that voted have confirmed, the launch stops.

There is no false alarm, because: take the time when a thread first sees that all have voted. Each
is quiet from before that time until it confirms, so no wave writes anything new meanwhile; and each
wave polls, after that time, all that was written before it. A thread that goes on, or leaves, after
its vote never confirms that number. Waiting long only guards against what registers don't show: a
wave that reaches the same registers again by another path, or that only changes memory.
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, Variable, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import (
    DWORD_BYTES,
    FIELD_BYTES,
    SLOT_ROW,
    Context,
    FaultKind,
    Launch,
    SlotField,
)
from amdjit.emulator.scheduling.fault_record import fault
from amdjit.emulator.scheduling.group import POSITION, Group
from amdjit.emulator.scheduling.release import WAITING
from amdjit.late_methods import dataclass

DIGEST = declare("aj_digest", "i64", context="ptr", slots="i64")
STUCK = declare("aj_stuck", "i32", context="ptr", slot="i64")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a thread sees no change before it votes.

    sweeps: between two looks at the registers, a prime number, which no loop's period divides.
    looks: with the same result.
    """

    sweeps: int
    looks: int


PATIENCE = Patience(sweeps=61, looks=16)
# A vote's number of changes is above the count of votes.
_COUNT_BITS = 16
# What a thread has done for a number of changes: it looks, has voted, has seen that all have, has
# confirmed.
_LOOKS, _VOTED, _ALL_VOTED, _CONFIRMED = range(4)
_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)


def digest() -> NativeFunction:
    """Return `aj_digest`: a number made of the registers of all waves in the first slots, and of
    where they go on."""
    f = NativeFunction.of(DIGEST, "internal")
    launch = f.thread.follow(Context.LAUNCH)
    waves = f.mul(f.parameter("slots"), launch.get(Launch.WAVES))
    count = f.shift("lshr", f.mul(waves, launch.get(Launch.STATE_BYTES)), 3)
    states, resumes = f.thread.get(Context.STATES), f.thread.get(Context.RESUMES)
    found = f.variable(i64(0))
    with f.count_to(count) as number:
        value = f.load("i64", f.offset(states, f.shift("shl", number, 3)), FIELD_BYTES)
        _mix(f, found, value, number)
    with f.count_to(waves) as wave:
        resume = f.load("i32", f.offset(resumes, f.shift("shl", wave, 2)), DWORD_BYTES)
        _mix(f, found, f.resize(resume, 64), wave)
    f.give(found.get())
    return f


def _mix(f: NativeFunction, found: Variable, value: Value, number: Value) -> None:
    found.set(f.mul(f.add(f.xor(found.get(), value), number), i64(_FACTOR)))


def stuck() -> NativeFunction:
    """Return `aj_stuck`: fault of the first wave of a workgroup that spins, not at a barrier.

    The result is whether there is one.
    """
    f = NativeFunction.of(STUCK, "internal")
    group = Group.of_slot(f)
    for source, target in POSITION:
        f.thread.set(target, group.row.get(source))
    f.thread.set(Context.SLOT, f.parameter("slot"))
    with f.count_to(group.waves) as wave:
        resume = group.resume(wave)
        with f.if_(f.compare("ult", resume, i32(WAITING))):
            f.thread.set(Context.WAVE, wave)
            fault(f, FaultKind.STANDSTILL, resume)
            f.give(i32(1))
    f.give(i32(0))
    return f


@dataclass(frozen=True, slots=True)
class Standstill:
    """What one host thread has seen of a cooperative launch."""

    f: NativeFunction
    launch: Record
    is_watched: Value
    """Whether the launch is cooperative."""
    changes: Variable
    """The number of changes that all threads had seen when it last looked."""
    sweeps: Variable
    """Sweeps since then, or since it last looked at the registers."""
    registers: Variable
    """The digest of the registers when it last looked."""
    looks: Variable
    """How often the digest was the same."""
    stage: Variable
    """How far it is with its vote for that number: _LOOKS, _VOTED, _ALL_VOTED or _CONFIRMED."""

    @classmethod
    def of(cls, f: NativeFunction) -> Standstill:
        """Begin to watch."""
        launch = f.thread.follow(Context.LAUNCH)
        is_watched = f.compare("ne", launch.get(Launch.COOPERATIVE), i64(0))
        return cls(f, launch, is_watched, *(f.variable(i64(0)) for _ in range(5)))

    def join(self) -> None:
        """Note that this thread takes workgroups from now on."""
        with self.f.if_(self.is_watched):
            self.f.atomic("add", self.launch.at(Launch.LIVE_THREADS), i64(1))
            self._change()

    def leave(self) -> None:
        """Note that this thread takes no more workgroups.

        The end of its last workgroup was counted as a change. Threads that voted before it left
        must learn of that, so this counts as another change.
        """
        with self.f.if_(self.is_watched):
            self.f.atomic("sub", self.launch.at(Launch.LIVE_THREADS), i64(1))
            self._change()

    def watch(self, all_wait: Value, slots: Value) -> None:
        """Look at what a sweep has changed. all_wait: all waves that ran in it wait for others."""
        f = self.f
        with f.if_(self.is_watched), f.if_else(all_wait) as (waiting, others):
            with waiting:
                self._count(slots)
            with others:
                self._change()

    def _change(self) -> None:
        self.f.atomic("add", self.launch.at(Launch.CHANGES), i64(1))
        self._begin()

    def _begin(self) -> None:
        self.sweeps.set(i64(0))
        self.looks.set(i64(0))
        self.stage.set(i64(_LOOKS))

    def _count(self, slots: Value) -> None:
        f = self.f
        changes = f.load_atomic("i64", self.launch.at(Launch.CHANGES))
        with f.unless(f.compare("eq", changes, self.changes.get())):
            self.changes.set(changes)
            self._begin()
        self.sweeps.set(f.add(self.sweeps.get(), i64(1)))
        is_due = f.compare("uge", self.sweeps.get(), self.launch.get(Launch.SWEEPS))
        with f.if_(f.or_(is_due, f.compare("ne", self.stage.get(), i64(_LOOKS)))):
            self.sweeps.set(i64(0))
            self._look(slots)

    def _look(self, slots: Value) -> None:
        f = self.f
        registers = f.invoke(DIGEST, f.parameter("context"), slots)
        is_same = f.compare("eq", registers, self.registers.get())
        self.registers.set(registers)
        with f.if_else(is_same) as (same, other):
            with same:
                self._proceed(slots)
            with other:
                self._change()

    def _proceed(self, slots: Value) -> None:
        """Advance by at most one stage, so that a whole sweep lies between two stages."""
        f, stage = self.f, self.stage.get()
        with f.if_(f.compare("eq", stage, i64(_ALL_VOTED))):
            self._give(Launch.CONFIRMATIONS)
            self.stage.set(i64(_CONFIRMED))
        with f.if_(f.compare("eq", stage, i64(_VOTED))), f.if_(self._all_voted()):
            self.stage.set(i64(_ALL_VOTED))
        with f.if_(f.compare("eq", stage, i64(_LOOKS))):
            self.looks.set(f.add(self.looks.get(), i64(1)))
            with f.if_(f.compare("uge", self.looks.get(), self.launch.get(Launch.LOOKS))):
                self._give(Launch.VOTES)
                self.stage.set(i64(_VOTED))
        with f.if_(f.compare("eq", self.stage.get(), i64(_CONFIRMED))):
            votes = f.load_atomic("i64", self.launch.at(Launch.VOTES))
            confirmations = f.load_atomic("i64", self.launch.at(Launch.CONFIRMATIONS))
            with f.if_(f.and_(f.compare("eq", votes, confirmations), self._is_current(votes))):
                self._stop(slots)

    def _give(self, field: Launch) -> None:
        """Count this thread among those for the number of changes."""
        f, place = self.f, self.launch.at(field)
        one = f.add(f.shift("shl", self.changes.get(), _COUNT_BITS), i64(1))
        with f.loop() as voting:
            before = f.load_atomic("i64", place)
            voted_for = f.shift("lshr", before, _COUNT_BITS)
            voting.leave_if(f.compare("ugt", voted_for, self.changes.get()))
            is_first = f.compare("ult", voted_for, self.changes.get())
            votes = f.select(is_first, one, f.add(before, i64(1)))
            _, is_done = f.compare_exchange(place, before, votes)
            voting.leave_if(is_done)
            voting.again()

    def _is_current(self, votes: Value) -> Value:
        return self.f.compare("eq", self.f.shift("lshr", votes, _COUNT_BITS), self.changes.get())

    def _all_voted(self) -> Value:
        """Return whether all threads have voted for the number of changes. Once no workgroup is
        left to take, each thread that has one is among the live ones."""
        f = self.f
        votes, taken = self._read(Launch.VOTES), self._read(Launch.NEXT_GROUP)
        threads = self._read(Launch.LIVE_THREADS)
        all_began = f.compare("uge", taken, self.launch.get(Launch.GROUPS))
        count = f.and_(votes, i64((1 << _COUNT_BITS) - 1))
        is_all = f.and_(f.compare("uge", count, threads), all_began)
        return f.and_(is_all, self._is_current(votes))

    def _read(self, field: Launch) -> Value:
        """Load what others change; what is loaded later is at least as new."""
        return self.f.atomic("or", self.launch.at(field), i64(0))

    def _stop(self, slots: Value) -> None:
        """Fault of the first wave that spins, and return from the driver."""
        f = self.f
        with f.count_to(slots) as slot, f.section() as look:
            row = f.thread.follow(Context.SLOTS).row(slot, SLOT_ROW)
            look.leave_if(f.compare("slt", row.get(SlotField.GROUP_X), i64(0)))
            is_stuck = f.invoke(STUCK, f.parameter("context"), slot)
            with f.if_(f.compare("ne", is_stuck, i32(0))):
                f.give()
        f.give()
