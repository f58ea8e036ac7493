"""Nothing that amdjit needs is POSIX's or Linux's alone, as far as a Linux machine can show."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import amdjit
from amdjit.child_process import Child
from amdjit.code_object import bundles
from amdjit.diagnostics.errors import BackendError
from amdjit.options import read_environment
from amdjit.tuning import pool

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("other_platform.py")


@amdjit.kernel
def doubled(x):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] = 2 * x[i]


def double_in_this_process(values: list[float]) -> list[float]:
    """Launch on the emulator; what a process of a pool does."""
    x = np.array(values, np.float32)
    with amdjit.use("emulator:gfx1201"):
        doubled[1, 32](x)
    return list(map(float, x))


# Only Windows can start processes as Windows does.
@pytest.mark.sample(1)
@pytest.mark.parametrize(("platform", "guard"), [("win32", "0"), ("darwin", "0"), ("darwin", "1")])
def test_kernels_compile_and_run_without_what_only_linux_has(
    platform: str, guard: str, tmp_path: Path
) -> None:
    environment = {
        "PATH": "", "HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "PYTHONPATH": str(ROOT),
        "AMDJIT_CACHE_DIR": str(tmp_path / "cache"), "AMDJIT_DEVICE": "emulator:gfx1201",
    }  # fmt: skip
    command = [sys.executable, str(PROGRAM), platform, guard]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [platform, "computed", "14850"]


def test_processes_that_are_spawned_compile_for_themselves() -> None:
    """As all are on Windows and macOS; the kernel comes from its module."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(double_in_this_process, ([1, 2, 3],)) == [2, 4, 6]


def test_a_process_is_killed_where_there_are_no_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    child = Child([sys.executable, "-c", "import time; time.sleep(600)"], leads_group=True)
    monkeypatch.delattr("os.killpg")
    child.kill()
    assert child.wait(60) == -9


def test_memory_is_not_limited_where_there_are_no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    pool._limit_memory(1 << 20)
    assert len(bytes(64 << 20)) == 64 << 20


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("win32", ["libzstd.dll", "zstd.dll"]),
        ("darwin", ["libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib"]),
        ("linux", ["libzstd.so.1"]),
    ],
)
def test_zstandard_has_the_names_of_each_platform(
    platform: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(name: str) -> None:
        asked.append(name)
        raise OSError

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(bundles.ctypes, "CDLL", refuse)
    assert bundles._zstd_library() is None
    assert asked == expected


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_programs_that_use_hip_are_refused_elsewhere(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(BackendError, match="for Linux"):
        amdjit.hip_library()


@pytest.mark.parametrize(
    ("system", "expected"), [("nt", "/local/amdjit/cache"), ("posix", "/home/me/.cache/amdjit")]
)
def test_caches_are_where_each_platform_keeps_them(
    system: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amdjit.options.os", SimpleNamespace(name=system))
    places = {"HOME": "/home/me", "LOCALAPPDATA": "/local"}
    assert read_environment(places).cache_dir == Path(expected)
    assert read_environment({}).cache_dir is None
