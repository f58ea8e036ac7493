"""pytest's plugin: options, marker and fixture, in a pytest of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[1] / "amdjit" / "pytest_plugin"
TESTS = """
import sys

import numpy as np
import pytest


def test_without_amdjit():
    assert "amdjit" not in sys.modules


def kernels():
    import kernels

    return kernels


def test_right():
    x = np.ones(64, np.float32)
    kernels().twice[1, 64](x)
    assert (x == 2).all()


def test_wrong():
    kernels().past_the_end[1, 64](np.ones(63, np.float32))


@pytest.mark.amdjit(check="init")
def test_of_its_own_check():
    kernels().reads_what_others_write[1, 128](np.zeros(128, np.float32))


@pytest.mark.amdjit(device="emulator:gfx942", check="memory,race")
def test_of_its_own_device(amdjit_device):
    assert amdjit_device.name == "emulator:gfx942"
    kernels().reads_what_others_write[1, 128](np.zeros(128, np.float32))


@pytest.mark.amdjit("gfx942")
def test_of_a_wrong_marker():
    pass


@pytest.fixture
def there():
    import amdjit

    return amdjit.zeros(64, np.float32)


def test_fixtures_are_on_the_device(there, amdjit_device):
    assert there.device is amdjit_device
    print("device", amdjit_device.name)
"""
KERNELS = """
import amdjit


@amdjit.kernel
def twice(x):
    x[amdjit.threadIdx.x] *= 2


@amdjit.kernel
def past_the_end(x):
    x[amdjit.threadIdx.x] = 1


@amdjit.kernel
def reads_what_others_write(x):
    tile = amdjit.shared.array(128, amdjit.f32)
    tile[amdjit.threadIdx.x] = 1
    x[amdjit.threadIdx.x] = tile[127 - amdjit.threadIdx.x]
"""
CONFTEST = """
import json


def pytest_terminal_summary(terminalreporter, config):
    found = {
        report.nodeid.partition("::")[2]: [kind, str(report.longrepr)]
        for kind, reports in terminalreporter.stats.items()
        if kind in ("passed", "failed", "error")
        for report in reports
        if report.when == "call" or kind == "error"
    }
    (config.rootpath / "results.json").write_text(json.dumps(found))
"""


def run(folder: Path, *options: str, **others: str) -> tuple[dict[str, tuple[str, str]], str]:
    """Return the outcome of each test with what it says, and pytest's output."""
    files = {"test_it": TESTS, "kernels": KERNELS, **others}
    for name, text in {**files, "conftest": CONFTEST}.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "amdjit_pytest").symlink_to(PLUGIN)
    root = Path(__file__).parents[1]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), str(root)]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    command = [sys.executable, "-m", "pytest", "-p", "amdjit_pytest", "--strict-markers", "-rA"]
    done = subprocess.run(
        [*command, *options, str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    results = folder / "results.json"
    assert results.exists(), done.stdout + done.stderr
    return json.loads(results.read_text()), done.stdout


def test_checks_of_the_command_line_and_of_markers(tmp_path: Path) -> None:
    found, output = run(tmp_path, "--amdjit-check", "memory", "--amdjit-device", "emulator:gfx1100")
    outcomes = {name: kind for name, (kind, _) in found.items()}
    assert outcomes == {
        "test_without_amdjit": "failed",  # the options ask for it
        "test_right": "passed",
        "test_wrong": "failed",
        "test_of_its_own_check": "failed",
        "test_of_a_wrong_marker": "error",
        "test_of_its_own_device": "failed",
        "test_fixtures_are_on_the_device": "passed",
    }
    assert "device emulator:gfx1100" in output
    said = {name: text for name, (_, text) in found.items()}
    assert "past_the_end: store of 4 bytes at x[63], outside of x" in said["test_wrong"]
    assert "kernels.py:12" in said["test_wrong"]
    assert "error[init/" in said["test_of_its_own_check"]
    assert "error[race/" in said["test_of_its_own_device"]
    assert "the marker amdjit takes device= and check=, not 'gfx942'" in output


def test_nothing_is_imported_for_tests_that_do_not_ask(tmp_path: Path) -> None:
    found, output = run(tmp_path, "-k", "without_amdjit or right or fixtures")
    assert {kind for kind, _ in found.values()} == {"passed"}
    assert "device emulator:gfx1201" in output
    assert len(found) == 3


@pytest.mark.parametrize("option", ["--amdjit-device=gfx9999", "--amdjit-check=everything"])
def test_unknown_names_are_refused(tmp_path: Path, option: str) -> None:
    found, output = run(tmp_path, "-k", "right", option)
    assert "passed" not in {kind for kind, _ in found.values()}
    assert option.partition("=")[2] in output


def test_triton_has_the_device_when_modules_are_loaded(tmp_path: Path) -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    program = """
import triton
TARGET = triton.runtime.driver.active.get_current_target()
def test_target(): assert TARGET.arch == "gfx942"
"""
    options = "--amdjit-device=emulator:gfx942", "-k", "target"
    found, output = run(tmp_path, *options, test_triton=program)
    assert found["test_target"][0] == "passed", output
