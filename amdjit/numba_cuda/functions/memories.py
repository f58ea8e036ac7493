"""Numba's `cuda.shared`, `cuda.local` and `cuda.const`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from amdjit.declarations import device_function
from amdjit.intrinsics import lds
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Type, from_dtype

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


@compile_time
def _agree(compilation: Compilation, pointed: Any, dtype: Any) -> None:
    if (dtype if isinstance(dtype, Type) else from_dtype(np.dtype(dtype))) != pointed:
        raise Refused(
            f"the dtype is not that of the pointer's elements, {pointed}",
            "leave dtype out, or view the array",
        )


@device_function
def _size(shape):
    """Return how many elements a shape has."""
    size = 1
    for extent in shape:
        size *= extent
    return size


@device_function
def carray(ptr, shape, dtype=None):
    """Return the array of a shape, in C order, that begins at a pointer. dtype: the pointer's own
    type of elements."""
    if dtype is not None:
        _agree(ptr.dtype, dtype)
    if isinstance(shape, tuple):
        return ptr[: _size(shape)].reshape(shape)
    return ptr[:shape]


@device_function
def farray(ptr, shape, dtype=None):
    """Return the array of a shape, in Fortran order, that begins at a pointer. dtype: the pointer's
    own type of elements."""
    if isinstance(shape, tuple):
        return carray(ptr, shape[::-1], dtype).T
    return carray(ptr, shape, dtype)


shared = SimpleNamespace(array=_shared_array)
local = lds.local
const = lds.const
