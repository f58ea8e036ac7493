"""Functions of the host that streams call."""

from __future__ import annotations

import ctypes
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from amdjit.runtime.hip.calls import HipCalls

# hip_runtime_api.h: typedef void (*hipHostFn_t)(void* userData).
_HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class HostCall:
    """A function that a stream calls, and what it raised."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._function()
        except BaseException as error:  # HIP's thread cannot propagate exceptions
            self._error = error

    def tell(self) -> None:
        """Raise what the function raised, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error


class HostFunctions:
    """The functions that streams are still to call.

    HIP gets one C function for all, and a number for each.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._calls: dict[int, HostCall] = {}
        self._repeated: weakref.WeakValueDictionary[int, HostCall] = weakref.WeakValueDictionary()
        self._native = _HostFunction(self._run)

    def launch(
        self, calls: HipCalls, function: Callable[[], object], native: Any, is_repeated: bool
    ) -> HostCall:
        """Let a stream call a function. is_repeated: as often as the result lives, by a graph."""
        number, entry = next(self._numbers), HostCall(function)
        with self._lock:
            (self._repeated if is_repeated else self._calls)[number] = entry
        address = ctypes.cast(self._native, ctypes.c_void_p).value
        try:
            calls.here("call a function", calls.hip.hipLaunchHostFunc, native, address, number)
        except BaseException:
            self._calls.pop(number, None)
            raise
        return entry

    def _run(self, number: int) -> None:
        with self._lock:
            entry = self._calls.pop(number, None) or self._repeated[number]
        entry.run()
