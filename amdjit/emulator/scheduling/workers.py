"""The host threads that run native code, and how a launch waits for them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from amdjit.forking import Lock

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
