"""Parts of a kernel's machine code: all of it, a loop, the code of a source line."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from amdjit.inspection.facts import InstructionFacts, LoopFacts, SourcePlace
from amdjit.inspection.inspection import Inspection

__all__ = ["Part", "line_part", "loop_part", "loops_in", "whole_part"]


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a kernel's instructions, by address."""

    name: str
    """What they are, for messages."""
    instructions: tuple[InstructionFacts, ...]
    is_loop: bool = False
    """Whether they are exactly the instructions of a loop."""


def whole_part(inspection: Inspection) -> Part:
    """Return the whole kernel."""
    return Part(inspection.kernel, inspection.instructions)


def loops_in(inspection: Inspection, part: Part) -> list[LoopFacts]:
    """Return the loops all of whose blocks are in a part, except the loop that is the part
    itself."""
    blocks = {instruction.block for instruction in part.instructions}
    return [
        loop
        for loop in inspection.loops
        if blocks.issuperset(loop.blocks) and blocks != set(loop.blocks)
    ]


def loop_part(part: Part, loop: LoopFacts) -> Part:
    """Return the instructions of a loop."""
    blocks = set(loop.blocks)
    inside = tuple(one for one in part.instructions if one.block in blocks)
    return Part(f"loop {loop.number} of {part.name}", inside, is_loop=True)


def line_part(inspection: Inspection, part: Part, line: int | str, file: str | None) -> Part:
    """Return the instructions of a line: its own, and those of the calls in it.

    line: its number, or a text that only one line of the sources contains. ValueError if it stands
    for no line or several.
    """
    numbers = {place for instruction in part.instructions for place in places_of(instruction)}
    wanted = (
        {place for place in numbers if place[1] == line}
        if isinstance(line, int)
        else {place for place in numbers if line in source_line(inspection, place)}
    )
    wanted = {place for place in wanted if file is None or place[0].endswith(file)}
    if len(wanted) != 1:
        raise ValueError(_which_line(inspection, line, sorted(wanted), sorted(numbers)))
    (place,) = wanted
    inside = tuple(one for one in part.instructions if place in places_of(one))
    return Part(f"line {place[1]} of {part.name}", inside)


def places_of(instruction: InstructionFacts) -> Iterator[SourcePlace]:
    """Yield the place of an instruction, and the place of each call through which it was
    inlined."""
    if instruction.place is not None:
        yield instruction.place
    yield from ((call.file, call.line) for call in instruction.inlined_from)


def source_line(inspection: Inspection, place: SourcePlace) -> str:
    """Return the text of a source line, "" if it is not known."""
    file, number = place
    known = inspection.companion.sources.get(file)
    lines: Sequence[str] = linecache.getlines(file) if known is None else known.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _which_line(
    inspection: Inspection, line: int | str, wanted: list[SourcePlace], there: list[SourcePlace]
) -> str:
    if not there:
        return "no source lines are known"
    asked = f"line {line}" if isinstance(line, int) else f"a line with {line!r}"
    if wanted:
        return f"{asked} is one of\n{_listed(inspection, wanted)}"
    return f"no instruction comes from {asked}. There are\n{_listed(inspection, there)}"


def _listed(inspection: Inspection, places: Iterable[SourcePlace]) -> str:
    return "\n".join(f"  {file}:{n}  {source_line(inspection, (file, n))}" for file, n in places)
