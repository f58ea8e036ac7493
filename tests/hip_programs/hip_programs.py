"""Programs in HIP of the folder `programs`, compiled by clang without ROCm and run by `amdjit run`.

HIP's headers come from Debian's libamdhip64-dev: AMDJIT_TEST_HIP names the folder that has its
include/, which is /usr where it is installed.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from amdjit.hip_programs import hip_library
from amdjit.hip_programs.runtime_compilation import DEVICE_FUNCTIONS
from tests.emulator.launch.hip_programs import controls, device_libraries

PROGRAMS = Path(__file__).with_name("programs")
HIP = Path(os.environ.get("AMDJIT_TEST_HIP", "/usr"))
_COMPILER = "clang++-22"
# What programs need beyond the others.
_OPTIONS = {"per_thread": ["-fgpu-default-stream=per-thread"]}

needs_hip = pytest.mark.skipif(
    shutil.which(_COMPILER) is None or not (HIP / "include/hip/hip_runtime.h").exists(),
    reason="clang-22 and HIP's headers (libamdhip64-dev) are not installed",
)


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="amdjit-hip-programs-"))


@functools.cache
def _shared_folder() -> Path:
    """Return the folder of all workers of a run: each program is compiled for several tests."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return _folder()
    folder = Path(tempfile.gettempdir(), f"amdjit-hip-programs-{run}")
    folder.mkdir(exist_ok=True)
    return folder


@functools.cache
def compile_program(name: str, *processors: str, debug: bool = True, library: bool = False) -> Path:
    """Return the program `name` for processors, all of one wave size. library: with ROCm's device
    library, for one processor."""
    output = _shared_folder() / "-".join((name, *processors, "g" * debug))
    if output.exists():
        return output
    compiled = _folder() / output.name
    wave_size = 64 if processors[0].startswith("gfx9") else 32
    options = [f"--offload-arch={processor}" for processor in processors]
    options += [f"-D__AMDGCN_WAVEFRONT_SIZE={wave_size}", f"--rocm-path={HIP}", "-w"]
    options += _device_library(processors[0]) if library else ["-nogpulib"]
    options += ["-include", str(DEVICE_FUNCTIONS), "-std=c++17", "-O2", *["-g"] * debug]
    options += _OPTIONS.get(name, [])
    options += ["-L", str(hip_library().parent), "-lamdhip64", "-lpthread", "-o", str(compiled)]
    command = [_COMPILER, "-x", "hip", f"{name}.hip", *options]
    subprocess.run(command, cwd=PROGRAMS, check=True)
    # A worker may run the program already: one that is replaced has no lines any more.
    with contextlib.suppress(FileExistsError):
        os.link(compiled, output)
    return output


def _device_library(processor: str) -> list[str]:
    """Return the options that link the newest device library."""
    folder = _folder() / f"library-{processor}"
    folder.mkdir()
    shutil.copy(device_libraries()[0], folder / "ockl.bc")
    text = folder / "controls.ll"
    text.write_text(controls(processor, 600))
    subprocess.run(["llvm-as-22", str(text), "-o", str(folder / "controls.bc")], check=True)
    names = [f"--hip-device-lib={name}" for name in ("ockl.bc", "controls.bc")]
    return [f"--hip-device-lib-path={folder}", *names, "-mcode-object-version=6"]


@dataclass(frozen=True)
class Ran:
    """What a program printed, its exit status, and what amdjit reported."""

    code: int
    out: str
    error: str
    reports: list[dict[str, Any]]


def run_program(program: Path, *arguments: str, options: tuple[str, ...] = ()) -> Ran:
    """Run a program by `amdjit run` with options."""
    report = _folder() / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "amdjit", "run", "--report", str(report), *options]
    done = subprocess.run(
        [*command, "--", str(program), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "HIP_PATH": str(HIP)},
        timeout=300,
        check=False,
    )
    assert report.exists(), done.stderr
    reports = json.loads(report.read_text())["reports"]
    return Ran(done.returncode, done.stdout, done.stderr, reports)


def line_with(source: str, text: str) -> int:
    """Return the number of the line of a program that contains a text."""
    lines = (PROGRAMS / f"{source}.hip").read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found
