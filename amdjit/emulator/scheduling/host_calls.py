"""Interrupts of the host by a wave: native code calls Python, and the wave continues when Python
has answered.

ROCm's device library puts a packet into memory, sends MSG_INTERRUPT and waits in a loop until the
host has marked the packet as done: here it is done before the loop begins.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from amdjit.emulator.host.builder import NULL
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.layout import Context, FaultKind, Launch, Stop
from amdjit.emulator.scheduling.fault_record import fault
from amdjit.late_methods import dataclass, field

HOST_CALL = declare("aj_host_call", context="ptr", site="i32")
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64)


class Answer(IntEnum):
    """What the host answers. FAILED: Python has raised, which ends the launch. REFUSED: the host
    does not do what it is asked for, which is a fault."""

    DONE = 0
    FAILED = 1
    REFUSED = 2


def host_call_text(attributes: str) -> str:
    """Return `aj_host_call`. Without anybody to ask, the interrupt is a fault."""
    f = NativeFunction.of(HOST_CALL)
    launch = f.thread.follow(Context.LAUNCH)
    ask = launch.get(Launch.HOST)
    with f.if_(f.compare("eq", ask, NULL)):
        fault(f, FaultKind.NO_HOST, f.parameter("site"))
        f.give()
    answer = f.call_pointer(ask, "i64", [])
    with f.if_(f.compare("eq", answer, i64(Answer.REFUSED))):
        fault(f, FaultKind.HOST_REFUSED, f.parameter("site"))
    with f.if_(f.compare("eq", answer, i64(Answer.FAILED))):
        f.compare_exchange(launch.at(Launch.STOP), i64(Stop.RUN), i64(Stop.INTERRUPT))
        f.thread.set(Context.BUDGET, i64(0))
    f.give()
    return f.text(f"noinline cold {attributes}")


@dataclass
class HostCallback:
    """A Python function that native code can call. error: the exception that it has raised."""

    ask: Callable[[], Answer]
    error: BaseException | None = None
    _native: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._native = _CALLBACK(self._answer)

    @property
    def address(self) -> int:
        """The address of the native function."""
        return ctypes.cast(self._native, ctypes.c_void_p).value or 0

    def _answer(self) -> int:
        if self.error is not None:
            return Answer.FAILED
        try:
            return self.ask()
        except BaseException as error:  # native code cannot pass it on
            self.error = error
            return Answer.FAILED
