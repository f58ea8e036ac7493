"""Cycles with their causes, and the order in which waves issue, as host code."""

from __future__ import annotations

from amdjit.cycles.engine.layout import CAUSE_BITS, NUMBER_BITS, SLOT_BITS
from amdjit.cycles.estimate import STALLS
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.host.function import i64

__all__ = ["CAUSES", "cause_of", "cycle_of", "greater", "key", "ready", "ready_at"]

# "issue": the wave waits for its own last instruction. Of two causes that end in the same cycle the
# last one counts, so that the order is part of the model.
CAUSES = tuple(sorted(("issue", *STALLS)))
_RANKS = {cause: rank for rank, cause in enumerate(CAUSES)}
assert len(CAUSES) <= 1 << CAUSE_BITS


def greater(b: Builder, *values: Value) -> Value:
    """Return the greatest of signed integers."""
    result, *others = values
    for other in others:
        result = b.select(b.compare("sgt", other, result), other, result)
    return result


def ready_at(cycle: int, cause: str) -> int:
    """Return a known cycle and its cause as one number: the greater one of two such is later."""
    return (cycle << CAUSE_BITS) + _RANKS[cause]


def ready(b: Builder, cycle: Value, cause: str) -> Value:
    """Return a cycle and its cause as one number."""
    return b.or_(b.shift("shl", cycle, CAUSE_BITS), i64(_RANKS[cause]))


def cycle_of(b: Builder, value: Value) -> Value:
    """Return the cycle of such a number."""
    return b.shift("ashr", value, CAUSE_BITS)


def cause_of(b: Builder, value: Value) -> Value:
    """Return the cause of such a number, as its place in `CAUSES`."""
    return b.mask(value, CAUSE_BITS)


def key(b: Builder, cycle: Value, number: Value, slot: Value) -> Value:
    """Return what puts waves in order: the cycle, then the number of the wave; with its slot."""
    high = b.or_(b.shift("shl", cycle, NUMBER_BITS), number)
    return b.or_(b.shift("shl", high, SLOT_BITS), slot)
