"""What the doctor says of AMD's driver, on machines that are folders."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from amdjit.doctor.driver import device_files, driver, has_gpu
from amdjit.doctor.finding import Finding, State
from amdjit.doctor.machine import Machine
from amdjit.runtime.hip_errors import JOIN_GROUPS, LOAD_DRIVER, SHARE_DEVICE_FILES
from tests.doctor.examined_machine import RENDER, machine, with_card, with_gpu, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
NOBODY = 65534


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """Yield a folder that everybody may enter, while this process may not do what root may."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    is_root = os.geteuid() == 0
    yield folder
    if is_root:
        os.seteuid(0)
    shutil.rmtree(folder)


def leave_root() -> None:
    if os.geteuid() == 0:
        os.seteuid(NOBODY)


def only(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_a_gpu_with_its_driver_is_well(tmp_path: Path) -> None:
    seen = machine(with_gpu(tmp_path))
    found = only(driver(seen))
    assert (found.state, found.remedy) == (State.OK, "")
    assert found.found == "the kernel module amdgpu 6.14.14 is loaded, which sees gfx1201"
    assert found.facts == {"pci": 1, "module": True, "processors": ["gfx1201"]}
    files = only(device_files(seen))
    assert files.state is State.OK
    assert files.found.startswith("you may open /dev/kfd (")
    assert files.found.endswith("), /dev/dri/renderD128")
    assert has_gpu(seen)


@pytest.mark.parametrize(("version", "name"), [(90402, "gfx942"), (90010, "gfx90a")])
def test_processors_are_named_as_llvm_does(tmp_path: Path, version: int, name: str) -> None:
    assert f"sees {name}" in only(driver(machine(with_gpu(tmp_path, version=version)))).found


def test_an_accelerator_without_a_screen_is_a_gpu(tmp_path: Path) -> None:
    seen = machine(with_card(tmp_path, "0x1002 0x120000"))
    assert has_gpu(seen)
    assert only(driver(seen)).state is State.PROBLEM


def test_a_gpu_without_its_driver_needs_the_module(tmp_path: Path) -> None:
    seen = machine(with_card(tmp_path))
    found = only(driver(seen))
    assert (found.state, found.remedy) == (State.PROBLEM, LOAD_DRIVER)
    assert "amdgpu is not loaded" in found.found


@pytest.mark.parametrize("card", ["0x10de 0x030000", "0x1002 0x040300"])
def test_other_makers_and_sound_devices_are_no_gpu(tmp_path: Path, card: str) -> None:
    seen = machine(with_card(tmp_path, card))
    found = only(driver(seen))
    assert (found.state, found.found) == (State.NOTE, "there is no AMD GPU in this machine")
    assert not list(device_files(seen))
    assert not has_gpu(seen)


def test_a_processor_that_amdjit_lacks_is_no_problem_of_the_machine(tmp_path: Path) -> None:
    seen = machine(with_gpu(tmp_path, version=90002))
    found = only(driver(seen))
    assert found.state is State.NOTE
    assert "gfx902" in found.found
    assert "docs/reference/targets.md" in found.remedy
    assert not has_gpu(seen)


def test_a_container_without_the_device_files_must_be_given_them(tmp_path: Path) -> None:
    with_gpu(tmp_path)
    (tmp_path / "dev/kfd").unlink()
    assert only(device_files(machine(tmp_path))).found == "there is no /dev/kfd"
    write(tmp_path, ".dockerenv")
    found = only(device_files(machine(tmp_path)))
    assert (found.state, found.remedy) == (State.PROBLEM, SHARE_DEVICE_FILES)
    assert found.found == "this container has no /dev/kfd"


def test_render_nodes_must_be_there_and_be_amds(tmp_path: Path) -> None:
    with_gpu(tmp_path)
    write(tmp_path, "sys/class/drm/renderD128/device/vendor", "0x8086")
    found = only(device_files(machine(tmp_path)))
    assert (found.state, found.remedy) == (State.PROBLEM, SHARE_DEVICE_FILES)
    assert "no AMD render node" in found.found


@pytest.mark.parametrize(
    ("groups", "variables", "remedy"),
    [
        (frozenset({0}), {"USER": "me"}, JOIN_GROUPS),
        (frozenset({0}), {"USER": "added"}, "log in again"),
        (frozenset({RENDER, NOBODY, 0, os.getgid()}), {"USER": "me"}, "chmod g+rw"),
    ],
)
def test_who_may_not_open_the_driver_is_told_what_lacks(
    as_nobody: Path, groups: frozenset[int], variables: dict[str, str], remedy: str
) -> None:
    with_gpu(as_nobody)
    group = write(as_nobody, "etc/group", f"render:x:{RENDER}:added\n")
    group.chmod(0o644)
    kfd = as_nobody / "dev/kfd"
    kfd.chmod(0)
    if os.geteuid() == 0:
        os.chown(kfd, 0, RENDER)
        (as_nobody / "dev/dri/renderD128").chmod(0o666)
    elif remedy != "chmod g+rw":
        pytest.skip("only root can give a file to another group; needs no GPU")
    leave_root()
    found = only(device_files(machine(as_nobody, variables, groups)))
    assert found.state is State.PROBLEM
    assert found.found.startswith("you may not open /dev/kfd (---------, group render, in which")
    assert "renderD128" not in found.found
    assert remedy in found.remedy


def test_wsl_has_windows_driver(tmp_path: Path) -> None:
    write(tmp_path, "proc/version", "Linux version 6.6-microsoft-standard-WSL2")
    without = only(driver(machine(tmp_path)))
    assert without.state is State.NOTE
    assert "ROCm for WSL" in without.remedy
    write(tmp_path, "dev/dxg")
    assert only(driver(machine(tmp_path))).state is State.OK
    assert not list(device_files(machine(tmp_path)))
    assert has_gpu(machine(tmp_path))


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_other_systems_have_no_such_files(tmp_path: Path, system: str) -> None:
    other = dataclasses.replace(machine(with_gpu(tmp_path)), system=system)
    assert not list(driver(other))
    assert not list(device_files(other))
    assert not has_gpu(other)


def test_this_machine_can_be_asked() -> None:
    here = Machine.here()
    assert all(finding.topic for finding in (*driver(here), *device_files(here)))
