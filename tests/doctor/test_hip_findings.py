"""What the doctor says of HIP when the stand-in for it, below the real hip-python, has a fault."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from amdjit.doctor import hip_findings
from amdjit.doctor.child import Ended
from amdjit.doctor.finding import Finding, State
from amdjit.doctor.machine import Machine
from amdjit.runtime.hip_errors import INSTALL_HIP, UPDATE_ROCM
from tests.doctor.examined_machine import (
    machine,
    standin,
    surveyed,
    variables,
    with_gpu,
    without_hip,
    write,
)

pytestmark = pytest.mark.skipif(bool(standin.why_not()), reason=standin.why_not() or "-")


def findings(seen: Machine, survey: Ended) -> dict[str, Finding]:
    """Return what all questions about HIP find, by topic."""
    questions = (hip_findings.hip_library, hip_findings.gpus, hip_findings.default_device)
    return {each.topic: each for question in questions for each in question(seen, survey)}


@pytest.fixture
def gpu_machine(tmp_path: Path) -> Machine:
    return machine(with_gpu(tmp_path / "root"))


def library_copy(folder: Path, name: str = "libamdhip64.so") -> Path:
    folder.mkdir(parents=True)
    return Path(shutil.copy(standin.build() / "lib" / "libamdhip64.so", folder / name))


def test_a_gpu_that_works_is_described(gpu_machine: Machine, tmp_path: Path) -> None:
    other = library_copy(tmp_path / "other")
    given = variables()
    given["LD_LIBRARY_PATH"] += f":{other.parent}"
    survey = surveyed(given)
    found = findings(gpu_machine, survey)
    assert [each.state for each in found.values()] == [State.OK] * 3
    file = standin.build() / "lib" / "libamdhip64.so"
    library = found["HIP library"]
    assert library.found.startswith(f"{file}, HIP 7.2.53211, from ROCM_PATH ({file.parent})")
    assert library.facts["others"] == [str(other)]
    assert f"not taken, as this comes first: {other}" in library.found
    assert found["hip:0"].found == (
        "Stand-in GPU, gfx1201, 16.0 GiB, waves of 32, 32 WGPs, 64 KiB of LDS"
    )
    assert found["hip:0"].facts["memory"] == 16 << 30
    assert "kernels run on hip:0" in found["default"].found
    assert hip_findings.usable(survey) == ["hip:0"]


def test_cdna_counts_compute_units(gpu_machine: Machine) -> None:
    found = findings(gpu_machine, surveyed(variables(arch="gfx942:sramecc+:xnack-", devices="2")))
    assert "waves of 64, 32 CUs" in found["hip:1"].found


def test_no_library_is_a_problem_only_where_there_is_a_gpu(
    gpu_machine: Machine, tmp_path: Path
) -> None:
    survey = surveyed(without_hip())
    if "opened" in {line["stage"] for line in survey.lines}:
        pytest.skip("this machine has HIP, and perhaps a GPU")
    found = findings(gpu_machine, survey)
    assert (found["HIP library"].state, found["HIP library"].remedy) == (State.PROBLEM, INSTALL_HIP)
    assert "there is none; looked in this process, " in found["HIP library"].found
    assert "emulator:gfx1201" in found["default"].found
    assert findings(machine(tmp_path), survey)["HIP library"].state is State.NOTE
    assert hip_findings.usable(survey) == []


def test_a_broken_library_is_named_with_the_loaders_words(
    gpu_machine: Machine, tmp_path: Path
) -> None:
    broken = tmp_path / "libamdhip64.so"
    broken.write_bytes(b"no library")
    found = findings(gpu_machine, surveyed(without_hip(LD_LIBRARY_PATH=str(tmp_path))))
    library = found["HIP library"]
    assert library.state is State.PROBLEM
    assert library.found.count(str(broken)) == 1
    assert "file too short" in library.found
    assert INSTALL_HIP in library.remedy


def test_a_broken_library_before_one_that_works_is_told(
    gpu_machine: Machine, tmp_path: Path
) -> None:
    broken = tmp_path / "libamdhip64.so"
    broken.write_bytes(b"no library")
    works = library_copy(tmp_path / "rocm", "libamdhip64.so.7")
    path = f"{tmp_path}:{works.parent}"
    found = findings(gpu_machine, surveyed(without_hip(LD_LIBRARY_PATH=path)))["HIP library"]
    assert found.state is State.NOTE
    assert found.found.startswith(f"{works}, HIP 7.2.53211")
    assert f"cannot be loaded: {broken}: file too short" in found.found


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("code", "words"),
    [(3, "amdgpu kernel module"), (35, "update amdgpu-dkms"), (101, "`amdjit devices`")],
)
def test_hip_that_does_not_start_has_its_remedy(
    gpu_machine: Machine, code: int, words: str
) -> None:
    found = findings(gpu_machine, surveyed(variables(fail=f"hipGetDeviceCount={code}")))["GPUs"]
    assert found.state is State.PROBLEM
    assert f"({code})" in found.found
    assert words in found.remedy


def test_hip_without_a_device_is_a_problem_only_where_there_is_a_gpu(
    gpu_machine: Machine, tmp_path: Path
) -> None:
    survey = surveyed(variables(devices="0"))
    found = findings(gpu_machine, survey)["GPUs"]
    assert found.state is State.PROBLEM
    assert "hipErrorNoDevice (100)" in found.found
    assert "group render" in found.remedy
    assert findings(machine(tmp_path), survey)["GPUs"].state is State.NOTE


def test_gpus_that_hip_does_not_report_are_told(tmp_path: Path) -> None:
    root = with_gpu(tmp_path)
    write(root, "sys/class/kfd/kfd/topology/nodes/2/properties", "gfx_target_version 110000\n")
    found = findings(machine(root), surveyed(variables()))
    assert found["GPUs"].state is State.NOTE
    assert found["GPUs"].found == "HIP reports 1 of the 2 GPUs that the driver sees"
    assert "HIP_VISIBLE_DEVICES" in found["GPUs"].remedy


def test_an_old_hip_cannot_read_code_objects(gpu_machine: Machine) -> None:
    found = findings(gpu_machine, surveyed(variables(version="60224831")))["HIP library"]
    assert (found.state, found.remedy) == (State.PROBLEM, UPDATE_ROCM)
    assert "HIP 6.2.24831" in found.found
    assert "HIP reads from 6.3 on" in found.found


def test_an_unknown_processor_is_named(gpu_machine: Machine) -> None:
    survey = surveyed(variables(arch="gfx902:xnack-"))
    found = findings(gpu_machine, survey)["hip:0"]
    assert found.state is State.NOTE
    assert "for which amdjit does not compile" in found.found
    assert "docs/reference/targets.md" in found.remedy
    assert found.facts["target"] is None
    assert hip_findings.usable(survey) == []


def test_a_device_of_the_environment_that_is_not_there_is_a_problem(gpu_machine: Machine) -> None:
    found = findings(gpu_machine, surveyed(variables() | {"AMDJIT_DEVICE": "hip:7"}))["default"]
    assert found.state is State.PROBLEM
    assert "there is no device 'hip:7'" in found.found


def test_a_driver_that_crashes_ends_the_child_alone(gpu_machine: Machine) -> None:
    found = findings(gpu_machine, surveyed(variables(crash="hipGetDeviceCount")))
    assert found["HIP library"].state is State.OK
    assert found["GPUs"].state is State.PROBLEM
    assert "crashed (SIGSEGV)" in found["GPUs"].found


def test_a_library_that_crashes_is_named(gpu_machine: Machine) -> None:
    found = findings(gpu_machine, surveyed(variables(crash="hipRuntimeGetVersion")))["HIP library"]
    assert found.state is State.PROBLEM
    assert str(standin.build()) in found.found
    assert "crashed (SIGSEGV)" in found.found


def test_a_driver_that_hangs_is_waited_for_no_longer_than_said(gpu_machine: Machine) -> None:
    survey = surveyed(variables(hang="hipGetDeviceCount"), seconds=8)
    found = findings(gpu_machine, survey)["GPUs"]
    assert survey.is_hung
    assert found.state is State.PROBLEM
    assert "did not end within 8 s" in found.found
    assert "dmesg" in found.remedy


@pytest.mark.parametrize(
    ("version", "bundled", "state", "words"),
    [
        ("hip: Optional[str] = None", False, State.OK, "built without ROCm"),
        ("hip: Optional[str] = '7.2.1'", False, State.OK, "for HIP 7.2.1, which uses the system's"),
        ("hip: Optional[str] = '7.2.1'", True, State.OK, "with a HIP library of its own"),
    ],
)
def test_pytorch_is_read_and_not_imported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    bundled: bool,
    state: State,
    words: str,
) -> None:
    torch(tmp_path, version, bundled, monkeypatch)
    (found,) = hip_findings.pytorch(machine(tmp_path), Ended((), "", ""))
    assert (found.state, found.remedy) == (state, "")
    assert found.found.startswith("torch 9.9+rocm")
    assert words in found.found


def test_pytorch_with_another_hip_than_amdjits_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch(tmp_path, "hip: Optional[str] = '7.2.1'", True, monkeypatch)
    (found,) = hip_findings.pytorch(machine(tmp_path), surveyed(variables()))
    assert found.state is State.NOTE
    assert "Unset ROCM_PATH" in found.remedy


def torch(folder: Path, version: str, bundled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a PyTorch that may not be imported."""
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / "torch" / "version.py").write_text(f"__version__ = '9.9'\n{version}\n")
    (folder / "torch-9.9+rocm.dist-info").mkdir()
    (folder / "torch-9.9+rocm.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torch\nVersion: 9.9+rocm\n"
    )
    if bundled:
        library_copy(folder / "torch" / "lib")
    # Another test of this process may have imported the real one.
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(str(folder))
