"""The waits, each with the instructions that it waits for."""

from __future__ import annotations

from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.source_text import place_text, source_line
from amdjit.inspection.facts import InstructionFacts
from amdjit.inspection.inspection import Inspection

__all__ = ["waits_view"]


def waits_view(inspection: Inspection, screen: Screen) -> list[str]:
    """Return the waits in the order of their addresses, and how far before them what they wait for
    was issued."""
    order = {item.address: number for number, item in enumerate(inspection.instructions)}
    waits = [item for item in inspection.instructions if item.unit == "wait" or item.waits_for]
    text: list[str] = []
    for wait in waits:
        text.append(screen.paint(_instruction(inspection, wait, screen, 0), "wait"))
        text += _awaited(inspection, wait, order, screen)
    if not text and inspection.instructions:
        return screen.wrap("the kernel does not wait for memory")
    return text


def _awaited(
    inspection: Inspection, wait: InstructionFacts, order: dict[int, int], screen: Screen
) -> list[str]:
    if not wait.waits_for:
        return [screen.paint(screen.cut("  for nothing that is known to be in flight"), "dim")]
    arrow = "←" if screen.unicode else "<-"
    lines = []
    for address in wait.waits_for:
        item = inspection.instructions[order[address]]
        between = order[wait.address] - order[address] - 1
        distance = f"{between} between" if between >= 0 else "in an earlier round of the loop"
        text = f"  {arrow} {_instruction(inspection, item, screen, 4)}"
        lines.append(screen.paint(screen.cut(f"{text}  ({distance})"), item.unit))
    return lines


def _instruction(inspection: Inspection, item: InstructionFacts, screen: Screen, used: int) -> str:
    source = source_line(inspection, item.file, item.line)
    parts = [f"{item.address:#x}", f"{item.text:40}", place_text(item.place), source]
    return screen.cut("  ".join(part for part in parts if part).rstrip(), used)
