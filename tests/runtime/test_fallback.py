"""What a program hears that runs on the emulator because no GPU works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from amdjit.runtime.hip import library
from tests.runtime.test_hip import ROOT, needs_standin, standin

PROGRAM = """import amdjit

amdjit.zeros(3)
amdjit.zeros(4)
amdjit.synchronize()
print(amdjit.current_device().name)
"""


def run(tmp_path: Path, **variables: str) -> tuple[int, str, str]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)} | variables
    result = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120
    )
    return result.returncode, result.stdout.strip(), result.stderr


def broken(**variables: str) -> dict[str, str]:
    return standin.environment(fail="hipGetDeviceCount=3") | variables


@needs_standin
def test_hip_that_fails_is_told_once_with_its_reason_and_the_remedy(tmp_path: Path) -> None:
    code, out, said = run(tmp_path, **broken())
    assert (code, out) == (0, "emulator:gfx1201")
    assert said.count("DeviceWarning") == 1
    assert f"{tmp_path / 'program.py'}:3: DeviceWarning: kernels run on emulator:gfx1201" in said
    assert "hipErrorNotInitialized (3)" in said
    assert "check that the amdgpu kernel module is loaded" in said
    assert "AMDJIT_DEVICE=hip makes this an error" in said
    assert ".. " not in said
    assert "amdjit.zeros(3)" in said


@needs_standin
def test_a_device_that_is_chosen_is_no_fallback(tmp_path: Path) -> None:
    assert run(tmp_path, **broken(AMDJIT_DEVICE="emulator:gfx1201")) == (0, "emulator:gfx1201", "")
    assert run(tmp_path, **broken(AMDJIT_WARNINGS="0")) == (0, "emulator:gfx1201", "")
    code, _, said = run(tmp_path, **broken(AMDJIT_DEVICE="hip"))
    assert code == 1
    assert "LaunchError: AMDJIT_DEVICE: there is no device 'hip' (HIP could not count" in said


@needs_standin
def test_hip_without_a_number_is_the_first_gpu_that_works(tmp_path: Path) -> None:
    variables = standin.environment(devices="2") | {"AMDJIT_DEVICE": "hip"}
    assert run(tmp_path, **variables) == (0, "hip:0", "")


def test_a_machine_without_rocm_hears_nothing(tmp_path: Path) -> None:
    if library.is_there(None):
        pytest.skip("this machine has HIP, as those with an AMD GPU have")
    code, out, said = run(tmp_path, ROCM_PATH="/nonexistent", LD_LIBRARY_PATH="", AMDJIT_DEVICE="")
    assert (code, out, said) == (0, "emulator:gfx1201", "")
