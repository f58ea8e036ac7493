"""amdjit on Linux aarch64: kernels have the same machine code and the same results, bit for bit,
the examples are right, and a slice of the tests passes.

`AMDJIT_AARCH64=FOLDER` keeps the environment, which otherwise is built anew (120 MB are fetched).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.aarch64.environment import MISSING, ROOT, Environment

pytestmark = [
    pytest.mark.aarch64,
    pytest.mark.timeout(0),
    pytest.mark.skipif(bool(MISSING), reason=f"missing: {' '.join(MISSING)}; apt-get install"),
]
TESTS = (
    "tests/api/launching/test_launches.py",
    "tests/emulator/checks/test_memory_check.py",
    "tests/frontend/test_constants.py",
    "tests/test_child_process.py",
)


@pytest.fixture(scope="session")
def aarch64(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    kept = os.environ.get("AMDJIT_AARCH64")
    folder = Path(kept).resolve() if kept else tmp_path_factory.mktemp("aarch64")
    folder.mkdir(parents=True, exist_ok=True)
    environment = Environment(folder)
    environment.build()
    return environment


def test_the_environment_is_another_processors(aarch64: Environment) -> None:
    program = (
        "import platform, subprocess, sys, llvmlite.binding as llvm\n"
        "child = 'import platform; print(platform.machine())'\n"
        "print(platform.machine(), llvm.get_default_triple(), flush=True)\n"
        "subprocess.run([sys.executable, '-c', child], check=True)\n"
    )
    done = aarch64.run("-c", program, seconds=300)
    assert done.stdout.split() == ["aarch64", "aarch64-unknown-linux-gnu", "aarch64"], done.stderr


def test_machine_code_results_and_reports_are_the_same_bits(aarch64: Environment) -> None:
    program = Path(__file__).with_name("results.py")
    there = aarch64.run(str(program), seconds=3600)
    assert there.returncode == 0, there.stderr
    here = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    found, expected = json.loads(there.stdout), json.loads(here.stdout)
    assert len(expected) == 5
    assert found == expected


def test_the_examples_are_right(aarch64: Environment) -> None:
    done = aarch64.run("-m", "amdjit", "demo", seconds=7200)
    assert done.returncode == 0, done.stderr
    assert "all 14 examples are right" in done.stdout


@pytest.mark.parametrize("file", TESTS)
def test_a_slice_of_the_tests_passes(file: str, aarch64: Environment) -> None:
    options = ("-q", "-p", "no:cacheprovider", "--timeout", "0")
    done = aarch64.run("-m", "pytest", *options, file, seconds=7200)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
