"""Code objects that clang makes of C with debug information, once a session."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "c" / "variables.c"
BUILDS = [
    ("-O2", "-gdwarf-3"),
    ("-O2", "-gdwarf-4"),
    ("-O2", "-g"),
    ("-O3", "-g", "-mwavefrontsize64"),
    ("-O0", "-g"),
    ("-O2", "-gline-tables-only"),
]


@cache
def compiled(flags: tuple[str, ...]) -> bytes:
    """Return the code object of `c/variables.c`; skip the test if this machine has no clang-22."""
    program = shutil.which("clang-22")
    if program is None:
        pytest.skip("clang-22 is not installed")
    platform = ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-nogpulib")
    with tempfile.TemporaryDirectory() as directory:
        linked = Path(directory) / "linked.co"
        command = [program, *platform, *flags, str(SOURCE), "-o", str(linked)]
        subprocess.run(command, check=True, capture_output=True)
        return linked.read_bytes()
