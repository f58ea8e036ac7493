"""Layouts as text: which lane holds which element of an operand."""

from __future__ import annotations

from typing import Any

from amdjit.intrinsics.models import matrix_layouts
from amdjit.intrinsics.models.matrix_layouts import Layout, MatrixInstruction
from amdjit.intrinsics.models.mfma_instructions import (
    CDNA,
    MfmaInstruction,
    mfma_instruction,
)
from amdjit.intrinsics.models.mfma_layouts import MfmaLayout
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import Scalar

_SAID = {
    "a": "A",
    "b": "B",
    "c": "C",
    "d": "D",
    "index": "index: the place, 0 to 3, of each kept element of A",
    "scale_a": "scale_a: of 32 neighbours in a row of A",
    "scale_b": "scale_b: of 32 neighbours in a column of B",
}


def layout_map(layout: Layout | MfmaLayout) -> str:
    """Return a picture of the matrix: at each row and column the `lane.element` that holds it,
    without a final newline. Blocks of one instruction stand one below the other."""
    if isinstance(layout, MfmaLayout):
        return _blocks_map(layout)
    width = len(f"{layout.lanes - 1}.{layout.elements - 1}")
    head = [f"{layout.instruction}, operand {_SAID[layout.operand]}", _description(layout)]
    label = len(str(layout.rows - 1))
    columns = " ".join(f"{column:>{width}}" for column in range(layout.columns))
    lines = [f"{'':{label}} | {columns}", f"{'-' * label}-+-{'-' * len(columns)}"]
    held = {
        layout.element(lane, i): f"{lane}.{i}"
        for lane in range(layout.lanes)
        for i in range(layout.elements)
    }
    for row in range(layout.rows):
        cells = " ".join(f"{held[row, column]:>{width}}" for column in range(layout.columns))
        lines.append(f"{row:>{label}} | {cells}")
    return "\n".join([*head, "", *lines])


def _blocks_map(layout: MfmaLayout) -> str:
    """Return the picture of an operand of MFMA."""
    registers = f"{layout.registers} register{'s' if layout.registers > 1 else ''}"
    kind = "2-bit positions" if layout.kind == "position" else layout.kind
    blocks = f" in {layout.blocks} blocks" if layout.blocks > 1 else ""
    text = (
        f"{layout.rows} by {layout.columns} {kind}{blocks}: `lane.element`; {layout.elements} "
        f"element{'s' if layout.elements > 1 else ''} a lane in {registers}"
    )
    if layout.sets > 1:
        text += f", {layout.sets} sets"
    lines = [f"{layout.instruction}, operand {_SAID[layout.operand]}", text]
    held = {
        layout.element(lane, i): f"{lane}.{i}"
        for lane in range(layout.lanes)
        for i in range(layout.elements)
    }
    width = max(map(len, held.values()))
    label = len(str(layout.rows - 1))
    for block in range(layout.blocks):
        columns = " ".join(f"{column:>{width}}" for column in range(layout.columns))
        title = [f"block {block}"] if layout.blocks > 1 else []
        rule = f"{'-' * label}-+-{'-' * len(columns)}"
        lines += ["", *title, f"{'':{label}} | {columns}", rule]
        for row in range(layout.rows):
            cells = (f"{held[row, column, block]:>{width}}" for column in range(layout.columns))
            lines.append(f"{row:>{label}} | {' '.join(cells)}")
    return "\n".join(lines)


def _description(layout: Layout) -> str:
    registers = f"{layout.registers} register{'s' if layout.registers > 1 else ''}"
    kind = "2-bit positions" if layout.kind == "position" else layout.kind
    text = (
        f"{layout.rows} by {layout.columns} {kind}: `lane.element`; {layout.elements} elements "
        f"a lane in {registers}"
    )
    if layout.operand == "index":
        text += f", {layout.sets} set{'s' if layout.sets > 1 else ''}"
    if layout.copies > 1:
        return f"{text}, lanes {layout.lanes} to {layout.wave_size - 1} hold the same"
    if layout.is_spread:
        text += f", the lower or the upper {layout.bits} bits of each"
    return text + (
        "" if layout.lanes == layout.wave_size else f", lanes 0 to {layout.lanes - 1} only"
    )


# The matrix instructions of every processor, by name: of WMMA and SWMMAC (RDNA) in
# `models.matrix_layouts`, of MFMA and SMFMAC (CDNA) in `models.mfma_instructions`.


def layout(
    name: str, operand: str, target: str | None = None, format: str | None = None
) -> Layout | MfmaLayout:
    """Return how an operand (a, b, c, d; index of sparse products; scale_a and scale_b of scaled
    ones) of an instruction lies in the wave.

    target: see `matrix_instruction`. format: of A or B of a scaled product (gfx950): "fp8", "bf8",
    "fp6" (e2m3), "bf6" (e3m2) or "fp4"; "fp8" if it is not given. Raises ValueError for names,
    operands and formats that do not exist.
    """
    instruction = matrix_instruction(name, target)
    is_scaled = isinstance(instruction, MfmaInstruction) and instruction.is_scaled
    if format is not None and not is_scaled:
        raise ValueError(f"format={format!r}: only scaled products of gfx950 take it, not {name}")
    if isinstance(instruction, MfmaInstruction):
        return instruction.layout(operand, format or "fp8")
    return instruction.layout(operand)


def matrix_instruction(name: str, target: str | None = None) -> MatrixInstruction | MfmaInstruction:
    """Return the instruction with clang's name, or on CDNA the assembler's; of WMMA, `_gfx12` and
    then `_w32` may be left out.

    target: a processor, such as gfx1100 or gfx942; without one, the name is of gfx12. Raises
    ValueError for other names.
    """
    if target in CDNA:
        return mfma_instruction(name, str(target))
    having = [] if target is not None else [each for each in CDNA if _is_of(name, each)]
    if having:
        raise ValueError(f"{name!r} is of CDNA: give target=, one of {', '.join(having)}")
    return matrix_layouts.matrix_instruction(name, target)


def _is_of(name: str, target: str) -> bool:
    try:
        mfma_instruction(name.removeprefix("v_"), target)
    except ValueError:
        return False
    return True


# Layouts that only the launch knows: rocWMMA's layout_t, an integer among a kernel's arguments.

mem_row_major, mem_col_major = 0, 1


@compile_time
def chosen_when_running(compilation: Compilation, layout: Any) -> bool:
    """Whether a layout is an integer that is known only at run time."""
    return isinstance(layout, Scalar) and layout.is_integer
