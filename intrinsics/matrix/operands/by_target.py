"""The matrix instructions of every processor, by name: of WMMA and SWMMAC (RDNA) in
`models.matrix_layouts`, of MFMA and SMFMAC (CDNA) in `models.mfma_instructions`."""

from __future__ import annotations

from amdjit.intrinsics.models import matrix_layouts
from amdjit.intrinsics.models.matrix_layouts import Layout, MatrixInstruction
from amdjit.intrinsics.models.mfma_instructions import (
    CDNA,
    MfmaInstruction,
    mfma_instruction,
)
from amdjit.intrinsics.models.mfma_layouts import MfmaLayout


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
