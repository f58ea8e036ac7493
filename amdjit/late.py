"""Modules that are loaded at their first use, so that importing amdjit stays fast.

A module that uses one imports it for type checkers and import-linter, and takes `late` otherwise:

    if TYPE_CHECKING:
        from amdjit import compiler
    else:
        compiler = late("amdjit.compiler")

A package offers names of such modules with `__getattr__ = late_names(__name__, {name: module})`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from amdjit.garbage import collector_paused

__all__ = ["late", "late_names", "load_module"]


class _LateModule:
    """Stands for a module, which it loads when one of the module's names is first used."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(load_module(self._name), attribute)


def late(name: str) -> Any:
    """Return what stands for the module of this name until it is loaded."""
    return _LateModule(name)


def late_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`, for names whose modules are loaded when the names are first
    used."""

    def look_up(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(load_module(modules[name]), name)

    return look_up


def load_module(name: str) -> ModuleType:
    """Return a module. It is loaded, with all that it imports, if it has not been."""
    if name in sys.modules:  # perhaps not yet ready, which `import_module` waits for
        return importlib.import_module(name)
    with collector_paused():
        return importlib.import_module(name)
