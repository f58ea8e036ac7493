"""Questions about Python, its packages, LLVM and its tools, and amdjit's settings."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import amdjit
from amdjit.diagnostics.errors import BackendError
from amdjit.doctor.finding import REINSTALL, Finding, State
from amdjit.doctor.machine import Machine
from amdjit.late import late
from amdjit.options import Environment, OptionError, read_environment, rocm_settings

if TYPE_CHECKING:
    from amdjit import backend
else:
    # This import needs llvmlite, which may be missing.
    backend = late("amdjit.backend")

__all__ = ["llvm", "packages", "python", "settings"]

_SYSTEMS = {"linux": "Linux", "win32": "Windows", "darwin": "macOS"}
_NO_GPU_HERE = (
    "amdjit compiles and emulates here; it drives AMD GPUs on Linux, x86-64, alone: hip-python "
    "has no package for other machines"
)
_ON_LINUX = "To use an AMD GPU, run amdjit on Linux (docs/installing.md)."
# The required packages, and those that are shown if they are installed: they bring HIP's functions,
# and lld with an assembler.
_NEEDED = ("llvmlite", "numpy", "ml_dtypes", "msgpack", "xxhash")
_OF_HIP = "hip-python"
_PACKAGE_OF_LLD = "ziglang"
_OPTIONAL = ("rocm-bindings-core", "rocm-bindings-hip", _PACKAGE_OF_LLD)
_REQUIREMENT = re.compile(r"([\w.-]+)\s*([^;]*)(;.*)?")
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


def python(machine: Machine) -> Iterator[Finding]:
    """Find which Python runs on which system, and what works there."""
    system = _SYSTEMS.get(machine.system, machine.system)
    found = (
        f"amdjit {amdjit.__version__}, Python {platform.python_version()}, {system} "
        f"{machine.processor}"
    )
    facts = dict(amdjit=amdjit.__version__, python=platform.python_version(), system=system)
    if machine.has_hip_python:
        yield Finding("Python", State.OK, found, facts=facts)
    else:
        yield Finding("Python", State.NOTE, f"{found}; {_NO_GPU_HERE}", _ON_LINUX, facts)


def packages(machine: Machine) -> Iterator[Finding]:
    """Find which packages are installed, in which versions, and whether amdjit can work with
    them."""
    needed = (*_NEEDED, _OF_HIP) if machine.has_hip_python else _NEEDED
    versions = {name: _version(name) for name in (*needed, *_OPTIONAL)}
    there = {name: version for name, version in versions.items() if version}
    found = ", ".join(f"{name} {version}" for name, version in there.items())
    missing = [name for name in needed if name not in there]
    unfit = [f"{name} {there[name]} ({bound})" for name, bound in _unfit(there)]
    wrong = [f"{', '.join(missing)} missing"] if missing else []
    wrong += [f"not of a version that amdjit works with: {', '.join(unfit)}"] if unfit else []
    if wrong:
        yield Finding(
            "packages", State.PROBLEM, f"{'; '.join(wrong)}. There are {found}", REINSTALL, there
        )
    else:
        yield Finding("packages", State.OK, found, facts=there)


def llvm(machine: Machine) -> Iterator[Finding]:
    """Find which LLVM compiles, what links, and what assembles inline assembly."""
    try:
        version = backend.llvm_version()
    except (ImportError, OSError) as error:
        found = machine.shown(f"it cannot be loaded: {error}")
        yield Finding("LLVM", State.PROBLEM, found, REINSTALL)
        return
    tools = {
        "linker": _tool(machine, backend.find_linker),
        "lld": _tool(machine, backend.find_lld),
        "assembler": _tool(machine, backend.find_assembler),
    }
    listed = ", ".join(f"{name} {program or 'none'}" for name, program in tools.items())
    shown = f"{version} in llvmlite; {listed}"
    facts = {"LLVM": version, **tools}
    try:
        backend.find_linker(machine.environment())
    except BackendError as error:
        remedy = "Correct AMDJIT_LINKER, or unset it: amdjit links by itself."
        yield Finding("LLVM", State.PROBLEM, machine.shown(f"{error}; {shown}"), remedy, facts)
        return
    if all(tools.values()):
        yield Finding("LLVM", State.OK, shown, facts=facts)
    else:
        remedy = 'Only for inline assembly and rare objects: pip install "amdjit[lld]"'
        yield Finding("LLVM", State.NOTE, shown, remedy, facts)


def settings(machine: Machine) -> Iterator[Finding]:
    """Find which environment variables are set, and whether amdjit can read its own."""
    of_amdjit = {n: v for n, v in sorted(machine.variables.items()) if n.startswith("AMDJIT_")}
    given = {**of_amdjit, **rocm_settings(machine.variables)}
    if "ROCM_PATH" in machine.variables:
        given["ROCM_PATH"] = machine.variables["ROCM_PATH"]
    facts = {name: machine.shown(value) for name, value in given.items()}
    found = ", ".join(f"{name}={value}" for name, value in facts.items())
    asked = _Asked(machine.variables)
    try:
        read_environment(asked)
    except OptionError as error:
        remedy = "Correct the variable, or unset it (docs/reference/environment.md)."
        yield Finding("settings", State.PROBLEM, machine.shown(str(error)), remedy, facts)
        return
    unknown = [name for name in of_amdjit if name not in asked.names]
    if unknown:
        found = f"{found}; amdjit has no {' and no '.join(unknown)}"
        remedy = "Correct their spelling, or unset them (docs/reference/environment.md)."
        yield Finding("settings", State.NOTE, found, remedy, facts)
    elif "HSA_OVERRIDE_GFX_VERSION" in given:
        remedy = "Unset HSA_OVERRIDE_GFX_VERSION: amdjit compiles for the GPU's own processor."
        found += "; the GPU passes for another processor, whose code may fail on it"
        yield Finding("settings", State.NOTE, found, remedy, facts)
    elif found:
        yield Finding("settings", State.OK, found, facts=facts)


class _Asked(Mapping[str, str]):
    """Environment variables that record the names that a reader has asked for."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def _tool(machine: Machine, find: Callable[[Environment], object]) -> str | None:
    """Return a program; if it comes from ziglang, the name of that package. None if there is
    none."""
    try:
        program = str(find(machine.environment()))
    except BackendError:
        return None
    is_zig = _PACKAGE_OF_LLD in Path(program.split()[0]).parts
    return _PACKAGE_OF_LLD if is_zig else machine.shown(program)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _unfit(versions: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the packages whose version amdjit does not support, with the bound that amdjit's
    package states."""
    try:
        requirements = metadata.requires("amdjit") or []
    except metadata.PackageNotFoundError:  # amdjit runs from a checkout and is not installed
        return
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is None or "extra" in (match[3] or "") or match[1] not in versions:
            continue
        for sign, bound in _BOUND.findall(match[2]):
            version, limit = _numbers(versions[match[1]]), _numbers(bound)
            if (version < limit) if sign == ">=" else (version >= limit):
                yield match[1], f"needed: {sign}{bound}"


def _numbers(version: str) -> tuple[int, ...]:
    start = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, start[0].split("."))) if start else (sys.maxsize,)
