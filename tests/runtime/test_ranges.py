"""Named ranges reach rocTX, a stand-in here, and are left out where it is not installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("roctx_standin.c")
COMPILER = shutil.which(os.environ.get("CC", "gcc"))

PROGRAM = """
import amdjit, numpy as np

@amdjit.kernel
def first_kernel(x):
    x[amdjit.threadIdx.x] += 1

def main():
    x = amdjit.to_device(np.zeros(4, np.int32))
    try:
        with amdjit.named_range("outer"), amdjit.named_range("inner ü"):
            first_kernel[1, 4](x)
            first_kernel[1, 4](x)
            raise KeyError
    except KeyError:
        pass
    print("held", x.copy_to_host()[0])

main()
"""


def run(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the program from a file: kernels need their source."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "AMDJIT_DEVICE": "emulator:gfx1201",
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "ROCM_PATH": str(tmp_path),
        **variables,
    }
    result = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    return result


def install(root: Path, name: str) -> None:
    """Put the stand-in into the folder of ROCm under a name of the library."""
    if COMPILER is None or not sys.platform.startswith("linux"):
        pytest.skip("the stand-in for rocTX is for Linux, and needs a C compiler")
    (root / "lib").mkdir()
    library = str(root / "lib" / name)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, str(SOURCE)], check=True)


def test_ranges_nest_and_end_with_exceptions(tmp_path: Path) -> None:
    install(tmp_path, "libroctx64.so.4")
    assert run(tmp_path).stdout.splitlines() == [
        "push outer 0",
        "push inner ü 1",
        "pop - 1",
        "pop - 0",
        "held 2",
    ]


def test_launches_are_named_where_the_environment_says_so(tmp_path: Path) -> None:
    install(tmp_path, "librocprofiler-sdk-roctx.so")
    launch = ["push first_kernel 2", "pop - 2"]
    assert run(tmp_path, AMDJIT_ROCTX="1").stdout.splitlines() == [
        "push outer 0",
        "push inner ü 1",
        *launch,
        *launch,
        "pop - 1",
        "pop - 0",
        "held 2",
    ]


def test_without_roctx_a_warning_says_once_that_names_are_missing(tmp_path: Path) -> None:
    told = run(tmp_path, AMDJIT_ROCTX="1")
    assert told.stdout == "held 2\n"
    assert told.stderr.count("rocTX is not installed") == 1
    assert "ROCM_PATH" in told.stderr
