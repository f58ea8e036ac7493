"""Python's part in native code that runs in the thread that launches it: native code calls back
about every 30 ms.

Signal handlers run only in the main thread, between Python's instructions; native code would keep
them waiting.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64)
_SECONDS = 0.03
# Budgets of `layout.TICK_INSTRUCTIONS` each: at most 0.8 s if an instruction takes 100 ns.
_MOST_TICKS = 127


@dataclass(slots=True)
class _State:
    look: Callable[[], None] | None = None
    error: BaseException | None = None


class Attendance:
    """What native code calls back. It is of no use after an exception.

    address: that of the function to call, which returns the ticks until the next call, 0 if the
    launch has to stop.
    """

    def __init__(self) -> None:
        self._state = _State()
        attending = _attend(self._state)
        next(attending)
        self._callback = _CALLBACK(attending.__next__)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def run(self, native: Callable[[int], None], argument: int, look: Callable[[], None]) -> None:
        """Make a native call, and call `look` meanwhile. Raises what `look` or a signal handler
        raises."""
        state = self._state
        state.look = look
        try:
            native(argument)
        finally:
            state.look = None
        if state.error is not None:
            raise state.error


def _attend(state: _State) -> Generator[int, None, None]:
    """Look each time that the generator is resumed, and keep what that raises.

    A generator, because it is resumed inside its `try`: what a signal handler raises at the entry
    of a function would be out of reach, and lost. CPython handles signals where frames are entered
    or resumed, after calls, and where loops go back; all of these places are inside the `try`.
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
