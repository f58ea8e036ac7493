"""The checks are silent about correct kernels: the ones of `correct.py`, all examples, and C kernels."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from building import compile_kernel, device, missing_tools
from checked_device import CheckedDevice
from correct import CASES
from seeded import Case, reports_of, text_of
from test_correct_kernels import EXAMPLES
from test_emulator_kernels import CASES as C_CASES
from test_emulator_kernels import GRID
from test_emulator_kernels import Case as CCase

from amdjit.emulator import run


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_correct_kernels(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "memory", "race")
    assert not reports, text_of(reports)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    example = importlib.import_module(f"amdjit.examples.{name}")
    reports = reports_of(example.main, "memory", "race")
    assert not reports, text_of(reports)


@pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")
@pytest.mark.parametrize("case", C_CASES, ids=str)
def test_c_kernels_and_their_results_stay(case: CCase) -> None:
    code = compile_kernel(case.file, "-O3", "-ffp-contract=off")
    expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
    checked: Any = CheckedDevice(device(), "memory", "race")
    run(code, case.kernel, GRID, case.block, expected, device=device())
    run(code, case.kernel, GRID, case.block, given, device=checked)
    assert not checked.reports, text_of(checked.reports)
    for mine, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, right)
