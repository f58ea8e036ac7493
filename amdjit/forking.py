"""What keeps amdjit usable in a process that `os.fork` made, where only the forking thread lives.

A lock that another thread held at that moment would be held for ever. A lock of this module is free
in the new process: all that it guards is changed in single steps, so that it is whole at any
moment. LLVM's own state is not: a fork waits until no thread is inside of LLVM.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

__all__ = ["Lock", "wait_before_fork", "when_forked"]


class _Process:
    """Counts the forks between the first process and this one."""

    def __init__(self) -> None:
        self.number = 0
        self.renewing = threading.Lock()

    def forked(self) -> None:
        self.number += 1
        self.renewing = threading.Lock()


_PROCESS = _Process()


class Lock:
    """A lock for `with`, free in a forked process. make: threading.Lock for one that a thread can
    take only once."""

    __slots__ = ("_lock", "_make", "_number")

    def __init__(self, make: Callable[[], Any] = threading.RLock) -> None:
        self._make = make
        self._lock = make()
        self._number = _PROCESS.number

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock and return True; False if it is not free and `blocking` is False."""
        if self._number != _PROCESS.number:
            self._renew()
        taken: bool = self._lock.acquire(blocking)
        return taken

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def _renew(self) -> None:
        with _PROCESS.renewing:
            if self._number != _PROCESS.number:
                self._lock = self._make()
                self._number = _PROCESS.number


class _Guard(Protocol):
    """A lock for `with`."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: None) -> object: ...


def wait_before_fork(guard: _Guard) -> None:
    """Let forks wait for this lock, from now on; it is free in the new process, too."""
    if hasattr(os, "register_at_fork"):

        def leave() -> None:
            guard.__exit__(None, None, None)

        os.register_at_fork(before=guard.__enter__, after_in_parent=leave, after_in_child=leave)


def when_forked(call: Callable[[], None]) -> None:
    """Make a call in each new process, from now on, before anything else runs there."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


when_forked(_PROCESS.forked)
