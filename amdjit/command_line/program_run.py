"""A program as `python FILE.py` runs it, with the launches of one of its kernels counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.debugging.programs import run_program
from amdjit.diagnostics import LaunchError
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.advising import launches as advising
    from amdjit.advising.launches import Launch
else:
    advising = late("amdjit.advising.launches")

__all__ = ["KernelLaunches", "profile_program"]


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
    with advising.profile(calls=calls) as profile:
        run_program(file, arguments, processor)
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
