"""Elements of arrays of datetime64 and timedelta64, as the records that a kernel computes with."""

from __future__ import annotations

import ast

import numpy as np

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.numbers.conversion import no_conversion
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.times import time_structure, time_unit
from amdjit.tree import nodes as tree
from amdjit.types import Record

__all__ = ["is_time", "ticks_of", "time_value"]


def is_time(record: Record) -> bool:
    """Whether an element is a date or a duration."""
    return record.title.startswith(("datetime64", "timedelta64"))


def time_value(record: Record, ticks: Value) -> TupleValue:
    """Return the value of an element with these ticks."""
    dtype = np.dtype(record.title)
    return TupleValue((ticks, CompileTime(time_unit(dtype))), time_structure(dtype))


def ticks_of(builder: FunctionBuilder, record: Record, value: Value, place: ast.AST) -> Value:
    """Return the ticks of a value that is stored to an element; refuse other kinds and units."""
    dtype = np.dtype(record.title)
    if not isinstance(value, TupleValue) or value.structure != time_structure(dtype):
        raise no_conversion(builder, value, record, place)
    ticks, unit = value.items
    if unit != CompileTime(time_unit(dtype)):
        found = unit.value if isinstance(unit, CompileTime) else unit
        raise builder.error(
            codes.REFUSED,
            place,
            problem=f"a time in the unit {found} is stored to an array of {record}",
            remedy=f"convert one of the arrays on the host: `x.astype({str(dtype)!r})`",
        )
    assert isinstance(ticks, CompileTime | tree.Expression)
    return ticks
