"""amdgcn builtins under clang's names without `__builtin_amdgcn_`: same arguments, same order, same types.

    from amdjit.intrinsics import amdgcn
    d = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)

Every intrinsic that one of the modules below declares is a name of this module: a declaration is the only edit.
"""

from __future__ import annotations

from amdjit.declarations import Intrinsic
from amdjit.intrinsics import amdgcn_integer, amdgcn_math, amdgcn_wave, convert, wmma, wmma_gfx11

_MODULES = (amdgcn_wave, amdgcn_math, amdgcn_integer, convert, wmma, wmma_gfx11)


def __getattr__(name: str) -> Intrinsic:
    for module in _MODULES:
        declared = vars(module).get(name)
        if isinstance(declared, Intrinsic):
            return declared
    raise AttributeError(f"amdgcn builtin {name!r} is not declared; {__name__} has: {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted(
        name for module in _MODULES for name, declared in vars(module).items() if isinstance(declared, Intrinsic)
    )
