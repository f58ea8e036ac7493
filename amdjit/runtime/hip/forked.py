"""HIP in a process that `os.fork` made: it does not work there, and calls may hang or crash."""

from __future__ import annotations

from amdjit.diagnostics.errors import LaunchError
from amdjit.forking import when_forked

__all__ = ["is_forked", "note_use", "refusal"]


class _Use:
    """Whether HIP has a device of this process, or of the one that it was forked from."""

    def __init__(self) -> None:
        self.is_used = False
        self.is_forked = False

    def forked(self) -> None:
        self.is_forked = self.is_used


_USE = _Use()
when_forked(_USE.forked)


def note_use() -> None:
    """Note that this process uses a device: from now on, forked children cannot use one."""
    _USE.is_used = True


def is_forked() -> bool:
    """Return whether a device was in use before this process was forked."""
    return _USE.is_forked


def refusal() -> LaunchError:
    """Return what says that this process cannot use HIP."""
    return LaunchError(
        "an AMD GPU was used before this process was forked, and HIP does not survive that: start "
        'processes with multiprocessing\'s "spawn" or "forkserver", or use the GPU in the new '
        'process only. The emulator works here: with amdjit.use("emulator:gfx1201")'
    )
