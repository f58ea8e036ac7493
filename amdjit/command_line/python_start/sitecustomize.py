"""Makes amdjit the driver of Triton and the contents of `numba.cuda` in the Python programs of
`amdjit run`, when they import these.

Python loads this before the program, and only because `amdjit run` has put its folder first on
PYTHONPATH. The environment's own sitecustomize follows.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for import-linter: they are loaded when the program loads these
    import amdjit.numba_cuda.installing
    import amdjit.options
    import amdjit.triton  # noqa: F401

_PACKAGES = str(Path(__file__).parents[3])


class _AfterTriton(importlib.abc.MetaPathFinder):
    """Finds Triton as Python does, and goes on when it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return Triton's own spec; None for all other modules."""
        if name != "triton":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads Triton, and then makes amdjit its driver."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as Triton's own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Load Triton, then amdjit."""
        self._loader.exec_module(module)
        _find_amdjit()
        settings = importlib.import_module("amdjit.options").read_environment(os.environ)
        importlib.import_module("amdjit.triton").use(settings.device)


class _BeforeNumbaCuda(importlib.abc.MetaPathFinder):
    """Puts amdjit in the place of `numba.cuda` before it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of amdjit's module; None for all other modules. Without Numba, amdjit has
        a module `numba`, too."""
        if name != "numba.cuda" and (name != "numba" or PathFinder.find_spec(name) is not None):
            return None
        sys.meta_path.remove(self)
        _find_amdjit()
        importlib.import_module("amdjit.numba_cuda.installing").install()
        return importlib.util.find_spec(name)


def _find_amdjit() -> None:
    """Make amdjit found in a Python in which it may not be installed."""
    if importlib.util.find_spec("amdjit") is None:
        sys.path.append(_PACKAGES)


def _next_one() -> None:
    """Load the sitecustomize that would have been loaded without this one."""
    here = str(Path(__file__).parent)
    sys.path[:] = [folder for folder in sys.path if folder != here]
    own = sys.modules.pop("sitecustomize")
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("sitecustomize")
    sys.modules.setdefault("sitecustomize", own)


sys.meta_path[:0] = [_AfterTriton(), _BeforeNumbaCuda()]
_next_one()
