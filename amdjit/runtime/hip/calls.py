"""Calls of HIP through hip-python (6 and newer), with errors as exceptions."""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Callable
from typing import Any

from amdjit.options import read_environment
from amdjit.runtime.hip import library
from amdjit.runtime.hip.forked import is_forked, refusal
from amdjit.runtime.hip_errors import (
    INSTALL_HIP,
    INSTALL_HIP_PYTHON,
    HipError,
    HipUnavailableError,
)
from amdjit.runtime.pending import Pending
from amdjit.target import Target

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
