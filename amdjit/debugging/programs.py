"""A program as `python FILE.py` runs it, in this process, on the emulator."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from amdjit.devices import current_device, use
from amdjit.diagnostics import LaunchError
from amdjit.runtime.device import Device
from amdjit.target import DEFAULT_TARGET

__all__ = ["on_emulator", "run_program"]


def run_program(file: Path, arguments: Sequence[str], processor: str | None) -> None:
    """Run a file as `__main__` on the emulator.

    arguments: `sys.argv[1:]` of the program. processor: to emulate; the current device's, or
    gfx1201, unless given. Exceptions of the program pass. LaunchError if there is no such file, or
    it ends with another status than 0.
    """
    if not file.is_file():
        raise LaunchError(f"{file} is not a Python file: write FILE.py:KERNEL")
    with on_emulator(processor), _command_line(file, arguments):
        _run(file)


def on_emulator(processor: str | None) -> AbstractContextManager[Device]:
    """Make an emulator the device of a block, if the current one is none or a processor is given:
    only the emulator counts what launches do."""
    current = current_device()
    if processor is None and current.name.startswith("emulator"):
        return use(current)
    return use(f"emulator:{processor or DEFAULT_TARGET}")


@contextmanager
def _command_line(file: Path, arguments: Sequence[str]) -> Iterator[None]:
    before, path = sys.argv, sys.path[:]
    sys.argv = [str(file), *arguments]
    sys.path.insert(0, str(file.parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before, path


def _run(file: Path) -> None:
    try:
        runpy.run_path(str(file), run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise LaunchError(f"{file} has ended with status {end.code}") from end
