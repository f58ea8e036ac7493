"""Declarations for the namespace `atomic`: what its functions call for each kind of target.

`on_arrays` has the operations on pointers into global memory or LDS, and the memory orders and
scopes that all take, fences too; `on_buffers` has those on buffer resources. Start with
`on_arrays`. The modules here know `buffers` and no public namespace.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from amdjit.late import load_module

if TYPE_CHECKING:
    from amdjit.intrinsics.atomics import on_buffers

__all__ = ["on_buffers"]


def __getattr__(name: str) -> ModuleType:
    """Load the operations on buffers when a kernel first has one: `import amdjit` must be fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_module(f"{__name__}.{name}")
