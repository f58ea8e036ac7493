"""Which HIP library a process uses, with copies of the stand-in under the names and in the folders
where HIP is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amdjit.runtime.hip import library
from tests.runtime.test_hip import ROOT, needs_standin, standin

pytestmark = needs_standin

REPORT = """
from amdjit.runtime import hip
names = [device.name for device in hip.discover()[0]]
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libamdhip64" in line}
print(names, *mapped)
"""


def test_a_loaded_library_is_told_from_the_mappings_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mappings of no file, which have no `/`, may follow: the name ends with its line."""
    file = tmp_path / "libamdhip64.so.5.2"
    file.touch()
    nameless = "7f5b7e7f9000-7f5b7e7fa000 rw-p 00000000 00:00 0 \n" * 100
    maps = f"7f5b7e000000-7f5b7e100000 r-xp 00000000 00:1f 23 {file}\n{nameless}"
    monkeypatch.setattr(Path, "read_text", lambda self: maps)
    assert library.all_loaded() == [str(file)]


def copy_to(folder: Path, *names: str) -> Path:
    """Put the stand-in into a folder under other names; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(standin.build() / "lib" / "libamdhip64.so", folder / name)
    return folder


def used(code: str = REPORT, **variables: str | Path) -> str:
    """Return what a program prints that sees HIP only where these variables say."""
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    hip_python = os.environ.get("AMDJIT_TEST_HIP_PYTHON")
    for name in ("ROCM_PATH", "ROCM_HOME", "LD_LIBRARY_PATH", "AMDJIT_DEVICE"):
        environment.pop(name, None)
    for name, value in variables.items():
        paths = [str(value), environment.get(name, "")] if name == "PYTHONPATH" else [str(value)]
        environment[name] = os.pathsep.join(paths)
    if hip_python:
        environment["PYTHONPATH"] = os.pathsep.join([hip_python, environment["PYTHONPATH"]])
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize("name", ["libamdhip64.so.6", "libamdhip64.so.7"])
def test_the_loader_finds_versions_without_a_development_package(tmp_path: Path, name: str) -> None:
    folder = copy_to(tmp_path, name)
    assert used(LD_LIBRARY_PATH=folder) == f"['hip:0'] {folder / name}"


def test_rocm_path_comes_before_what_the_loader_finds(tmp_path: Path) -> None:
    chosen = copy_to(tmp_path / "rocm" / "lib", "libamdhip64.so.6")
    other = copy_to(tmp_path / "system", "libamdhip64.so")
    seen = used(ROCM_PATH=chosen.parent, LD_LIBRARY_PATH=other)
    assert seen == f"['hip:0'] {chosen / 'libamdhip64.so.6'}"


def test_a_library_that_the_process_has_is_the_one(tmp_path: Path) -> None:
    first = copy_to(tmp_path / "wheel", "libamdhip64-3f2a.so.7") / "libamdhip64-3f2a.so.7"
    other = copy_to(tmp_path / "rocm" / "lib", "libamdhip64.so")
    load = f"import ctypes; ctypes.CDLL({str(first)!r})"
    seen = used(f"{load}\n{REPORT}", ROCM_PATH=other.parent, LD_LIBRARY_PATH=other)
    assert seen == f"['hip:0'] {first}"


@pytest.mark.parametrize("package", ["torch", "_rocm_sdk_core"])
def test_a_wheel_comes_before_the_system(tmp_path: Path, package: str) -> None:
    # Its package brings its HIP along when it is imported, perhaps later.
    chosen = copy_to(tmp_path / "wheels" / package / "lib", "libamdhip64.so.7")
    chosen.parent.joinpath("__init__.py").write_text("raise AssertionError('imported')")
    other = copy_to(tmp_path / "system", "libamdhip64.so")
    seen = used(PYTHONPATH=tmp_path / "wheels", LD_LIBRARY_PATH=other)
    assert seen == f"['hip:0'] {chosen / 'libamdhip64.so.7'}"


def test_a_file_that_is_no_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    broken = tmp_path / "lib" / "libamdhip64.so"
    broken.write_bytes(b"no library")
    code = "from amdjit.runtime import hip; print(*hip.discover())"
    seen = used(code, ROCM_PATH=tmp_path)
    assert str(broken) in seen
    assert "Install ROCm's HIP runtime, or say with ROCM_PATH where it is." in seen


def test_windows_has_names_and_folders_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(library, "_is_loaded_on_windows", lambda name: False)
    (tmp_path / "bin").mkdir()
    for name in ("amdhip64_6.dll", "amdhip64.dll", "amdhip64_7.dll"):
        file = tmp_path / "bin" / name
        file.touch()
        assert library.choose(tmp_path) == str(file)
    monkeypatch.setattr(library, "_is_loaded_on_windows", lambda name: name == "amdhip64.dll")
    assert library.choose(tmp_path) == "amdhip64.dll"
