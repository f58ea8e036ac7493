"""Counters and recordings agree with a trace of each executed instruction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from building import compile_kernel, emulate
from c_kernels import CASES, GRID, Case
from required_tools import needs_tools
from traces import FIELDS, profiled_and_traced

import amdjit

pytestmark = needs_tools


def as_numbers(launch: amdjit.LaunchProfile) -> list[tuple[int, ...]]:
    return [tuple(getattr(c, name) for name in FIELDS) for c in launch.instructions]


def launch_case(case: Case, code: bytes) -> list[Any]:
    """Run a kernel; return its arguments afterwards."""
    arguments = case.arguments(np.random.default_rng(5))
    emulate(code, case.kernel, GRID, case.block, arguments)
    return arguments


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_c_kernels(case: Case, wave_size: int) -> None:
    flags = ["-O2", *(["-mwavefrontsize64"] if wave_size == 64 else [])]
    try:
        code = compile_kernel(case.file, *flags)
    except AssertionError:
        pytest.skip("exhaustive: this kernel is for waves of 32 lanes")
    plain = launch_case(case, code)
    with amdjit.profile() as p:
        alone = launch_case(case, code)
    traced: list[Any] = []
    launch = profiled_and_traced(lambda: traced.extend(launch_case(case, code)))
    for one, two, three in zip(plain, alone, traced, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    assert as_numbers(p.launches[0]) == as_numbers(launch)
