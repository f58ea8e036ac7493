"""Barriers of a workgroup: its own and the named ones, as counts of signals.

A barrier completes when it has as many signals as members; its signals are then counted from 0
again, and each wave concerned has a bit that says so, which `s_barrier_wait` waits for and clears
(RDNA 4 ISA, 5.6.1 "Barrier State"). For the workgroup's barrier the bit is whether it has completed
since the wave waited last: nobody goes round all waves. Named barriers are GFX12.5's in LLVM's
document "AMDGPU Execution Synchronization", whose model this is; its undefined cases are faults. A
workgroup of one wave has no barriers: their instructions do nothing (RDNA 4 ISA, 5.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import (
    BARRIER_ROW,
    FIELD_BYTES,
    JOINED_SLOT,
    NAMED_BARRIERS,
    NAMED_COMPLETE_SLOT,
    NAMED_SIGNALLED_SLOT,
    SIGNALLED_SLOT,
    SLOT_ROW,
    SYNC_OVERRUN,
    SYNC_TWICE,
    BarrierMisuse,
    Context,
    FaultKind,
    Launch,
    SlotField,
)

_SIGNALS, _MEMBERS, _INITIALISED, _COMPLETED = range(BARRIER_ROW)
# Counts have 7 bits: RDNA 4 ISA, S_GET_BARRIER_STATE.
_MOST_MEMBERS = 127


class _Operation(NativeFunction):
    """A barrier's instruction: `context`, perhaps the wave's `state`, `site` and `number`."""

    def __init__(self, name: str, result: str, *parameters: tuple[str, str]) -> None:
        super().__init__(name, result, [("ptr", "context"), *parameters])
        self._returns = result

    def launch_field(self, field: Launch) -> Value:
        launch = self.context_pointer(Context.LAUNCH)
        return self.load("i64", self.offset(launch, field * FIELD_BYTES), 8)

    def barrier(self, index: Value) -> Value:
        """Return the address of a barrier's row; index 0 is the workgroup's."""
        slot = self.mul(self.context(Context.SLOT), i64(SLOT_ROW * FIELD_BYTES))
        row = self.offset(self.context_pointer(Context.SLOTS), slot)
        distance = self.mul(self.resize(index, 64), i64(BARRIER_ROW * FIELD_BYTES))
        return self.offset(self.offset(row, SlotField.BARRIERS * FIELD_BYTES), distance)

    def get(self, row: Value, field: int) -> Value:
        return self.load("i64", self.offset(row, field * FIELD_BYTES), 8)

    def put(self, row: Value, field: int, value: Value) -> None:
        self.store(value, self.offset(row, field * FIELD_BYTES), 8)

    def kept(self, slot: int, state: Value | None = None) -> Value:
        """Read a dword of a wave's state."""
        return self.load("i32", self.kept_place(slot, state), 4)

    def kept_place(self, slot: int, state: Value | None = None) -> Value:
        return self.offset(state or self.parameter("state"), slot * 4)

    def misused(
        self, wrong: Value, misuse: BarrierMisuse, number: Value, result: Value | None = None
    ) -> None:
        """Fault and return where a condition holds."""
        bad, good = self.block("bad"), self.block("good")
        self.branch_if(wrong, bad, good)
        self.label(bad)
        kind, nowhere, why = i32(FaultKind.BARRIER_MISUSE), i64(-1), i64(misuse)
        arguments = [self.parameter("context"), kind, self.parameter("site"), nowhere, why, number]
        self.call_void("aj_fault", arguments)
        self.give(result)
        self.label(good)

    def alone(self, result: Value | None = None) -> None:
        """Return where the workgroup is one wave."""
        self.give_if(self.compare("eq", self.launch_field(Launch.WAVES), i64(1)), result)

    def give_if(self, condition: Value, result: Value | None = None) -> None:
        yes, no = self.block("yes"), self.block("no")
        self.branch_if(condition, yes, no)
        self.label(yes)
        self.give(result)
        self.label(no)

    def no_such(self, number: Value, result: Value | None = None) -> None:
        """Fault for a number that is no named barrier's."""
        self.misused(
            self.compare("ugt", number, i32(NAMED_BARRIERS)), BarrierMisuse.NO_SUCH, number, result
        )

    def complete(self, index: Value) -> None:
        self.call_void(
            "aj_barrier_complete", [self.parameter("context"), self.parameter("site"), index]
        )

    def complete_own(self, row: Value) -> None:
        """Complete the workgroup's barrier."""
        self.put(row, _SIGNALS, i64(0))
        self.put(row, _COMPLETED, self.add(self.get(row, _COMPLETED), i64(1)))

    def phase(self, row: Value) -> Value:
        """Return what a wave notes when it signals the workgroup's barrier, as i32."""
        return self.resize(self.add(self.get(row, _COMPLETED), i64(1)), 32)


def _complete_text(attributes: str) -> str:
    """Return `aj_barrier_complete(context, site, number)`: tell the waves that have joined, and
    count from 0 again."""
    f = _Operation("aj_barrier_complete", "void", ("i32", "site"), ("i32", "number"))
    number = f.parameter("number")
    f.put(f.barrier(number), _SIGNALS, i64(0))
    others = f.not_(f.shift("shl", i32(1), number))
    waves, stride = f.launch_field(Launch.WAVES), f.launch_field(Launch.STATE_BYTES)
    first = f.mul(f.mul(f.context(Context.SLOT), waves), stride)
    states = f.offset(f.context_pointer(Context.STATES), first)
    following = f.name()
    f.branch("wave")
    f.label("wave")
    wave = f.emit("i64", f"phi i64 [ 0, %entry ], [ {following}, %next ]")
    state = f.offset(states, f.mul(wave, stride))
    place = f.kept_place(NAMED_SIGNALLED_SLOT, state)
    f.store(f.and_(f.load("i32", place, 4), others), place, 4)
    joined = f.compare("eq", f.kept(JOINED_SLOT, state), f.add(number, i32(1)))
    f.branch_if(joined, "tell", "next")
    f.label("tell")
    told = f.kept(NAMED_COMPLETE_SLOT, state)
    f.store(i32(1), f.kept_place(NAMED_COMPLETE_SLOT, state), 4)
    # An ended wave waits for nothing.
    number_of_wave = f.add(f.mul(f.context(Context.SLOT), waves), wave)
    resume = f.load(
        "i32", f.offset(f.context_pointer(Context.RESUMES), f.shift("shl", number_of_wave, 2)), 4
    )
    lives = f.compare("sge", resume, i32(0))
    f.branch_if(f.and_(f.compare("ne", told, i32(0)), lives), "late", "next")
    f.label("late")
    f.call_void(
        "aj_sync_report", [f.parameter("context"), i32(SYNC_OVERRUN), f.parameter("site"), wave]
    )
    f.branch("next")
    f.label("next")
    f.line(f"{following} = add i64 {wave.text}, 1")
    f.branch_if(f.compare("ult", Value("i64", following), waves), "wave", "done")
    f.label("done")
    f.give()
    return f.text(f"noinline {attributes}")


def _arrive_text(attributes: str) -> str:
    """Return `aj_barrier_arrive(context, state, site)`: signal the workgroup's barrier.

    The result is whether it is the first signal, -1 in a workgroup of one wave.
    """
    f = _Operation("aj_barrier_arrive", "i32", ("ptr", "state"), ("i32", "site"))
    f.alone(i32(-1))
    row = f.barrier(i32(0))
    phase = f.phase(row)
    again = f.compare("eq", f.kept(SIGNALLED_SLOT), phase)
    f.branch_if(again, "twice", "count")
    f.label("twice")
    f.call_void(
        "aj_sync_report", [f.parameter("context"), i32(SYNC_TWICE), f.parameter("site"), i64(0)]
    )
    f.branch("count")
    f.label("count")
    f.store(phase, f.kept_place(SIGNALLED_SLOT), 4)
    signals = f.get(row, _SIGNALS)
    now = f.add(signals, i64(1))
    f.put(row, _SIGNALS, now)
    f.branch_if(f.compare("eq", now, f.get(row, _MEMBERS)), "complete", "done")
    f.label("complete")
    f.complete_own(row)
    f.branch("done")
    f.label("done")
    f.give(f.resize(f.compare("eq", signals, i64(0)), 32))
    return f.text(attributes)


def _signal_text(attributes: str) -> str:
    """Return `aj_barrier_signal(context, state, site, number, members)`: members are a new count, 0
    for none.

    The result is whether it is the first signal, -1 in a workgroup of one wave.
    """
    parameters = (("ptr", "state"), ("i32", "site"), ("i32", "number"), ("i32", "members"))
    f = _Operation("aj_barrier_signal", "i32", *parameters)
    number, members = f.parameter("number"), f.resize(f.parameter("members"), 64)
    f.alone(i32(-1))
    # 0 is the barrier that does nothing, -2 the trap handler's: S_BARRIER_SIGNAL.
    f.give_if(f.or_(f.compare("eq", number, i32(0)), f.compare("eq", number, i32(-2))), i32(0))
    f.no_such(number, i32(0))
    row = f.barrier(number)
    f.misused(
        f.compare("eq", f.get(row, _INITIALISED), i64(0)),
        BarrierMisuse.NOT_INITIALISED,
        number,
        i32(0),
    )
    signals = f.get(row, _SIGNALS)
    changes = f.compare("ne", members, i64(0))
    reached = f.and_(changes, f.compare("ule", members, signals))
    f.misused(reached, BarrierMisuse.COUNT_REACHED, number, i32(0))
    wanted = f.select(changes, members, f.get(row, _MEMBERS))
    f.misused(f.compare("eq", wanted, i64(0)), BarrierMisuse.NO_MEMBERS, number, i32(0))
    f.put(row, _MEMBERS, wanted)
    now = f.add(signals, i64(1))
    f.put(row, _SIGNALS, now)
    signalled = f.or_(f.kept(NAMED_SIGNALLED_SLOT), f.shift("shl", i32(1), number))
    f.store(signalled, f.kept_place(NAMED_SIGNALLED_SLOT), 4)
    f.branch_if(f.compare("eq", now, wanted), "complete", "done")
    f.label("complete")
    f.complete(number)
    f.branch("done")
    f.label("done")
    f.give(f.resize(f.compare("eq", signals, i64(0)), 32))
    return f.text(attributes)


def _init_text(attributes: str) -> str:
    """Return `aj_barrier_init(context, site, number, members)`."""
    f = _Operation(
        "aj_barrier_init", "void", ("i32", "site"), ("i32", "number"), ("i32", "members")
    )
    number, members = f.parameter("number"), f.parameter("members")
    f.alone()
    f.give_if(f.compare("eq", number, i32(0)))
    f.no_such(number)
    too_many = f.compare("ugt", members, i32(_MOST_MEMBERS))
    f.misused(f.or_(f.compare("eq", members, i32(0)), too_many), BarrierMisuse.NO_COUNT, number)
    row = f.barrier(number)
    for field, value in (
        (_SIGNALS, i64(0)),
        (_MEMBERS, f.resize(members, 64)),
        (_INITIALISED, i64(1)),
    ):
        f.put(row, field, value)
    f.give()
    return f.text(attributes)


def _join_text(attributes: str) -> str:
    """Return `aj_barrier_join(context, state, site, number)`: what completed for the one joined
    before is forgotten."""
    f = _Operation("aj_barrier_join", "void", ("ptr", "state"), ("i32", "site"), ("i32", "number"))
    number = f.parameter("number")
    f.alone()
    f.no_such(number)
    uninitialised = f.compare("eq", f.get(f.barrier(number), _INITIALISED), i64(0))
    named = f.compare("ne", number, i32(0))
    f.misused(f.and_(uninitialised, named), BarrierMisuse.NOT_INITIALISED, number)
    f.store(f.add(number, i32(1)), f.kept_place(JOINED_SLOT), 4)
    f.store(i32(0), f.kept_place(NAMED_COMPLETE_SLOT), 4)
    f.give()
    return f.text(attributes)


def _leave_text(attributes: str) -> str:
    """Return `aj_barrier_leave(context, state, site)`: one member fewer, which may complete the
    barrier."""
    f = _Operation("aj_barrier_leave", "void", ("ptr", "state"), ("i32", "site"))
    f.alone()
    joined = f.kept(JOINED_SLOT)
    f.misused(f.compare("eq", joined, i32(0)), BarrierMisuse.LEAVE_NOT_JOINED, i32(0))
    number = f.sub(joined, i32(1))
    f.store(i32(0), f.kept_place(JOINED_SLOT), 4)
    f.give_if(f.compare("eq", number, i32(0)))
    row = f.barrier(number)
    own = f.and_(f.kept(NAMED_SIGNALLED_SLOT), f.shift("shl", i32(1), number))
    f.misused(f.compare("ne", own, i32(0)), BarrierMisuse.LEAVE_SIGNALLED, number)
    members = f.get(row, _MEMBERS)
    f.misused(f.compare("eq", members, i64(0)), BarrierMisuse.NO_MEMBERS, number)
    left, signals = f.sub(members, i64(1)), f.get(row, _SIGNALS)
    f.put(row, _MEMBERS, left)
    full = f.and_(f.compare("eq", signals, left), f.compare("ne", signals, i64(0)))
    f.branch_if(full, "complete", "done")
    f.label("complete")
    f.complete(number)
    f.branch("done")
    f.label("done")
    f.give()
    return f.text(attributes)


def _wait_text(attributes: str) -> str:
    """Return `aj_barrier_wait(context, state, site, number)`: whether the wave has to wait for a
    named barrier.

    It is the one that it has joined, whatever the number is: LLVM, "Code Sequences".
    """
    f = _Operation("aj_barrier_wait", "i32", ("ptr", "state"), ("i32", "site"), ("i32", "number"))
    number = f.parameter("number")
    f.alone(i32(0))
    joined = f.kept(JOINED_SLOT)
    null, none = f.compare("eq", number, i32(0)), f.compare("ule", joined, i32(1))
    f.give_if(f.and_(null, none), i32(0))
    f.misused(null, BarrierMisuse.WAIT_FOR_NULL, f.sub(joined, i32(1)), i32(0))
    f.misused(f.compare("eq", joined, i32(0)), BarrierMisuse.WAIT_NOT_JOINED, number, i32(0))
    f.give(f.resize(f.compare("ne", joined, i32(1)), 32))
    return f.text(attributes)


def _state_text(attributes: str) -> str:
    """Return `aj_barrier_state(context, site, number)`: signals << 16 | members << 4 | valid
    (S_GET_BARRIER_STATE)."""
    f = _Operation("aj_barrier_state", "i32", ("i32", "site"), ("i32", "number"))
    number = f.parameter("number")
    one = f.compare("eq", f.launch_field(Launch.WAVES), i64(1))
    f.misused(f.or_(one, f.compare("eq", number, i32(0))), BarrierMisuse.NO_STATE, number, i32(0))
    index = f.select(f.compare("eq", number, i32(-1)), i32(0), number)
    f.no_such(index, i32(0))
    row = f.barrier(index)
    f.misused(
        f.compare("eq", f.get(row, _INITIALISED), i64(0)),
        BarrierMisuse.NOT_INITIALISED,
        number,
        i32(0),
    )
    counts = f.or_(
        f.shift("shl", f.get(row, _SIGNALS), 16), f.shift("shl", f.get(row, _MEMBERS), 4)
    )
    f.give(f.resize(f.or_(counts, i64(1)), 32))
    return f.text(attributes)


def _end_text(attributes: str) -> str:
    """Return `aj_barrier_end(context, state, site)`: a wave has ended, and no longer counts at the
    workgroup's barrier.

    A wave that has signalled it and ends before it completes would count once too often (LLVM,
    "Barrier drop races").
    """
    f = _Operation("aj_barrier_end", "void", ("ptr", "state"), ("i32", "site"))
    f.alone()
    row = f.barrier(i32(0))
    own = f.compare("eq", f.kept(SIGNALLED_SLOT), f.phase(row))
    f.misused(own, BarrierMisuse.ENDED_SIGNALLED, i32(-1))
    left, signals = f.sub(f.get(row, _MEMBERS), i64(1)), f.get(row, _SIGNALS)
    f.put(row, _MEMBERS, left)
    full = f.and_(f.compare("eq", signals, left), f.compare("ne", signals, i64(0)))
    f.branch_if(full, "complete", "done")
    f.label("complete")
    f.complete_own(row)
    f.branch("done")
    f.label("done")
    f.give()
    return f.text(attributes)


BARRIERS: Mapping[str, Callable[[str], str]] = {
    "aj_barrier_complete": _complete_text,
    "aj_barrier_arrive": _arrive_text,
    "aj_barrier_signal": _signal_text,
    "aj_barrier_init": _init_text,
    "aj_barrier_join": _join_text,
    "aj_barrier_leave": _leave_text,
    "aj_barrier_wait": _wait_text,
    "aj_barrier_state": _state_text,
    "aj_barrier_end": _end_text,
}
