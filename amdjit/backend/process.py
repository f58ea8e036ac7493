"""The child process that runs LLVM, so that a bug in LLVM ends it and not the user's process.

It is started with the first compilation, while the front end works, and handles one request at a
time. If it dies or takes too long, the compilation is refused with what LLVM printed, and the next
compilation starts another process.
"""

from __future__ import annotations

import atexit
import marshal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from amdjit.backend.worker import DONE, READY, REFUSED
from amdjit.child_process import Child, ending
from amdjit.diagnostics.errors import AmdjitError, BackendError, InternalError
from amdjit.forking import when_forked

__all__ = ["CompilerDied", "CompilerProcess", "NoProcess", "compiler_process"]

# Packages whose `__init__` is not executed in the child: it needs few of their modules, and starts
# faster without the rest.
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
    """The process ended, or was killed, during a compilation.

    how: how it ended, in words. said: what LLVM printed.
    """

    def __init__(self, how: str, said: str) -> None:
        super().__init__(how)
        self.how = how
        self.said = said


class NoProcess(AmdjitError):
    """No process can be started here; the text says why."""


class CompilerProcess:
    """The process, which is replaced when it dies. Threads take turns."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: Child | None = None
        self._is_ready = False
        self._why_none = ""

    def start(self) -> None:
        """Start the process without waiting for it; NoProcess if it cannot be started."""
        with self._lock:
            if self._why_none:
                raise NoProcess(self._why_none)
            if self._process is not None and self._process.is_alive:
                return
            self.stop()
            if not _is_python(sys.executable):
                raise NoProcess(f"sys.executable is {sys.executable!r}, which is not Python")
            try:
                self._process = Child([sys.executable, "-I", "-S", "-c", _start_text()], talks=True)
            except OSError as error:
                raise NoProcess(str(error)) from error

    def stop(self) -> None:
        """End the process, if there is one."""
        process, self._process, self._is_ready = self._process, None, False
        if process is not None:
            process.close()

    def run(self, time_limit: float, *request: Any) -> Any:
        """Return what `worker.compile_in_process` returns for the request.

        LLVM's messages about the program are dropped: see `run_and_listen`.
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
                (kind, value), said = self._exchange(time_limit, request)
            except BaseException as error:
                # Also at Ctrl-C: otherwise the process would answer
                # the next request with the result of this one.
                self.stop()
                if isinstance(error, NoProcess):
                    self._why_none = str(error)
                raise
        if kind == DONE:
            return value, said
        raise BackendError(value) if kind == REFUSED else InternalError(value)

    def _exchange(self, time_limit: float, request: tuple[Any, ...]) -> tuple[tuple[str, Any], str]:
        """Return the answer, and what LLVM printed."""
        process = self._process
        assert process is not None
        with process.limited(time_limit):
            if not self._is_ready:
                _await_ready(process)
                self._is_ready = True
            answer = process.ask(marshal.dumps(request))
        said = process.words()
        if answer is not None:
            return marshal.loads(answer), said
        if process.is_expired:
            raise CompilerDied(f"took more than {time_limit:g} seconds", said)
        raise CompilerDied(ending(process.exit_code()), said)

    def forget(self) -> None:
        """Drop the process and the lock in a forked child: they belong to its parent."""
        self._lock = threading.RLock()
        self._process, self._is_ready = None, False


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
    """Return whether a program is Python itself, judged by its name, rather than one that embeds
    it."""
    return (
        bool(executable)
        and not getattr(sys, "frozen", False)
        and "py" in Path(str(executable)).name.lower()
    )


def _await_ready(process: Child) -> None:
    if process.receive() != READY:
        said = "it does not start in time" if process.is_expired else process.words().strip()
        raise NoProcess(said.splitlines()[-1] if said else "it ends immediately")


_PROCESS = CompilerProcess()
atexit.register(_PROCESS.stop)
when_forked(_PROCESS.forget)
