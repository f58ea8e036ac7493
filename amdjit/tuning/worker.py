"""A worker process: reads tasks from its standard input, and writes what came of them to what was
its standard output. It ends with its parent.

A message is its length in 8 bytes, then a pickle. A task is a function and its arguments; the
answer is (True, result) or (False, error).
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import IO, Any

__all__ = ["LENGTH_BYTES", "main", "read_message", "write_message"]

LENGTH_BYTES = 8
# The exit code of a worker whose parent is gone.
_ORPHANED = 3


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message; None at the end of the stream."""
    head = _exactly(stream, LENGTH_BYTES)
    return None if head is None else _exactly(stream, int.from_bytes(head, "little"))


def _exactly(stream: IO[bytes], count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        part = stream.read(count - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)


def write_message(stream: IO[bytes], contents: bytes) -> None:
    """Write a message."""
    stream.write(len(contents).to_bytes(LENGTH_BYTES, "little"))
    stream.write(contents)
    stream.flush()


def main(paths: list[str], memory_limit: int | None) -> None:
    """Serve until the parent closes the pipe. paths: Python's. memory_limit: bytes."""
    sys.path[:] = paths
    # Ctrl-C is the parent's to answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    # What kernels and modules print must not come between the answers.
    os.dup2(2, 1)
    _limit_memory(memory_limit)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True)
    reader.start()
    while True:
        write_message(answers, _answer(tasks.get()))


def _read(stream: IO[bytes], tasks: queue.SimpleQueue[bytes]) -> None:
    """Hand on tasks; end the process with the parent, also in the middle of a task."""
    while True:
        message = read_message(stream)
        if message is None:
            os._exit(_ORPHANED)
        tasks.put(message)


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
    """Let allocations beyond a limit fail, where the system has such limits."""
    if limit is None:
        return
    with suppress(ImportError, ValueError, OSError, AttributeError):
        resource: Any = __import__("resource")
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
