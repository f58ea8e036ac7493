"""The default executor: processes of amdjit's own, each of which can die without the others.

Each process belongs to one thread, so it is known which task a process was running when it died or
was ended. That task's future gets a WorkerLost, and a new process runs the next task. In everything
else it is an executor of `concurrent.futures`.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any

from amdjit.child_process import Child, Parent, python_command, signal_of
from amdjit.tuning.errors import TuningError, WorkerLost

__all__ = ["WorkerPool", "main"]


# Characters of a dead worker's standard error that the reason of its candidate quotes.
_LAST_WORDS = 400
_Task = tuple["Future[Any]", bytes]


class WorkerPool(Executor):
    """Processes that run one task at a time.

    workers: how many processes there are. time_limit: seconds that a task may take. memory_limit:
    bytes of address space that a process may have, if the system can limit it; None for no limit.
    variables: environment variables of the processes, in addition to those of this one.
    """

    def __init__(
        self,
        workers: int,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._max_workers = workers
        self._time_limit, self._memory_limit = time_limit, memory_limit
        self._variables = dict(variables or {})
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._is_shut = self._drops = False
        self._processes: dict[int, Child] = {}
        self._threads = [
            threading.Thread(target=self._serve, args=(number,), daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function in a process. An error is raised here if something cannot be pickled."""
        if self._is_shut:
            raise RuntimeError("the pool is shut down")
        if kwargs:
            raise TypeError("tasks take positional arguments")
        message = pickle.dumps((fn, args))
        future: Future[Any] = Future()
        self._tasks.put((future, message))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the pool. cancel_futures: also end the running tasks, by ending their processes."""
        if self._is_shut:
            return
        self._is_shut, self._drops = True, cancel_futures
        for _ in self._threads:
            self._tasks.put(None)
        if cancel_futures:
            for process in list(self._processes.values()):
                process.kill()
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self, number: int) -> None:
        process: Child | None = None
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
                    process = self._processes[number] = self._started()
                succeeded, value = self._run(process, message)
            except BaseException as error:
                future.set_exception(error)
                continue
            if succeeded:
                future.set_result(value)
            else:
                future.set_exception(value)
        if process is not None:
            process.close()

    def _started(self) -> Child:
        try:
            return Child(
                python_command(__name__, self._memory_limit),
                environment={**os.environ, **self._variables},
                talks=True,
                leads_group=True,
            )
        except OSError as problem:
            raise TuningError(
                f"no worker process can be started ({problem}): give an executor, such as "
                "concurrent.futures.ThreadPoolExecutor()"
            ) from problem

    def _run(self, process: Child, message: bytes) -> tuple[bool, Any]:
        """Return the outcome of a task; WorkerLost if the process died with it."""
        with process.limited(self._time_limit):
            answer = process.ask(message)
        if answer is not None:
            return pickle.loads(answer)  # type: ignore[no-any-return]
        code = process.exit_code()
        if process.is_expired:
            limit = f"{self._time_limit:g}"
            raise WorkerLost(f"it took more than {limit} s, so its worker was ended")
        name = signal_of(code)
        how = f"signal {name}" if name else f"exit code {code}"
        said = process.words(_LAST_WORDS).strip()
        raise WorkerLost(f"its worker died: {how}" + (f"; it said: {said}" if said else ""))


# A worker process: it receives tasks, and sends their outcomes.
#
# A task is the pickle of a function and its arguments; the answer is that of (True, result) or
# (False, error).


def main(memory_limit: int | None) -> None:
    """Serve until the parent is gone. memory_limit: bytes."""
    parent = Parent()
    _limit_memory(memory_limit)
    while True:
        parent.send(_answer(parent.receive()))


def _answer(message: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(message)
        return pickle.dumps((True, function(*arguments)))
    except BaseException as error:
        return _refusal(error)


def _refusal(error: BaseException) -> bytes:
    with suppress(Exception):
        sent = pickle.dumps((False, error))
        pickle.loads(sent)
        return sent
    return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _limit_memory(limit: int | None) -> None:
    """Make allocations beyond a limit fail, if the system has such limits."""
    if limit is None:
        return
    with suppress(ImportError, ValueError, OSError, AttributeError):
        resource: Any = __import__("resource")
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
