"""What a profile's JSON form has of a launch, as a value: for launches of other processes, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from amdjit.cycles.estimate import Cycles
from amdjit.inspection.causes import Cause
from amdjit.inspection.facts import SourcePlace
from amdjit.inspection.json_reading import read_object, value_of
from amdjit.profiling.counts import InstructionCounts, LineCounts, Roofline, Totals
from amdjit.profiling.launch_causes import used_share

__all__ = ["SCHEMA", "LaunchFacts", "read_profile"]

# The name of a profile's JSON form, with its version.
SCHEMA = "amdjit.profile/1"


@dataclass(frozen=True)
class LaunchFacts:
    """A launch's counts and cycles; `LaunchProfile` has the same names and says what they are."""

    kernel: str
    target: str
    arguments: Mapping[str, str]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_lds: int
    wave_size: int
    workgroups: int
    waves: int
    distinct_lines: int
    totals: Totals
    roofline: Roofline | None
    instructions: tuple[InstructionCounts, ...] = field(repr=False)
    lines: Mapping[SourcePlace, LineCounts] = field(repr=False)
    missing: tuple[str, ...]
    cycles: Cycles | None
    no_cycles: str | None
    causes: tuple[Cause, ...] = ()

    @property
    def used_share(self) -> float | None:
        """The part of the cache lines that vector memory instructions touched for which their lanes
        asked; None if they touched none."""
        counts = [one for one in self.instructions if one.unit == "vector memory"]
        asked, touched = sum(one.bytes for one in counts), sum(one.cache_lines for one in counts)
        whole = InstructionCounts(bytes=asked, cache_lines=touched)
        return used_share(whole) if touched else None


def read_profile(text: str) -> tuple[tuple[LaunchFacts, ...], tuple[str, ...]]:
    """Return the launches of a profile, and a sentence for each that a fault stopped, from what its
    `to_json` wrote; AmdjitError if the text is no profile."""
    form = read_object(text, SCHEMA)
    launches = value_of(tuple[LaunchFacts, ...], form.get("launches", ()))
    return launches, tuple(map(str, form.get("stopped", ())))
