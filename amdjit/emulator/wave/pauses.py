"""Where a wave yields to others, at barriers and in loops, and where its instructions are
counted."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.layout import WAVE_WAITS, WAVE_YIELDED


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
