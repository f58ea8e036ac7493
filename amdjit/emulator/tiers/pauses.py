"""Where a wave yields to others, at barriers and in loops, and where its instructions are counted:
what it does in each iteration of a loop."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.emulator.host.blocks import Weights
from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import DWORD_BYTES, WAVE_WAITS, WAVE_YIELDED, Context
from amdjit.emulator.scheduling.fault_record import TICK
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.late_methods import dataclass

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


# Where a wave yields to others, at barriers and in loops, and where its instructions are counted.


@dataclass(frozen=True, slots=True)
class Pause:
    """A place to resume from; `after` is its pc. polls: it is in a loop that may wait for another
    wave. yields: it polls in such a loop, or sleeps. flags: what its result contains besides
    the number."""

    number: int
    after: int
    yields: bool
    polls: bool = False
    flags: int = 0

    @property
    def result(self) -> int:
        """What the wave function returns. A wave that polls waits only if nothing has changed since
        it last gave way there."""
        if self.polls:
            return self.number | WAVE_YIELDED
        return self.number | self.flags | (WAVE_YIELDED | WAVE_WAITS if self.yields else 0)


@dataclass(frozen=True, slots=True)
class Poll:
    """A count of instructions at a jump back to `target`.

    label: of the place that counts. site: its number, None at a jump that knows it at run time.
    cost: the instructions. pause: where the wave yields after many rounds, None in loops that
    wait for nobody.
    """

    label: str
    target: int
    site: int | None
    cost: int
    pause: Pause | None
