"""Parameters of the cycle model from measurements: least squares over all figures that the model
predicts.

    measurements of a record      name, value, spread
      -> predictions              the same kernels, recorded on the emulator
      -> solved                   the parameters that deviating measurements name (`least_squares`)
      -> Fit                      each parameter: measured, the model's, whether they agree
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from amdjit.cycles.chip import CHIP_VALUES, Chip, chip_of
from amdjit.cycles.memory_parameters import VALUES
from amdjit.cycles.parameter_file import ParameterFile
from amdjit.probe.case import Measurement
from amdjit.probe.least_squares import Sight, Solution, solved
from amdjit.probe.outcome import Record
from amdjit.probe.timing.batches import experiments
from amdjit.probe.timing.experiment import Experiment
from amdjit.probe.timing.measuring import spread_of
from amdjit.probe.timing.prediction import predict
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
# What counts as a deviation: beyond the spread, and beyond what differs between a loop of 64
# iterations and one of thousands.
_SPREADS, _SHARE = 3.0, 0.01


@dataclass(frozen=True, slots=True)
class Deviation:
    """A measurement that is not what the cycle model expects."""

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
    """A parameter that measurements are about. model: the cycle model's value; value: what the
    measurements say, plus or minus `spread`. measurements: by name. is_used: whether the model's
    figures depend on it."""

    name: str
    model: float
    value: float
    spread: float
    measurements: tuple[str, ...]
    is_used: bool = True

    @property
    def agrees(self) -> bool:
        """Whether the model's value is within the spread of what was measured."""
        return abs(self.value - self.model) <= self.spread


@dataclass(frozen=True)
class Fit:
    """What measurements say of the cycle model's parameters.

    unexplained: measurements that deviate whatever the parameters are. unknown: names of
    measurements that this version does not make.
    """

    target: str
    parameters: tuple[FittedParameter, ...]
    unexplained: tuple[Deviation, ...]
    unknown: tuple[str, ...] = ()

    @property
    def file(self) -> ParameterFile:
        """The parameters as the cycle model reads them: AMDJIT_CYCLE_PARAMETERS."""
        values = {each.name: each.value for each in self.parameters if each.is_used}
        return ParameterFile(self.target, values)

    def write(self, path: Path) -> None:
        """Write the file of parameters; OSError if it cannot be written."""
        path.write_text(self.file.json_text(), encoding="utf-8")

    def text(self) -> str:
        """Return the parameters, a line each, and what they do not explain."""
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
    """Return whether a figure is not what is expected, beyond its spread."""
    tolerance = max(_SPREADS * spread_of(measurement), _SHARE * abs(expected))
    return abs(measurement.value - expected) > tolerance


def deviating(measurements: Iterable[Measurement]) -> tuple[Deviation, ...]:
    """Return the measurements that are not what the cycle model expected when they were made."""
    return tuple(
        Deviation(each, each.expected)
        for each in measurements
        if each.expected is not None and deviates(each, each.expected)
    )


def fit(record: Record) -> Fit:
    """Return what the measurements of a run of the probe say of the cycle model's parameters.
    Errors as those of `fit_measurements`."""
    return fit_measurements(record.measurements(), read_target(record.facts.target))


def fit_measurements(
    measurements: Iterable[Measurement],
    target: Target,
    values: Mapping[str, float] = VALUES,
    chip: Chip | None = None,
) -> Fit:
    """Return what measurements of a processor say of the cycle model's parameters.

    values: the parameters from which the search begins, by name. chip: whose sizes the measured
    arrays have, by default that of the cycle model. NoEstimate if the model does not know the
    processor.
    """
    chosen = chip_of(target) if chip is None else chip
    known = {each.name: each for each in experiments(target, chosen)}
    given = list(measurements)
    before = {**{name: float(getattr(chosen, field)) for name, field in CHIP_VALUES.items()}}
    before |= values
    clock = _clock(given, before)
    start = before if clock is None else {**before, _CLOCK: clock.value}
    sights = _sights(given, target, known)
    found = solved(sights, start, deviates)
    parameters = tuple(_parameters(sights, before, found))
    return Fit(
        target.name,
        parameters if clock is None else (*parameters, clock),
        tuple(
            Deviation(sight.measurement, sight.prediction.value(found.values))
            for sight in sights
            if deviates(sight.measurement, sight.prediction.value(found.values))
        ),
        tuple(each.name for each in given if each.name not in known and each.parameter != _CLOCK),
    )


def _clock(
    measurements: Sequence[Measurement], before: Mapping[str, float]
) -> FittedParameter | None:
    """Return the clock that was seen."""
    found = [each for each in measurements if each.parameter == _CLOCK]
    if not found:
        return None
    value = statistics.median(each.value for each in found)
    spread = max(spread_of(each) for each in found)
    return FittedParameter(
        _CLOCK, before[_CLOCK], value, _SPREADS * spread, tuple(each.name for each in found)
    )


def _sights(
    measurements: Sequence[Measurement], target: Target, known: Mapping[str, Experiment]
) -> list[Sight]:
    """Return the measurements that the model predicts, with the predictions."""
    found = []
    for each in measurements:
        experiment = known.get(each.name)
        prediction = None if experiment is None else predict(experiment, target)
        if prediction is not None:
            found.append(Sight(each, prediction))
    return found


def _parameters(
    sights: Sequence[Sight], before: Mapping[str, float], solution: Solution
) -> Iterator[FittedParameter]:
    """Yield the parameters that measurements name."""
    for name in dict.fromkeys(sight.measurement.parameter for sight in sights):
        if name:
            about = [each.measurement for each in sights if each.measurement.parameter == name]
            yield FittedParameter(
                name,
                before[name],
                solution.values[name],
                solution.spreads.get(name, 0.0),
                tuple(each.name for each in about),
                name not in solution.unused,
            )
