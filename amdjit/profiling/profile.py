"""Count what launches do: `with amdjit.profile() as p:`.

The emulator counts; launches compute the same as without counting, but are slower. All enclosing
blocks collect what is launched inside them.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.open_blocks import OpenBlock
from amdjit.checking.profiling import PROFILES, Calling
from amdjit.code_object import Kernel
from amdjit.emulator.counting.counted_launch import CountedLaunch
from amdjit.emulator.counting.samples import SampleSize, workgroups_of_rounds
from amdjit.inspection.facts import json_text
from amdjit.late import late
from amdjit.options import OptionError
from amdjit.profiling.launch_facts import SCHEMA
from amdjit.profiling.launch_profile import LaunchOrigin, LaunchProfile, profile_html
from amdjit.profiling.peaks import PEAKS
from amdjit.profiling.trace_events import trace_text
from amdjit.target import Target

# The page is a layer above profiles, which only offer to write it.
if TYPE_CHECKING:
    from amdjit.explorer import page
else:
    page = late("amdjit.explorer.page")

__all__ = ["LaunchProfile", "profile"]

_ROUNDS = 2
# The number for chips where it is not known.
_WORKGROUP_PROCESSORS = 32


@dataclass(frozen=True, slots=True)
class _Record:
    """What a profile's JSON form holds."""

    launches: tuple[dict[str, object], ...]
    stopped: tuple[str, ...]


class profile(OpenBlock):  # noqa: N801
    """Count what the launches of a `with` block do, on the emulator.

    workgroups: how many workgroups of a launch to record for its cycles, 0 for none; by default as
    many as a workgroup processor runs in two rounds. They are those that one workgroup processor
    would get if the chip handed them out in turn. instructions: how many are recorded of a launch
    at most, over all waves; workgroups beyond that are left out.

    launches: what each launch did, in the order in which they ended. stopped: a sentence for each
    launch that a fault stopped, which is not counted. Blocks nest, and count the same launches. A
    launch on a device other than the emulator raises LaunchError, and so does one that `sanitize`
    or AMDJIT_SANITIZE wants to check.
    """

    enclosing = PROFILES

    def __init__(self, *, workgroups: int | None = None, instructions: int = 4_000_000) -> None:
        super().__init__()
        if workgroups is not None and (type(workgroups) is not int or workgroups < 0):
            raise OptionError(f"profile: workgroups={workgroups!r}: give 0 or more workgroups")
        if type(instructions) is not int or instructions < 0:
            raise OptionError(f"profile: instructions={instructions!r}: give 0 or more")
        self._workgroups, self._instructions = workgroups, instructions
        self.launches: list[LaunchProfile] = []
        self.stopped: list[str] = []
        self._origin: LaunchOrigin | None = None

    def sample_size(self, kernel: Kernel, geometry: LaunchShape, target: Target) -> SampleSize:
        """Return which workgroups of a launch to record. The emulator calls this."""
        count = self._workgroups
        if count is None:
            count = workgroups_of_rounds(kernel, geometry, target, _ROUNDS)
        peaks = PEAKS.get(target.name)
        processors = _WORKGROUP_PROCESSORS if peaks is None else peaks.workgroup_processors
        return SampleSize(processors, count, self._instructions)

    def calling(self, call: Calling) -> None:
        """Take note of a launch that is about to start. Kernels call this."""
        arguments = {name: _described(value) for name, value in call.arguments.items()}
        self._origin = LaunchOrigin(arguments, call.inspect)

    def counted(self, launch: CountedLaunch) -> None:
        """Take what a launch counted. The emulator calls this."""
        self.launches.append(LaunchProfile(launch, self._take_origin()))

    def _take_origin(self) -> LaunchOrigin | None:
        """Return what was noted of the launch that has ended."""
        origin, self._origin = self._origin, None
        return origin

    def note_stop(self, kernel: str, reason: str) -> None:
        """Note a launch that a fault stopped. The emulator calls this."""
        self._take_origin()
        self.stopped.append(f"{kernel}: nothing is counted, a fault stopped the launch: {reason}")

    def _repr_html_(self) -> str:
        """The HTML that notebooks show."""
        return profile_html(self.launches, self.stopped)

    def to_json(self) -> str:
        """Return the profile as JSON text (schema "amdjit.profile/1"): `launches` with their
        counts, and `stopped`."""
        launches = tuple(launch.json_form() for launch in self.launches)
        return json_text(SCHEMA, _Record(launches, tuple(self.stopped)))

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the explorer's page of all launches. ValueError if there are none, OSError if the
        file cannot be written."""
        page.write_profile_page(self, path)

    def to_trace(self, path: str | PathLike[str]) -> None:
        """Write the waves over time, as the cycle model estimates them, as a trace that Perfetto
        (ui.perfetto.dev) and chrome://tracing open. A nanosecond there stands for a cycle.
        ValueError if no launch has an estimate, OSError if the file cannot be written."""
        Path(path).write_text(trace_text(self.launches), encoding="utf-8")

    def write(self, path: Path) -> None:
        """Write `to_json()` to a file whose name ends in .json, the page to others. Errors as
        `to_html`."""
        if path.suffix == ".json":
            path.write_text(self.to_json(), encoding="utf-8")
        else:
            self.to_html(path)

    def __str__(self) -> str:
        """What each launch did: totals and hot lines."""
        parts = [*map(str, self.launches), *self.stopped]
        return "\n\n".join(parts) if parts else "no launch was profiled"

    def __repr__(self) -> str:
        return f"<amdjit.profile, {len(self.launches)} launches>"


def _described(value: Any) -> str:
    """Return an argument as it tells launches apart: the shape of an array, any other value."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{getattr(value, 'dtype', 'array')}[{', '.join(map(str, shape))}]"
    return reprlib.repr(value)
