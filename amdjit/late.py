"""Modules that are loaded at their first use, so that importing amdjit stays fast.

A module that uses one imports it for type checkers and import-linter, and takes `late` otherwise:

    if TYPE_CHECKING:
        from amdjit import compiler
    else:
        compiler = late("amdjit.compiler")
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["late"]


class _LateModule:
    """Stands for a module, which it loads when one of the module's names is first used."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


def late(name: str) -> Any:
    """Return what stands for the module of this name until it is loaded."""
    return _LateModule(name)
