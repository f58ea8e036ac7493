"""What `advise` returns: changes that were tried and what each gains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.inspection.causes import Cause
from amdjit.inspection.facts import SourcePlace, json_text

__all__ = ["Advice", "Figures", "Proposal", "Rejected"]

SCHEMA = "amdjit.advice/1"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a launch needs and does.

    cycles: estimated by the cycle model. vgprs: of a wave. spills: registers that lie in memory.
    waves: that a SIMD holds. instructions: executed, over all waves. lds_conflicts: cycles of LDS
    because of bank conflicts. cache_lines: touched, summed over the requests. barriers: waits at
    barriers.
    """

    cycles: int
    vgprs: int
    spills: int
    waves: int
    instructions: int
    lds_conflicts: int
    cache_lines: int
    barriers: int

    def changes(self, other: Figures) -> Iterator[str]:
        """Yield what differs in another launch, such as "lds_conflicts 960 -> 0"."""
        for name in self.__dataclass_fields__:
            before, after = getattr(self, name), getattr(other, name)
            if before != after:
                yield f"{name} {before:,} -> {after:,}"


@dataclass(frozen=True)
class Proposal:
    """A change that was tried: the results stay the same, and the launch takes fewer cycles.

    kind: what it is about, such as "unroll"; of one kind, only the best is proposed. text: what to
    do. place: the line it is about, None for options of the whole kernel. diff: the
    change of the source, "" if there is none. options, arguments: in place of the launch's. shape:
    grid and block, where they change. before, after: figures of the launch. confidence: "measured
    cause" where exact counts show that what cost time is gone, "model" where only the cycle model
    says that it is faster. difference: how results differ, where floats are rounded in another way;
    "" where all bits are the same.
    """

    kind: str
    text: str
    place: SourcePlace | None
    diff: str
    options: Mapping[str, Any]
    arguments: Mapping[str, Any]
    shape: LaunchShape | None
    before: Figures
    after: Figures
    confidence: str
    difference: str = ""

    @property
    def gain(self) -> float:
        """The part of the cycles that it saves."""
        return 1 - self.after.cycles / self.before.cycles

    def __str__(self) -> str:
        where = f"{PurePath(self.place[0]).name}:{self.place[1]}: " if self.place else ""
        rows = [f"{100 * self.gain:.0f} % fewer cycles: {where}{self.text}"]
        rows += [f"    {line}" for line in self.diff.splitlines() if not line.startswith("@@")]
        if self.shape is not None:
            rows.append(f"    grid {self.shape.grid}, block {self.shape.block}")
        rows.append(f"    {', '.join(self.before.changes(self.after))} ({self.confidence})")
        if self.difference:
            rows.append(f"    results are rounded in another way: {self.difference}")
        return "\n".join(rows)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A change that was tried and is not proposed, and why."""

    text: str
    reason: str


@dataclass(frozen=True)
class Advice:
    """What was found out about a launch.

    before: figures of the launch as it is. causes: what costs it much time and could be otherwise,
    whether or not a change was found. proposals: best first. rejected: what did not help.
    unfinished: how many changes were left out because the time was over.
    """

    kernel: str
    target: str
    before: Figures
    causes: tuple[Cause, ...]
    proposals: tuple[Proposal, ...]
    rejected: tuple[Rejected, ...] = field(repr=False)
    unfinished: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        tried = len(self.proposals) + len(self.rejected)
        rows = [
            f"{self.kernel} on {self.target}: {self.before.cycles:,} cycles by the model; "
            f"{tried} changes tried in {self.seconds:.1f} s"
        ]
        if self.unfinished:
            rows[0] += f", {self.unfinished} left out: the time was over"
        rows += [f"costs time: {cause}" for cause in self.causes]
        rows += [f"{number}. {each}" for number, each in enumerate(self.proposals, 1)]
        return "\n".join(
            rows if self.proposals else [*rows, "nothing that was tried makes it faster"]
        )

    def to_json(self) -> str:
        """Return the advice as JSON: an object with its fields by name, and "schema"."""
        return json_text(SCHEMA, self)
