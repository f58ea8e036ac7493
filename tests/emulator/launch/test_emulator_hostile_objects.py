"""Broken code objects end in an error of amdjit's own, never in a crash, a hang or changed memory
of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.emulator.building import CPU, compile_kernel, using
from tests.emulator.launch.hostile_objects import BREAKS
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

KERNELS = (
    "saxpy",
    "reduction",
    "atomics",
    "branches",
    "calls",
    "private_arrays",
    "matrix",
    "cross_lane",
)
GFX11 = "gfx1100"
WIDE_OF_GFX11 = ("atomics", "calls", "private_arrays")
GFX9 = ("gfx90a", "gfx942")
BATCH = 100
CI_OBJECTS = 100
ALL_OBJECTS = 10_000
CHECKS = ("memory", "race", "init", "sync")
CI_CHECKED, ALL_CHECKED = 16, 3_000


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    for name in KERNELS:
        (folder / f"{name}.co").write_bytes(compile_kernel(name))
    return folder


@pytest.fixture(scope="module")
def samples64(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples64")
    for name in KERNELS:
        if name not in ("matrix", "cross_lane"):
            (folder / f"{name}.co").write_bytes(compile_kernel(name, "-O2", "-mwavefrontsize64"))
    return folder


@pytest.fixture(scope="module")
def samples_of_gfx11(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernels of waves of 32 and of 64 lanes."""
    folder = tmp_path_factory.mktemp("samples_of_gfx11")
    with using(cpu=GFX11):
        for name in KERNELS:
            if name != "matrix":
                flags = ("-O2", "-mwavefrontsize64") if name in WIDE_OF_GFX11 else ()
                (folder / f"{name}.co").write_bytes(compile_kernel(name, *flags))
    return folder


@pytest.fixture(scope="module", params=GFX9)
def samples_of_gfx9(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Kernels of a processor of CDNA, and its name."""
    folder = tmp_path_factory.mktemp(f"samples_of_{request.param}")
    with using(cpu=request.param):
        for name in KERNELS:
            if name not in ("matrix", "cross_lane"):
                (folder / f"{name}.co").write_bytes(compile_kernel(name))
    return folder, request.param


def run_batch(samples: Path, first: int, count: int, *checks: str, cpu: str = CPU) -> list[str]:
    """Run objects in a child; return its lines."""
    script = Path(__file__).with_name("hostile_objects.py")
    command = [sys.executable, str(script), str(samples), str(first), str(count), cpu, *checks]
    environment = dict(os.environ) | {"PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30 + 2 * count,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert lines[-1:] == ["sound"], f"object {lines[-1:]}: {done.returncode}\n{done.stderr[-3000:]}"
    return lines[:-1]


@pytest.mark.parametrize("first", range(0, CI_OBJECTS, BATCH))
def test_broken_code_objects_end_in_an_error_of_amdjits(samples: Path, first: int) -> None:
    assert len(run_batch(samples, first, BATCH)) == BATCH


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(CI_OBJECTS, ALL_OBJECTS, BATCH))
def test_more_broken_code_objects(samples: Path, first: int) -> None:
    assert len(run_batch(samples, first, BATCH)) == BATCH


def test_the_ways_to_break_lead_to_many_ends(samples: Path) -> None:
    """Objects that all fail to load would prove little."""
    ends = {line.split(" ", 1)[1] for line in run_batch(samples, 20_000, 5 * len(BREAKS))}
    assert {
        "ran",
        "BackendError",
        "KernelFault out-of-bounds",
        "KernelFault unsupported-instruction",
    } <= ends


def test_broken_code_objects_in_checked_launches(samples: Path) -> None:
    ends = {line.split(" ", 1)[1] for line in run_batch(samples, 30_000, CI_CHECKED, *CHECKS)}
    assert {"reported", "BackendError"} <= ends


@pytest.mark.exhaustive
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("checks", [*((check,) for check in CHECKS), CHECKS], ids="+".join)
def test_more_broken_code_objects_in_checked_launches(
    samples: Path, samples64: Path, checks: tuple[str, ...], wave_size: int
) -> None:
    folder = samples if wave_size == 32 else samples64
    for first in range(0, ALL_CHECKED, BATCH):
        assert len(run_batch(folder, first, BATCH, *checks)) == BATCH


def test_broken_code_objects_of_gfx11(samples_of_gfx11: Path) -> None:
    lines = run_batch(samples_of_gfx11, 0, 3 * len(BREAKS), cpu=GFX11)
    ends = {line.split(" ", 1)[1] for line in lines}
    assert {"ran", "BackendError"} <= ends
    assert any(end.startswith("KernelFault") for end in ends)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(0, 3_000, BATCH))
def test_more_broken_code_objects_of_gfx11(samples_of_gfx11: Path, first: int) -> None:
    assert len(run_batch(samples_of_gfx11, first, BATCH, cpu=GFX11)) == BATCH


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(40_000, 41_000, BATCH))
def test_more_broken_code_objects_of_gfx11_in_checked_launches(
    samples_of_gfx11: Path, first: int
) -> None:
    assert len(run_batch(samples_of_gfx11, first, BATCH, *CHECKS, cpu=GFX11)) == BATCH


@pytest.mark.sample(1)
def test_broken_code_objects_of_gfx9(samples_of_gfx9: tuple[Path, str]) -> None:
    folder, cpu = samples_of_gfx9
    ends = {line.split(" ", 1)[1] for line in run_batch(folder, 0, 2 * len(BREAKS), cpu=cpu)}
    assert {"ran", "BackendError"} <= ends
    assert any(end.startswith("KernelFault") for end in ends)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(0, 3_000, BATCH))
def test_more_broken_code_objects_of_gfx9(samples_of_gfx9: tuple[Path, str], first: int) -> None:
    folder, cpu = samples_of_gfx9
    assert len(run_batch(folder, first, BATCH, cpu=cpu)) == BATCH


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(40_000, 41_000, BATCH))
def test_more_broken_code_objects_of_gfx9_in_checked_launches(
    samples_of_gfx9: tuple[Path, str], first: int
) -> None:
    folder, cpu = samples_of_gfx9
    assert len(run_batch(folder, first, BATCH, *CHECKS, cpu=cpu)) == BATCH
