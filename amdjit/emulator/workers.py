"""The host threads that run native code, and how a launch waits for them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

Call = Callable[[int], None]
# A call, its argument, and where to say that it has returned.
_Job = tuple[Call, int, "SimpleQueue[None]"]
# None ends a thread.
_Jobs = SimpleQueue["_Job | None"]


class Workers:
    """Threads that make native calls, which release Python's lock. Started when first needed, again after a fork.

    `concurrent.futures` costs 50 us a launch, this 25 us.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._jobs: _Jobs = SimpleQueue()
        self._process = 0

    def start(self, call: Call, arguments: Sequence[int]) -> Batch:
        """Make one call for each argument, at most as many at a time as there are threads."""
        if self._process != os.getpid():
            self._start_threads()
        finished: SimpleQueue[None] = SimpleQueue()
        for argument in arguments:
            self._jobs.put((call, argument, finished))
        return Batch(finished, len(arguments))

    def _start_threads(self) -> None:
        with self._lock:
            if self._process == os.getpid():
                return
            self._jobs = SimpleQueue()  # that of the process before a fork has its own threads
            for number in range(self._count):
                name = f"amdjit-emulator-{number}"
                threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
            weakref.finalize(self, _end, self._jobs, self._count).atexit = False
            self._process = os.getpid()


class Batch:
    """Calls under way."""

    def __init__(self, finished: SimpleQueue[None], count: int) -> None:
        self._finished = finished
        self._left = count

    def wait(self, seconds: float) -> bool:
        """Wait so long for the next call to return; True when all have. Signal handlers may raise from here."""
        try:
            while self._left:
                self._finished.get(timeout=seconds)
                self._left -= 1
        except Empty:
            return False
        return True


def _work(jobs: _Jobs) -> None:
    while (job := jobs.get()) is not None:
        call, argument, finished = job
        call(argument)
        finished.put(None)
        # Nothing of the launch may be kept alive by a thread that waits for the next one.
        del job, call, argument, finished


def _end(jobs: _Jobs, count: int) -> None:
    for _ in range(count):
        jobs.put(None)
