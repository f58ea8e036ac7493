"""The host threads that run native code: how a launch waits for them, Ctrl-C meanwhile, and
callbacks into Python.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from queue import SimpleQueue
from types import FrameType, TracebackType
from typing import Any

from amdjit.forking import Lock
from amdjit.late_methods import dataclass

Call = Callable[[int], None]
# A call, its argument, and the batch that counts its return.
_Job = tuple[Call, int, "Batch"]
# None ends a thread.
_Jobs = SimpleQueue["_Job | None"]


class Workers:
    """Threads that make native calls, which release the GIL. They are started when first needed,
    and again after a fork.

    `concurrent.futures` costs 50 us per launch, this 25 us.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = Lock()
        self._jobs: _Jobs = SimpleQueue()
        self._process = 0

    def start(self, call: Call, arguments: Sequence[int]) -> Batch:
        """Make one call for each argument; the threads share them."""
        if arguments and self._process != os.getpid():
            self._start_threads()
        batch = Batch(len(arguments))
        for argument in arguments:
            self._jobs.put((call, argument, batch))
        return batch

    def _start_threads(self) -> None:
        with self._lock:
            if self._process == os.getpid():
                return
            # A queue from before a fork belongs to the parent's threads.
            self._jobs = SimpleQueue()
            for number in range(self._count):
                name = f"amdjit-emulator-{number}"
                threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
            weakref.finalize(self, _end, self._jobs, self._count).atexit = False
            self._process = os.getpid()


class Batch:
    """Calls in progress."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._counting = threading.Lock()
        self._running = threading.Lock()
        if count:
            self._running.acquire()

    def returned(self) -> None:
        """Count the return of a call."""
        with self._counting:
            self._count -= 1
            if not self._count:
                self._running.release()

    def wait(self, seconds: float) -> bool:
        """Wait up to that long for the calls to return; return whether all have. Signal handlers
        may raise from here.

        This is a lock because `SimpleQueue.get` of CPython 3.11 waits for ever if a signal arrives
        and the time runs out meanwhile.
        """
        if not self._running.acquire(timeout=seconds):
            return False
        self._running.release()
        return True


def _work(jobs: _Jobs) -> None:
    while (job := jobs.get()) is not None:
        call, argument, batch = job
        call(argument)
        batch.returned()
        # A thread that waits for the next launch must not keep anything of this one alive.
        del job, call, argument, batch


def _end(jobs: _Jobs, count: int) -> None:
    for _ in range(count):
        jobs.put(None)


# Ctrl-C while native threads run: noted immediately, raised when they have stopped.


class DeferredInterrupt:
    """Inside its `with` block, SIGINT only sets `requested`. The usual handler runs at the end of
    the block.

    An exception in the middle of a launch could free memory that native threads still use. Python
    runs signal handlers only in the main thread, so there is nothing to do in other threads.
    """

    def __init__(self) -> None:
        self.requested = False
        self._frame: FrameType | None = None
        self._handler: Any = None

    def __enter__(self) -> DeferredInterrupt:
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            try:
                signal.signal(signal.SIGINT, self._note)
                self._handler = handler
            except ValueError:  # not the main thread
                self._handler = None
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.requested, self._frame = True, frame

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handler is None:
            return
        signal.signal(signal.SIGINT, self._handler)
        if self.requested:
            self._handler(signal.SIGINT, self._frame)


# A callback from native code into Python, about every 30 ms, in the thread that launched it.
#
# Python runs signal handlers in the main thread only, between its own instructions. Without the
# callback, Ctrl-C would have no effect until the native code returns.


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
