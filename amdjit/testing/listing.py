"""What a failed assertion shows: the machine code in question, with marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import PurePath

from amdjit.inspection.facts import InstructionFacts
from amdjit.testing.operations import operations_of
from amdjit.testing.parts import Part

__all__ = ["alike", "marked_listing"]

_MOST_LINES = 60
_MOST_WITHOUT_MARKS = 24
_CONTEXT = 2


def marked_listing(part: Part, marked: Collection[int]) -> str:
    """Return a part's instructions with `>` before those of the marked addresses.

    Of a long part, the marked ones with what is around them are shown; without marks, its
    beginning.
    """
    code = part.instructions
    shown = [
        number
        for number, one in enumerate(code)
        if not marked or any(near.address in marked for near in _around(code, number))
    ]
    shown = shown[: _MOST_LINES if marked else _MOST_WITHOUT_MARKS]
    width = max((len(code[number].text) for number in shown), default=0)
    rows: list[str] = []
    before = -1
    for number in shown:
        if number != before + 1:
            rows.append(_skipped(number - before - 1))
        rows.append(_row(code[number], code[number].address in marked, width))
        before = number
    if before + 1 < len(code):
        rows.append(_skipped(len(code) - before - 1))
    return "\n".join(rows)


def _around(code: Sequence[InstructionFacts], number: int) -> Sequence[InstructionFacts]:
    return code[max(0, number - _CONTEXT) : number + _CONTEXT + 1]


def _skipped(count: int) -> str:
    return f"    … {count} more"


def _row(instruction: InstructionFacts, is_marked: bool, width: int) -> str:
    place = instruction.place
    source = f"{PurePath(place[0]).name}:{place[1]}" if place is not None else ""
    mark = ">" if is_marked else " "
    return f"  {mark} {instruction.address:#8x}  {instruction.text:{width}}  {source}".rstrip()


def alike(part: Part, pattern: str) -> str:
    """Return a sentence with the mnemonics of a part that are like a pattern, "" if none is."""
    counts = Counter(one.mnemonic for whole in part.instructions for one in operations_of(whole))
    start = pattern.split("*")[0].rstrip("_")
    near = [name for name in counts if start and name.startswith(start)]
    near += get_close_matches(pattern, counts, cutoff=0.5)
    listed = ", ".join(f"{counts[name]} {name}" for name in dict.fromkeys(near))
    return f"Alike: {listed}." if listed else ""
