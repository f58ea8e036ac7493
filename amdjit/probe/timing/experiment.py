"""Experiments: launches, and the figure that follows from their times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Effort", "Experiment", "Figure", "Launch"]

Launch = Callable[[], object]
"""Launches on the current device."""

Figure = Callable[[int, Sequence[float], float], float]
"""Computes the figure from the repetitions, the seconds of each launch, and the seconds of a cycle
of the shader clock."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How accurately to measure."""

    seconds: float = 2e-3
    """The least seconds of the longest launch of an experiment."""
    samples: int = 9
    """How many samples each figure has."""


@dataclass(frozen=True)
class Experiment:
    """A figure that can be measured on a device and predicted by the cycle model."""

    name: str
    """As in `case.Measurement`."""
    unit: str
    """As in `case.Measurement`."""
    parameter: str
    """As in `case.Measurement`."""
    launches: Callable[[int], tuple[Launch, ...]]
    """Makes a launch on the current device for each number of repetitions, the largest number
    last."""
    figure: Figure
    """Computes the figure from the times of the launches."""
    repetitions: int = 64
    """The smallest number of repetitions, with which the cycle model is asked."""
    most: int = 1 << 22
    """The largest number of repetitions."""
    is_predicted: bool = True
    """Whether the cycle model is asked."""
    lines: int | None = None
    """The number of cache lines that are used in total; None for those that one launch touches."""
    part: Callable[[], Launch] | None = None
    """Makes a launch of a few workgroups that represent the `workgroups` of the only launch, which
    is too large for the emulator."""
    workgroups: int | None = None


def per_step(steps: int) -> Figure:
    """Return the figure of two launches, of which the longer one does `steps` more steps in each
    repetition: the cycles of a step."""

    def figure(repetitions: int, seconds: Sequence[float], cycle: float) -> float:
        short, long = seconds
        return (long - short) / (repetitions * steps) / cycle

    return figure
