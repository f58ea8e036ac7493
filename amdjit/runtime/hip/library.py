"""Which libamdhip64 this process uses: one, and the same as other libraries in it.

hip-python opens `libamdhip64.so`, a name that only ROCm's development packages have, and does not
ask what is loaded: beside the HIP of a PyTorch wheel it would load a second one, which knows
nothing of PyTorch's memory and streams.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from amdjit.late_methods import dataclass

__all__ = [
    "DRIVER",
    "Place",
    "all_loaded",
    "choose",
    "is_there",
    "let_open",
    "loaded",
    "places",
    "unopened",
]

# Newest first: ROCm 7 and 6 are the versions whose HIP amdjit knows.
_NAMES = {
    "linux": ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"),
    "win32": ("amdhip64_7.dll", "amdhip64.dll", "amdhip64_6.dll"),
}
_FOLDERS = {"linux": "lib", "win32": "bin"}
# Wheels that bring HIP: PyTorch's for ROCm, and AMD's ROCm wheels.
_WHEELS = ("torch", "_rocm_sdk_core")
DRIVER = Path("/dev/kfd")
"""What AMD's driver makes on Linux."""
_LOADER = "where the loader looks (LD_LIBRARY_PATH, ldconfig)"
_MAPPED = re.compile(r" (/.*/libamdhip64[^/\n]*\.so[^/\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """A place where HIP is looked for."""

    where: str
    """The place in words, such as "lib of ROCM_PATH"."""
    found: str | None
    """The library to open, as a file or a name that the loader finds; None if there is none."""
    refused: str = ""
    """What the loader says about files that it finds and cannot load; empty if there are none."""


def choose(rocm_path: Path | None) -> str | None:
    """Return the HIP library to open: a file, or a name that the loader finds; None if there is
    none."""
    return next((place.found for place in places(rocm_path) if place.found), None)


def places(rocm_path: Path | None) -> Iterator[Place]:
    """Yield the places where HIP is looked for. The first that has a library is the one.

    These are the process, ROCM_PATH, wheels, the loader's own folders, /opt/rocm. A wheel comes
    before the system because its package may be imported later, and brings its HIP along. Each
    place is looked at when it is asked for; the loader is asked by loading.
    """
    yield Place("this process", loaded())
    if rocm_path is not None:
        folder = rocm_path / _folder()
        yield Place(f"ROCM_PATH ({folder})", _first_file([folder]))
    yield Place(f"the packages {' and '.join(_WHEELS)}", _first_file(_wheel_folders()))
    yield _of_loader()
    if sys.platform != "win32":
        yield Place("/opt/rocm*/lib", _first_file(_system_folders()))


def unopened(rocm_path: Path | None, more: Iterable[Path] = ()) -> list[str]:
    """Return the files of HIP in the folders that amdjit looks into, and in more folders, without
    loading any."""
    folders = [] if rocm_path is None else [rocm_path / _folder()]
    searched = dict.fromkeys((*folders, *_wheel_folders(), *more, *_system_folders()))
    found = (_first_file([folder]) for folder in searched)
    return list({str(Path(file).resolve()): file for file in found if file}.values())


def loaded() -> str | None:
    """Return the file of the HIP library that is in this process; None if there is none, or the
    system does not tell."""
    if sys.platform == "win32":
        return next((name for name in _names() if _is_loaded_on_windows(name)), None)
    return next(iter(all_loaded()), None)


def all_loaded() -> list[str]:
    """Return the files of all HIP libraries in this process, of which only one should be there. On
    Windows, and where the system does not tell, there are none."""
    try:
        mapped = _MAPPED.findall(Path("/proc/self/maps").read_text())
    except OSError:
        return []
    return [file for file in dict.fromkeys(mapped) if Path(file).exists()]


def is_there(rocm_path: Path | None) -> bool:
    """Return whether this machine has a HIP library or AMD's GPU driver."""
    return DRIVER.exists() or choose(rocm_path) is not None


def let_open(hip: Any, library: str) -> None:
    """Let hip-python open this library, unless it has opened one. hip: its module of functions."""
    bindings = sys.modules.get("hip.chip")
    if bindings is not None:  # up to hip-python 7
        bindings.DLL = os.fsencode(library)  # type: ignore[attr-defined]
        return
    paths: Any = importlib.import_module("rocm.bindings.util.paths")
    find = paths.get_library_path

    def find_here(name: str, *more: Any) -> Any:
        return os.fsencode(library) if name == "amdhip64" else find(name, *more)

    paths.get_library_path = find_here
    try:
        hip.has_symbol("hipGetDeviceCount")  # opens the library; the first call reports a failure
    finally:
        paths.get_library_path = find


def _names() -> tuple[str, ...]:
    return _NAMES.get(sys.platform, _NAMES["linux"])


def _folder() -> str:
    return _FOLDERS.get(sys.platform, _FOLDERS["linux"])


def _first_file(folders: Iterable[Path]) -> str | None:
    files = (folder / name for folder in folders for name in _names())
    return next((str(file) for file in files if file.exists()), None)


def _wheel_folders() -> Iterator[Path]:
    for package in _WHEELS:
        try:
            spec = find_spec(package)
        except ValueError:  # a module that was made, not found
            continue
        for root in (spec.submodule_search_locations if spec else None) or ():
            yield Path(root) / "lib"
            yield Path(root) / _folder()


def _system_folders() -> list[Path]:
    return [] if sys.platform == "win32" else sorted(Path("/opt").glob("rocm*/lib"), reverse=True)


def _of_loader() -> Place:
    refused: list[str] = []
    for name in (*_files_of_the_search_path(), *_names()):
        refusal = _refusal(name)
        if refusal is None:
            return Place(_LOADER, name, "; ".join(dict.fromkeys(refused)))
        # A library that is not there is named itself; one that is, its file or what it lacks.
        if not refusal.startswith(f"{name}: cannot open") and sys.platform != "win32":
            refused.append(refusal)
    return Place(_LOADER, None, "; ".join(dict.fromkeys(refused)))


def _files_of_the_search_path() -> Iterator[str]:
    """Yield what is in the folders of LD_LIBRARY_PATH, which come before the system's under every
    name: there may be a `libamdhip64.so` of the system, of another version, beside a
    `libamdhip64.so.7` of the user's."""
    if sys.platform == "win32":
        return
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)):
        files = (Path(folder, name) for name in _names())
        yield from (str(file) for file in files if file.exists())


def _refusal(name: str) -> str | None:
    """Return what the loader says if it cannot load a library, None if it can."""
    try:
        ctypes.CDLL(name)
    except OSError as error:
        return str(error)
    return None


def _is_loaded_on_windows(name: str) -> bool:
    kernel32 = getattr(ctypes, "windll").kernel32  # noqa: B009 (type checkers on Linux lack it)
    return bool(kernel32.GetModuleHandleW(name))
