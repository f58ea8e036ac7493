"""Which `amdjit.profile` blocks are open, and what a device tells them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

from amdjit.diagnostics.errors import LaunchError
from amdjit.target import Target

__all__ = ["PROFILES", "ProfileBlock", "refuse_profiles"]


class ProfileBlock(Protocol):
    """An open block, as devices see it."""

    def sample_size(self, kernel: Any, geometry: Any, target: Target) -> Any:
        """Return which workgroups of a launch to record: an `emulator.counting.samples.SampleSize`.

        kernel: a `code_object.Kernel`; geometry: an `abi.launch_shape.LaunchShape`.
        """
        ...

    def counted(self, launch: Any) -> None:
        """Take what a launch counted: an `emulator.counting.counted_launch.CountedLaunch`."""
        ...

    def note_stop(self, kernel: str, reason: str) -> None:
        """Take note of a launch that did not end, of which nothing is counted."""
        ...


# The enclosing blocks, innermost last.
PROFILES: ContextVar[tuple[ProfileBlock, ...]] = ContextVar("amdjit profile", default=())


def refuse_profiles(kernel: str, device: str, target: str) -> None:
    """Raise LaunchError inside a block: only the emulator counts what launches do."""
    if PROFILES.get():
        raise LaunchError(
            f"{kernel}: {device} cannot count what a launch does (amdjit.profile); the emulator "
            f'can: launch inside `with amdjit.use("emulator:{target}"):`, or outside of '
            "`amdjit.profile`"
        )
