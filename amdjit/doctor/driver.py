"""Questions about AMD's driver for Linux: what the kernel knows, and who may use it."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

from amdjit.doctor.finding import Finding, State
from amdjit.doctor.machine import Machine
from amdjit.runtime.hip_errors import JOIN_GROUPS, LOAD_DRIVER, SHARE_DEVICE_FILES
from amdjit.target import find_target

__all__ = ["device_files", "driver", "has_gpu", "processors"]

_AMD = "0x1002"
# PCI's base classes of display controllers and processing accelerators.
_CLASSES = ("0x03", "0x12")
_VERSION = re.compile(r"^gfx_target_version (\d+)$", re.MULTILINE)
_MODULE = "sys/module/amdgpu"
_NODES = "sys/class/kfd/kfd/topology/nodes"
_WSL_REMEDY = (
    "Install AMD's driver for Windows with support for WSL, and ROCm for WSL in Linux "
    "(rocm.docs.amd.com/projects/radeon)."
)


def driver(machine: Machine) -> Iterator[Finding]:
    """Find whether there is an AMD GPU, whether its driver is loaded, and which processors it
    sees."""
    if not machine.is_linux:
        return
    cards = _cards(machine)
    known = processors(machine)
    facts = dict(pci=cards, module=_has_module(machine), processors=known)
    if _is_wsl(machine):
        yield _wsl(machine, facts)
    elif _has_module(machine):
        version = machine.text(f"{_MODULE}/version")
        seen = f", which sees {', '.join(known)}" if known else ""
        found = f"the kernel module amdgpu {version}".strip() + f" is loaded{seen}"
        state, remedy = _of_loaded(cards, known)
        found = found if cards else f"{found}; PCI has no AMD GPU"
        yield Finding("driver", state, found, remedy, facts)
    elif cards:
        found = f"PCI has {cards} AMD GPU{'s' * (cards > 1)}, but the module amdgpu is not loaded"
        yield Finding("driver", State.PROBLEM, found, LOAD_DRIVER, facts)
    else:
        yield Finding("driver", State.NOTE, "there is no AMD GPU in this machine", facts=facts)


def device_files(machine: Machine) -> Iterator[Finding]:
    """Find whether this process may open the files through which HIP reaches a GPU."""
    if not machine.is_linux or _is_wsl(machine):
        return
    kfd = machine.root / "dev/kfd"
    if not kfd.exists():
        if _cards(machine) or processors(machine):
            yield _no_kfd(machine)
        return
    nodes = _render_nodes(machine)
    closed = [file for file in (kfd, *nodes) if not machine.may_open(file)]
    if closed:
        found = f"you may not open {'; '.join(_described(machine, file) for file in closed)}"
        yield Finding("device files", State.PROBLEM, found, _remedy(machine, closed))
    elif not nodes:
        found = "there is /dev/kfd, but no AMD render node in /dev/dri"
        yield Finding("device files", State.PROBLEM, found, SHARE_DEVICE_FILES)
    else:
        shown = [_described(machine, kfd), *(str(_place(machine, node)) for node in nodes)]
        yield Finding("device files", State.OK, f"you may open {', '.join(shown)}")


def has_gpu(machine: Machine) -> bool:
    """Return whether this machine has a GPU that amdjit compiles for, as far as that can be seen
    without HIP."""
    if not machine.is_linux:
        return False
    known = processors(machine)
    if known:
        return any(find_target(processor) is not None for processor in known)
    return bool(_cards(machine)) or (_is_wsl(machine) and (machine.root / "dev/dxg").exists())


def _of_loaded(cards: int, known: list[str]) -> tuple[State, str]:
    if not cards and not known:
        return State.NOTE, ""
    if known and all(find_target(processor) is None for processor in known):
        return State.NOTE, (
            "amdjit compiles for none of these (docs/reference/targets.md): use the emulator."
        )
    return State.OK, ""


def _wsl(machine: Machine, facts: dict[str, object]) -> Finding:
    if (machine.root / "dev/dxg").exists():
        return Finding("driver", State.OK, "WSL, with Windows' driver at /dev/dxg", facts=facts)
    return Finding("driver", State.NOTE, "WSL without /dev/dxg: no GPU", _WSL_REMEDY, facts)


def _no_kfd(machine: Machine) -> Finding:
    marks = (".dockerenv", "run/.containerenv")
    if any((machine.root / mark).exists() for mark in marks):
        return Finding(
            "device files", State.PROBLEM, "this container has no /dev/kfd", SHARE_DEVICE_FILES
        )
    remedy = f"{LOAD_DRIVER} {SHARE_DEVICE_FILES}"
    return Finding("device files", State.PROBLEM, "there is no /dev/kfd", remedy)


def _render_nodes(machine: Machine) -> list[Path]:
    """Return the render nodes in /dev/dri that belong to AMD GPUs."""
    nodes = sorted((machine.root / "dev/dri").glob("renderD*"))
    makers = {node: machine.text(f"sys/class/drm/{node.name}/device/vendor") for node in nodes}
    return [node for node, maker in makers.items() if maker in ("", _AMD)]


def _remedy(machine: Machine, closed: list[Path]) -> str:
    """Return what opens the files: membership in their group, if that is what is missing."""
    numbers = {file.stat().st_gid for file in closed}
    members = [_members(machine, number) for number in sorted(numbers)]
    user = machine.variables.get("USER") or machine.variables.get("LOGNAME") or ""
    if numbers <= machine.groups:
        return "You are in their group, which may not open them: sudo chmod g+rw FILE"
    if user and all(user in each for each in members):
        return "You are a member of the group now: log in again, so that it takes effect."
    return JOIN_GROUPS


def _described(machine: Machine, file: Path) -> str:
    status = file.stat()
    mode = stat.filemode(status.st_mode)[1:]
    group = _groups(machine).get(status.st_gid, (str(status.st_gid), ()))[0]
    within = "in which you are" if status.st_gid in machine.groups else "in which you are not"
    return f"{_place(machine, file)} ({mode}, group {group}, {within})"


def _place(machine: Machine, file: Path) -> Path:
    return Path("/", file.relative_to(machine.root))


def _groups(machine: Machine) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Return the name and the members of each group in /etc/group, by its number."""
    rows = (line.split(":") for line in machine.text("etc/group").splitlines())
    return {
        int(row[2]): (row[0], tuple(row[3].split(",")))
        for row in rows
        if len(row) == 4 and row[2].isdecimal()
    }


def _members(machine: Machine, number: int) -> tuple[str, ...]:
    return _groups(machine).get(number, ("", ()))[1]


def _cards(machine: Machine) -> int:
    """Return the number of AMD GPUs on the PCI bus."""
    folders = (machine.root / "sys/bus/pci/devices").glob("*")
    names = [str(folder.relative_to(machine.root)) for folder in folders]
    return sum(
        machine.text(f"{name}/vendor") == _AMD
        and machine.text(f"{name}/class").startswith(_CLASSES)
        for name in names
    )


def processors(machine: Machine) -> list[str]:
    """Return the processors that the driver reports, such as gfx1201, without using HIP."""
    found = []
    for folder in sorted((machine.root / _NODES).glob("*")):
        match = _VERSION.search(machine.text(f"{folder.relative_to(machine.root)}/properties"))
        number = int(match[1]) if match else 0
        if number:  # 0: a CPU
            minor, stepping = number // 100 % 100, number % 100
            found.append(f"gfx{number // 10000}{minor:x}{stepping:x}")
    return found


def _has_module(machine: Machine) -> bool:
    return (machine.root / _MODULE).exists()


def _is_wsl(machine: Machine) -> bool:
    return "microsoft" in machine.text("proc/version").lower()
