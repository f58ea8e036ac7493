"""The rule of tests/conftest.py: where oracles are required, a test that skips for want of one
fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).with_name("conftest.py")
TESTS = """
import pytest

def test_that_passes():
    pass

def test_that_needs_a_tool():
    pytest.skip("llvm-mc-22 is not installed")

@pytest.mark.skipif(True, reason="needs opt-22 and llc-22")
def test_that_needs_two():
    pass

def test_that_needs_a_gpu():
    pytest.skip("needs an AMD GPU")

@pytest.mark.xfail
def test_that_may_fail():
    assert False
"""
MODULE = 'import pytest\npytest.skip("gcc is not installed", allow_module_level=True)\n'


def closing_line(folder: Path, required: str, *files: str) -> str:
    (folder / "conftest.py").write_text(CONFTEST.read_text())
    (folder / "test_single.py").write_text(TESTS)
    (folder / "test_whole_module.py").write_text(MODULE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "--rootdir",
        str(folder),
        *files,
    ]
    environment = {**os.environ, "AMDJIT_REQUIRE_ORACLES": required, "PYTEST_ADDOPTS": ""}
    environment["PYTHONPATH"] = str(CONFTEST.parents[1])  # what conftest.py imports
    outcome = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    return outcome.stdout.splitlines()[-1]


def test_skips_stay_skips_without_the_variable(tmp_path: Path) -> None:
    assert closing_line(tmp_path, "").startswith("1 passed, 4 skipped, 1 xfailed")


def test_a_missing_tool_fails_with_the_variable(tmp_path: Path) -> None:
    closing = closing_line(tmp_path, "1", "test_single.py")
    assert closing.startswith("1 failed, 1 passed, 1 skipped, 1 xfailed, 1 error")


def test_a_module_that_misses_a_tool_fails_with_the_variable(tmp_path: Path) -> None:
    assert closing_line(tmp_path, "1", "test_whole_module.py").startswith("1 error")
