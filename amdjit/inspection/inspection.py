"""`Inspection`: the exact facts of one kernel, read from a code object's bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING

from amdjit.code_object.resources import Demand
from amdjit.inspection.causes import Cause, causes_in_code
from amdjit.inspection.comparison import Comparison, compare
from amdjit.inspection.facts import (
    UNITS,
    Companion,
    KernelFacts,
    LineFacts,
    LoopFacts,
    Occupancy,
    json_text,
)
from amdjit.inspection.json_reading import read_object, record_of
from amdjit.inspection.notebook import kernel_html
from amdjit.inspection.occupancy import occupancy_of
from amdjit.late import late
from amdjit.target import find_target

if TYPE_CHECKING:
    from amdjit.explorer import page
else:
    page = late("amdjit.explorer.page")

__all__ = ["SCHEMA", "Companion", "Inspection"]


# The name of the JSON form, with its version: what a reader relies on stays under one name.
SCHEMA = "amdjit.inspection/1"
_NOT_IN_JSON = frozenset({"companion", "code_object"})


@dataclass(frozen=True)
class Inspection(KernelFacts):
    """The facts of one kernel of a code object; printing shows a summary."""

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return (
            f"<inspection of {self.kernel} for {self.target}, wave{self.wave_size}: "
            f"{len(self.instructions)} instructions, {self.vgprs} VGPRs, {self.sgprs} SGPRs>"
        )

    def occupancy_at(
        self, block: int | tuple[int, ...] | None = None, dynamic_lds: int = 0
    ) -> Occupancy:
        """Return the occupancy of launches with these workgroups.

        block: work-items of a workgroup, along one axis or along each; None for the most that the
        kernel allows. dynamic_lds: bytes that the launch adds to each workgroup's LDS. ValueError
        if the kernel allows no such workgroup.
        """
        size = prod(block) if isinstance(block, tuple) else block
        size = self.workgroup_size if size is None else size
        if not 0 < size <= self.workgroup_size or dynamic_lds < 0:
            raise ValueError(
                f"the kernel takes 1 to {self.workgroup_size} work-items a workgroup and no "
                f"negative LDS, not {size} and {dynamic_lds}"
            )
        target = find_target(self.target)
        assert target is not None
        waves, lds = -(-size // self.wave_size), self.lds_bytes + dynamic_lds
        return occupancy_of(Demand(self.vgprs, lds, waves, self.wave_size, self.wgp_mode), target)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What the code alone shows to cost time, what probably costs most first. Those of a launch
        are in its profile."""
        return causes_in_code(self)

    def advise(self) -> tuple[Cause, ...]:
        """Return the causes. What would help is found by trying it, which needs a launch: see
        `amdjit.profile`."""
        return self.causes

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return kernel_html(self)

    def compare(self, other: Inspection) -> Comparison:
        """Return what is different in another compilation, or in another kernel: what grew."""
        return compare(self, other)

    def to_html(self, path: str | PathLike[str], other: Inspection | None = None) -> None:
        """Write the kernel's page: one file that needs no other. other: what it is compared with
        there. OSError if the file cannot be written."""
        page.write_inspection_page(self, path, other)

    def to_json(self) -> str:
        """Return the facts as JSON: an object with the fields of `KernelFacts` by name, and
        "schema".

        Records are objects with their fields by name, sets of registers sorted arrays; `lines` is
        an array. Sources and IR are not there: they are no facts of the code object.
        """
        return json_text(SCHEMA, self, without=_NOT_IN_JSON)

    @staticmethod
    def from_json(text: str) -> Inspection:
        """Return the inspection that `to_json` wrote; AmdjitError if the text is none.

        It has no `code_object` and no sources: all that needs neither works.
        """
        found: Inspection = record_of(Inspection, read_object(text, SCHEMA))
        return found


# What printing an inspection shows: the kernel in a few lines.


_MOST_ORIGINS = 3
_MOST_LINES = 5


def summary(facts: KernelFacts) -> str:
    """Return the kernel's resources, loops, units and longest lines as text."""
    lines = [
        f"{facts.kernel} for {facts.target}, wave{facts.wave_size}",
        f"  registers   {_registers(facts)}",
        f"  memory      {facts.lds_bytes} bytes of LDS a workgroup, {facts.scratch_bytes} bytes of "
        "scratch a work-item",
        f"  occupancy   {_occupancy(facts)}",
    ]
    if facts.instructions:
        lines += [
            f"  code        {facts.code_bytes} bytes, {len(facts.instructions)} instructions: "
            f"{_units(facts)}",
            f"  peak        {facts.peak.vgprs} VGPRs and {facts.peak.sgprs} SGPRs live at "
            f"{facts.peak.address:#x}{_origins(facts)}",
        ]
    lines += [f"  loop        {_loop(facts, loop)}" for loop in facts.loops]
    lines += [f"  line        {_line(line)}" for line in _longest(facts.lines.values())]
    lines += [f"  missing     {text}" for text in facts.missing]
    return "\n".join(lines)


def _registers(facts: KernelFacts) -> str:
    text = f"{facts.vgprs} VGPRs, {facts.sgprs} SGPRs"
    if facts.vgpr_spills or facts.sgpr_spills:
        text += f"; spilled: {facts.vgpr_spills} VGPRs, {facts.sgpr_spills} SGPRs"
    return text


def _occupancy(facts: KernelFacts) -> str:
    occupancy = facts.occupancy
    text = f"{occupancy.waves_per_simd} waves a SIMD"
    if occupancy.limited_by != "none":
        text += f", limited by {occupancy.limited_by}"
    return "; ".join([text, *(step.text for step in occupancy.steps[:1])])


def _units(facts: KernelFacts) -> str:
    counts = Counter(instruction.unit for instruction in facts.instructions)
    return _counted({unit: counts[unit] for unit in UNITS if counts[unit]})


def _counted(units: dict[str, int]) -> str:
    return ", ".join(f"{count} {unit}" for unit, count in units.items())


def _loop(facts: KernelFacts, loop: LoopFacts) -> str:
    inside = frozenset(loop.blocks)
    counts = Counter(item.unit for item in facts.instructions if item.block in inside)
    start = facts.blocks[loop.header].address
    depth = f" at depth {loop.depth}" if loop.depth > 1 else ""
    units = _counted({unit: counts[unit] for unit in UNITS if counts[unit]})
    return f"{start:#x}{depth}, {counts.total()} instructions: {units}"


def _origins(facts: KernelFacts) -> str:
    most = [
        f"{len(origin.vgprs)} from {PurePath(origin.file).name}:{origin.line}"
        for origin in facts.peak.origins[:_MOST_ORIGINS]
        if origin.file is not None
    ]
    return f": {', '.join(most)}" if most else ""


def _longest(lines: Iterable[LineFacts]) -> list[LineFacts]:
    return sorted(lines, key=lambda line: -line.instructions)[:_MOST_LINES]


def _line(line: LineFacts) -> str:
    units = _counted(dict(line.units))
    return (
        f"{PurePath(line.file).name}:{line.line}, {line.instructions} instructions: {units}; "
        f"{line.peak_vgprs} VGPRs live"
    )
