"""The `amdjit` command as a process: demo, devices, and how it ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import amdjit
from amdjit import command_line, demo
from amdjit.demo import run_demo
from amdjit.devices import Inventory
from amdjit.examples import transpose_wmma, wmma_matmul
from amdjit.examples.report import CheckError

KERNELS = str(Path(__file__).with_name("shown_kernels.py"))


def amdjit_command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "AMDJIT_DEVICE": "emulator:gfx1201", **variables}
    command = [sys.executable, "-m", "amdjit", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.exhaustive  # test_examples.py and test_a_wrong_example_fails_the_demo
def test_the_demo_runs_every_wmma_example() -> None:
    done = amdjit_command("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("device: emulator:gfx1201 (")
    names = [example.__name__.rpartition(".")[2] for example in demo.EXAMPLES]
    assert re.findall(r"^(\w+) \(", done.stdout, re.MULTILINE) == names
    variants = {
        "mlp": 2,
        "article_fragments": 7,
        "i8_gemm": 2,
        "hgemv": 2,
        "dlrm": 2,
        "flash_attention": 2,
    }
    checks = sum(variants.get(name, 1) for name in names)
    assert done.stdout.count("  checked: ") == checks
    assert done.stdout.count("  error:     largest ") == checks
    assert "FAILED" not in done.stdout
    resources = re.findall(r"  resources: (.*)", done.stdout)
    assert len(resources) == checks - 1  # one kernel takes both sizes of hgemv
    assert all("no spills" in line and "VGPRs" in line for line in resources)
    assert f"all {len(names)} examples are right" in done.stdout


def test_the_demo_refuses_a_device_that_is_not_there() -> None:
    done = amdjit_command("demo", "--device", "cuda:0")
    assert done.returncode == 1
    assert done.stderr.startswith("there is no device 'cuda:0'")
    assert "Traceback" not in done.stderr


def test_a_wrong_example_fails_the_demo(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise CheckError("largest error 7")

    monkeypatch.setattr(wmma_matmul, "main", fail)
    assert run_demo(Inventory().find("emulator:gfx1201"), (wmma_matmul, transpose_wmma)) == 1
    text = capsys.readouterr().out
    assert "wmma_matmul\n  FAILED: largest error 7" in text
    assert "transpose_wmma (" in text
    assert "1 of 2 examples FAILED" in text


def test_a_failed_demo_is_a_failed_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "run_demo", lambda device: 2)
    assert command_line.main(["demo", "--device", "emulator:gfx1201"]) == 1


def test_layout_prints_the_map_of_an_operand(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["layout", "wmma_i32_16x16x32_iu4", "--operand", "b"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "wmma_i32_16x16x32_iu4_w32_gfx12, operand B"
    assert lines[-1].split()[2:5] == ["16.15", "17.15", "18.15"]
    assert command_line.main(["layout", "wmma_i32_16x16x32_iu4", "--operand", "index"]) == 1
    assert "it has a, b, c, d\n" in capsys.readouterr().err


def test_devices_lists_them_and_marks_the_default() -> None:
    done = amdjit_command("devices", AMDJIT_DEVICE="emulator:gfx1200")
    assert done.returncode == 0
    marked = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("* emulator")]
    assert marked == ["emulator:gfx1200"]
    assert "  emulator:gfx1201" in done.stdout


def test_an_unusable_environment_is_one_clear_error() -> None:
    done = amdjit_command("devices", AMDJIT_DEVICE="hip:99")
    assert done.returncode == 1
    assert "AMDJIT_DEVICE: there is no device 'hip:99'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_prints_its_version_and_usage() -> None:
    assert amdjit_command("--version").stdout == f"amdjit {amdjit.__version__}\n"
    nothing = amdjit_command()
    assert nothing.returncode == 2
    assert nothing.stderr.startswith("usage: amdjit")
    assert amdjit_command("inspect", f"{KERNELS}:scale", "--emit", "mir").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_reader_that_stops_reading_is_no_error() -> None:
    command = (
        f"{sys.executable} -m amdjit inspect {KERNELS}:scale --signature 'f32[:],f32' "
        "--emit llvm | true"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""


def test_layout_names_the_instructions_that_are_most_alike(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, alike in (
        ("wmma_i32_16x16x32_iu5", "did you mean wmma_i32_16x16x32_iu4, "),
        ("mfma_f32_16x16x16_f16_w32", "did you mean wmma_f32_16x16x16_f16, "),
    ):
        assert command_line.main(["layout", name]) == 1
        assert alike in capsys.readouterr().err
