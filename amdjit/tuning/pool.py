"""The default executor: processes of our own, each of which can die alone.

Each process belongs to one thread, so that it is known which task a process was at when it died or
was ended: that task's future gets a WorkerLost, and the next task a new process. An executor of
`concurrent.futures` in all else.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import IO, Any

from amdjit.tuning.errors import TuningError, WorkerLost
from amdjit.tuning.worker import read_message, write_message

__all__ = ["WorkerPool"]

_START = "import sys; sys.path[:] = {paths!r}; from amdjit.tuning.worker import main; "
_RUN = "main({paths!r}, {memory!r})"
_LAST_WORDS = 400
_Task = tuple["Future[Any]", bytes]


class WorkerPool(Executor):
    """Processes that run one task at a time.

    workers: how many. time_limit: seconds that a task may take. memory_limit: bytes of address
    space that a process may have, where the system can limit it; None for any. variables:
    environment variables of the processes, beside those of this one.
    """

    def __init__(
        self,
        workers: int,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._max_workers = workers
        self._limits = time_limit, memory_limit
        self._variables = dict(variables or {})
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._is_shut = self._drops = False
        self._processes: dict[int, _Process] = {}
        self._threads = [
            threading.Thread(target=self._serve, args=(number,), daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function in a process. What cannot be pickled raises here."""
        if self._is_shut:
            raise RuntimeError("the pool is shut down")
        if kwargs:
            raise TypeError("tasks take positional arguments")
        message = pickle.dumps((fn, args))
        future: Future[Any] = Future()
        self._tasks.put((future, message))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the pool. cancel_futures: also what runs; its process is ended."""
        if self._is_shut:
            return
        self._is_shut, self._drops = True, cancel_futures
        for _ in self._threads:
            self._tasks.put(None)
        if cancel_futures:
            for process in list(self._processes.values()):
                process.end()
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self, number: int) -> None:
        process: _Process | None = None
        while True:
            task = self._tasks.get()
            if task is None:
                break
            future, message = task
            if self._drops:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if process is not None and not process.is_alive:
                    process.close()
                    process = None
                if process is None:
                    process = _Process(*self._limits, self._variables)
                    self._processes[number] = process
                succeeded, value = process.run(message)
            except BaseException as error:
                future.set_exception(error)
                continue
            if succeeded:
                future.set_result(value)
            else:
                future.set_exception(value)
        if process is not None:
            process.close()


class _Process:
    """One process, and what it printed."""

    def __init__(
        self, time_limit: float | None, memory_limit: int | None, variables: Mapping[str, str]
    ) -> None:
        self._time_limit, self._memory_limit = time_limit, memory_limit
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._expired = False
        paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109
        text = (_START + _RUN).format(paths=paths, memory=memory_limit)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", text],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**_environment(), **variables},
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as problem:
            self._errors.close()
            raise TuningError(
                f"no worker process can be started ({problem}): give an executor, such as "
                "concurrent.futures.ThreadPoolExecutor()"
            ) from problem

    @property
    def is_alive(self) -> bool:
        """Whether the process can take a task."""
        return self._process.poll() is None

    def run(self, message: bytes) -> tuple[bool, Any]:
        """Return what became of a task; WorkerLost if the process died with it."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(self._time_limit or threading.TIMEOUT_MAX, self._expire)
        timer.daemon = True
        if self._time_limit is not None:
            timer.start()
        try:
            write_message(process.stdin, message)
            answer = read_message(process.stdout)
        except OSError:
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            raise WorkerLost(self._death())
        return pickle.loads(answer)  # type: ignore[no-any-return]

    def _expire(self) -> None:
        self._expired = True
        self.end()

    def _death(self) -> str:
        code = self._process.wait()
        if self._expired:
            return f"it took more than {self._time_limit:g} s, so its worker was ended"
        return f"its worker died: {_exit_text(code)}{self._last_words()}"

    def _last_words(self) -> str:
        with suppress(OSError, ValueError):
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - _LAST_WORDS))
            words = self._errors.read().decode(errors="replace").strip()
            return f"; it said: {words}" if words else ""
        return ""

    def close(self) -> None:
        """End the process and close its pipes."""
        self.end()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(OSError):
                if stream is not None:
                    stream.close()

    def end(self) -> None:
        """End the process, and what it has started."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()


def _environment() -> Mapping[str, str]:
    return os.environ


def _exit_text(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
