"""The processes of the probe. They are started, timed, and killed with everything that they
started; the end of their standard error is returned."""

from __future__ import annotations

import getpass
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from amdjit.child_process import Child, ending
from amdjit.forking import Lock

__all__ = ["Ended", "Processes", "scrubbed"]

_MOST_WORDS = 1500
# These variables of the user's environment would change the results of a case.
_PLAIN = {
    "AMDJIT_DEBUG": "",
    "AMDJIT_EMULATOR_MATH": "",
    "AMDJIT_EMULATOR_MATRIX": "",
    "AMDJIT_SANITIZE": "",
    "AMDJIT_SANITIZE_JSON": "",
    "AMDJIT_WARNINGS": "0",
}
_CHILD = (sys.executable, "-m", "amdjit.probe.child")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    code: int | None
    """Its exit code, negative for a signal; None if it was killed because it took too long."""
    seconds: float
    words: str = ""
    """The end of its standard error, without anything private."""
    is_stuck: bool = False
    """Whether it could not even be killed, as happens to a process inside a driver."""

    @property
    def reason(self) -> str:
        """How it ended, in words."""
        if self.code is None:
            return f"killed after {self.seconds:.0f} s"
        return ending(self.code)


@dataclass
class Processes:
    """Starts child processes and knows which of them are running."""

    chip: tuple[str, ...] = _CHILD
    """The command that runs `child.py` for the device."""
    emulator: tuple[str, ...] = _CHILD
    """The command that runs `child.py` for everything else."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for both, in addition to those of this process."""
    _live: set[Child] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    _is_closed: bool = False

    def on_chip(self, seconds: float, *arguments: str) -> Ended:
        """Run a task on the device under test and wait for its end."""
        return self._run([*self.chip, *arguments], seconds, {**_PLAIN, **self.environment})

    def on_emulator(self, seconds: float, *arguments: str) -> Ended:
        """Run a task that needs no GPU and wait for its end. Several such tasks may run at the same
        time, each on one CPU thread."""
        variables = {**_PLAIN, "AMDJIT_EMULATOR_THREADS": "1", **self.environment}
        return self._run([*self.emulator, *arguments], seconds, variables)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called; processes that ended after that may have been killed by
        it."""
        return self._is_closed

    def close(self) -> None:
        """Kill all running processes, and start no more."""
        with self._lock:
            self._is_closed = True
            live = list(self._live)
        for process in live:
            process.kill()

    def _run(self, command: list[str], seconds: float, variables: dict[str, str]) -> Ended:
        started = time.monotonic()
        with self._lock:
            if self._is_closed:
                return Ended(None, 0.0)
            # Ctrl-C in the terminal is meant for this process, which decides what to end.
            environment = {**os.environ, **variables}
            process = Child(command, environment=environment, leads_group=True)
            self._live.add(process)
        try:
            code = process.wait(seconds)
            words = process.words(8 * _MOST_WORDS)
        finally:
            process.close()
            self._live.discard(process)
        return Ended(code, time.monotonic() - started, scrubbed(words), process.is_stuck)


# Paths in quotes may contain spaces. Other paths end at a space, unless they begin with a known
# folder.
_QUOTED = re.compile(r"""(["'])(?:~|[A-Za-z]:)?[\\/][^"'\n]*[\\/]([^"'\\/\n]+)\1""")
_PATH = re.compile(
    r"(?:~|[A-Za-z]:)?(?:[\\/][^\s\\/\"':,;()\[\]]+)+[\\/]([^\s\\/\"':,;()\[\]]+)"
    r"|~[\\/]([^\s\\/\"':,;()\[\]]+)"
)


def scrubbed(text: str) -> str:
    """Return the end of a text without paths, user names, home folders and host names."""
    text = _QUOTED.sub(r"\1\2\1", text)
    for private, word in _private():
        text = re.sub(rf"(?<!\w){re.escape(private)}(?!\w)", word, text)
    text = _PATH.sub(lambda found: found[1] or found[2], text)
    return text[-_MOST_WORDS:].strip()


def _private() -> list[tuple[str, str]]:
    """Return the names that identify the user or the machine, and their replacements; folders
    first, the longest of them first."""
    folders = {str(Path.cwd()), str(Path.home()), tempfile.gettempdir(), sys.prefix}
    found = [(folder, "~") for folder in sorted(folders, key=len, reverse=True)]
    found.append((platform.node(), "HOST"))
    with suppress(KeyError, OSError, ImportError):
        found.append((getpass.getuser(), "USER"))
    return [(name, word) for name, word in found if len(name) > 1]
