"""What is measured: launches, and the figure that follows from the times that they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Effort", "Experiment", "Figure", "Launch"]

Launch = Callable[[], object]
"""Launches on the current device."""

Figure = Callable[[int, Sequence[float], float], float]
"""From repetitions, the seconds of each launch, and those of a cycle of the shader clock."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to measure. seconds: of the longest launch of an experiment at least. samples: of
    each figure."""

    seconds: float = 2e-3
    samples: int = 9


@dataclass(frozen=True)
class Experiment:
    """A figure that a device and the cycle model both have."""

    name: str
    """As in `case.Measurement`."""
    unit: str
    """As in `case.Measurement`."""
    parameter: str
    """As in `case.Measurement`."""
    launches: Callable[[int], tuple[Launch, ...]]
    """Launches with each number of repetitions, the largest one last, on the current device."""
    figure: Figure
    """Computes the figure from the times of the launches."""
    repetitions: int = 64
    """The fewest, and those with which the cycle model is asked."""
    most: int = 1 << 22
    """The most."""
    is_predicted: bool = True
    """Whether the model is asked."""
    lines: int | None = None
    """Cache lines that are in use in all, None for those that a launch touches."""
    part: Callable[[], Launch] | None = None
    """Makes a launch of a few workgroups that stand for the `workgroups` of the only launch, which
    is too large for the emulator."""
    workgroups: int | None = None


def per_step(steps: int) -> Figure:
    """Return the figure of two launches of which the longer one does `steps` steps more in each
    repetition: the cycles of a step."""

    def figure(repetitions: int, seconds: Sequence[float], cycle: float) -> float:
        short, long = seconds
        return (long - short) / (repetitions * steps) / cycle

    return figure
