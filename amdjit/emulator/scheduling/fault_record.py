"""Recording of the first fault, and how a wave learns that its launch has stopped."""

from __future__ import annotations

from amdjit.emulator.host.builder import NULL, Value
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import (
    TICK_INSTRUCTIONS,
    Context,
    Fault,
    FaultKind,
    Launch,
    Stop,
)
from amdjit.emulator.scheduling.report_rows import REPORT, lane_of_wave

# Faults that are one access of a lane, which is left out.
ACCESS_FAULTS = (
    FaultKind.GLOBAL_LOAD,
    FaultKind.GLOBAL_STORE,
    FaultKind.LDS,
    FaultKind.SCRATCH,
    FaultKind.SCALAR_LOAD,
    FaultKind.MISALIGNED,
)

FAULT = declare(
    "aj_fault", context="ptr", kind="i32", site="i32", lane="i64", address="i64", size="i32"
)
REFUSE_MODE = declare("aj_refuse_mode", context="ptr", site="i32", wrong="i32")
REQUIRE_LANES = declare("aj_require_lanes", context="ptr", site="i32", low="i32", high="i32")
STOPPED = declare("aj_stopped", context="ptr", site="i32")
TICK = declare("aj_tick", "i32", context="ptr", site="i32")

_PLACES = (
    (Context.GROUP_X, Fault.GROUP_X),
    (Context.GROUP_Y, Fault.GROUP_Y),
    (Context.GROUP_Z, Fault.GROUP_Z),
    (Context.WAVE, Fault.WAVE),
    (Context.OFFSET_BASE, Fault.BASE),
    (Context.THREAD, Fault.THREAD),
    (Context.SLOT, Fault.SLOT),
)


def fault(f: NativeFunction, kind: FaultKind, site: Value) -> None:
    """Fault of a whole wave: no lane, no address."""
    f.invoke(FAULT, f.parameter("context"), i32(kind), site, i64(-1), i64(0), i32(0))


def fault_text(attributes: str) -> str:
    """Return `aj_fault`: the first caller of a launch fills the record; all callers stop the
    launch.

    `lane` counts in the half of the wave that the context is for; -1 is no lane. Where the memory
    check is on, a wrong access becomes a report, and the launch goes on.
    """
    f = NativeFunction.of(FAULT)
    launch = f.thread.follow(Context.LAUNCH)
    is_checked = f.compare("ne", launch.get(Launch.SANITIZER), NULL)
    # The kinds that are accesses are no range.
    with f.if_(is_checked), f.if_any_of(f.parameter("kind"), ACCESS_FAULTS):
        f.invoke(REPORT, *f.parameters, NULL)
        f.give()
    record = launch.follow(Launch.FAULT)
    _, is_first = f.compare_exchange(record.at(Fault.CLAIMED), i64(0), i64(1))
    with f.if_(is_first):
        _fill(f, record)
    f.compare_exchange(launch.at(Launch.STOP), i64(Stop.RUN), i64(Stop.FAULT))
    f.thread.set(Context.BUDGET, i64(0))
    f.give()
    return f.text(f"noinline cold {attributes}")


def _fill(f: NativeFunction, record: Record) -> None:
    """Write where the fault was, from the context, and what it was."""
    for source, target in _PLACES:
        record.set(target, f.thread.get(source))
    record.set(Fault.KIND, f.resize(f.parameter("kind"), 64))
    record.set(Fault.SITE, f.resize(f.parameter("site"), 64))
    record.set(Fault.LANE, lane_of_wave(f))
    record.set(Fault.ADDRESS, f.parameter("address"))
    record.set(Fault.SIZE, f.resize(f.parameter("size"), 64))


def refuse_mode_text(attributes: str) -> str:
    """Return `aj_refuse_mode`: a fault if `wrong` is not 0, because a kernel sets a mode that the
    emulator does not have."""
    f = NativeFunction.of(REFUSE_MODE)
    with f.if_(f.compare("ne", f.parameter("wrong"), i32(0))):
        fault(f, FaultKind.MODE, f.parameter("site"))
    f.give()
    return f.text(attributes)


def require_lanes_text(attributes: str) -> str:
    """Return `aj_require_lanes`: a fault if both dwords of a wave's EXEC are neither all ones nor
    0."""
    f = NativeFunction.of(REQUIRE_LANES)
    low, high = f.parameter("low"), f.parameter("high")
    is_uniform = f.compare("ult", f.add(low, i32(1)), i32(2))
    with f.unless(f.and_(f.compare("eq", low, high), is_uniform)):
        fault(f, FaultKind.PARTIAL_WAVE, f.parameter("site"))
    f.give()
    return f.text(attributes)


def stopped_text(attributes: str) -> str:
    """Return `aj_stopped`: called when a wave sees the stop flag; a time limit becomes a fault of
    that site."""
    f = NativeFunction.of(STOPPED)
    flag = f.load_atomic("i64", f.thread.follow(Context.LAUNCH).at(Launch.STOP))
    with f.if_(f.compare("eq", flag, i64(Stop.TIME_LIMIT))):
        fault(f, FaultKind.TIME_LIMIT, f.parameter("site"))
    f.give()
    return f.text(f"noinline cold {attributes}")


def tick_text(attributes: str) -> str:
    """Return `aj_tick`: called when the budget is spent; whether the wave has to stop.

    It looks at the stop flag and, from time to time, lets the host's thread look at the clock and
    at signals.
    """
    f = NativeFunction.of(TICK)
    launch = f.thread.follow(Context.LAUNCH)
    f.thread.set(Context.BUDGET, i64(TICK_INSTRUCTIONS))
    left = f.sub(f.thread.get(Context.TICKS), i64(1))
    f.thread.set(Context.TICKS, left)
    callback = f.thread.get(Context.CALLBACK)
    is_due = f.and_(f.compare("slt", left, i64(0)), f.compare("ne", callback, NULL))
    with f.if_(is_due):
        ticks = f.call_pointer(callback, "i64", [])
        f.thread.set(Context.TICKS, ticks)
        with f.unless(f.compare("sgt", ticks, i64(0))):
            f.compare_exchange(launch.at(Launch.STOP), i64(Stop.RUN), i64(Stop.INTERRUPT))
    with f.if_(f.compare("ne", f.load_atomic("i64", launch.at(Launch.STOP)), i64(Stop.RUN))):
        f.invoke(STOPPED, f.parameter("context"), f.parameter("site"))
        f.give(i32(1))
    f.give(i32(0))
    return f.text(f"noinline cold {attributes}")
