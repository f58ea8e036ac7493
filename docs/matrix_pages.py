"""The reference page of the matrix instructions' layouts: each layout that there is, once, with a picture."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix_layouts import OPERANDS, Layout

INTRODUCTION = (
    "Where each element of a matrix lies in a wave's registers, for the WMMA and SWMMAC instructions of gfx12: "
    "`lane.element` at each row and column, the first element of a lane in the lowest bits. A sparse A is shown as it "
    "is held, with two of each four elements; the operand `index` says which two. Instructions with the same picture "
    "share it. `amdjit layout NAME --operand a` prints one, `matrix.layout(name, operand).element(lane, i)` gives a "
    "place."
)


def sections() -> Iterator[str]:
    """Yield a heading, the instructions, and the picture of each layout, by wave size and operand."""
    for wave_size in (32, 64):
        for title, operands in (("A", "a"), ("B", "b"), ("C and D", "d"), ("index", "index")):
            for group in _groups(wave_size, operands):
                yield f"## {title}, wave{wave_size}: {_kinds(group)}"
                yield "Of " + ", ".join(f"`{layout.instruction}`" for layout in group) + "."
                picture = matrix.layout_map(group[0]).split("\n", 1)[1]
                yield f"```\n{picture}\n```"


def _groups(wave_size: int, operand: str) -> list[list[Layout]]:
    """Return the layouts of an operand, those together that have the same picture."""
    assert operand in OPERANDS
    found: dict[object, list[Layout]] = {}
    for instruction in matrix.INSTRUCTIONS.values():
        if instruction.wave_size == wave_size and (instruction.is_sparse or operand != "index"):
            layout = instruction.layout(operand)
            found.setdefault((layout.rows, layout.columns, layout.lanes, layout.elements, layout.steps), []).append(
                layout
            )
    return list(found.values())


def _kinds(group: list[Layout]) -> str:
    kinds = ", ".join(dict.fromkeys(_kind(layout) for layout in group))
    return f"{group[0].rows} by {group[0].columns} of {kinds}"


def _kind(layout: Layout) -> str:
    """Return the type of the elements; of an index that of the elements whose places it holds."""
    return matrix.matrix_instruction(layout.instruction).a if layout.operand == "index" else layout.kind


PAGE = ("Matrix layouts", "intrinsics/matrix_layouts.py", INTRODUCTION, tuple(sections()))
