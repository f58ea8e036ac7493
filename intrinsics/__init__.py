"""The operations that kernels have beyond Python's own, one typed declaration each.

`workitem` ids and extents; `sync` barriers and fences; `wave` lane exchange; `lds` arrays on the compute unit;
`atomic`; `convert`; `arithmetic`; `math`; `amdgcn` the machine's instructions under clang's builtin names.
"""

from __future__ import annotations

from amdjit.intrinsics import amdgcn, arithmetic, atomic, convert, lds, math, sync, wave, workitem

__all__ = ["amdgcn", "arithmetic", "atomic", "convert", "lds", "math", "sync", "wave", "workitem"]
