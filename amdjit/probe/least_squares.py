"""Gauss-Newton steps for parameters of which most are whole numbers, and whose derivatives are
differences of simulations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.chip import CHIP_VALUES
from amdjit.cycles.memory_parameters import MEMORY_PARAMETERS
from amdjit.cycles.parameter_file import least_and_most
from amdjit.probe.case import Measurement
from amdjit.probe.timing.measuring import spread_of
from amdjit.probe.timing.prediction import Prediction

__all__ = ["Sight", "Solution", "solved"]

_MOST_STEPS = 12
# A difference for a derivative: whole cycles, or a share of a value that need not be whole.
_CYCLES, _SHARE = 1.0, 0.02
_HALVINGS = 4
_AT_ONCE = 4.0

Floats = NDArray[np.float64]
Values = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Sight:
    """A measurement, and what the model says of it."""

    measurement: Measurement
    prediction: Prediction


@dataclass(frozen=True)
class Solution:
    """Values of all parameters, the spreads of those that were looked for, and the names of those
    that no figure depends on."""

    values: Values
    spreads: Mapping[str, float]
    unused: frozenset[str]


def solved(
    sights: Sequence[Sight], start: Values, deviates: Callable[[Measurement, float], bool]
) -> Solution:
    """Return the values that explain the measurements best.

    Only parameters that a deviating measurement names are changed; all measurements judge them.
    """
    names = sorted(
        {
            sight.measurement.parameter
            for sight in sights
            if sight.measurement.parameter
            and deviates(sight.measurement, sight.prediction.value(start))
        }
    )
    if not names:
        return Solution(start, {}, frozenset())
    search = _Search(sights, names, _spreads(sights))
    return search.solution(start)


def _spreads(sights: Sequence[Sight]) -> Floats:
    return np.array([spread_of(sight.measurement) for sight in sights])


@dataclass(frozen=True, eq=False)
class _Search:
    """A search for the values of `names`."""

    sights: Sequence[Sight]
    names: Sequence[str]
    spreads: Floats

    def solution(self, values: Values) -> Solution:
        """Return the best values from these on."""
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
        return np.array([self._residual(place, values) for place in range(len(self.sights))])

    def _residual(self, place: int, values: Values) -> float:
        sight = self.sights[place]
        figure = sight.measurement.value - sight.prediction.value(values)
        return figure / float(self.spreads[place])

    def _slopes(
        self, values: Values, residuals: Floats, touched: NDArray[np.bool_] | None
    ) -> Floats:
        """Return what each measurement gains, in its spreads, by one of each parameter. touched:
        which pairs may be other than 0, None if that is not known."""
        slopes = np.zeros((len(self.sights), len(self.names)))
        for column, name in enumerate(self.names):
            size = _difference(name, values[name])
            more = {**values, name: values[name] + size}
            for row in range(len(self.sights)):
                if touched is None or touched[row, column]:
                    slopes[row, column] = (residuals[row] - self._residual(row, more)) / size
        return slopes

    def _without_needless(self, values: Values, start: Values, residuals: Floats) -> Values:
        """Return the values with those as before without which the measurements are explained as
        well."""
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
        """Return better values and their residuals, None if there are none on the way."""
        scale = np.maximum(1e-12, np.abs(slopes).max(axis=0))
        change = np.linalg.lstsq(slopes / scale, residuals, rcond=1e-6)[0] / scale
        tried = [change / 2**power for power in range(_HALVINGS)]
        # Rounding may hide a step: each parameter alone, by one.
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
        """Return the spread of a parameter, of the measurements' own; half of one where only whole
        numbers are possible."""
        weight = float(slopes[:, place] @ slopes[:, place])
        least = 0.5 if _is_whole(self.names[place]) else 0.0
        return max(least, 1 / weight**0.5) if weight else 0.0


def _is_whole(name: str) -> bool:
    """Return whether the model rounds a parameter to whole cycles, instructions or bytes."""
    row = MEMORY_PARAMETERS.get(name)
    return name not in CHIP_VALUES and (row is None or row.unit == "bytes")


def _difference(name: str, value: float) -> float:
    return _CYCLES if _is_whole(name) else max(1.0, _SHARE * abs(value))


def _allowed(name: str, value: float, change: float) -> float:
    """Return a changed value as the model can use it, at most a few times as large or as small as
    before: where a figure hardly depends on a parameter, a slope leads anywhere."""
    least, most = least_and_most(name)
    least = max(least, value / _AT_ONCE) if value > 0 else least
    most = min(most, max(value * _AT_ONCE, value + _AT_ONCE))
    bounded = min(most, max(least, value + change))
    return float(round(bounded)) if _is_whole(name) else bounded
