"""A program as `python FILE.py` runs it, with the launches of one of its kernels counted."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.devices import current_device, use
from amdjit.diagnostics import LaunchError
from amdjit.late import late
from amdjit.runtime.device import Device
from amdjit.target import DEFAULT_TARGET

if TYPE_CHECKING:
    from amdjit.advising import launches as advising
    from amdjit.advising.launches import Launch
else:
    advising = late("amdjit.advising.launches")

__all__ = ["KernelLaunches", "on_emulator", "profile_program"]


@dataclass(frozen=True)
class KernelLaunches:
    """The launches of one kernel. stopped: a sentence for each launch that a fault stopped, which
    is not counted."""

    launches: Sequence[Launch]
    stopped: Sequence[str] = ()


def profile_program(
    file: Path,
    kernel: str,
    arguments: Sequence[str],
    processor: str | None,
    calls: bool = False,
) -> KernelLaunches:
    """Run a file as `__main__` on the emulator, and return what its launches of a kernel did.

    arguments: `sys.argv[1:]` of the program. processor: to emulate; the current device's, or
    gfx1201, unless given. calls: keep the arguments of launches. Exceptions of the program pass.
    LaunchError if it ends with another status than 0, or launches no kernel of that name.
    """
    if not file.is_file():
        raise LaunchError(f"{file} is not a Python file: write FILE.py:KERNEL")
    with (
        on_emulator(processor),
        _command_line(file, arguments),
        advising.profile(calls=calls) as profile,
    ):
        _run(file)
    launches = [launch for launch in profile.launches if launch.kernel == kernel]
    if not launches:
        others = sorted({launch.kernel for launch in profile.launches})
        reason = "; ".join(profile.stopped)
        raise LaunchError(
            f"{file} has launched no kernel {kernel!r}; it has launched: "
            f"{', '.join(others) or 'none'}" + (f" ({reason})" if reason else "")
        )
    stopped = [text for text in profile.stopped if text.startswith(f"{kernel}: ")]
    return KernelLaunches(launches, stopped)


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
