"""Live registers: a register that is called dead may hold anything."""

from __future__ import annotations

import numpy as np
import pytest
from building import compile_kernel, emulate, run_on_host
from c_kernels import CASES, GRID, Case
from garbage import garbage_in_dead_registers
from random_program_check import check
from required_tools import needs_tools

pytestmark = needs_tools


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_garbage_in_dead_registers_changes_no_result_of_c_kernels(
    case: Case, wave_size: int
) -> None:
    for level in ("-O0", "-O3"):
        flags = ["-mwavefrontsize64"] if wave_size == 64 else []
        code = compile_kernel(case.file, level, *flags, "-ffp-contract=off")
        expected = case.arguments(np.random.default_rng(7))
        given = case.arguments(np.random.default_rng(7))
        run_on_host(case.file, case.kernel, GRID, case.block, expected)
        with garbage_in_dead_registers() as launches:
            emulate(code, case.kernel, GRID, case.block, given)
        assert launches.kernels[case.kernel] > 0
        for mine, right in zip(given, expected, strict=True):
            np.testing.assert_array_equal(mine, right)


@pytest.mark.parametrize("seed", range(6))
def test_garbage_in_dead_registers_leaves_random_programs_right(seed: int) -> None:
    with garbage_in_dead_registers(seed):
        check(seed, ("-O1", "-O3"))
