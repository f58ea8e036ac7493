"""The work-items of a simulated launch: one runs at a time, in the order of their ids.

A host thread calls the kernel for one work-item after the other. Where a work-item has to wait, its
thread waits with it, and another thread goes on with the next one: a kernel that never waits runs
in the caller's thread alone. Only the thread that has been handed the turn runs, so that programs
are deterministic, and a debugger may stop in any of them.

    a work-item waits for                   it goes on when
    its wave (`WaveCall`)                   all work-items of the wave wait or have ended; of
                                            several calls the earliest in the program is first
    its workgroup (`BARRIER`)               all work-items of the workgroup wait there
    the grid (`GRID_BARRIER`)               all work-items of the grid wait there
    nothing (`TURN`)                        the others have had their turn

Workgroups begin one after the other: another one while the grid's barrier is waited for, and when
those that wait for nothing do so again and again, since it may do what they look for.
"""

from __future__ import annotations

import contextlib
import contextvars
import heapq
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from amdjit.abi.launch_shape import Extent, LaunchShape

__all__ = ["AbandonedError", "DeadlockError", "Meeting", "Simulation", "WaveCall", "WorkItem"]

# A thread that does not end is a kernel's endless loop: it is a daemon, and left behind.
_SECONDS_TO_END = 1.0


class Meeting(Enum):
    """What a work-item may wait for besides its wave."""

    BARRIER = "the workgroup's barrier"
    GRID_BARRIER = "the grid's barrier"
    TURN = "another turn"


@dataclass(frozen=True)
class WaveCall:
    """A call that the work-items of a wave make together."""

    position: tuple[Any, ...]
    """Where in the program, such that what a wave does first is less."""
    compute: Callable[[Sequence[WorkItem], Sequence[Any]], Sequence[Any]]
    """Returns the results of the work-items that call, from these and their arguments."""
    arguments: Any


class State(Enum):
    """What a work-item does."""

    READY = 0
    RUNNING = 1
    WAITING = 2
    ENDED = 3


@dataclass(eq=False)
class WorkItem:
    """One work-item of the grid."""

    number: int
    """Its place in the order in which work-items run."""
    block: Extent
    thread: Extent
    flat: int
    """Its number in the workgroup."""
    wave_size: int
    state: State = State.READY
    host: Host | None = None
    """The thread that runs it, from its first step on."""
    request: Meeting | WaveCall | None = None
    place: str = ""
    """Where it waits, as a file and a line."""
    result: Any = None
    shared: dict[Any, Any] = field(default_factory=dict)
    """The LDS arrays of its workgroup by the calls that made them; the same for all of it."""

    @property
    def lane(self) -> int:
        """Its number in its wave."""
        return self.flat % self.wave_size

    @property
    def wave(self) -> int:
        """The number of its wave in the workgroup."""
        return self.flat // self.wave_size


class Host:
    """A thread that runs work-items. item: what it is to run next, or runs."""

    def __init__(self, item: WorkItem | None = None) -> None:
        self.item = item
        self.thread: threading.Thread | None = None
        self._turn = threading.Lock()
        self._turn.acquire()

    def pause(self) -> None:
        """Wait for the turn."""
        self._turn.acquire()

    def resume(self) -> None:
        """Give the thread the turn, if it does not have it."""
        with contextlib.suppress(RuntimeError):  # it was given the turn already
            self._turn.release()


class AbandonedError(BaseException):
    """Ends a work-item that waits, because the launch has failed."""


class DeadlockError(Exception):
    """Work-items wait for others that do not come. waiting: those that wait. ended: those of the
    same workgroup that have ended."""

    def __init__(self, waiting: list[WorkItem], ended: list[WorkItem]) -> None:
        super().__init__("work-items wait for others that do not come")
        self.waiting, self.ended = waiting, ended


class Simulation:
    """The work-items of a launch, and whose turn it is."""

    def __init__(
        self, shape: LaunchShape, wave_size: int, body: Callable[[WorkItem], None]
    ) -> None:
        """body: runs the kernel for a work-item."""
        self.shape, self.wave_size = shape, wave_size
        self._body = body
        self.current: WorkItem | None = None
        self._groups = self._workgroups()
        self._open: list[list[WorkItem]] = []
        self._ready: list[int] = []
        self._items: dict[int, WorkItem] = {}
        self._idle: list[Host] = []
        # Those that waited for nothing when all others waited, too.
        self._patient: set[int] = set()
        self._hosts: list[Host] = []
        self._failure: BaseException | None = None
        self._has_ended = False

    def run(self) -> None:
        """Run all work-items; raise what one of them raises, or `DeadlockError`."""
        try:
            self._serve(Host())
        finally:
            self._has_ended = True
            for host in self._hosts:
                host.resume()
            for host in self._hosts:
                assert host.thread is not None
                host.thread.join(_SECONDS_TO_END)
        if self._failure is not None:
            raise self._failure

    def wait(self, request: Meeting | WaveCall, place: str) -> Any:
        """Let the current work-item wait; return what it gets from a call of its wave."""
        item = self.current
        assert item is not None
        assert item.host is not None
        item.state, item.request, item.place = State.WAITING, request, place
        chosen = self._choose()
        if chosen is not item:
            if chosen is not None:
                self._hand_to(chosen)
            item.host.pause()
        if self._failure is not None or self._has_ended:
            raise AbandonedError
        item.state, self.current = State.RUNNING, item
        return item.result

    def _workgroups(self) -> Iterator[list[WorkItem]]:
        number = 0
        for block in _places(self.shape.grid):
            shared: dict[Any, Any] = {}
            group = []
            for flat, thread in enumerate(_places(self.shape.block)):
                group.append(WorkItem(number, block, thread, flat, self.wave_size, shared=shared))
                number += 1
            yield group

    def _serve(self, host: Host) -> None:
        """Run work-items in this thread, as long as it has the turn."""
        while True:
            if host.item is None:
                chosen = self._choose()
                if chosen is None:
                    return
                if chosen.host is None:
                    host.item = chosen
                else:
                    self._idle.append(host)
                    chosen.host.resume()
                    host.pause()
            if self._failure is not None or self._has_ended:
                return
            if host.item is not None:
                self._execute(host, host.item)
                host.item = None

    def _execute(self, host: Host, item: WorkItem) -> None:
        item.host, item.state, self.current = host, State.RUNNING, item
        try:
            with np.errstate(all="ignore"):  # kernels wrap and divide by 0 without a word
                self._body(item)
        except AbandonedError:
            pass
        except BaseException as failure:
            self._fail(failure)
        item.state, item.host = State.ENDED, None

    def _fail(self, failure: BaseException) -> None:
        """End the launch: the thread that has called `run` raises the failure."""
        if self._failure is None:
            self._failure = failure
        for item in self._items.values():
            if item.host is not None and item.state is State.WAITING:
                item.host.resume()
        for host in self._idle:
            host.resume()

    def _hand_to(self, item: WorkItem) -> None:
        """Let another thread go on with a work-item."""
        if item.host is not None:
            item.host.resume()
        elif self._idle:
            host = self._idle.pop()
            host.item = item
            host.resume()
        else:
            host = Host(item=item)
            context = contextvars.copy_context()
            host.thread = threading.Thread(
                target=context.run, args=(self._serve, host), daemon=True, name="work-items"
            )
            self._hosts.append(host)
            host.thread.start()

    def _choose(self) -> WorkItem | None:
        """Return the work-item to run next; None if all have ended, or the launch has failed."""
        while self._failure is None and not self._has_ended:
            if self._ready:
                return self._items[heapq.heappop(self._ready)]
            try:
                if not self._release():
                    self._has_ended = True
                    self._wake_all()
                    return None
            except Exception as failure:  # of an operation of a wave, or a deadlock
                self._fail(failure)
        return None

    def _wake_all(self) -> None:
        for host in self._idle:
            host.resume()

    def _release(self) -> bool:
        """Let those go on that have waited for each other, or begin another workgroup; return
        whether there are any."""
        for group in self._open:
            if any(map(self._release_wave, self._waves(group))) or self._release_group(group):
                return True
        self._open = [group for group in self._open if _live(group)]
        waiting = [item for group in self._open for item in _live(group)]
        turn = [item for item in waiting if item.request is Meeting.TURN]
        if turn:
            self._give_turn(turn)
            return True
        if all(item.request is Meeting.GRID_BARRIER for item in waiting):
            if self._begin_group():
                return True
            self._resume(waiting)
            return bool(waiting)
        stuck = next(group for group in self._open if not _at_grid_barrier(group))
        raise DeadlockError(_live(stuck), [item for item in stuck if item.state is State.ENDED])

    def _give_turn(self, items: list[WorkItem]) -> None:
        """Let work-items go on that wait for nothing; if these had their turn before, begin another
        workgroup, too."""
        numbers = {item.number for item in items}
        if numbers <= self._patient:
            self._begin_group()
        self._patient = numbers
        self._resume(items)

    def _begin_group(self) -> bool:
        group = next(self._groups, None)
        if group is None:
            return False
        if not self._open:
            self._items.clear()
        self._open.append(group)
        self._resume(group)
        return True

    def _resume(self, items: Sequence[WorkItem]) -> None:
        for item in items:
            item.state, item.request = State.READY, None
            self._items[item.number] = item
            heapq.heappush(self._ready, item.number)

    def _waves(self, group: list[WorkItem]) -> list[list[WorkItem]]:
        return [
            group[first : first + self.wave_size] for first in range(0, len(group), self.wave_size)
        ]

    def _release_wave(self, wave: list[WorkItem]) -> bool:
        """Make the earliest call of a wave; return whether there was one."""
        calls = [
            (item.request.position, item)
            for item in wave
            if item.state is State.WAITING and isinstance(item.request, WaveCall)
        ]
        if not calls:
            return False
        first = min(position for position, _ in calls)
        callers = [item for position, item in calls if position == first]
        requests = [item.request for item in callers]
        assert isinstance(requests[0], WaveCall)
        arguments = [each.arguments for each in requests if isinstance(each, WaveCall)]
        self.current = callers[0]
        for item, result in zip(callers, requests[0].compute(callers, arguments), strict=True):
            item.result = result
        self._resume(callers)
        return True

    def _release_group(self, group: list[WorkItem]) -> bool:
        live = _live(group)
        at_barrier = [item for item in live if item.request is Meeting.BARRIER]
        if not at_barrier or len(at_barrier) < len(live):
            return False
        # Barriers count waves that have not ended (RDNA 4 ISA, "Barriers"), and those that wait for
        # others have all of their lanes here.
        self._resume(live)
        return True


def _live(group: list[WorkItem]) -> list[WorkItem]:
    return [item for item in group if item.state is not State.ENDED]


def _at_grid_barrier(group: list[WorkItem]) -> bool:
    return all(item.request is Meeting.GRID_BARRIER for item in _live(group))


def _places(extent: Extent) -> Iterator[Extent]:
    x, y, z = extent
    return ((i, j, k) for k in range(z) for j in range(y) for i in range(x))
