"""The parts of the processor by which instructions are counted."""

from __future__ import annotations

from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow, Unit

__all__ = ["UNITS", "unit_of"]

UNITS = (
    "VALU",
    "transcendental",
    "WMMA",
    "MFMA",
    "SALU",
    "scalar memory",
    "vector memory",
    "LDS",
    "branch",
    "wait",
    "barrier",
    "other",
)

_BY_UNIT = {
    Unit.SALU: "SALU",
    Unit.VALU: "VALU",
    Unit.TRANSCENDENTAL: "transcendental",
    Unit.SCALAR_MEMORY: "scalar memory",
    Unit.VECTOR_MEMORY: "vector memory",
    Unit.LDS: "LDS",
    Unit.LDS_DIRECT: "LDS",
}


def unit_of(instruction: Instruction) -> str:
    """Return the unit that executes an instruction: one of `UNITS`."""
    traits = instruction.traits
    if traits.matrix is not None:
        return "WMMA"
    if traits.block_product is not None:
        return "MFMA"
    if traits.barrier is not None:
        return "barrier"
    if traits.waits and traits.unit is Unit.SALU:
        return "wait"
    if traits.flow not in (Flow.NEXT, Flow.SLEEP):
        return "branch"
    if traits.idle is not None:
        return "other"
    return _BY_UNIT[traits.unit]
