"""`install()`: from then on, `from numba import cuda` is amdjit's, with Numba installed or not.

    import amdjit.numba_cuda
    amdjit.numba_cuda.install()

    from numba import cuda          # amdjit.numba_cuda

Numba's other names stay Numba's: kernels take its types and call functions of `numba.njit`. If
Numba is not installed, there is a module `numba` that has its types and what programs for CUDA
import besides; its other names say that Numba is missing.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from amdjit.diagnostics import LaunchError, source_files
from amdjit.late import load_module

__all__ = ["AbsentModuleError", "install"]

_OURS = __name__.rpartition(".")[0]
# Modules of Numba that have another place here.
_PLACES = {
    "api": _OURS,
    "compiler": _OURS,
    "core.errors": f"{_OURS}.errors",
    "core.config": f"{_OURS}.config",
    "core.types": f"{_OURS}.types",
    "cudadrv.devices": f"{_OURS}.device_facts",
    "cudadrv.drvapi": f"{_OURS}.cudadrv.driver",
    "decorators": f"{_OURS}.jit",
    "dispatcher": f"{_OURS}.jit",
    "fp16": f"{_OURS}.functions.fp16",
    "kernels.reduction": f"{_OURS}.vectorised",
    "np.numpy_support": f"{_OURS}.type_classes",
    "np.ufunc": f"{_OURS}.vectorizers",
    "typing.typeof": f"{_OURS}.type_classes",
    "vector_types": f"{_OURS}.functions.vectors",
}
# Packages of Numba that have nothing of their own here.
_PACKAGES = ("core", "np", "typing")
# What a process without Numba finds.
_WITHOUT_NUMBA = {
    "numba": f"{_OURS}.without_numba",
    "numba.config": f"{_OURS}.config",
    "numba.core.config": f"{_OURS}.config",
    "numba.core.errors": f"{_OURS}.errors",
    "numba.core.extending": f"{_OURS}.extending",
    "numba.core.types": f"{_OURS}.types",
    "numba.extending": f"{_OURS}.extending",
    "numba.np.numpy_support": f"{_OURS}.type_classes",
    "numba.types": f"{_OURS}.types",
}
_PACKAGES_WITHOUT_NUMBA = ("numba.core", "numba.np")


class AbsentModuleError(LaunchError, ModuleNotFoundError):
    """The program imported a module of Numba's that amdjit has not: also a ModuleNotFoundError."""


def install() -> None:
    """Make `numba.cuda` amdjit's in this process.

    LaunchError if the process has imported Numba's own already: those who have it would keep it.
    """
    if any(isinstance(each, _Finder) for each in sys.meta_path):
        return
    if "numba.cuda" in sys.modules:
        raise LaunchError(
            "numba.cuda is Numba's own in this process already: call amdjit.numba_cuda.install() "
            "before anything imports numba.cuda, or run the program by `amdjit run`"
        )
    has_numba = "numba" in sys.modules or PathFinder.find_spec("numba") is not None
    source_files.keep_compiled_texts()  # Numba's programs may have the kernels of `exec` anywhere
    sys.meta_path.insert(0, _Finder(has_numba))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds amdjit's modules under Numba's names."""

    def __init__(self, has_numba: bool) -> None:
        self._has_numba = has_numba

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of amdjit's module; None for modules that are not Numba's.

        AbsentModuleError for a module that amdjit has not.
        """
        if name == "numba.cuda" or name.startswith("numba.cuda."):
            return _spec(name, _place(name.removeprefix("numba.cuda").lstrip(".")))
        if self._has_numba or not (name == "numba" or name.startswith("numba.")):
            return None
        if name in _PACKAGES_WITHOUT_NUMBA:
            return _spec(name, None)
        if name not in _WITHOUT_NUMBA:
            raise AbsentModuleError(f"{name}: Numba is not installed: pip install numba", name=name)
        return _spec(name, _WITHOUT_NUMBA[name])


def _place(name: str) -> str | None:
    """Return which module of amdjit stands for one below `numba.cuda`; None for a package without
    contents."""
    if name in _PACKAGES:
        return None
    found = _PLACES.get(name) or f"{_OURS}.{name}".rstrip(".")
    with contextlib.suppress(ModuleNotFoundError):  # of the package above it
        if importlib.util.find_spec(found) is not None:
            return found
    raise AbsentModuleError(
        f"amdjit has no module numba.cuda.{name}, which is about CUDA or about Numba's compiler: "
        "docs/numba_cuda.md lists what it has",
        name=f"numba.cuda.{name}",
    )


def _spec(name: str, place: str | None) -> ModuleSpec:
    return ModuleSpec(name, _Loader(place), origin=place, is_package=place is None)


class _Loader(importlib.abc.Loader):
    """Loads a module of amdjit under another name; without a place, an empty package."""

    def __init__(self, place: str | None) -> None:
        self._place = place
        self._own: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return amdjit's module, loaded."""
        if self._place is None:
            return None
        module = load_module(self._place)
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give a module of amdjit its own spec back, which Python has replaced."""
        if self._own is not None:
            module.__spec__ = self._own
