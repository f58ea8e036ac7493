"""Numba's `cuda.shared`, `cuda.local` and `cuda.const`."""

from __future__ import annotations

from types import SimpleNamespace

from amdjit.declarations import device_function
from amdjit.intrinsics import lds

__all__ = ["const", "local", "shared"]


@device_function
def _shared_array(shape, dtype, alignment=None):
    """Return an array in LDS; of shape 0, the LDS that the launch adds."""
    if shape == 0 or shape == (0,):
        return lds.shared.dynamic(dtype)
    if alignment is None:
        return lds.shared.array(shape, dtype)
    return lds.shared.array(shape, dtype, alignment=alignment)


shared = SimpleNamespace(array=_shared_array)
local = lds.local
const = lds.const
