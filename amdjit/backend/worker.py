"""LLVM in a process of its own, which `amdjit.backend.process` starts: it compiles until its input
ends.

A message is its length in 8 bytes, then Python values as `marshal` writes them: both ends run the
same Python.
"""

from __future__ import annotations

import importlib
import marshal
import os
import queue
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from amdjit.diagnostics.errors import BackendError
from amdjit.late import late
from amdjit.options import CompileOptions
from amdjit.target import read_target

if TYPE_CHECKING:
    from amdjit.backend import declared, llvm
else:
    declared, llvm = late("amdjit.backend.declared"), late("amdjit.backend.llvm")

__all__ = ["DONE", "FAILED", "LENGTH", "READY", "REFUSED", "compile_in_process", "main", "message"]

LENGTH = struct.Struct("<Q")
READY, DONE, REFUSED, FAILED = "ready", "done", "refused", "failed"
# All stages but this one are LLVM's. It loads every declared intrinsic, which most compilations do
# not need.
_MODULES = {"check_declared": declared}


def message(values: tuple[Any, ...]) -> bytes:
    """Return values as a message."""
    content = marshal.dumps(values)
    return LENGTH.pack(len(content)) + content


def compile_in_process(
    stage: str, llvm_text: str, target: str, wave_size: int, opt_level: int, *more: Any
) -> Any:
    """Run one stage of a compilation in this process."""
    try:
        found = read_target(target)
    except ValueError as error:
        raise BackendError(str(error)) from None
    options = CompileOptions(found, wave_size=wave_size, opt_level=opt_level)
    function: Callable[..., Any] = getattr(_MODULES.get(stage, llvm), stage)
    return function(llvm_text, found, options, *more)


def main() -> None:
    """Compile until there is nothing more to read."""
    # Ctrl-C is meant for the process that waits for this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What LLVM prints must not get between the answers.
    os.dup2(2, 1)
    requests: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    # Input is read in a thread, so that this process ends with the other one even in the middle of
    # a compilation.
    threading.Thread(target=_read, args=(sys.stdin.buffer, requests), daemon=True).start()
    importlib.import_module("amdjit.backend.llvm")
    _write(answers, (READY,))
    while True:
        _write(answers, _answer(requests.get()))


def _answer(request: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        return DONE, compile_in_process(*request)
    except BackendError as error:
        return REFUSED, str(error)
    except Exception:
        return FAILED, traceback.format_exc()


def _write(answers: BinaryIO, values: tuple[Any, ...]) -> None:
    answers.write(message(values))
    answers.flush()


def _read(source: BinaryIO, requests: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    while len(head := source.read(LENGTH.size)) == LENGTH.size:
        (length,) = LENGTH.unpack(head)
        content = source.read(length)
        if len(content) < length:
            break
        requests.put(marshal.loads(content))
    os._exit(0)
