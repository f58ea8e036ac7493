"""Machines that are not there, as folders, and doctor's processes on the stand-in for HIP."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from amdjit.doctor.child import Child, Ended
from amdjit.doctor.machine import Machine

ROOT = Path(__file__).parents[2]
STANDIN = ROOT / "tests" / "runtime" / "standin_hip"
sys.path.insert(0, str(STANDIN))

import standin  # noqa: E402  (its folder is on the path from here on)

RENDER = 109
RX_9070 = "0x1002 0x030000"


def write(root: Path, path: str, text: str = "") -> Path:
    """Write a file below a root, and the folders that it is in."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def machine(
    root: Path, variables: Mapping[str, str] | None = None, groups: frozenset[int] | None = None
) -> Machine:
    """Return a Linux machine whose files are below a root."""
    given = {} if variables is None else variables
    chosen = frozenset({RENDER}) if groups is None else groups
    return Machine(root, "linux", "x86_64", given, chosen, "/home/me")


def with_gpu(root: Path, card: str = RX_9070, version: int = 120001) -> Path:
    """Put an AMD GPU, its driver and its device files below a root."""
    with_card(root, card)
    write(root, "sys/module/amdgpu/version", "6.14.14\n")
    nodes = "sys/class/kfd/kfd/topology/nodes"
    write(root, f"{nodes}/0/properties", "simd_count 0\ngfx_target_version 0\n")
    write(root, f"{nodes}/1/properties", f"simd_count 128\ngfx_target_version {version}\n")
    write(root, "etc/group", f"root:x:0:\nrender:x:{RENDER}:\nvideo:x:44:me\n")
    for name in ("dev/kfd", "dev/dri/renderD128"):
        write(root, name)
    return root


def with_card(root: Path, card: str = RX_9070) -> Path:
    """Put a PCI device below a root: maker and class."""
    maker, kind = card.split()
    write(root, "sys/bus/pci/devices/0000:03:00.0/vendor", maker)
    write(root, "sys/bus/pci/devices/0000:03:00.0/class", kind)
    return root


def variables(behind: bool = False, **settings: str) -> dict[str, str]:
    """Return an environment with the stand-in in it, and STANDIN_HIP_* as given. behind: with the
    emulator behind it, so that kernels run."""
    found = standin.environment(**settings)
    found["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests/doctor/standin_site"), str(ROOT)])
    if behind:
        found["STANDIN_HIP_SITE"] = "1"
    return found


def without_hip(**more: str) -> dict[str, str]:
    """Return an environment in which no HIP library is found."""
    found = {name: value for name, value in os.environ.items() if name not in _OF_HIP}
    return found | {"PYTHONPATH": str(ROOT)} | more


_OF_HIP = ("ROCM_PATH", "ROCM_HOME", "LD_LIBRARY_PATH", "AMDJIT_DEVICE")


def surveyed(given: Mapping[str, str], seconds: float = 120.0) -> Ended:
    """Return what the survey of HIP finds in an environment."""
    return Child("amdjit.doctor.survey", variables=given).finish(seconds)


def tried(given: Mapping[str, str], device: str = "hip:0", seconds: float = 120.0) -> Ended:
    """Return what the smoke run of a device finds in an environment."""
    return Child("amdjit.doctor.smoke", device, variables=given).finish(seconds)
