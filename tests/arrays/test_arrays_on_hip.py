"""The other tests of this room on `hip:0` of the stand-in, in a child process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import standin

from tests.arrays.standin_room import ON_STANDIN

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(bool(standin.why_not()), reason=standin.why_not() or "-")


def run_here(expected: int, *arguments: str, **settings: str) -> None:
    """Run this room's tests on the stand-in; at least `expected` must pass."""
    variables = standin.environment(**settings) | {ON_STANDIN: "1", "AMDJIT_DEVICE": "hip:0"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)]
    command.append(f"--ignore={__file__}")
    result = subprocess.run(
        [*command, *arguments], env=variables, capture_output=True, text=True, timeout=250
    )
    assert result.returncode == 0, result.stdout + result.stderr
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None, result.stdout
    assert int(passed.group(1)) >= expected, result.stdout


def test_arrays_on_hip_are_those_of_the_emulator() -> None:
    run_here(560)


def test_memory_is_the_same_on_a_gpu_whose_hip_has_no_pools() -> None:
    run_here(60, "-k", "memory or lifetime", pools="0")


def test_a_gpu_without_managed_memory_says_what_to_use(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import amdjit\namdjit.managed_empty(3)\n")
    here = str(Path(standin.__file__).parent / "run_with_standin.py")
    result = subprocess.run(
        [sys.executable, here, str(script)],
        env=standin.environment(managed="0"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "BackendError: hip:0 has no managed memory" in result.stderr
    assert "mapped=True" in result.stderr
