"""amdgcn builtins under clang's names without `__builtin_amdgcn_`: same arguments, same order, same types.

    from amdjit.intrinsics import amdgcn
    d = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)

Every intrinsic that one of the modules below declares is a name of this module: a declaration is the only edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amdjit.declarations import Intrinsic
from amdjit.intrinsics import amdgcn_integer, amdgcn_math, amdgcn_wave, convert, wmma, wmma_gfx11

BUILTINS: Mapping[str, Intrinsic] = MappingProxyType(
    {
        name: declared
        for module in (amdgcn_wave, amdgcn_math, amdgcn_integer, convert, wmma, wmma_gfx11)
        for name, declared in vars(module).items()
        if isinstance(declared, Intrinsic)
    }
)
globals().update(BUILTINS)


def __getattr__(name: str) -> Intrinsic:
    """Refuse other names; to type checkers this says that all names of this module are intrinsics."""
    raise AttributeError(f"amdgcn builtin {name!r} is not declared; there are {', '.join(sorted(BUILTINS))}")


def __dir__() -> list[str]:
    return sorted(BUILTINS)
