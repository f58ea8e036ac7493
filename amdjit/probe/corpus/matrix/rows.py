"""The matrix instructions of a processor, of every family: one row for each instruction and wave
size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from amdjit.intrinsics import matrix
from amdjit.intrinsics.models.matrix_layouts import (
    Array,
    Generation,
    MatrixInstruction,
    instructions_with,
)
from amdjit.intrinsics.models.mfma_arithmetic import rule_of
from amdjit.intrinsics.models.mfma_instructions import CDNA, MfmaInstruction, mfma_instructions
from amdjit.intrinsics.models.mfma_layouts import MfmaLayout
from amdjit.isa.matrix_rounding import Rule, rdna_rule
from amdjit.target import Feature, Target, find_target

__all__ = ["Row", "row_of", "rows_of"]

Layout = matrix.Layout | MfmaLayout


@dataclass(frozen=True)
class Row:
    """A matrix instruction on a processor."""

    instruction: MatrixInstruction | MfmaInstruction
    target: str
    formats: tuple[str, str] | None = None
    """The formats of A and B of a scaled product."""

    @property
    def name(self) -> str:
        """clang's name, followed by the formats of a scaled product."""
        return " ".join((self.instruction.name, *(self.formats or ())))

    @property
    def is_mfma(self) -> bool:
        """Whether it is one of CDNA's."""
        return isinstance(self.instruction, MfmaInstruction)

    @property
    def is_gfx11(self) -> bool:
        """Whether it is a WMMA of gfx11, for which each half of a wave holds all of A and B."""
        each = self.instruction
        return isinstance(each, MatrixInstruction) and each.generation is Generation.GFX11

    @property
    def is_scaled(self) -> bool:
        """Whether A and B have scales."""
        return self.formats is not None

    @property
    def lanes(self) -> int:
        """Lanes of a wave."""
        return self.layout("d").wave_size

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of rows and of columns of D, and of products in each element."""
        d = self.layout("d")
        return d.rows, d.columns, self.instruction.held_k

    @property
    def blocks(self) -> int:
        """The number of matrix products that are made at once."""
        return getattr(self.instruction, "blocks", 1)

    @property
    def kinds(self) -> tuple[str, str, str]:
        """The types of A, B and the result."""
        each = self.instruction
        return (*(self.formats or (each.a, each.b)), each.result)

    @property
    def base_rule(self) -> Rule:
        """The rule that the emulator follows for floats."""
        each = self.instruction
        if isinstance(each, MfmaInstruction):
            return rule_of(each)
        return rdna_rule(self.kinds, self.is_gfx11)

    @property
    def mnemonic(self) -> str:
        """The assembler's name; for CDNA, clang's name with `v_` in front."""
        each = self.instruction
        return f"v_{each.name if isinstance(each, MfmaInstruction) else each.mnemonic}"

    @property
    def certainty(self) -> str:
        """How certain it is how its sums are computed: see `matrix.certainty`."""
        return matrix.certainty(self.mnemonic.removeprefix("v_"), self.target)

    def layout(self, operand: str) -> Layout:
        """Return how an operand is distributed over a wave."""
        if self.formats is not None and isinstance(self.instruction, MfmaInstruction):
            return self.instruction.layout(operand, self.formats["ab".find(operand) % 2])
        return self.instruction.layout(operand)


@cache
def rows_of(target: str) -> Sequence[Row]:
    """Return all rows of a processor; none if it has no matrix instructions."""
    if target in CDNA:
        return [row for each in mfma_instructions(target).values() for row in _mfma(each, target)]
    known = find_target(target)
    features: frozenset[Feature] = known.features if isinstance(known, Target) else frozenset()
    return [Row(each, target) for each in instructions_with(features).values()]


def _mfma(instruction: MfmaInstruction, target: str) -> list[Row]:
    if not instruction.is_scaled:
        return [Row(instruction, target)]
    pairs = [("fp8", "fp8"), ("bf8", "fp6"), ("fp6", "bf6"), ("bf6", "fp4"), ("fp4", "bf8")]
    return [Row(instruction, target, pair) for pair in pairs]


def row_of(name: str, target: str) -> Row:
    """Return a row by its name. Raises ValueError if the processor has none of that name."""
    for row in rows_of(target):
        if row.name == name:
            return row
    raise ValueError(f"{target} has no matrix instruction {name!r}")


def places(layout: Layout) -> tuple[Array, Array, Array]:
    """Return the block, row and column of each element that a wave holds, with axes [lanes,
    elements]."""
    if isinstance(layout, MfmaLayout):
        row, column, block = layout.positions()
        return block, row, column
    row, column = (np.tile(each, (layout.copies, 1)) for each in layout.positions())
    return np.zeros_like(row), row, column
