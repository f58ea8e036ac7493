"""Numba's `cuda.shared`, `cuda.local` and `cuda.const`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics import lds
from amdjit.language.compile_time import Compilation, compile_time

__all__ = ["const", "local", "shared"]


@compile_time
def _is_dynamic(compilation: Compilation, shape: Any) -> bool:
    """Whether a shape means the LDS that the launch adds. The extents may be types of unknown
    values."""
    return (isinstance(shape, int) and shape == 0) or shape == (0,)


@device_function
def _shared_array(shape, dtype, alignment=None):
    """Return an array in LDS; for the shape 0, the LDS that the launch adds."""
    if _is_dynamic(shape):
        return lds.shared.dynamic(dtype)
    if alignment is None:
        return lds.shared.array(shape, dtype)
    return lds.shared.array(shape, dtype, alignment=alignment)


shared = SimpleNamespace(array=_shared_array)
local = lds.local
const = lds.const
