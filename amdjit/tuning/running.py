"""Runs the work on candidates on any executor of `concurrent.futures`.

As many tasks are in flight as there are workers, so a task begins about when it is submitted. A
task of a foreign executor that takes too long is abandoned, and its worker counts as occupied until
it returns. If a whole pool breaks, the tasks that were in flight are tried again one by one, and
only the one that breaks it again is lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from amdjit.options import OptionError
from amdjit.tuning.candidates import State
from amdjit.tuning.errors import TuningError, WorkerLost
from amdjit.tuning.pool import WorkerPool
from amdjit.tuning.tasks import Outcome, Work, do

__all__ = ["Task", "Workers", "worker_count"]

_TICK = 0.2
Task = tuple[int, Callable[[], Work]]


@dataclass(eq=False)
class _Flight:
    number: int
    make: Callable[[], Work]
    since: float
    alone: bool


def worker_count(asked: int | None, executor: Any = None) -> int:
    """Return how many workers to keep busy: the number that was asked for, that of the executor, or
    one for each processor."""
    known = asked or getattr(executor, "_max_workers", None)
    if isinstance(known, int) and known > 0:
        return known
    with suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """The executor of a search: the user's, or processes of amdjit's own while the `with` block
    lasts.

    given: an executor, a function that makes one, or None. count: workers to keep busy.
    """

    def __init__(
        self, given: Any, count: int | None, time_limit: float, memory_limit: int | None
    ) -> None:
        self._given, self._time_limit = given, time_limit
        self._memory_limit = memory_limit
        is_executor = hasattr(given, "submit")
        if given is not None and not is_executor and not callable(given):
            raise OptionError(
                f"executor={given!r}: give a concurrent.futures.Executor, or a function that makes "
                "one"
            )
        self._makes = not is_executor
        self.is_own = given is None
        self.count = worker_count(count, given if is_executor else None)
        self._executor: Any = None if self._makes else given
        self._counts_itself = count is not None
        self.hangs = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._makes and self._executor is not None:
            with suppress(Exception):  # the pool is broken anyway
                # Waiting for a task that hangs would never end.
                self._executor.shutdown(wait=not self.hangs, cancel_futures=True)
            self._executor = None

    def _ready(self) -> Executor:
        if self._executor is None:
            self._executor = self._own() if self.is_own else self._given()
            if not self.is_own and not self._counts_itself:
                self.count = worker_count(None, self._executor)
        return self._executor  # type: ignore[no-any-return]

    def _own(self) -> WorkerPool:
        variables = {"AMDJIT_COMPILE_GUARD": "0", "AMDJIT_EMULATOR_THREADS": "1"}
        memory = self._memory_limit or _share_of_memory(self.count)
        return WorkerPool(self.count, self._time_limit, memory, variables)

    def outcomes(
        self, tasks: Iterable[Task], stops: Callable[[], bool], tick: Callable[[], None]
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield the outcome of each task when it ends. stops: tells before each submission whether
        to stop; tasks that are in flight then are abandoned. tick: called a few times per
        second."""
        self._ready()
        run = _Run(self, iter(tasks), stops=stops, flying={}, again=[], hanging=set())
        while run.fill():
            tick()
            yield from run.take()
        run.give_up()

    def submit(self, work: Work) -> Future[Outcome]:
        """Submit a task."""
        return self._ready().submit(do, work)

    def renew(self, problem: BaseException) -> None:
        """Replace an executor that broke; TuningError if it is the user's only one."""
        if not self._makes:
            raise TuningError(
                f"the executor broke ({type(problem).__name__}: {problem}). What was done is kept. "
                "To continue after workers die, give a function that makes an executor, "
                "executor=lambda: ProcessPoolExecutor(8), or leave executor= out"
            ) from problem
        self._close()

    @property
    def time_limit(self) -> float | None:
        """Seconds after which a task is abandoned here; None if the pool does that."""
        return None if self.is_own else self._time_limit


@dataclass(eq=False)
class _Run:
    """The tasks of one pass that are in flight."""

    workers: Workers
    tasks: Iterator[Task]
    stops: Callable[[], bool]
    flying: dict[Future[Outcome], _Flight]
    again: list[_Flight]
    hanging: set[Future[Outcome]]

    def fill(self) -> bool:
        """Submit as many tasks as workers are free; return whether anything is in flight."""
        if self.stops():
            return False
        self.hanging = {future for future in self.hanging if not future.done()}
        room = self.workers.count - len(self.hanging)
        if room <= 0 and not self.flying:
            raise TuningError(
                f"all {self.workers.count} workers of the executor hang: tasks took more than "
                f"{self.workers.time_limit:g} s (time_limit=), and it cannot end them. What was "
                "done is kept; leave executor= out to use processes that can be ended"
            )
        if self.again:
            if not self.flying:
                self._submit(self.again.pop(0))
            return True
        while len(self.flying) < room and not any(each.alone for each in self.flying.values()):
            task = next(self.tasks, None)
            if task is None:
                break
            self._submit(_Flight(*task, time.monotonic(), False))
        return bool(self.flying)

    def _submit(self, flight: _Flight) -> None:
        flight.since = time.monotonic()
        try:
            future = self.workers.submit(flight.make())
        except BrokenExecutor as problem:
            self._broke(problem)
            future = self.workers.submit(flight.make())
        self.flying[future] = flight

    def take(self) -> Iterator[tuple[int, Outcome]]:
        """Yield the outcomes of tasks that have ended, after a short wait."""
        done, _ = wait(self.flying, _TICK, FIRST_COMPLETED)
        for future in done:
            flight = self.flying.pop(future, None)
            if flight is not None:
                outcome = self._outcome(future, flight)
                if outcome is not None:
                    yield flight.number, outcome
        limit = self.workers.time_limit
        if limit is not None:
            yield from self._expired(limit)

    def _expired(self, limit: float) -> Iterator[tuple[int, Outcome]]:
        now = time.monotonic()
        for future, flight in list(self.flying.items()):
            if now - flight.since > limit:
                del self.flying[future]
                if not future.cancel():
                    self.hanging.add(future)
                    self.workers.hangs = True
                yield (
                    flight.number,
                    Outcome(
                        State.LOST,
                        f"no result after {limit:g} s (time_limit=): abandoned",
                    ),
                )

    def _outcome(self, future: Future[Outcome], flight: _Flight) -> Outcome | None:
        """Return the outcome of a task; None if it is to be tried again."""
        try:
            return future.result()
        except WorkerLost as lost:
            return Outcome(State.LOST, str(lost))
        except BrokenExecutor as problem:
            if flight.alone:
                self._broke(problem)
                return Outcome(State.LOST, f"its worker died: {problem}")
            self.again.append(_Flight(flight.number, flight.make, 0, True))
            self._broke(problem)
            return None
        except CancelledError:
            return Outcome(State.LOST, "the executor cancelled it")
        except TuningError:
            raise
        except Exception as problem:
            return Outcome(State.LOST, f"{type(problem).__name__}: {problem}")

    def _broke(self, problem: BaseException) -> None:
        """Try all tasks that were in flight again, one by one, on a new executor."""
        self.again += [_Flight(f.number, f.make, 0, True) for f in self.flying.values()]
        self.flying.clear()
        self.workers.renew(problem)

    def give_up(self) -> None:
        """Cancel what is in flight."""
        for future in self.flying:
            future.cancel()


def _share_of_memory(workers: int) -> int | None:
    """Return each worker's share of the machine's memory; None if that is not known."""
    with suppress(AttributeError, ValueError, OSError):
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        # A process needs more address space than memory: Python and LLVM alone map half a gigabyte.
        return max(2 << 30, total // workers)
    return None
