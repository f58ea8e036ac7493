"""Experiments: launches on a device, and the figure that follows from their times."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from amdjit.diagnostics.errors import LaunchError
from amdjit.probe.case import Measurement
from amdjit.runtime.device import Device
from amdjit.runtime.streams import Event

__all__ = [
    "Effort",
    "Experiment",
    "Figure",
    "Laboratory",
    "Launch",
    "median_of",
    "seconds_of",
    "spread_of",
]


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


# Run experiments on a device.
#
# Figures in cycles do not depend on the clock: with each sample, the seconds of a cycle are
# measured by a kernel of known length. The time of launching, of starting and of the loop cancels
# out, because figures are differences between two launches.


_WARM_SECONDS = 20e-3
# The fewest samples whose quartiles are meaningful, and the distance between the quartiles of a
# normal distribution.
_FEWEST, _NORMAL_QUARTILES = 4, 1.349


def seconds_of(launch: Launch, device: Device) -> float:
    """Return the seconds that a launch takes on the device, by its events."""
    start, end = Event(device), Event(device)
    start.record()
    launch()
    end.record()
    end.synchronize()
    return start.elapsed_milliseconds(end) / 1e3


@dataclass(frozen=True)
class Laboratory:
    """Makes experiments on a device."""

    device: Device
    effort: Effort
    reference: Experiment
    """An experiment of known cycles. Its figure, computed at 1 Hz, is the seconds of a cycle."""
    clocks: list[float] = field(default_factory=list)
    """The clocks measured so far, in Hz."""

    def __post_init__(self) -> None:
        if self.device.name.startswith("emulator:"):
            raise LaunchError(
                f"{self.device.name}: an emulator's times say nothing of a processor: probe a GPU, "
                "or ask the cycle model with amdjit.profile()"
            )

    @cached_property
    def _reference(self) -> tuple[int, tuple[Launch, ...]]:
        count, launches = self._scaled(self.reference)
        passed = 0.0
        # Clocks rise only under load.
        while passed < _WARM_SECONDS and self.effort.seconds:
            passed += seconds_of(launches[-1], self.device)
        return count, launches

    def cycle(self) -> float:
        """Measure the seconds of a cycle of the shader clock now."""
        count, launches = self._reference
        cycle = self.reference.figure(count, self._seconds(launches), 1.0)
        if cycle <= 0:
            raise LaunchError(
                f"{self.device.name}: of two launches, the longer one takes less time: the device "
                "is busy with something else, or its events do not work"
            )
        self.clocks.append(1 / cycle)
        return cycle

    def samples(self, experiment: Experiment) -> tuple[float, ...]:
        """Make an experiment several times."""
        count, launches = self._scaled(experiment)
        found = []
        for _ in range(self.effort.samples):
            cycle = self.cycle()
            found.append(experiment.figure(count, self._seconds(launches), cycle))
        return tuple(found)

    def _scaled(self, experiment: Experiment) -> tuple[int, tuple[Launch, ...]]:
        """Return a sufficient number of repetitions, and the launches for it, which have run
        once."""
        count = experiment.repetitions
        while True:
            launches = experiment.launches(count)
            self._seconds(launches)
            longest = max(self._seconds(launches))
            if longest >= self.effort.seconds or count >= experiment.most:
                return count, launches
            factor = 2 * self.effort.seconds / max(longest, self.effort.seconds / 64)
            count = min(experiment.most, max(2 * count, int(count * factor / 2)))

    def _seconds(self, launches: Sequence[Launch]) -> tuple[float, ...]:
        return tuple(seconds_of(launch, self.device) for launch in launches)


def spread_of(measurement: Measurement) -> float:
    """Return the spread of a measurement: the standard deviation that its quartiles suggest, and at
    least a thousandth of the figure, because clocks and events are not more precise."""
    samples = measurement.samples
    least = 1e-3 * abs(measurement.value)
    if len(samples) < _FEWEST:
        return max(least, max(samples) - min(samples)) if samples else least
    low, _, high = statistics.quantiles(samples, n=4)
    return max(least, (high - low) / _NORMAL_QUARTILES)


def median_of(
    name: str,
    unit: str,
    samples: Sequence[float],
    parameter: str = "",
    expected: float | None = None,
) -> Measurement:
    """Return a measurement with these samples."""
    return Measurement(
        name,
        statistics.median(samples),
        unit=unit,
        samples=tuple(samples),
        parameter=parameter,
        expected=expected,
    )
