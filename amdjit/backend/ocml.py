"""Find the bitcode of ROCm's OCML, and read bitcode libraries."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from amdjit.diagnostics.errors import BackendError
from amdjit.options import Environment

__all__ = ["find_ocml", "read_library"]

_FILE = "ocml.bc"
_DEFAULT_ROCM = Path("/opt/rocm")
# Debian has a folder for each architecture of hosts; the bitcode in it is the same.
_DEBIAN = Path("/usr/lib")
# Python packages that contain it, and where.
_PACKAGES = (
    ("triton", "backends/amd/lib"),
    ("iree", "compiler/_mlir_libs/iree_platform_libs/rocm"),
)


@cache
def find_ocml(environment: Environment) -> Path | None:
    """Return the file of OCML's bitcode, None if it is not installed.

    Looked for in this order: AMDJIT_DEVICE_LIBS, ROCm (ROCM_PATH, then /opt/rocm), Debian's
    rocm-device-libs, a Python package that contains it (triton, iree-base-compiler).
    """
    if environment.device_libraries is not None:
        file = environment.device_libraries / _FILE
        return file if file.is_file() else None
    roots = [root for root in (environment.rocm_path, _DEFAULT_ROCM) if root is not None]
    roots += sorted(_DEBIAN.glob("*-linux-gnu"))
    files = [root / "amdgcn" / "bitcode" / _FILE for root in roots]
    return next((file for file in files if file.is_file()), None) or _in_packages()


def _in_packages() -> Path | None:
    for package, folder in _PACKAGES:
        specification = importlib.util.find_spec(package)
        for location in (specification.submodule_search_locations or ()) if specification else ():
            file = Path(location, folder, _FILE)
            if file.is_file():
                return file
    return None


def read_library(file: Path) -> bytes:
    """Return a library's bytes; BackendError if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise BackendError(f"the library {file} cannot be read: {error.strerror}") from error
