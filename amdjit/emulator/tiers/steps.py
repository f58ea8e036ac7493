"""Where a stepped launch can stop: before each instruction of a threaded program.

A record before each instruction calls `aj_step`, which counts, notes what somebody waits for, and
makes the wave leave where the launch is to stop. The wave goes on from there under the id of that
instruction.
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.record import Record, WaveState
from amdjit.emulator.layout import (
    DWORD_BYTES,
    STEP_LINE_SLOT,
    STEP_PATIENCE_SLOT,
    Context,
    Field,
    Launch,
)
from amdjit.emulator.tiers.operations import PATIENCE_OFFSET

__all__ = [
    "ANY_WAVE",
    "EVENT_ROW",
    "EVENT_ROWS",
    "STEP",
    "Event",
    "Flag",
    "Mode",
    "Steps",
    "has_mode",
    "is_focus",
    "note_event",
]


class Steps(Field):
    """What a stepped launch counts and waits for."""

    COUNT = 0, "i64", "instructions"  # that have begun, of all waves: the time of the launch
    LIMIT = 1, "i64", "instructions"  # the time at which it stops
    MODE = 2  # bits of `Mode`
    # The wave whose instructions are events: its slot times the waves of a workgroup, and its
    # number; or ANY_WAVE.
    FOCUS = 3
    LINES = 4, "ptr"  # the number of each instruction's line, i32; 0 if it has none
    FLAGS = 5, "ptr"  # a byte for each instruction: a `Flag`
    EVENTS = 6, "ptr"  # EVENT_ROWS rows of `Event`
    EVENT_COUNT = 7, "i64", "events"  # so far; the last EVENT_ROWS of them are kept
    # The memory whose writes are events: its first address and one past its last, which is 0 if
    # there is none; and the slot of the workgroup, for LDS and private memory.
    WATCH_FIRST = 8, "i64", "address"
    WATCH_END = 9, "i64", "address"
    WATCH_SLOT = 10
    # The time of the instruction that is no event: the one before which the launch is stopped now.
    SKIPPED = 11, "i64", "instructions"
    FIELDS = 12


class Event(Field):
    """Something that was waited for."""

    TIME = 0, "i64", "instructions"
    LANES = 1  # of a write: the lanes of the half, shifted by 32 for the upper one
    FIELDS = 2


ANY_WAVE = -1
EVENT_ROW = int(Event.FIELDS)
EVENT_ROWS = 4096


class Flag:
    """When the execution of an instruction is an event: always, or if the wave comes from another
    line. 0 is never."""

    ALWAYS = 1
    AT_NEW_LINE = 2


class Mode:
    """Bits of `Steps.MODE`. EACH_LINE, EACH_INSTRUCTION: the focus' next one is an event. STOPS:
    the launch stops at an event."""

    EACH_LINE = 1
    EACH_INSTRUCTION = 2
    STOPS = 4


STEP = declare("aj_step", "i32", context="ptr", state="ptr", frame="ptr", number="i32")


def note_event(f: NativeFunction, steps: Record, lanes: Value, time: Value) -> None:
    """Add a row to the events."""
    count = steps.get(Steps.EVENT_COUNT)
    place = f.and_(count, i64(EVENT_ROWS - 1))
    row = steps.follow(Steps.EVENTS).row(place, EVENT_ROW)
    row.set(Event.TIME, time)
    row.set(Event.LANES, lanes)
    steps.set(Steps.EVENT_COUNT, f.add(count, i64(1)))


def has_mode(f: NativeFunction, steps: Record, bits: int) -> Value:
    """Return whether a bit of the mode is set."""
    return f.compare("ne", f.and_(steps.get(Steps.MODE), i64(bits)), i64(0))


def step_text(attributes: str) -> str:
    """Return `aj_step`: whether the wave has to stop before the instruction of that number.

    It is an event only when the instruction is about to be executed, and not where the wave is
    stopped because its time is over: another one may run first.
    """
    f = NativeFunction.of(STEP)
    steps = f.thread.follow(Context.STEPS)
    state = WaveState(f, f.parameter("state"))
    patience = f.offset(f.parameter("frame"), PATIENCE_OFFSET)
    number = f.resize(f.parameter("number"), 64)
    line_at = f.offset(steps.get(Steps.LINES), f.shift("shl", number, 2))
    line = f.load("i32", line_at, DWORD_BYTES)
    kept = state.get(STEP_PATIENCE_SLOT)
    with f.if_(f.compare("ne", kept, i32(0))):
        f.store(kept, patience, DWORD_BYTES)
        state.set(STEP_PATIENCE_SLOT, i32(0))
    time = steps.get(Steps.COUNT)
    stops = f.variable(f.compare("sge", time, steps.get(Steps.LIMIT)))
    with f.unless(stops.get()):
        is_wanted = f.and_(is_focus(f, steps), _is_wanted(f, steps, state, number, line))
        with f.if_(f.and_(is_wanted, f.compare("ne", time, steps.get(Steps.SKIPPED)))):
            note_event(f, steps, i64(0), time)
            stops.set(has_mode(f, steps, Mode.STOPS))
    with f.if_(stops.get()):
        state.set(STEP_PATIENCE_SLOT, f.load("i32", patience, DWORD_BYTES))
        f.give(i32(1))
    with f.if_(f.compare("ne", line, i32(0))):
        state.set(STEP_LINE_SLOT, line)
    steps.set(Steps.COUNT, f.add(time, i64(1)))
    f.give(i32(0))
    return f.text(attributes)


def is_focus(f: NativeFunction, steps: Record) -> Value:
    """Return whether the wave that runs is the one whose instructions are events."""
    waves = f.thread.follow(Context.LAUNCH).get(Launch.WAVES)
    wave = f.add(f.mul(f.thread.get(Context.SLOT), waves), f.thread.get(Context.WAVE))
    focus = steps.get(Steps.FOCUS)
    return f.or_(f.compare("eq", focus, i64(ANY_WAVE)), f.compare("eq", focus, wave))


def _is_wanted(
    f: NativeFunction, steps: Record, state: WaveState, number: Value, line: Value
) -> Value:
    """Return whether an instruction is an event for the wave in focus."""
    is_new = f.and_(f.compare("ne", line, i32(0)), f.compare("ne", line, state.get(STEP_LINE_SLOT)))
    at_line = f.and_(is_new, has_mode(f, steps, Mode.EACH_LINE))
    flag = f.load("i8", f.offset(steps.get(Steps.FLAGS), number), 1)
    begins = f.and_(is_new, f.compare("eq", flag, Value("i8", str(Flag.AT_NEW_LINE))))
    is_marked = f.or_(begins, f.compare("eq", flag, Value("i8", str(Flag.ALWAYS))))
    return f.or_(f.or_(at_line, is_marked), has_mode(f, steps, Mode.EACH_INSTRUCTION))
