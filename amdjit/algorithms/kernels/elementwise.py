"""A function of numbers applied to each element of arrays."""

from __future__ import annotations

from typing import Any, no_type_check

import numpy as np

from amdjit.algorithms.kernels.values import unravel
from amdjit.declarations import device_function
from amdjit.intrinsics.workitem import blockDim, blockIdx, threadIdx
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.language.times import Datetime64, Timedelta64
from amdjit.types import Const

__all__ = ["BLOCK", "elementwise", "result_probe", "same"]

BLOCK = 256


@no_type_check
def elementwise(function: Const, are_arrays: Const, index_type: Const, inputs, outputs):
    """outputs[...] = function(inputs[...]), one element for each work-item.

    inputs: arrays of the outputs' shape, and numbers where `are_arrays` is False.
    """
    flat = index_type(blockIdx.x) * blockDim.x + threadIdx.x
    if flat < outputs[0].size:
        index = unravel(flat, outputs[0].shape)
        values = [x[index] if is_array else x for x, is_array in zip(inputs, are_arrays)]  # noqa: B905
        result = function(*values)
        if len(outputs) == 1 and not isinstance(result, tuple):
            outputs[0][index] = result
        else:
            for out, part in zip(outputs, result):  # noqa: B905
                out[index] = part


@compile_time
def note(compilation: Compilation, seen: Any, index: Any, is_complex: bool, value: Any) -> int:
    """Tell the host the type of a result, or its value if that is known."""
    seen.take(index, is_complex, value)
    return 0


@compile_time
def time_dtype(compilation: Compilation, kind: str, unit: str) -> np.dtype[Any]:
    """Return the NumPy type of dates or durations in a unit."""
    return np.dtype(f"{kind}[{unit}]")


@device_function
def note_one(seen, place, value):
    """Tell the host the type of one result."""
    if isinstance(value, complex):
        note(seen, place, True, value.real)
    elif isinstance(value, Datetime64):
        note(seen, place, False, time_dtype("datetime64", value.unit))
    elif isinstance(value, Timedelta64):
        note(seen, place, False, time_dtype("timedelta64", value.unit))
    else:
        note(seen, place, False, value)


@no_type_check
def result_probe(function: Const, seen: Const, are_arrays: Const, inputs):
    """Call a function on one element of each input, only to be typed: `seen` learns the results."""
    values = [x[0] if is_array else x for x, is_array in zip(inputs, are_arrays)]  # noqa: B905
    result = function(*values)
    if isinstance(result, tuple) and not isinstance(result, complex):
        for place, part in enumerate(result):
            note_one(seen, place, part)
    else:
        note_one(seen, None, result)


@device_function
def same(value):
    """Return the value: a copy converts elements as it stores them."""
    return value
