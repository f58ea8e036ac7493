"""amdgcn builtins under clang's names without `__builtin_amdgcn_`: same arguments, same order, same
types.

    from amdjit.intrinsics import amdgcn
    d = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)

Every builtin is a row of the table in `builtins.table`. Those with a reference model are declared
in the other modules of `builtins`.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from amdjit.declarations import Intrinsic
from amdjit.intrinsics import convert
from amdjit.intrinsics.builtins import numbers, wave, wmma
from amdjit.intrinsics.builtins.table import from_table, is_builtin, python_name, rows

BUILTINS: Mapping[str, Intrinsic] = MappingProxyType(
    {
        name: declared
        for module in (wave, numbers, numbers, convert, wmma, wmma)
        for name, declared in vars(module).items()
        if isinstance(declared, Intrinsic) and is_builtin(name)
    }
)
globals().update(BUILTINS)


def __getattr__(name: str) -> Intrinsic:
    """Return the builtin that a row of the table declares. Other names are refused, with similar
    ones as a hint."""
    try:
        # `class_` is clang's `class`; `classf` is its own.
        is_escaped = name.endswith("_") and keyword.iskeyword(name[:-1])
        return from_table(name[:-1] if is_escaped else name)
    except KeyError:
        alike = [] if name.startswith("_") else get_close_matches(name, rows())
        remedy = f": did you mean {', '.join(alike)}?" if alike else ""
        raise AttributeError(
            f"clang has no builtin __builtin_amdgcn_{name} that LLVM selects{remedy}"
        ) from None


def __dir__() -> list[str]:
    return sorted(map(python_name, rows()))
