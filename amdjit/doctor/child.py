"""Processes for what may hang or crash: whatever the driver does there, the doctor goes on.

A child writes a line of JSON for each thing that it has found out. They are kept in a file, so that
those before a crash are there, and nobody waits for a process that cannot be ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from amdjit.late_methods import dataclass

__all__ = ["Child", "Ended", "Report", "reporting"]

_START = """
import sys
sys.path[:] = {paths!r}
from {module} import main
main(*sys.argv[1:])
"""
# A process that waits in the kernel for a GPU cannot be killed.
_SECONDS_TO_DIE = 5.0
_MOST_SAID = 400

Report = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child has ended.

    lines: what it has reported. how: "" if it ended as it should, else what happened to it, such
    as "crashed (SIGSEGV)". said: the end of what it wrote to its standard error. is_hung: whether
    it took too long. is_started: whether there was a process at all.
    """

    lines: tuple[dict[str, Any], ...]
    how: str
    said: str
    is_hung: bool = False
    is_started: bool = True


class Child:
    """A process that runs `main` of a module with arguments, and with these environment
    variables."""

    def __init__(self, module: str, *arguments: str, variables: Mapping[str, str]) -> None:
        self._begin = time.monotonic()
        self._process: subprocess.Popen[bytes] | None = None
        self._why_none = ""
        command = [sys.executable, "-c", _START.format(paths=sys.path, module=module), *arguments]
        try:
            self._output, self._errors = _file(), _file()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._errors,
                env=dict(variables),
            )
        except OSError as error:
            self._why_none = str(error)

    def finish(self, seconds: float) -> Ended:
        """Wait until so many seconds after the start, then end it; return what came of it."""
        if self._process is None:
            how = f"could not be started ({self._why_none})"
            return Ended((), how, "", is_started=False)
        left = max(self._begin + seconds - time.monotonic(), 0.01)
        is_hung = False
        try:
            how = _how_it_ended(self._process.wait(left))
        except subprocess.TimeoutExpired:
            how, is_hung = f"did not end within {seconds:g} s{self._kill()}", True
        lines = _content(self._output).splitlines()
        said = _content(self._errors).decode(errors="replace").strip()[-_MOST_SAID:]
        return Ended(tuple(_read(lines)), how, said, is_hung)

    def abandon(self) -> None:
        """End it without waiting, if it still runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def _kill(self) -> str:
        assert self._process is not None
        self._process.kill()
        try:
            self._process.wait(_SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            return f", and cannot be ended: process {self._process.pid} waits for the driver"
        return ""


def reporting() -> Report:
    """Return, in a child, what reports a line: `report(stage="saxpy", seconds=0.1)`.

    What else is written to standard output, by kernels or by the driver, goes to standard error.
    """
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def report(**facts: Any) -> None:
        lines.write(json.dumps(facts) + "\n")
        lines.flush()

    return report


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _how_it_ended(code: int) -> str:
    if code == 0:
        return ""
    if code > 0:
        return f"ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"crashed ({signal.Signals(-code).name})"
    return f"crashed (signal {-code})"


def _content(file: IO[bytes]) -> bytes:
    with file:
        file.seek(0)
        return file.read()


def _read(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        # The last line of a process that was ended may be half a line.
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found
