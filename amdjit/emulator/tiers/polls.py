"""What a wave does in each iteration of a loop: it counts instructions, and from time to time
yields."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.emulator.host.blocks import Weights
from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import DWORD_BYTES, Context
from amdjit.emulator.scheduling.fault_record import TICK
from amdjit.emulator.wave.frame import CONTEXT, Frame

# Iterations of a loop that may wait for another wave, after which other waves run.
PATIENCE = 128
# The budget is seldom spent: values in registers need not make room for that call.
_SELDOM: Weights = (1, 1_000_000)


def take_from_budget(frame: Frame, cost: Value, site: Value, stop: Callable[[], None]) -> None:
    """Subtract a loop's instructions from the budget; when it is used up, `stop` if the launch has
    stopped."""
    b = frame.builder
    context = Record(b, CONTEXT)
    left = b.sub(context.get(Context.BUDGET), cost)
    context.set(Context.BUDGET, left)
    with b.if_(b.compare("slt", left, constant("i64", 0)), _SELDOM):
        stops = frame.native(TICK.name, TICK.result, [CONTEXT, site])
        with b.if_(b.compare("ne", stops, constant("i32", 0)), _SELDOM):
            stop()


def yield_when_spinning(b: Builder, patience: Value, yield_to_others: Callable[[], None]) -> None:
    """Yield to the group's other waves every `PATIENCE` rounds: one of them may have to end this
    loop."""
    left = b.sub(b.load("i32", patience, DWORD_BYTES), constant("i32", 1))
    is_lost = b.compare("eq", left, constant("i32", 0))
    b.store(b.select(is_lost, constant("i32", PATIENCE), left), patience, DWORD_BYTES)
    with b.if_(is_lost):
        yield_to_others()
