"""What the doctor says of Python, its packages, LLVM's tools and the settings."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from amdjit import backend
from amdjit.diagnostics import BackendError
from amdjit.doctor import software
from amdjit.doctor.finding import REINSTALL, Finding, State
from amdjit.doctor.machine import Machine
from tests.doctor.examined_machine import ROOT, machine

Question = Callable[[Machine], Iterator[Finding]]
HERE = Machine.here()


def found(question: Question, seen: Machine = HERE) -> Finding:
    (finding,) = question(seen)
    return finding


@pytest.mark.parametrize(
    ("system", "processor", "name"),
    [("win32", "AMD64", "Windows"), ("darwin", "arm64", "macOS"), ("linux", "aarch64", "Linux")],
)
def test_machines_without_hip_python_hear_what_works(
    tmp_path: Path, system: str, processor: str, name: str
) -> None:
    seen = dataclasses.replace(machine(tmp_path), system=system, processor=processor)
    finding = found(software.python, seen)
    assert finding.state is State.NOTE
    assert f"{name} {processor}; amdjit compiles and emulates here" in finding.found
    assert finding.remedy
    assert "hip-python" not in found(software.packages, seen).facts


def test_packages_have_their_versions() -> None:
    finding = found(software.packages)
    assert finding.state is State.OK
    for name in ("llvmlite", "numpy", "ml_dtypes", "msgpack", "xxhash"):
        assert finding.facts[name] == metadata.version(name)
        assert f"{name} {metadata.version(name)}" in finding.found


def versions(monkeypatch: pytest.MonkeyPatch, **other: str | None) -> None:
    """Let packages seem to be of other versions, or missing."""
    real = metadata.version

    def version(name: str) -> str:
        if name not in other:
            return real(name)
        chosen = other[name]
        if chosen is None:
            raise metadata.PackageNotFoundError(name)
        return chosen

    monkeypatch.setattr(metadata, "version", version)


def test_a_missing_package_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    versions(monkeypatch, xxhash=None, msgpack=None)
    finding = found(software.packages)
    assert (finding.state, finding.remedy) == (State.PROBLEM, REINSTALL)
    assert finding.found.startswith("msgpack, xxhash missing. There are llvmlite ")


@pytest.mark.parametrize("version", ["0.49.1", "0.51.0rc1", "0.100"])
def test_a_version_that_amdjit_does_not_allow_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(
        metadata,
        "requires",
        lambda name: ["llvmlite<0.51,>=0.50", "numpy>=1.26", 'xxhash>=99; extra == "more"'],
    )
    versions(monkeypatch, llvmlite=version, numpy="1.26")
    finding = found(software.packages)
    assert finding.state is State.PROBLEM
    assert f"not of a version that amdjit works with: llvmlite {version} (needed: " in finding.found
    versions(monkeypatch, llvmlite="0.50.9", numpy="1.26")
    assert found(software.packages).state is State.OK


def test_llvm_has_its_tools(tmp_path: Path) -> None:
    zig = tmp_path / "zig"
    zig.touch()
    zig.chmod(0o755)
    seen = machine(tmp_path, {"AMDJIT_LINKER": str(zig)})
    assert found(software.llvm, seen).facts["linker"] == f"{zig} ld.lld"
    assert found(software.llvm, machine(tmp_path)).facts["linker"] == "amdjit"


def test_a_linker_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    finding = found(software.llvm, machine(tmp_path, {"AMDJIT_LINKER": "/no/such/linker"}))
    assert finding.state is State.PROBLEM
    assert "'/no/such/linker'" in finding.found
    assert "AMDJIT_LINKER" in finding.remedy


def test_missing_tools_are_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "find_lld", _nothing)
    finding = found(software.llvm, machine(tmp_path))
    assert finding.state is State.NOTE
    assert "lld none" in finding.found
    assert 'pip install "amdjit[lld]"' in finding.remedy


def _nothing(environment: object) -> object:
    raise BackendError("no lld")


def test_an_llvm_that_cannot_be_loaded_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "llvmlite.py").write_text("raise ImportError('libstdc++ is too old')")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    command = [sys.executable, "-m", "amdjit", "doctor"]
    environment = {**os.environ, "PYTHONPATH": path, "AMDJIT_DEVICE": "emulator:gfx1201"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stderr) == (1, "")
    assert "PROBLEM LLVM          it cannot be loaded: libstdc++ is too old" in done.stdout
    assert "kernels       emulator:gfx1201: " in done.stdout


def test_settings_are_shown_without_the_users_name(tmp_path: Path) -> None:
    given = {"AMDJIT_CACHE_DIR": "/home/me/cache", "HIP_VISIBLE_DEVICES": "1", "OTHER": "x"}
    finding = found(software.settings, machine(tmp_path, given))
    assert finding.state is State.OK
    assert finding.found == "AMDJIT_CACHE_DIR=~/cache, HIP_VISIBLE_DEVICES=1"
    assert finding.facts == {"AMDJIT_CACHE_DIR": "~/cache", "HIP_VISIBLE_DEVICES": "1"}
    assert not list(software.settings(machine(tmp_path)))


def test_a_setting_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    finding = found(software.settings, machine(tmp_path, {"AMDJIT_DEBUG": "perhaps"}))
    assert finding.state is State.PROBLEM
    assert finding.found == "AMDJIT_DEBUG='perhaps': give 0 or 1"


def test_a_gpu_that_passes_for_another_is_told(tmp_path: Path) -> None:
    given = {"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}
    finding = found(software.settings, machine(tmp_path, given))
    assert finding.state is State.NOTE
    assert "Unset HSA_OVERRIDE_GFX_VERSION" in finding.remedy


def test_a_variable_that_amdjit_does_not_have_is_told(tmp_path: Path) -> None:
    given = {"AMDJIT_DEVCE": "hip", "AMDJIT_CACHE_DIR": "/x", "AMDJIT_SANITIZE_JSON": "y"}
    finding = found(software.settings, machine(tmp_path, given))
    assert finding.state is State.NOTE
    assert finding.found.endswith("amdjit has no AMDJIT_DEVCE")
    assert "spelling" in finding.remedy


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/.cache and /home/me", "~/.cache and ~"),
        ("/home/me-too/.cache", "/home/me-too/.cache"),
        ("/home/me.old", "/home/me.old"),
    ],
)
def test_the_users_folder_alone_is_shortened(tmp_path: Path, text: str, shown: str) -> None:
    assert machine(tmp_path).shown(text) == shown
