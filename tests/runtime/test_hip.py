"""The HIP device: against the stand-in libamdhip64.so in child processes, and on machines without
ROCm.

AMDJIT_TEST_HIP_PYTHON may name a folder with another hip-python to run the checks with.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from amdjit.runtime import hip_errors

STANDIN = Path(__file__).parent / "standin_hip"
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(STANDIN))

import standin  # noqa: E402  (its folder is on the path from here on)

needs_standin = pytest.mark.skipif(bool(standin.why_not()), reason=standin.why_not() or "-")


def run_checks(file: str, expected: int, *options: str, **settings: str) -> None:
    """Run files of checks under pytest in a process that finds the stand-in; at least `expected`
    must pass."""
    variables = standin.environment(**settings)
    paths = [os.environ.get("AMDJIT_TEST_HIP_PYTHON", ""), str(ROOT), str(STANDIN)]
    paths.append(str(STANDIN.parent))
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(STANDIN),
        "-c",
    ]
    result = subprocess.run(
        [*command, os.devnull, *(str(STANDIN / name) for name in file.split()), *options],
        env=variables,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None, result.stdout
    assert int(passed.group(1)) >= expected, result.stdout


@needs_standin
def test_the_hip_device_works_through_the_real_hip_python() -> None:
    run_checks("hip_checks.py", 84)


@needs_standin
def test_gpus_with_settings_and_bundles() -> None:
    run_checks("bundle_checks.py", 18)


@needs_standin
def test_cooperative_launches() -> None:
    run_checks("cooperative_checks.py", 14)


@needs_standin
def test_launches_on_two_gpus_reach_their_own() -> None:
    run_checks("many_gpus_checks.py", 2, devices="2")


@needs_standin
def test_quick_and_bound_launches_work_on_two_gpus() -> None:
    run_checks("launch_checks.py", 24, devices="2")


@needs_standin
def test_arrays_are_copied_between_gpus() -> None:
    run_checks("peer_checks.py", 7, devices="2")


@needs_standin
def test_gpus_of_unknown_processors() -> None:
    run_checks("many_gpus_checks.py", 1, devices="2", arch="gfx902:xnack-")


def in_child(code: str, **variables: str) -> str:
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)} | variables
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_a_machine_without_rocm_has_no_gpus_and_a_reason() -> None:
    devices, reason = in_child(
        "from amdjit.runtime import hip; devices, reason = hip.discover(); print(devices); "
        "print(reason)",
        ROCM_PATH="/nonexistent",
        LD_LIBRARY_PATH="",
    ).splitlines()
    if devices != "[]":
        pytest.skip("this machine has ROCm and a GPU")
    assert re.search(r"libamdhip64|hipErrorNoDevice|not installed", reason), reason


def test_importing_the_runtime_does_not_import_hip_python() -> None:
    loaded = in_child(
        "import sys, amdjit.runtime.hip; print([m for m in sys.modules if m.split('.')[0] in "
        "('hip', 'rocm')])"
    )
    assert loaded == "[]"


def test_an_error_without_words_or_remedy_is_still_a_sentence() -> None:
    error = hip_errors.HipError("do it", 12345, "hipErrorNew", "")
    assert str(error) == "HIP could not do it: hipErrorNew (12345), no further words."
    assert error.remedy == ""


@needs_standin
def test_kernels_and_some_examples_run_on_hip_as_on_the_emulator() -> None:
    run_checks("emulated_checks.py", 13, "-k", "not examples or saxpy or mlp or hgemv")


@needs_standin
@pytest.mark.exhaustive
def test_all_examples_run_on_hip_as_on_the_emulator() -> None:
    run_checks("emulated_checks.py", 15, "-k", "examples")


@needs_standin
def test_any_script_runs_with_the_stand_in(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, amdjit, numpy as np\n"
        "@amdjit.kernel\n"
        "def double(x):\n"
        "    x[amdjit.threadIdx.x] *= 2.0\n"
        "x = np.arange(32, dtype=np.float32)\n"
        "double[1, 32](x)\n"
        "print(amdjit.current_device().name, sys.argv[1:], x.sum())\n"
    )
    command = [sys.executable, str(STANDIN / "run_with_standin.py"), str(script), "an", "argument"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "hip:0 ['an', 'argument'] 992.0\n"
