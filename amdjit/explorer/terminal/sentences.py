"""The instructions by address, each with a sentence that says what it does."""

from __future__ import annotations

from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.source_text import place_text, source_line
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.instruction_meanings import meanings_of

__all__ = ["sentences_view"]


def sentences_view(inspection: Inspection, screen: Screen) -> list[str]:
    """Return two lines or more for each instruction: its text, and below it what it does."""
    meanings = meanings_of(inspection)
    text: list[str] = []
    place = None
    for item in inspection.instructions:
        if item.place != place and item.place is not None:
            place = item.place
            source = f"; {place_text(place)}  {source_line(inspection, *place)}".rstrip()
            text.append(screen.paint(screen.cut(source), "dim"))
        text.append(screen.paint(screen.cut(f"{item.address:#8x}  {item.text}"), item.unit))
        if item.address in meanings:
            text += _indented(meanings[item.address], screen)
    return text


def _indented(sentence: str, screen: Screen) -> list[str]:
    margin = " " * 10
    room = None if screen.width is None else screen.width - len(margin)
    return [margin + line for line in Screen(room).wrap(sentence)]
