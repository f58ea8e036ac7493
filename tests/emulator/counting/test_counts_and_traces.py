"""Counters and recordings agree with a trace of each executed instruction, and change no result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from building import compile_kernel, compile_source, emulate
from c_kernels import CASES, GRID, Case
from random_programs import Program
from required_tools import needs_tools
from traces import as_numbers, profiled_and_traced

import amdjit

pytestmark = needs_tools

# Branches, calls and their private memory, LDS, atomics.
SOME = [
    next(case for case in CASES if case.file == file)
    for file in ("branches", "calls", "atomics", "groups", "private_arrays")
]
ITEMS = 96


def launch_case(case: Case, code: bytes, threads: int = 1) -> list[Any]:
    """Run a kernel; return its arguments afterwards."""
    arguments = case.arguments(np.random.default_rng(5))
    emulate(code, case.kernel, GRID, case.block, arguments, threads)
    return arguments


def check_case(case: Case, wave_size: int, level: str) -> None:
    flags = [level, *(["-mwavefrontsize64"] if wave_size == 64 else [])]
    code = compile_kernel(case.file, *flags)
    plain, counted = launch_case(case, code), []
    launch = profiled_and_traced(lambda: counted.append(launch_case(case, code)))
    assert launch.wave_size == wave_size
    for result in counted:
        for one, two in zip(plain, result, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("case", SOME, ids=str)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_c_kernels(case: Case, wave_size: int) -> None:
    check_case(case, wave_size, "-O2")


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
def test_all_c_kernels(case: Case, wave_size: int, level: str) -> None:
    check_case(case, wave_size, level)


def check_random(seed: int, *flags: str) -> None:
    """Count a random C program, with few of the work-items of its last wave."""
    random = np.random.default_rng(seed)
    data = random.integers(-(1 << 63), 1 << 63, 4 * ITEMS, np.int64) >> random.integers(
        0, 63, 4 * ITEMS
    )
    code = compile_source(Program(seed).source, "-ffp-contract=off", *flags)
    results: list[Any] = []

    def run() -> None:
        results.append(np.zeros(8 * ITEMS, np.int64))
        emulate(code, "fuzz", 1, ITEMS - 7, [results[-1], data])

    run()
    profiled_and_traced(run)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("flags", [("-O2",), ("-O0",), ("-O2", "-mwavefrontsize64")])
def test_random_programs(flags: tuple[str, ...]) -> None:
    check_random(3000, *flags)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3001, 3040))
def test_many_random_programs(seed: int) -> None:
    for flags in (("-O0",), ("-O3",), ("-O1", "-mwavefrontsize64")):
        check_random(seed, *flags)


def test_host_threads_count_together_what_one_counts() -> None:
    case = next(case for case in CASES if case.kernel == "branches")
    code = compile_kernel(case.file, "-O2")
    found = []
    for threads in (1, 4):
        with amdjit.profile() as p:
            launch_case(case, code, threads)
        found.append(as_numbers(p.launches[0]))
    assert found[0] == found[1]
