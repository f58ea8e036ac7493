"""A range whose step is known at run time only, and is 0, raises in kernels as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32

DEVICE = "emulator:gfx1201"


def plain(start, stop, step, out):
    for k in range(start, stop, step):
        out[0] += 1
        out[1] = k


def backwards(start, stop, step, out):
    for k in reversed(range(start, stop, step)):
        out[0] += 1
        out[1] = k


def beside_another(start, stop, step, out):
    for k, _ in zip(range(start, stop, step), range(100), strict=False):
        out[0] += 1
        out[1] = k


def numbered(start, stop, step, out):
    for _, k in enumerate(range(start, stop, step)):
        out[0] += 1
        out[1] = k


FUNCTIONS = [plain, backwards, beside_another, numbered]
TYPES = [np.int32, np.uint32, np.int64, np.uint64, np.int8]


@pytest.mark.sample(8)
@pytest.mark.covering(2)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", TYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("level", [0, 3])
def test_a_step_of_0_is_a_value_error(function: Any, dtype: Any, level: int) -> None:
    out = np.zeros(2, np.int64)
    kernel = amdjit.kernel(opt_level=level, warnings=False)(function)
    with amdjit.use(DEVICE):
        with pytest.raises(amdjit.KernelFault) as caught:
            kernel[1, 1](dtype(3), dtype(9), dtype(0), out)
        assert (caught.value.kind, caught.value.detail) == (
            "raise",
            "ValueError: range() arg 3 must not be zero",
        )
        with pytest.raises(amdjit.KernelFault):
            kernel[1, 1](dtype(9), dtype(3), dtype(0), out)
        kernel[1, 1](dtype(3), dtype(9), dtype(2), out)
    assert list(out) == [3, 3 if function is backwards else 7]


@pytest.mark.sample(8)
@pytest.mark.covering(2)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", TYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("level", [0, 3])
def test_without_asserts_a_step_of_0_makes_no_round(function: Any, dtype: Any, level: int) -> None:
    out = np.zeros(2, np.int64)
    kernel = amdjit.kernel(opt_level=level, asserts=False, warnings=False)(function)
    with amdjit.use(DEVICE):
        kernel[1, 1](dtype(3), dtype(9), dtype(0), out)
        kernel[1, 1](dtype(9), dtype(3), dtype(0), out)
        assert list(out) == [0, 0]
        kernel[1, 1](dtype(3), dtype(9), dtype(4), out)
    assert out[0] == 2


def test_extents_of_the_launch_need_no_test() -> None:
    @amdjit.kernel(warnings=False)
    def strides(n: i32, out: i32[:]):
        step = amdjit.gridsize(1)
        across, down = amdjit.gridsize(2)
        for k in range(amdjit.grid(1), n, step):
            out[k] += 1
        for k in range(0, n, amdjit.blockDim.x * amdjit.gridDim.x * 2):
            out[k] += 1
        for k in range(0, n, across * down):
            out[k] += 1

    @amdjit.kernel(warnings=False)
    def changing(n: i32, out: i32[:]):
        step = amdjit.gridsize(1)
        for j in range(n):
            for k in range(amdjit.grid(1), n, step):
                out[k] += j
            step = step - 1

    assert strides.compile().program.reports is None
    assert changing.compile().program.reports is not None
