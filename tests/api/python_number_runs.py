"""Run a function with Python's numbers among its arguments, as a kernel and by NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit

DEVICE = "emulator:gfx1201"


INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


FLOATS = (np.float16, np.float32, np.float64)


ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)


BITWISE = (operator.and_, operator.or_, operator.xor)


COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)


INTS = (
    0,
    1,
    -1,
    3,
    127,
    128,
    255,
    256,
    -128,
    -129,
    2**15,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    -(2**63),
    2**63 - 1,
)


NUMBERS = (
    0.1,
    -2.5,
    1e-8,
    3.0,
    65504.0,
    70000.0,
    3.5e38,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
    -0.0,
)


@amdjit.kernel
def right(x, a, out, op: amdjit.Const):
    for i in range(x.shape[0]):
        out[i] = op(x[i], a)


@amdjit.kernel
def left(x, a, out, op: amdjit.Const):
    for i in range(x.shape[0]):
        out[i] = op(a, x[i])


def run(kernel: Any, *arguments: Any) -> None:
    with amdjit.use(DEVICE):
        kernel[1, 1](*arguments)


def values_of(dtype: Any) -> np.ndarray:
    if np.dtype(dtype).kind == "f":
        return np.array([0.0, -0.0, 1.5, -3.25, 1e-3, 60000.0, np.inf, np.nan], dtype)
    info = np.iinfo(dtype)
    return np.array([0, 1, 2, 7, info.max, info.max - 1, info.min, info.min + 1], dtype)


def same_as_numpy(
    kernel: Any, x: np.ndarray, a: Any, op: Callable[..., Any], operands: tuple[Any, Any]
) -> None:
    try:
        with np.errstate(all="ignore"):
            expected = op(*operands)
    except OverflowError:
        with pytest.raises(amdjit.LaunchError, match="argument a of"):
            run(kernel, x, a, x.copy(), op)
        return
    out = np.zeros(x.shape, expected.dtype)
    run(kernel, x, a, out, op)
    np.testing.assert_array_equal(out, expected, err_msg=f"{op.__name__} {x.dtype} {a!r}")
