"""What printing an inspection shows: the kernel in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath

from amdjit.inspection.facts import LineFacts, LoopFacts
from amdjit.inspection.kernel_facts import KernelFacts
from amdjit.inspection.units import UNITS

__all__ = ["summary"]

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
