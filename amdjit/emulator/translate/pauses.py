"""Where a wave gives its processor away: at barriers and in loops, and where it looks whether the launch is stopped."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.ir import Value


@dataclass(frozen=True, slots=True)
class Pause:
    """A place to resume from: `after` is its pc. polls: gives way in a loop that may wait for another wave. yields: it
    does, or sleeps. flags: what its result says beside the number."""

    number: int
    after: int
    yields: bool
    polls: bool = False
    flags: int = 0


@dataclass(frozen=True, slots=True)
class Poll:
    """A look at the stop flag on the way back to `target`; `goal` is the label that comes next."""

    label: str
    goal: str
    target: int
    site: Value
