"""Processes of the probe: started, timed, killed with all that they started, and their last words
kept."""

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
# What the user's environment may ask for would make other results of the same case.
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
    """How a process ended. code: its exit code, negative for a signal; None if it was killed for
    the time it took. words: the end of its standard error, without anything private. is_stuck:
    whether it could not even be killed, as a process in a driver's hands cannot."""

    code: int | None
    seconds: float
    words: str = ""
    is_stuck: bool = False

    @property
    def reason(self) -> str:
        """How it ended, in words."""
        if self.code is None:
            return f"killed after {self.seconds:.0f} s"
        return ending(self.code)


@dataclass
class Processes:
    """Starts children and knows which of them live."""

    chip: tuple[str, ...] = _CHILD
    """The command that runs `child.py` for the device."""
    emulator: tuple[str, ...] = _CHILD
    """The command that runs `child.py` for everything else."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables on top of the process's own, for both."""
    _live: set[Child] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    _is_closed: bool = False

    def on_chip(self, seconds: float, *arguments: str) -> Ended:
        """Run a task on the device under test and wait for its end."""
        return self._run([*self.chip, *arguments], seconds, {**_PLAIN, **self.environment})

    def on_emulator(self, seconds: float, *arguments: str) -> Ended:
        """Run a task that needs no GPU and wait for its end. Several may run: each uses a thread of
        the CPU."""
        variables = {**_PLAIN, "AMDJIT_EMULATOR_THREADS": "1", **self.environment}
        return self._run([*self.emulator, *arguments], seconds, variables)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called: what ended since may have been killed by it."""
        return self._is_closed

    def close(self) -> None:
        """Kill what lives, and start nothing any more."""
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
            # A Ctrl-C in the terminal is for this process, which decides what ends.
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


# Paths in quotes may have spaces; others end at one, unless they begin with a folder that is known.
_QUOTED = re.compile(r"""(["'])(?:~|[A-Za-z]:)?[\\/][^"'\n]*[\\/]([^"'\\/\n]+)\1""")
_PATH = re.compile(
    r"(?:~|[A-Za-z]:)?(?:[\\/][^\s\\/\"':,;()\[\]]+)+[\\/]([^\s\\/\"':,;()\[\]]+)"
    r"|~[\\/]([^\s\\/\"':,;()\[\]]+)"
)


def scrubbed(text: str) -> str:
    """Return the end of a text without paths, user name, home and host name."""
    text = _QUOTED.sub(r"\1\2\1", text)
    for private, word in _private():
        text = re.sub(rf"(?<!\w){re.escape(private)}(?!\w)", word, text)
    text = _PATH.sub(lambda found: found[1] or found[2], text)
    return text[-_MOST_WORDS:].strip()


def _private() -> list[tuple[str, str]]:
    """Return names that identify the user or the machine, and what stands for them; folders first,
    and of those the longest."""
    folders = {str(Path.cwd()), str(Path.home()), tempfile.gettempdir(), sys.prefix}
    found = [(folder, "~") for folder in sorted(folders, key=len, reverse=True)]
    found.append((platform.node(), "HOST"))
    with suppress(KeyError, OSError, ImportError):
        found.append((getpass.getuser(), "USER"))
    return [(name, word) for name, word in found if len(name) > 1]
