"""A callback from native code into Python, about every 30 ms, in the thread that launched it.

Python runs signal handlers in the main thread only, between its own instructions. Without the
callback, Ctrl-C would have no effect until the native code returns.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64)
_SECONDS = 0.03
# A tick is `layout.TICK_INSTRUCTIONS` emulated instructions. So at most 0.8 s if an instruction
# takes 100 ns.
_MOST_TICKS = 127


@dataclass(slots=True)
class _State:
    look: Callable[[], None] | None = None
    error: BaseException | None = None


class PeriodicCallback:
    """The function that native code calls. After an exception it must not be used again.

    address: of the function, which returns the ticks until the next call, or 0 if the launch has to
    stop.
    """

    def __init__(self) -> None:
        self._state = _State()
        looking = _look_periodically(self._state)
        next(looking)
        self._callback = _CALLBACK(looking.__next__)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def run(self, native: Callable[[int], None], argument: int, look: Callable[[], None]) -> None:
        """Call `native(argument)`, and `look` from time to time while it runs.

        Raises what `look` or a signal handler raises.
        """
        state = self._state
        state.look = look
        try:
            native(argument)
        finally:
            state.look = None
        if state.error is not None:
            raise state.error


def _look_periodically(state: _State) -> Generator[int, None, None]:
    """Call `look` each time that the generator is resumed, and note what that raises.

    A generator, because it is resumed inside its `try`: what a signal handler raises at the entry
    of a function would be out of reach here, and lost. CPython handles signals where frames are
    entered or resumed, after calls, and where loops go back; all of these places are inside the
    `try`.
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
