"""HIP's functions as C functions: hip-python's own, without its conversion of arguments.

hip-python converts and checks each argument of a call, which takes most of the time of
hipModuleLaunchKernel. Its Cython modules also offer each function to other Cython code, as a
pointer in a capsule: calling that through ctypes with arguments that are converted already is the
same call of the same library in a third of the time.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

from amdjit.runtime.hip.calls import hip_library

# Where hip-python has its C functions: from version 10 on, and up to 7. Its module of Python
# functions has loaded that one.
_MODULES = {"rocm.bindings.hip": "rocm.bindings.cyhip", "hip.hip": "hip.chip"}
# hipError_t f(...): arguments are int, None or ctypes values, as C has them.
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int)


@functools.cache
def direct(name: str) -> Callable[..., int] | None:
    """Return a HIP function that takes C values and returns the error code; None if this
    hip-python does not offer it."""
    module = sys.modules.get(_MODULES.get(hip_library().__name__, ""))
    try:
        capsule = module.__pyx_capi__[name]  # type: ignore[union-attr]
    except (AttributeError, KeyError):
        return None
    function: Callable[..., int] = _FUNCTION(_pointer(capsule))
    return function


def _pointer(capsule: Any) -> int:
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
        ("PyCapsule_GetName", ctypes.pythonapi)
    )
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    address: int = pointer_of(capsule, name_of(capsule))
    return address
