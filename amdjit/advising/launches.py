"""`amdjit.profile` as users have it: launches can be kept with their arguments, and advised on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amdjit.advising.calls import RecordedCall, recorded
from amdjit.checking.profiling import Calling
from amdjit.emulator.counting.counted_launch import CountedLaunch
from amdjit.late import late
from amdjit.profiling import profile as profiling
from amdjit.profiling.launch_profile import LaunchOrigin, LaunchProfile

if TYPE_CHECKING:
    from amdjit.advising import search
    from amdjit.advising.advice import Advice
else:
    search = late("amdjit.advising.search")

__all__ = ["Launch", "profile"]


class Launch(LaunchProfile):
    """What a launch did, and what would make it faster."""

    def __init__(
        self,
        counted: CountedLaunch,
        call: RecordedCall | None,
        origin: LaunchOrigin | None = None,
    ) -> None:
        super().__init__(counted, origin)
        self.call = call
        """The launch with its arguments; None if it was not kept."""

    def advise(self, seconds: float = 30.0) -> Advice:
        """Try changes to the kernel and to the launch, and return those that make it faster.

        The launch is repeated with each change, on the emulator and with the same arguments, so the
        block must be `profile(calls=True)`. A change is proposed if the results stay the same, the
        model estimates fewer cycles, and the memory and race checks report nothing new. seconds:
        after which no further change is tried. LaunchError if the launch was not kept, does not
        give the same results twice, or has no estimate of cycles.
        """
        return search.advise(self, self.call, seconds)


class profile(profiling.profile):  # noqa: N801
    __doc__ = f"""{profiling.profile.__doc__}
    calls: keep a copy of the arguments of each launch, which `Launch.advise` needs.
    """

    launches: list[Launch]  # type: ignore[assignment]  # which only `counted` appends to

    def __init__(
        self,
        *,
        workgroups: int | None = None,
        instructions: int = 4_000_000,
        calls: bool = False,
    ) -> None:
        super().__init__(workgroups=workgroups, instructions=instructions)
        self._keeps_calls = calls
        self._call: RecordedCall | None = None

    def calling(self, call: Calling) -> None:
        """Keep a launch that is about to start. Kernels call this."""
        super().calling(call)
        self._call = recorded(call) if self._keeps_calls else None

    def counted(self, launch: CountedLaunch) -> None:
        """Take what a launch counted. The emulator calls this."""
        self.launches.append(Launch(launch, self._call, self._take_origin()))
        self._call = None
