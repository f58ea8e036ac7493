"""The operations that kernels have beyond Python's own, one typed declaration each.

The modules here are the namespaces that kernels import: `workitem` ids and extents; `sync` barriers
and fences; `wave` lane exchange; `block` reductions and scans over a workgroup; `lds` arrays on the
compute unit; `atomic`; `memory` bounds and caches; `cache_hints` and `cooperative_groups`, CUDA's;
`random`; `convert`; `arithmetic`; `math`; `matrix` fragments; `asm` inline assembly; `amdgcn` the
machine's instructions under clang's builtin names. `python_builtins` says what Python's and NumPy's
own functions become.

The rooms below hold what the namespaces are made of: `numbers` (of `arithmetic`), `maths` (of
`math`), `lanes` (of `wave`), `atomics`, `buffers` (of `memory` and `atomic`), `builtins` (of
`amdgcn`), and `models`, the reference models in NumPy that several of them share. Rooms do not
import namespaces; contracts in pyproject.toml fix the order of all of them.

To add an intrinsic, declare it in the module where it belongs. That is one edit in one place: type
check, lowering, tests and reference page follow from the declaration. `numbers/integers.py` has
short examples, and CONTRIBUTING.md explains them.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from amdjit.late import load_module

if TYPE_CHECKING:
    from amdjit.intrinsics import (
        amdgcn,
        arithmetic,
        asm,
        atomic,
        block,
        cache_hints,
        convert,
        cooperative_groups,
        lds,
        math,
        memory,
        random,
        sync,
        wave,
        workitem,
    )

__all__ = [
    "amdgcn",
    "arithmetic",
    "asm",
    "atomic",
    "block",
    "cache_hints",
    "convert",
    "cooperative_groups",
    "lds",
    "math",
    "memory",
    "random",
    "sync",
    "wave",
    "workitem",
]


def __getattr__(name: str) -> ModuleType:
    """Load a module when it is first used: most programs use few of them, and imports must be
    fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_module(f"{__name__}.{name}")
