"""Calls of HIP through hip-python (6 and newer), with errors as exceptions."""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from amdjit.diagnostics.errors import LaunchError
from amdjit.forking import when_forked
from amdjit.options import read_environment
from amdjit.runtime.hip import library
from amdjit.runtime.hip_errors import (
    INSTALL_HIP,
    INSTALL_HIP_PYTHON,
    HipError,
    HipUnavailableError,
)
from amdjit.runtime.pending import Pending
from amdjit.target import Target

__all__ = ["is_forked", "note_use", "refusal"]


# hipErrorUnknown.
_UNKNOWN_ERROR = 999
# hip-python prints names of libraries as Python's bytes: 'b'libamdhip64.so''.
_BYTES = re.compile(r"b'([^']*)'")


@functools.cache
def hip_library() -> Any:
    """Return hip-python's module of HIP functions; HipUnavailableError if it is not installed."""
    # hip-python is loaded when HIP devices are first asked for: importing it takes 45 ms, a third
    # of the time that `import amdjit` may take, and most processes on machines without an AMD GPU
    # never need it.
    try:
        functions = importlib.import_module("hip").hip
    except (ImportError, AttributeError) as error:
        raise HipUnavailableError(
            f"hip-python is not installed ({error}).", INSTALL_HIP_PYTHON
        ) from error
    found = library.choose(read_environment(os.environ).rocm_path)
    if found is not None:
        library.let_open(functions, found)
    return functions


def call(doing: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a HIP function and return its results other than the error code; HipError if it
    fails."""
    if is_forked():
        raise refusal()
    try:
        code, *values = function(*arguments)
    except RuntimeError as error:
        if not str(error).startswith(
            "failed to dl"
        ):  # hip-python's error if dlopen or dlsym found nothing
            raise
        words = _BYTES.sub(r"\1", str(error))
        raise HipUnavailableError(
            f"the HIP runtime cannot {doing}: {words}.", INSTALL_HIP
        ) from error
    except ValueError as error:  # a code that this hip-python does not know yet
        raise HipError(doing, _UNKNOWN_ERROR, "an unknown error", str(error)) from error
    if code:
        raise hip_error(doing, code)
    return values[0] if len(values) == 1 else tuple(values)


def hip_error(doing: str, code: Any) -> HipError:
    return HipError(doing, int(code), code.name, text_of(hip_library().hipGetErrorString(code)))


def text_of(value: Any) -> str:
    """Read a C string: bytes up to hip-python 7, (hipSuccess, CStr) from 10 on."""
    if isinstance(value, tuple):
        value = value[-1]
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")


def version_text(number: int) -> str:
    """Write HIP's version number, which is major * 10^7 + minor * 10^5 + patch."""
    return f"{number // 10**7}.{number // 10**5 % 100}.{number % 10**5}"


class HipCalls:
    """What every part of a HIP device needs: calls with the device as HIP's current one."""

    index: int
    name: str
    target: Target
    hip: Any
    pending: Pending
    is_only_one: bool

    def here(self, doing: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a HIP function with this device as HIP's current one."""
        if self.is_only_one:
            return call(doing, function, *arguments)
        # HIP's current device is per thread and shared with other libraries, so it is put back.
        before = call("ask for the current device", self.hip.hipGetDevice)
        call(f"switch to {self.name}", self.hip.hipSetDevice, self.index)
        try:
            return call(doing, function, *arguments)
        finally:
            call(f"switch back from {self.name}", self.hip.hipSetDevice, before)

    def wait_for(self, stream: Any) -> None:
        """Wait for all work of a stream; HipError if some failed."""
        native = None if stream is None else stream.native
        doing = f"finish the work of a stream on {self.name}"
        self.here(doing, self.hip.hipStreamSynchronize, native)


# HIP's functions as C functions: hip-python's own, without its conversion of arguments.
#
# hip-python converts and checks each argument of a call, which takes most of the time of
# hipModuleLaunchKernel. Its Cython modules also offer each function to other Cython code, as a
# pointer in a capsule: calling that through ctypes with arguments that are converted already is the
# same call of the same library in a third of the time.


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


# HIP in a process that `os.fork` made: it does not work there, and calls may hang or crash.


class _Use:
    """Whether HIP has a device of this process, or of the one that it was forked from."""

    def __init__(self) -> None:
        self.is_used = False
        self.is_forked = False

    def forked(self) -> None:
        self.is_forked = self.is_used


_USE = _Use()
when_forked(_USE.forked)


def note_use() -> None:
    """Note that this process uses a device: from now on, forked children cannot use one."""
    _USE.is_used = True


def is_forked() -> bool:
    """Return whether a device was in use before this process was forked."""
    return _USE.is_forked


def refusal() -> LaunchError:
    """Return what says that this process cannot use HIP."""
    return LaunchError(
        "an AMD GPU was used before this process was forked, and HIP does not survive that: start "
        'processes with multiprocessing\'s "spawn" or "forkserver", or use the GPU in the new '
        'process only. The emulator works here: with amdjit.use("emulator:gfx1201")'
    )
