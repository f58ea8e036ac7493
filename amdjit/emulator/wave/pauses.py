"""Where a wave gives way to others, at barriers and in loops, and where its instructions are
counted."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.host.builder import Value


@dataclass(frozen=True, slots=True)
class Pause:
    """A place to resume from; `after` is its pc. polls: it is in a loop that may wait for another
    wave. yields: it gives way in such a loop, or sleeps. flags: what its result contains besides
    the number."""

    number: int
    after: int
    yields: bool
    polls: bool = False
    flags: int = 0


@dataclass(frozen=True, slots=True)
class Poll:
    """A count of instructions on the way back to `target`; `goal` is the label that follows. cost:
    the number of instructions."""

    label: str
    goal: str
    target: int
    site: Value
    cost: int
