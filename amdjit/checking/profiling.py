"""Which `amdjit.profile` and `amdjit.record` blocks are open, and what they are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import FunctionType
from typing import Any, Protocol

from amdjit.diagnostics.errors import LaunchError
from amdjit.late_methods import dataclass
from amdjit.target import Target

__all__ = ["DEBUGGERS", "PROFILES", "RECORDERS", "Calling", "ProfileBlock", "refuse_profiles"]


@dataclass(frozen=True, slots=True)
class Calling:
    """A launch of one of amdjit's kernels that is about to start.

    function, options: the kernel's, the options as the decorator gave them. arguments: as the user
    gave them, by the names of the parameters. shape: an `abi.launch_shape.LaunchShape`; device: a
    `runtime.device.Device`. inspect: returns the `amdjit.Inspection` of the code, with its sources
    and IR. only_once: why it cannot be repeated with copies of its arguments, "" if it can.
    """

    function: FunctionType
    options: Mapping[str, Any]
    arguments: Mapping[str, Any]
    shape: Any
    device: Any
    inspect: Callable[[], Any]
    only_once: str


class ProfileBlock(Protocol):
    """An open block, as devices see it."""

    def sample_size(self, kernel: Any, geometry: Any, target: Target) -> Any:
        """Return which workgroups of a launch to record: an `emulator.counting.samples.SampleSize`.

        kernel: a `code_object.Kernel`; geometry: an `abi.launch_shape.LaunchShape`.
        """
        ...

    def calling(self, call: Calling) -> None:
        """Take note of a launch that is about to start."""
        ...

    def counted(self, launch: Any) -> None:
        """Take what a launch counted: an `emulator.counting.counted_launch.CountedLaunch`."""
        ...

    def note_stop(self, kernel: str, reason: str) -> None:
        """Take note of a launch that did not end, of which nothing is counted."""
        ...


# The enclosing blocks, innermost last.
PROFILES: ContextVar[tuple[ProfileBlock, ...]] = ContextVar("amdjit profile", default=())


# The enclosing `amdjit.record` blocks, innermost last: each a `runtime.recording.record`.
RECORDERS: ContextVar[tuple[Any, ...]] = ContextVar("amdjit record", default=())

# Those that are told of each launch of amdjit's kernels before it starts, to debug it.
DEBUGGERS: ContextVar[tuple[Any, ...]] = ContextVar("amdjit debug", default=())


def refuse_profiles(kernel: str, device: str, target: str) -> None:
    """Raise LaunchError inside a block: only the emulator counts what launches do."""
    if PROFILES.get():
        raise LaunchError(
            f"{kernel}: {device} cannot count what a launch does (amdjit.profile); the emulator "
            f'can: launch inside `with amdjit.use("emulator:{target}"):`, or outside of '
            "`amdjit.profile`"
        )
