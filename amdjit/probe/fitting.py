"""Finds parameters of the cycle model from measurements, by least squares over all figures that the
model predicts.

    measurements of a record      name, value, spread
      -> predictions              the same kernels, recorded on the emulator
      -> solved                   the parameters that deviating measurements name (least squares)
      -> Fit                      each parameter: measured, the model's, whether they agree
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.chip import CHIP_VALUES, Chip, chip_of
from amdjit.cycles.families import family_of
from amdjit.cycles.memory_parameters import MEMORY_PARAMETERS
from amdjit.cycles.parameter_file import ParameterFile, least_and_most
from amdjit.probe.case import Measurement
from amdjit.probe.outcome import Record
from amdjit.probe.timing.batches import Prediction, experiments, predict
from amdjit.probe.timing.experiment import Experiment, spread_of
from amdjit.target import Target, read_target

__all__ = [
    "Deviation",
    "Fit",
    "FittedParameter",
    "deviates",
    "deviating",
    "fit",
    "fit_measurements",
]

_CLOCK = "clock"
# A deviation is larger than the spread allows, and larger than the difference between a loop of 64
# iterations and one of thousands.
_SPREADS, _SHARE = 3.0, 0.01


@dataclass(frozen=True, slots=True)
class Deviation:
    """A measurement that differs from what the cycle model expects."""

    measurement: Measurement
    expected: float

    def __str__(self) -> str:
        found = self.measurement
        about = f" ({found.parameter})" if found.parameter else ""
        return (
            f"{found.name}{about}: {found.value:.4g} {found.unit}, the cycle model expects "
            f"{self.expected:.4g}"
        )


@dataclass(frozen=True, slots=True)
class FittedParameter:
    """A parameter that measurements are about."""

    name: str
    model: float
    """The cycle model's value."""
    value: float
    """The value that follows from the measurements, plus or minus `spread`."""
    spread: float
    measurements: tuple[str, ...]
    """The names of the measurements that determine it."""
    is_used: bool = True
    """Whether the model's figures depend on it."""

    @property
    def agrees(self) -> bool:
        """Whether the model's value is within the spread of the measured one."""
        return abs(self.value - self.model) <= self.spread


@dataclass(frozen=True)
class Fit:
    """What measurements say about the cycle model's parameters."""

    target: str
    parameters: tuple[FittedParameter, ...]
    unexplained: tuple[Deviation, ...]
    """Measurements that deviate with any values of the parameters."""
    unknown: tuple[str, ...] = ()
    """Names of measurements that this version does not make."""

    @property
    def file(self) -> ParameterFile:
        """The parameters in the form in which the cycle model reads them from
        AMDJIT_CYCLE_PARAMETERS."""
        values = {each.name: each.value for each in self.parameters if each.is_used}
        return ParameterFile(self.target, values)

    def write(self, path: Path) -> None:
        """Write the parameters to a file; OSError if it cannot be written."""
        path.write_text(self.file.json_text(), encoding="utf-8")

    def text(self) -> str:
        """Return a line for each parameter, and what the parameters do not explain."""
        width = max((len(each.name) for each in self.parameters), default=0)
        lines = [_line(each, width) for each in self.parameters]
        if self.unexplained:
            lines += ["", "No values of the parameters explain:"]
            lines += [f"  {each}" for each in self.unexplained]
        if self.unknown:
            lines += ["", f"Not measurements of this version: {', '.join(self.unknown)}"]
        return "\n".join(lines)


def _line(found: FittedParameter, width: int) -> str:
    verdict = "agrees" if found.agrees else "DIFFERS"
    if not found.is_used:
        verdict = "not used by the model"
    return (
        f"{found.name:{width}}  model {found.model:<10.4g} measured {found.value:<10.4g} "
        f"± {found.spread:<8.2g} {verdict}"
    )


def deviates(measurement: Measurement, expected: float) -> bool:
    """Return whether a figure differs from what is expected by more than its spread allows."""
    tolerance = max(_SPREADS * spread_of(measurement), _SHARE * abs(expected))
    return abs(measurement.value - expected) > tolerance


def deviating(measurements: Iterable[Measurement]) -> tuple[Deviation, ...]:
    """Return the measurements that differ from what the cycle model expected when they were
    made."""
    return tuple(
        Deviation(each, each.expected)
        for each in measurements
        if each.expected is not None and deviates(each, each.expected)
    )


def fit(record: Record) -> Fit:
    """Return what the measurements of a run of the probe say about the cycle model's parameters. It
    raises what `fit_measurements` raises."""
    return fit_measurements(record.measurements(), read_target(record.facts.target))


def fit_measurements(
    measurements: Iterable[Measurement],
    target: Target,
    values: Mapping[str, float] | None = None,
    chip: Chip | None = None,
) -> Fit:
    """Return what measurements of a processor say about the cycle model's parameters.

    values: the parameters from which the search begins, by name; None: the table's. chip: whose
    sizes the measured arrays have, by default that of the cycle model. NoEstimate if the model does
    not know the processor.
    """
    chosen = chip_of(target) if chip is None else chip
    known = {each.name: each for each in experiments(target, chosen)}
    given = list(measurements)
    before = {**{name: float(getattr(chosen, field)) for name, field in CHIP_VALUES.items()}}
    before |= family_of(target).values if values is None else values
    clock = _clock(given, before)
    start = before if clock is None else {**before, _CLOCK: clock.value}
    observations = _observations(given, target, known)
    found = solved(observations, start, deviates)
    parameters = tuple(_parameters(observations, before, found))
    return Fit(
        target.name,
        parameters if clock is None else (*parameters, clock),
        tuple(
            Deviation(observation.measurement, observation.prediction.value(found.values))
            for observation in observations
            if deviates(observation.measurement, observation.prediction.value(found.values))
        ),
        tuple(each.name for each in given if each.name not in known and each.parameter != _CLOCK),
    )


def _clock(
    measurements: Sequence[Measurement], before: Mapping[str, float]
) -> FittedParameter | None:
    """Return the measured clock."""
    found = [each for each in measurements if each.parameter == _CLOCK]
    if not found:
        return None
    value = statistics.median(each.value for each in found)
    spread = max(spread_of(each) for each in found)
    return FittedParameter(
        _CLOCK, before[_CLOCK], value, _SPREADS * spread, tuple(each.name for each in found)
    )


def _observations(
    measurements: Sequence[Measurement], target: Target, known: Mapping[str, Experiment]
) -> list[Observation]:
    """Return the measurements that the model predicts, with the predictions."""
    found = []
    for each in measurements:
        experiment = known.get(each.name)
        prediction = None if experiment is None else predict(experiment, target)
        if prediction is not None:
            found.append(Observation(each, prediction))
    return found


def _parameters(
    observations: Sequence[Observation], before: Mapping[str, float], solution: Solution
) -> Iterator[FittedParameter]:
    """Yield the parameters that the measurements depend on."""
    for name in dict.fromkeys(observation.measurement.parameter for observation in observations):
        if name:
            about = [
                each.measurement for each in observations if each.measurement.parameter == name
            ]
            yield FittedParameter(
                name,
                before[name],
                value=solution.values[name],
                spread=solution.spreads.get(name, 0.0),
                measurements=tuple(each.name for each in about),
                is_used=name not in solution.unused,
            )


# Gauss-Newton steps. Most parameters are whole numbers, and derivatives are differences between
# simulations.

_MOST_STEPS = 12
# The step for a derivative: whole cycles, or a fraction of a value that need not be whole.
_CYCLES, _LEAST_SQUARES_SHARE = 1.0, 0.02
_HALVINGS = 4
_AT_ONCE = 4.0

Floats = NDArray[np.float64]
Values = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Observation:
    """A measurement with the model's prediction of it."""

    measurement: Measurement
    prediction: Prediction


@dataclass(frozen=True)
class Solution:
    """Values of all parameters, the spreads of those that were fitted, and the names of those on
    which no figure depends."""

    values: Values
    spreads: Mapping[str, float]
    unused: frozenset[str]


def solved(
    observations: Sequence[Observation],
    start: Values,
    deviates: Callable[[Measurement, float], bool],
) -> Solution:
    """Return the values that explain the measurements best.

    Only parameters that a deviating measurement names are changed, but all measurements decide
    about their values.
    """
    names = sorted(
        {
            observation.measurement.parameter
            for observation in observations
            if observation.measurement.parameter
            and deviates(observation.measurement, observation.prediction.value(start))
        }
    )
    if not names:
        return Solution(start, {}, frozenset())
    search = _Search(observations, names, _spreads(observations))
    return search.solution(start)


def _spreads(observations: Sequence[Observation]) -> Floats:
    return np.array([spread_of(observation.measurement) for observation in observations])


@dataclass(frozen=True, eq=False)
class _Search:
    """A search for the values of the parameters `names`."""

    observations: Sequence[Observation]
    names: Sequence[str]
    spreads: Floats

    def solution(self, values: Values) -> Solution:
        """Return the best values that are found when starting from these."""
        start = values
        residuals = self._residuals(values)
        slopes = self._slopes(values, residuals, None)
        touched = slopes != 0
        for _ in range(_MOST_STEPS):
            better = self._step(values, residuals, slopes)
            if better is None:
                break
            values, residuals = better
            slopes = self._slopes(values, residuals, touched)
        values = self._without_needless(values, start, residuals)
        used = touched.any(axis=0)
        return Solution(
            values,
            {name: self._spread(slopes, place) for place, name in enumerate(self.names)},
            frozenset(name for name, is_used in zip(self.names, used, strict=True) if not is_used),
        )

    def _residuals(self, values: Values) -> Floats:
        return np.array([self._residual(place, values) for place in range(len(self.observations))])

    def _residual(self, place: int, values: Values) -> float:
        observation = self.observations[place]
        figure = observation.measurement.value - observation.prediction.value(values)
        return figure / float(self.spreads[place])

    def _slopes(
        self, values: Values, residuals: Floats, touched: NDArray[np.bool_] | None
    ) -> Floats:
        """Return how much each measurement changes, in its spreads, if each parameter grows by one.
        touched: the pairs that may be other than 0; None if that is not known."""
        slopes = np.zeros((len(self.observations), len(self.names)))
        for column, name in enumerate(self.names):
            size = _difference(name, values[name])
            more = {**values, name: values[name] + size}
            for row in range(len(self.observations)):
                if touched is None or touched[row, column]:
                    slopes[row, column] = (residuals[row] - self._residual(row, more)) / size
        return slopes

    def _without_needless(self, values: Values, start: Values, residuals: Floats) -> Values:
        """Return the values after undoing each change without which the measurements are explained
        just as well."""
        least = residuals @ residuals
        for name in self.names:
            back = {**values, name: start[name]}
            if back != values:
                left = self._residuals(back)
                if left @ left <= least * 1.01 + 1e-3:
                    values = back
        return values

    def _step(
        self, values: Values, residuals: Floats, slopes: Floats
    ) -> tuple[Values, Floats] | None:
        """Return better values and their residuals; None if there are none in this direction."""
        scale = np.maximum(1e-12, np.abs(slopes).max(axis=0))
        change = np.linalg.lstsq(slopes / scale, residuals, rcond=1e-6)[0] / scale
        tried = [change / 2**power for power in range(_HALVINGS)]
        # Rounding may hide a step, so each parameter alone is changed by one.
        tried += list(np.sign(change)[:, None] * np.diag([1.0] * len(change)))
        for each in tried:
            found = {
                name: _allowed(name, values[name], float(part))
                for name, part in zip(self.names, each, strict=True)
            }
            after = {**values, **found}
            if after == values:
                continue
            left = self._residuals(after)
            if left @ left < (residuals @ residuals) * (1 - 1e-6):
                return after, left
        return None

    def _spread(self, slopes: Floats, place: int) -> float:
        """Return the spread of a parameter that follows from the spreads of the measurements; at
        least a half for whole numbers."""
        weight = float(slopes[:, place] @ slopes[:, place])
        least = 0.5 if _is_whole(self.names[place]) else 0.0
        return max(least, 1 / weight**0.5) if weight else 0.0


def _is_whole(name: str) -> bool:
    """Return whether the model rounds a parameter to whole cycles, instructions or bytes."""
    row = MEMORY_PARAMETERS.get(name)
    return name not in CHIP_VALUES and (row is None or row.unit == "bytes")


def _difference(name: str, value: float) -> float:
    return _CYCLES if _is_whole(name) else max(1.0, _LEAST_SQUARES_SHARE * abs(value))


def _allowed(name: str, value: float, change: float) -> float:
    """Return a changed value that the model can use. It is at most a few times as large or as small
    as before, because a slope is meaningless where a figure hardly depends on a parameter."""
    least, most = least_and_most(name)
    least = max(least, value / _AT_ONCE) if value > 0 else least
    most = min(most, max(value * _AT_ONCE, value + _AT_ONCE))
    bounded = min(most, max(least, value + change))
    return float(round(bounded)) if _is_whole(name) else bounded
