"""The checks of undefined values and of synchronisation are silent about correct kernels: examples and C kernels."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from building import compile_kernel, device, missing_tools
from checked_device import CheckedDevice
from correct_kernels import LAUNCHES, Launch
from seeded import reports_of, text_of
from test_emulator_kernels import CASES, GRID, Case

from amdjit.emulator import run

EXAMPLES = (
    "mlp",
    "reduction",
    "saxpy",
    "transpose_shuffle",
    "transpose_wmma",
    "user_intrinsic",
    "vector_add",
    "wide_k_int8",
    "wmma_gemm",
    "wmma_matmul",
    "wmma_matmul_f32_input",
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    example = importlib.import_module(f"amdjit.examples.{name}")
    reports = reports_of(example.main, "init", "sync")
    assert not reports, text_of(reports)


@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: launch[0].__name__)
def test_kernels_that_only_look_wrong(launch: Launch) -> None:
    kernel, block, arguments = launch
    reports = reports_of(lambda: kernel[1, block](*arguments()), "init", "sync")
    assert not reports, text_of(reports)


@pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")
@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_c_kernels_and_their_results_stay(case: Case, level: str) -> None:
    code = compile_kernel(case.file, level, "-ffp-contract=off")
    expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
    checked: Any = CheckedDevice(device(), "init", "sync")
    run(code, case.kernel, GRID, case.block, expected, device=device())
    run(code, case.kernel, GRID, case.block, given, device=checked)
    assert not checked.reports, text_of(checked.reports)
    for mine, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, right)
