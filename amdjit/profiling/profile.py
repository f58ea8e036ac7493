"""Count what launches do: `with amdjit.profile() as p:`.

The emulator counts; a launch runs as it would without, only slower. All enclosing blocks collect
what is launched inside of them.
"""

from __future__ import annotations

from contextvars import Token
from types import TracebackType

from amdjit.checking.profiling import PROFILES, ProfileBlock
from amdjit.emulator.counting.counted_launch import CountedLaunch
from amdjit.profiling.launch_profile import LaunchProfile
from amdjit.profiling.notebook import profile_html

__all__ = ["LaunchProfile", "profile"]


class profile:  # noqa: N801
    """Count what the launches of a `with` block do, on the emulator.

    launches: what each one did, in the order of their ends. stopped: a sentence for each launch
    that a fault stopped; nothing is counted of it. Blocks nest, and count the same launches. A
    launch on a device other than the emulator raises LaunchError, and so does one that `sanitize`
    or AMDJIT_SANITIZE wants to check.
    """

    def __init__(self) -> None:
        self.launches: list[LaunchProfile] = []
        self.stopped: list[str] = []
        self._tokens: list[Token[tuple[ProfileBlock, ...]]] = []

    def __enter__(self) -> profile:
        self._tokens.append(PROFILES.set((*PROFILES.get(), self)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        PROFILES.reset(self._tokens.pop())

    def counted(self, launch: CountedLaunch) -> None:
        """Take what a launch counted. The emulator calls this."""
        self.launches.append(LaunchProfile(launch))

    def note_stop(self, kernel: str, reason: str) -> None:
        """Note a launch that a fault stopped. The emulator calls this."""
        self.stopped.append(f"{kernel}: nothing is counted, a fault stopped the launch: {reason}")

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return profile_html(self.launches, self.stopped)

    def __repr__(self) -> str:
        return f"<amdjit.profile, {len(self.launches)} launches>"
