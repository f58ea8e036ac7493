"""Run experiments on a device.

Figures in cycles do not depend on the clock: the seconds of a cycle are measured beside each
sample, with a kernel of known length. Launches, loops and their start cancel out, because figures
are differences of two launches.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from amdjit.diagnostics.errors import LaunchError
from amdjit.probe.case import Measurement
from amdjit.probe.timing.experiment import Effort, Experiment, Launch
from amdjit.runtime.device import Device
from amdjit.runtime.streams import Event

__all__ = ["Laboratory", "median_of", "seconds_of", "spread_of"]

_WARM_SECONDS = 20e-3
# Samples of which quartiles say something, and how far those of a normal distribution are apart.
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
    """Where experiments are made. reference: an experiment of known cycles, whose figure is taken
    at 1 Hz: the seconds of a cycle. clocks: those seen so far, in Hz."""

    device: Device
    effort: Effort
    reference: Experiment
    clocks: list[float] = field(default_factory=list)

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
        # Clocks rise when there is work.
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
        """Return how many repetitions are long enough, and their launches, which have run."""
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
    least a thousandth of it, below which clocks and events tell nothing."""
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
    """Return a measurement of these samples."""
    return Measurement(name, statistics.median(samples), unit, tuple(samples), parameter, expected)
