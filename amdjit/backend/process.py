"""The process that LLVM runs in, so that a mistake in LLVM ends that process and not the user's.

It is started with the first compilation, while the front end works, and handles one request at a
time. If it dies or takes too long, the compilation is refused with what LLVM printed, and the next
compilation starts another process.
"""

from __future__ import annotations

import atexit
import marshal
import os
import signal
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, BinaryIO

from amdjit.backend.worker import DONE, LENGTH, READY, REFUSED, message
from amdjit.diagnostics.errors import AmdjitError, BackendError, InternalError

__all__ = ["CompilerDied", "CompilerProcess", "NoProcess", "compiler_process"]

# Packages whose `__init__` is not run: the process needs few of their modules and should start
# quickly.
_START = """
import sys, types
sys.path[:0] = {paths!r}
for name, folder in {packages!r}:
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [folder]
from amdjit.backend.worker import main
main()
"""
_PACKAGES = (
    "amdjit",
    "amdjit.backend",
    "amdjit.diagnostics",
    "amdjit.lowering",
    "amdjit.intrinsics",
)


class CompilerDied(AmdjitError):
    """The process ended, or was ended, in the middle of a compilation.

    how: the way in which it ended. said: what LLVM printed.
    """

    def __init__(self, how: str, said: str) -> None:
        super().__init__(how)
        self.how = how
        self.said = said


class NoProcess(AmdjitError):
    """No process can be started here; the text says why."""


class CompilerProcess:
    """A process, replaced by another one when it dies. Threads take turns."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: BinaryIO | None = None
        self._is_ready = False
        self._why_none = ""
        self.said = ""  # what LLVM printed during the last request

    def start(self) -> None:
        """Start the process without waiting for it; NoProcess if it cannot be started."""
        with self._lock:
            if self._why_none:
                raise NoProcess(self._why_none)
            if self._process is not None and self._process.poll() is None:
                return
            self.stop()
            if not _is_python(sys.executable):
                raise NoProcess(f"sys.executable is {sys.executable!r}, which is not Python")
            try:
                self._errors = _error_file()
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _start_text()],
                    # A thread that waits for an answer would hold the lock of a buffer, and a
                    # process that is forked meanwhile could not even drop it.
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors or subprocess.DEVNULL,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
            except OSError as error:
                self.stop()
                raise NoProcess(str(error)) from error

    def stop(self) -> None:
        """End the process, if there is one."""
        process, errors = self._process, self._errors
        self._process = self._errors = None
        self._is_ready = False
        if process is not None:
            process.kill()
            process.communicate()
        if errors is not None:
            errors.close()

    def run(self, time_limit: float, *request: Any) -> Any:
        """Return what `worker.compile_in_process` returns for the request.

        What LLVM has to say of a program that it compiles is dropped: see `run_and_listen`.
        """
        return self.run_and_listen(time_limit, *request)[0]

    def run_and_listen(self, time_limit: float, *request: Any) -> tuple[Any, str]:
        """Return what `worker.compile_in_process` returns for the request, and what LLVM printed.

        BackendError if that raises one; CompilerDied if the process ended, or took more than
        `time_limit` seconds; NoProcess if it does not start.
        """
        with self._lock:
            self.start()
            try:
                kind, value = self._exchange(time_limit, request)
            except BaseException as error:
                # Also at Ctrl-C: the process would answer the next request with the result of
                # this one.
                self.stop()
                if isinstance(error, NoProcess):
                    self._why_none = str(error)
                raise
            said = self.said
        if kind == DONE:
            return value, said
        raise BackendError(value) if kind == REFUSED else InternalError(value)

    def _exchange(self, time_limit: float, request: tuple[Any, ...]) -> tuple[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(time_limit, expire)
        timer.daemon = True
        timer.start()
        try:
            if not self._is_ready:
                self._await_ready(process.stdout, expired)
            try:
                _send(process.stdin, message(request))
                answer = _received(process.stdout)
            except OSError:
                answer = None
        finally:
            timer.cancel()
        said = self._said()
        if answer is None:
            how = (
                f"took more than {time_limit:g} seconds"
                if expired.is_set()
                else _ending(process.wait())
            )
            raise CompilerDied(how, said)
        self.said = said
        return answer

    def _await_ready(self, answers: IO[bytes], expired: threading.Event) -> None:
        if _received(answers) != (READY,):
            said = "it does not start in time" if expired.is_set() else self._said().strip()
            raise NoProcess(said.splitlines()[-1] if said else "it ends immediately")
        self._is_ready = True

    def _said(self) -> str:
        """Return what the process printed since the last time."""
        if self._errors is None or os.fstat(self._errors.fileno()).st_size == 0:
            return ""
        # The process shares the file's position.
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace")
        self._errors.seek(0)
        self._errors.truncate()
        return text

    def forget(self) -> None:
        """Let go of the process and the lock, which belong to the process that this one was forked
        from."""
        process, errors = self._process, self._errors
        self._lock = threading.RLock()
        self._process = self._errors = None
        self._is_ready = False
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        # It is not a child of this process, which cannot wait for it.
        process.returncode = 0
        if errors is not None:
            errors.close()


def compiler_process() -> CompilerProcess:
    """Return the compiler process of this process."""
    return _PROCESS


def _start_text() -> str:
    root = Path(__file__).parents[1]
    folders = [(name, str(root.joinpath(*name.split(".")[1:]))) for name in _PACKAGES]
    llvmlite = find_spec("llvmlite")
    if llvmlite is None or llvmlite.origin is None:
        raise NoProcess("llvmlite is not installed in a folder")
    return _START.format(
        paths=[str(root.parent), str(Path(llvmlite.origin).parents[1])], packages=folders
    )


def _is_python(executable: str | None) -> bool:
    """Return whether a program is Python, by its name, and not a program that embeds Python."""
    return (
        bool(executable)
        and not getattr(sys, "frozen", False)
        and "py" in Path(str(executable)).name.lower()
    )


def _error_file() -> BinaryIO | None:
    try:
        return tempfile.TemporaryFile(prefix="amdjit-", buffering=0)
    except OSError:
        return None


def _send(target: IO[bytes], content: bytes) -> None:
    remaining = memoryview(content)
    while remaining:
        remaining = remaining[target.write(remaining) :]


def _received(source: IO[bytes]) -> tuple[Any, ...] | None:
    head = _read(source, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    content = _read(source, length)
    return None if content is None else marshal.loads(content)


def _read(source: IO[bytes], length: int) -> bytes | None:
    """Return that many bytes, None if the other end is closed before."""
    parts = []
    while length:
        part = source.read(length)
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _ending(status: int) -> str:
    if status < 0 and -status in set(signal.Signals):
        return f"ended by {signal.Signals(-status).name}"
    return f"ended with exit code {status}"


_PROCESS = CompilerProcess()
atexit.register(_PROCESS.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_PROCESS.forget)
