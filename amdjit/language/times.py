"""datetime64 and timedelta64: 64-bit numbers of ticks with a unit, which is known when compiling.

In memory they are i64, and NaT is the least of them, as in NumPy. In a kernel they are the records
below, whose operators are written in the kernel language and follow NumPy's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.declarations import device_function
from amdjit.language.compile_time import Refused, compile_time
from amdjit.types import Record, RecordField, Structure, f64, i64

__all__ = ["Datetime64", "Timedelta64", "isnat", "time_element", "time_structure", "time_unit"]

NOT_A_TIME = -(1 << 63)


@compile_time
def same_unit(compilation: Any, unit: str, other: str) -> str:
    """Return the unit of two times."""
    if unit != other:
        raise Refused(
            f"a time in the unit {unit} meets one in the unit {other}",
            "convert one of the arrays on the host: "
            f'`x.astype("datetime64[{unit}]")` or `x.astype("timedelta64[{unit}]")`',
        )
    return unit


@device_function
def sum_of(x, y):
    """Add ticks; NaT and any number make NaT."""
    missing = x == i64(NOT_A_TIME) or y == i64(NOT_A_TIME)
    return i64(NOT_A_TIME) if missing else x + y


@device_function
def difference_of(x, y):
    """Subtract ticks; NaT and any number make NaT."""
    missing = x == i64(NOT_A_TIME) or y == i64(NOT_A_TIME)
    return i64(NOT_A_TIME) if missing else x - y


class _Time:
    """What dates and durations have in common."""

    __slots__ = ()
    ticks: Any
    unit: Any

    def __eq__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        same_unit(self.unit, other.unit)
        return self.ticks == other.ticks and self.ticks != i64(NOT_A_TIME)

    def __ne__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        same_unit(self.unit, other.unit)
        return self.ticks != other.ticks or self.ticks == i64(NOT_A_TIME)

    def __lt__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        same_unit(self.unit, other.unit)
        return self.ticks < other.ticks and self.ticks != i64(NOT_A_TIME)

    def __le__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        same_unit(self.unit, other.unit)
        return self.ticks <= other.ticks and self.ticks != i64(NOT_A_TIME)

    def __gt__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        same_unit(self.unit, other.unit)
        return self.ticks > other.ticks and other.ticks != i64(NOT_A_TIME)

    def __ge__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        same_unit(self.unit, other.unit)
        return self.ticks >= other.ticks and other.ticks != i64(NOT_A_TIME)


@dataclass(frozen=True, eq=False, slots=True)
class Timedelta64(_Time):
    """A duration. ticks: i64. unit: as NumPy writes it, such as "D" or "25s"."""

    ticks: i64
    unit: Any

    def __add__(self, other):
        if not isinstance(other, Timedelta64):
            return NotImplemented
        return Timedelta64(sum_of(self.ticks, other.ticks), same_unit(self.unit, other.unit))

    def __sub__(self, other):
        if not isinstance(other, Timedelta64):
            return NotImplemented
        return Timedelta64(difference_of(self.ticks, other.ticks), same_unit(self.unit, other.unit))

    def __mul__(self, other):
        if not isinstance(other, int):
            return NotImplemented
        missing = self.ticks == i64(NOT_A_TIME)
        ticks = i64(NOT_A_TIME) if missing else self.ticks * i64(other)
        return Timedelta64(ticks, self.unit)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        if not isinstance(other, Timedelta64):
            return NotImplemented
        same_unit(self.unit, other.unit)
        missing = self.ticks == i64(NOT_A_TIME) or other.ticks == i64(NOT_A_TIME)
        return f64("nan") if missing else f64(self.ticks) / f64(other.ticks)

    def __neg__(self):
        return Timedelta64(-self.ticks, self.unit)

    def __abs__(self):
        return Timedelta64(-self.ticks if self.ticks < 0 else self.ticks, self.unit)


@dataclass(frozen=True, eq=False, slots=True)
class Datetime64(_Time):
    """A date. ticks: i64, since 1970. unit: as NumPy writes it, such as "D" or "25s"."""

    ticks: i64
    unit: Any

    def __add__(self, other):
        if not isinstance(other, Timedelta64):
            return NotImplemented
        return Datetime64(sum_of(self.ticks, other.ticks), same_unit(self.unit, other.unit))

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        if not isinstance(other, (Datetime64, Timedelta64)):
            return NotImplemented
        unit = same_unit(self.unit, other.unit)
        ticks = difference_of(self.ticks, other.ticks)
        return (
            Timedelta64(ticks, unit) if isinstance(other, Datetime64) else Datetime64(ticks, unit)
        )


@compile_time
def _check_time(compilation: Any, is_time: bool) -> None:
    """Raise `Refused` for what is no time."""
    if not is_time:
        raise Refused("NaT is asked of what is no date or duration", "write `math.isnan(x)`")


@device_function
def isnat(x):
    """Return whether a date or duration is NaT."""
    _check_time(isinstance(x, (Datetime64, Timedelta64)))
    return x.ticks == i64(NOT_A_TIME)


_FIELDS = ("ticks", "unit")
_STRUCTURES = {
    "M": Structure("Datetime64", _FIELDS, Datetime64),
    "m": Structure("Timedelta64", _FIELDS, Timedelta64),
}


def time_unit(dtype: np.dtype[Any]) -> str | None:
    """Return the unit of a NumPy type of times; None for other types, and without a unit."""
    if dtype.kind not in _STRUCTURES or not dtype.isnative:
        return None
    unit, count = np.datetime_data(dtype)
    return None if unit == "generic" else unit if count == 1 else f"{count}{unit}"


def time_structure(dtype: np.dtype[Any]) -> Structure:
    """Return the structure of the values of a NumPy type of times."""
    return _STRUCTURES[dtype.kind]


def time_element(dtype: np.dtype[Any]) -> Record | None:
    """Return the type of the elements of arrays of a NumPy type; None if it is no type of times."""
    if time_unit(dtype) is None:
        return None
    return Record((RecordField("ticks", i64, 0),), 8, 8, str(dtype))
