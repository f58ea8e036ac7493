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
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from amdjit.garbage import collector_paused

__all__ = ["late", "late_names", "load_module", "when_loaded"]


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


def when_loaded(name: str, action: Callable[[ModuleType], None]) -> None:
    """Call `action` with a module: now if it is loaded, else as soon as the program loads it."""
    found = sys.modules.get(name)
    if found is None:
        sys.meta_path.insert(0, _Waiting(name, action))
    else:
        action(found)


class _Waiting:
    """Finds one module as Python does, and acts when it is loaded."""

    def __init__(self, name: str, action: Callable[[ModuleType], None]) -> None:
        self._name, self._action = name, action

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's spec with a loader that acts; None for all others."""
        if name != self._name:
            return None
        with suppress(ValueError):  # another thread has acted meanwhile
            sys.meta_path.remove(self)
        found = importlib.util.find_spec(name)
        if found is not None and found.loader is not None:
            loader: Any = found.loader
            execute = loader.exec_module

            def execute_and_act(module: ModuleType) -> None:
                execute(module)
                self._action(module)

            loader.exec_module = execute_and_act
        return found
