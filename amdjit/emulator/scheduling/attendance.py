"""Python's part in native code that runs in the thread that launches it: it is called back every 30
ms or so.

Signal handlers run in the main thread only, between Python's instructions; native code would keep
them waiting.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64)
_SECONDS = 0.03
# Of the budgets of `layout.TICK_INSTRUCTIONS`: at most 0.8 s where each instruction takes 100 ns.
_MOST_TICKS = 127


@dataclass(slots=True)
class _State:
    look: Callable[[], None] | None = None
    error: BaseException | None = None


class Attendance:
    """What a launch is called back by, of no use behind an exception.

    address: of the function to call, which returns after how many ticks again; 0 where the launch
    has to stop.
    """

    def __init__(self) -> None:
        self._state = _State()
        attending = _attend(self._state)
        next(attending)
        self._callback = _CALLBACK(attending.__next__)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def run(self, native: Callable[[int], None], argument: int, look: Callable[[], None]) -> None:
        """Make a native call and call `look` meanwhile. What that or a signal handler raises comes
        from here."""
        state = self._state
        state.look = look
        try:
            native(argument)
        finally:
            state.look = None
        if state.error is not None:
            raise state.error


def _attend(state: _State) -> Generator[int, None, None]:
    """A generator, since it is entered inside of its `try`: what a signal handler raises at the
    entry of a function would be out of reach, and lost. CPython handles signals where frames are
    entered or resumed, behind calls and where loops go back: nothing of these is outside.
    """
    ticks, last = 1, 0.0
    try:
        while True:
            yield ticks
            now = time.perf_counter()
            ticks = min(_MOST_TICKS, max(1, round(ticks * _SECONDS / max(now - last, 1e-6))))
            last = now
            if state.look is not None:
                state.look()
    except GeneratorExit:
        return
    except BaseException as error:  # a signal handler has raised
        state.error = error
        yield 0
