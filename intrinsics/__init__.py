"""The operations that kernels have beyond Python's own, one typed declaration each.

`workitem` ids and extents; `sync` barriers and fences; `wave` lane exchange; `lds` arrays on the
compute unit; `atomic`; `memory` bounds and caches; `convert`; `arithmetic`; `asm` inline assembly;
`math`; `amdgcn` the machine's instructions under clang's builtin names.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amdjit.intrinsics import (
        amdgcn,
        arithmetic,
        asm,
        atomic,
        convert,
        lds,
        math,
        memory,
        sync,
        wave,
        workitem,
    )

__all__ = [
    "amdgcn",
    "arithmetic",
    "asm",
    "atomic",
    "convert",
    "lds",
    "math",
    "memory",
    "sync",
    "wave",
    "workitem",
]


# What users' modules load when a kernel needs it.
_OTHERS = ("buffer_atomics", "buffers")


def __getattr__(name: str) -> ModuleType:
    """Load a module when it is first asked for: most programs use few of them, and imports are to
    be fast."""
    if name not in (*__all__, *_OTHERS):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
