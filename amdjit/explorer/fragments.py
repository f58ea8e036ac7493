"""Which lane holds which element of a matrix instruction's operands, for the page's lane maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.inspection.inspection import Inspection
from amdjit.intrinsics.models.matrix_layouts import OPERANDS, Layout, matrix_instruction

__all__ = ["lane_maps"]

LaneMaps = dict[str, dict[str, dict[str, Any]]]


def lane_maps(inspection: Inspection) -> LaneMaps:
    """Return the maps of the operands of each matrix instruction of a kernel, by mnemonic.
    Instructions whose layouts are not known are left out."""
    if not inspection.target.startswith(("gfx11", "gfx12")):
        return {}
    mnemonics = {each.mnemonic for each in inspection.instructions if each.unit == "WMMA"}
    wave_size, target = inspection.wave_size, inspection.target
    maps = {name: _operands(f"{name}_w{wave_size}", target) for name in sorted(mnemonics)}
    return {name: operands for name, operands in maps.items() if operands}


def _operands(instruction: str, target: str) -> dict[str, dict[str, Any]]:
    try:
        # Layouts have the assembler's names without the prefix of vector instructions.
        found = matrix_instruction(instruction.removeprefix("v_"), target)
    except ValueError:
        return {}
    operands = OPERANDS if found.is_sparse else OPERANDS[:-1]
    return {operand: _map(found.layout(operand)) for operand in operands}


def _map(layout: Layout) -> dict[str, Any]:
    """Return a layout as data. lanes, elements: for each place of the matrix, row by row, the lane
    that holds it, and which of the lane's elements it is, the first in the lowest bits. copies: how
    many groups of that many lanes hold the same; the lanes are those of the first."""
    held = layout.positions()
    lane, element = np.meshgrid(np.arange(layout.lanes), np.arange(layout.elements), indexing="ij")
    lanes = np.zeros((layout.rows, layout.columns), np.int64)
    elements = np.zeros_like(lanes)
    lanes[held], elements[held] = lane, element
    return {
        "kind": layout.kind,
        "rows": layout.rows,
        "columns": layout.columns,
        "bits": layout.bits,
        "registers": layout.registers,
        "copies": layout.copies,
        "lanes": lanes.ravel().tolist(),
        "elements": elements.ravel().tolist(),
    }
