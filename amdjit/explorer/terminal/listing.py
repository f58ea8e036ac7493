"""The instructions by address, with blocks, source lines and live registers."""

from __future__ import annotations

from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.source_text import place_text, source_line
from amdjit.inspection.facts import BlockFacts, InstructionFacts
from amdjit.inspection.inspection import Inspection

__all__ = ["listing_view"]


def listing_view(inspection: Inspection, screen: Screen) -> list[str]:
    """Return a line for each instruction, a label for each block, and a comment where the source
    line changes."""
    blocks = {block.number: block for block in inspection.blocks}
    text: list[str] = []
    block, place = None, None
    for item in inspection.instructions:
        if item.block != block:
            block = item.block
            text.append(screen.heading(_label(inspection, blocks.get(block), block)))
        if item.place != place and item.place is not None:
            place = item.place
            source = source_line(inspection, *place)
            text.append(
                screen.paint(screen.cut(f"; {place_text(place)}  {source}".rstrip()), "dim")
            )
        text.append(_instruction(item, screen))
    return text


def _label(inspection: Inspection, block: BlockFacts | None, number: int) -> str:
    if block is None or block.loop is None:
        return f"block {number}:"
    depth = next((loop.depth for loop in inspection.loops if loop.number == block.loop), 1)
    return f"block {number}: in loop {block.loop}, {depth} deep"


def _instruction(item: InstructionFacts, screen: Screen) -> str:
    begins = f"{item.address:#8x}  "
    text = screen.cut(f"{item.text:48}", len(begins))
    live = screen.cut(f"  {len(item.live_vgprs):3} VGPRs", len(begins) + len(text))
    room = screen.width is None or screen.width >= len(begins) + len(text) + len(live)
    return begins + screen.paint(text, item.unit) + (screen.paint(live, "dim") if room else "")
