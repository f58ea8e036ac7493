"""A worker process: it receives tasks, and sends their outcomes.

A task is the pickle of a function and its arguments; the answer is that of (True, result) or
(False, error).
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any

from amdjit.child_process import Parent

__all__ = ["main"]


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
