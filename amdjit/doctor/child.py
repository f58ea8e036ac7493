"""Processes for calls that may hang or crash: whatever the driver does in them, the doctor
continues.

A child writes a line of JSON for each thing that it finds out. The lines go to a file, so that
those before a crash are not lost, and nobody waits for a process that cannot be ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amdjit import child_process
from amdjit.late_methods import dataclass

__all__ = ["Child", "Ended", "Report", "reporting"]

_MOST_SAID = 400

Report = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child process ended."""

    lines: tuple[dict[str, Any], ...]
    """What it reported."""
    how: str
    """Empty if it ended normally, otherwise what happened to it, such as "crashed (SIGSEGV)"."""
    said: str
    """The end of what it wrote to its standard error."""
    is_hung: bool = False
    """Whether it took too long."""
    is_started: bool = True
    """Whether there was a process at all."""


class Child:
    """A process that runs `main` of a module, with these arguments and environment variables."""

    def __init__(self, module: str, *arguments: str, variables: Mapping[str, str]) -> None:
        self._begin = time.monotonic()
        self._process: child_process.Child | None = None
        self._why_none = ""
        command = child_process.python_command(module, *arguments)
        try:
            self._process = child_process.Child(command, environment=variables, reports=True)
        except OSError as error:
            self._why_none = str(error)

    def finish(self, seconds: float) -> Ended:
        """Wait until this many seconds after the start, then end the child; return how it ended."""
        process = self._process
        if process is None:
            how = f"could not be started ({self._why_none})"
            return Ended((), how, "", is_started=False)
        code = process.wait(max(self._begin + seconds - time.monotonic(), 0.01))
        how = f"did not end within {seconds:g} s" if code is None else _how_it_ended(code)
        if process.is_stuck:
            how += f", and cannot be ended: process {process.pid} waits for the driver"
        lines = _read(process.report().splitlines())
        said = process.words().strip()[-_MOST_SAID:]
        process.close()
        return Ended(tuple(lines), how, said, is_hung=code is None)

    def abandon(self) -> None:
        """End the process without waiting, if it still runs."""
        if self._process is not None:
            self._process.kill()


def reporting() -> Report:
    """Return the function with which a child reports a line: `report(stage="saxpy", seconds=0.1)`.

    Everything else that kernels or the driver write to standard output goes to standard error.
    """
    lines = os.fdopen(child_process.own_output(), "w", encoding="utf-8")

    def report(**facts: Any) -> None:
        lines.write(json.dumps(facts) + "\n")
        lines.flush()

    return report


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"crashed ({child_process.signal_of(code) or f'signal {-code}'})"
    return child_process.ending(code) if code else ""


def _read(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        # The last line of a process that was killed may be incomplete.
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found
