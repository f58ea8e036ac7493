"""Pictures of matrix layouts: each element shows `lane.element`, on a colour for its group of 16
lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from amdjit.intrinsics.models.matrix_layouts import Layout

FOLDER = Path(__file__).parents[1] / "reference/matrix_layouts"
# The four groups of 16 lanes, light enough for black text.
_COLOURS = ("#c7def5", "#fad5b8", "#cbe9c7", "#e4cdef")
_WIDTH, _HEIGHT, _MARGIN, _CHARACTERS = 42, 18, 28, 6


def file_name(layout: Layout) -> str:
    """Return the file name of a layout's picture, after the instruction that it is drawn for."""
    return f"{layout.instruction}_{layout.operand}.svg"


def picture(layout: Layout) -> str:
    """Return the picture as SVG: the matrix's rows from top to bottom, numbered like the
    columns."""
    width, height = _MARGIN + layout.columns * _WIDTH, _MARGIN + layout.rows * _HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" '
        'font-family="monospace" font-size="11" xml:space="preserve">',
        f"<title>{layout.instruction}, operand {layout.operand}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_bands(layout),
        _line(18, map(str, range(layout.columns)), "#666"),
    ]
    held = {
        layout.element(lane, i): f"{lane}.{i}"
        for lane in range(layout.lanes)
        for i in range(layout.elements)
    }
    for row in range(layout.rows):
        y = _MARGIN + row * _HEIGHT + 13
        lines.append(f'<text x="4" y="{y}" fill="#666">{row}</text>')
        lines.append(_line(y, (held[row, column] for column in range(layout.columns)), "#000"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _line(y: int, cells: Iterable[str], colour: str) -> str:
    """Return a row of cells as one text, stretched to the width of all."""
    text = "".join(f"{cell:^{_CHARACTERS}}" for cell in cells)
    length = len(text) // _CHARACTERS * _WIDTH
    return f'<text x="{_MARGIN}" y="{y}" textLength="{length}" fill="{colour}">{text}</text>'


def _bands(layout: Layout) -> Iterator[str]:
    """Yield the background: the 16 lanes that hold an element depend on its column in A, on its row
    elsewhere."""
    upright = layout.operand in ("a", "index")
    count = layout.columns if upright else layout.rows
    lanes = [
        layout.place(0, n)[0] // 16 if upright else layout.place(n, 0)[0] // 16
        for n in range(count)
    ]
    first = 0
    for group, members in groupby(lanes):
        size = len(list(members))
        x, y = (
            (_MARGIN + first * _WIDTH, _MARGIN) if upright else (_MARGIN, _MARGIN + first * _HEIGHT)
        )
        width = (size if upright else layout.columns) * _WIDTH
        height = (layout.rows if upright else size) * _HEIGHT
        yield f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{_COLOURS[group]}"/>'
        first += size
