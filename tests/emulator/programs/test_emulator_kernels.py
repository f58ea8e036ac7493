"""Compiled C kernels give what the same C gives on the host, bit for bit, at every level of
optimisation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.building import compile_kernel, emulate, run_on_host
from tests.emulator.c_kernels import CASES, GRID, Case
from tests.emulator.required_tools import needs_tools

pytestmark = [
    needs_tools,
    pytest.mark.usefixtures("each_tier"),
]


@pytest.mark.sample(5)
@pytest.mark.covering(1)
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernels_give_the_hosts_results(case: Case, level: str) -> None:
    give_the_hosts_results(case, level)


@pytest.mark.sample(4)
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    "level",
    [pytest.param(f"-O{n}", marks=pytest.mark.exhaustive if n in (1, 2) else ()) for n in range(4)],
)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_wave64_kernels_give_the_hosts_results(case: Case, level: str) -> None:
    give_the_hosts_results(case, level, "-mwavefrontsize64")


def give_the_hosts_results(case: Case, *flags: str) -> None:
    code = compile_kernel(case.file, *flags, "-ffp-contract=off")
    expected = case.arguments(np.random.default_rng(7))
    given = case.arguments(np.random.default_rng(7))
    run_on_host(case.file, case.kernel, GRID, case.block, expected)
    emulate(code, case.kernel, GRID, case.block, given)
    for index, (mine, right) in enumerate(zip(given, expected, strict=True)):
        np.testing.assert_array_equal(mine, right, err_msg=f"argument {index}")
