"""Compile what was built with C compilers, and run it on the stand-in for HIP.

A program becomes a shared library, whose `main` a Python process calls that has the stand-in's GPU.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
STANDIN = HERE.parent / "runtime" / "standin_hip"
sys.path.insert(0, str(STANDIN))

import standin  # noqa: E402  (its folder is on the path from here on)

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
COMPILERS = {
    "C99": ("gcc", "-std=c99"),
    "C11": ("gcc", "-std=c11"),
    "C++11": ("g++", "-std=c++11", "-x", "c++"),
}

needs_standin = pytest.mark.skipif(bool(standin.why_not()), reason=standin.why_not() or "-")


def compile_c(
    output: Path,
    sources: Sequence[Path],
    *flags: str,
    compiler: Sequence[str] = COMPILERS["C99"],
    headers: Path = HERE / "hip_headers",
) -> Path:
    """Compile without a warning, to a shared library that is linked with the stand-in."""
    library = standin.build() / "lib"
    command = [*compiler, *WARNINGS, "-O1", "-isystem", str(headers), "-shared", "-fPIC", *flags]
    command += ["-o", str(output), *map(str, sources), "-x", "none", f"-L{library}"]
    done = subprocess.run([*command, "-lamdhip64", "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


def run_programs(
    programs: Mapping[str, Path], folder: Path, architecture: str = "gfx1201"
) -> dict[str, str]:
    """Run programs in one process with the stand-in's GPU; return what each has printed, and its
    exit code in the last line."""
    variables = standin.environment(arch=architecture)
    variables["PYTHONPATH"] = os.pathsep.join([str(HERE.parents[1]), str(STANDIN)])
    script = str(STANDIN / "run_with_standin.py")
    arguments = [f"{name}={file}" for name, file in programs.items()]
    command = [sys.executable, script, str(HERE / "call_mains.py"), str(folder), *arguments]
    done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: (folder / f"{name}.txt").read_text() for name in programs}


def has(program: str) -> bool:
    """Whether there is a program of this name."""
    return shutil.which(program) is not None
