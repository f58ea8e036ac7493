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

__all__ = ["choose", "is_there", "let_open", "loaded"]

# Newest first: ROCm 7 and 6 are the versions whose HIP amdjit knows.
_NAMES = {
    "linux": ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"),
    "win32": ("amdhip64_7.dll", "amdhip64.dll", "amdhip64_6.dll"),
}
_FOLDERS = {"linux": "lib", "win32": "bin"}
# Wheels that bring HIP: PyTorch's for ROCm, and AMD's ROCm wheels.
_WHEELS = ("torch", "_rocm_sdk_core")
_MAPPED = re.compile(r" (/.*/libamdhip64[^/]*\.so[^/]*)$", re.MULTILINE)


def choose(rocm_path: Path | None) -> str | None:
    """Return the HIP library to open: a file, or a name that the loader finds; None if there is
    none.

    It is the one that the process has, else that of ROCM_PATH, of a wheel, of the loader's own
    folders, of /opt/rocm. A wheel comes before the system because its package may be imported
    later, and brings its HIP along.
    """
    there = loaded()
    if there is not None:
        return there
    folders = [] if rocm_path is None else [rocm_path / _folder()]
    found = _first_file([*folders, *_wheel_folders()])
    if found is None:
        found = next((name for name in _names() if _loads(name)), None)
    if found is None and sys.platform != "win32":
        found = _first_file(sorted(Path("/opt").glob("rocm*/lib"), reverse=True))
    return found


def loaded() -> str | None:
    """Return the file of the HIP library that is in this process; None if there is none, or the
    system does not tell."""
    if sys.platform == "win32":
        return next((name for name in _names() if _is_loaded_on_windows(name)), None)
    try:
        mapped = _MAPPED.findall(Path("/proc/self/maps").read_text())
    except OSError:
        return None
    return next((file for file in mapped if Path(file).exists()), None)


def is_there(rocm_path: Path | None) -> bool:
    """Return whether this machine has a HIP library or AMD's GPU driver."""
    return Path("/dev/kfd").exists() or choose(rocm_path) is not None


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


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _is_loaded_on_windows(name: str) -> bool:
    kernel32 = getattr(ctypes, "windll").kernel32  # noqa: B009 (type checkers on Linux lack it)
    return bool(kernel32.GetModuleHandleW(name))
