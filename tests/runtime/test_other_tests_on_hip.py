"""Tests of other rooms pass on `hip:0`, too: they run on the stand-in for HIP."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

STANDIN = Path(__file__).parent / "standin_hip"
TESTS = Path(__file__).parents[1]
SCRIPT = """
import sys, pytest, amdjit
assert amdjit.current_device().name == "hip:0"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
CHOSEN = {
    "algorithms": [
        "algorithms/test_reduce.py::test_out_and_streams",
        "algorithms/test_scan.py::test_out_and_streams",
        "algorithms/test_scan.py::test_looking_back_waits_for_workgroups_that_come_later",
        "algorithms/test_select.py::test_records_are_chosen_into_out",
    ],
    "numba": [
        "numba_cuda/test_programs_of_numba.py::test_a_tiled_product_of_matrices",
        "numba_cuda/test_programs_of_numba.py::test_the_shared_memory_of_a_launch",
        "numba_cuda/test_programs_of_numba.py::test_a_kernel_whose_grid_waits",
        "api/launching/test_explicit_signatures.py::test_random_numbers_arrive_as_numpy_converts_them",
        "api/launching/test_explicit_signatures.py::test_the_same_signature_is_taken_by_quick_calls",
        "api/functions/test_device_arrays_from_outside.py",
    ],
}


@pytest.mark.parametrize("room", CHOSEN)
def test_other_tests_pass_on_hip(room: str, tmp_path: Path) -> None:
    sys.path.insert(0, str(STANDIN))
    try:
        standin = pytest.importorskip("standin")
    finally:
        sys.path.remove(str(STANDIN))
    if standin.why_not():
        pytest.skip(standin.why_not())
    script = tmp_path / "run_tests.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(STANDIN / "run_with_standin.py"), str(script)]
    result = subprocess.run(
        [*command, *(str(TESTS / each) for each in CHOSEN[room])],
        env={**os.environ, "AMDJIT_REQUIRE_ORACLES": ""},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None, result.stdout
    assert int(passed[1]) >= len(CHOSEN[room])
