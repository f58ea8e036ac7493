"""Where a matrix element lies in the registers of a wave, for each MFMA and SMFMAC instruction of
CDNA: gfx908, gfx90a, gfx942 and gfx950.

A wave has 64 lanes. An instruction multiplies one or more independent blocks, A of M by K and B of
K by N each. A sparse A (SMFMAC) is described as it is stored, as M rows of K / 2 kept elements; the
operand `index` says where they stand in each group of four k. The scaled products of gfx950 take
operands of 8, 6 or 4 bits, each in its own format, and one scale for 32 neighbours along k:
operands `scale_a` and `scale_b`.

Sources: AMD's matrix instruction calculator 1.3.2 (gfx908, gfx90a, gfx942); CDNA3 ISA, 7.1 "Matrix
Arithmetic Instructions"; CDNA4 ISA, 7.1.5 and 7.2.1, for the formats of 8, 6 and 4 bits of gfx950
and their scales, which Composable Kernel's tests of these instructions (test/mx_mfma_op) list, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]

WAVE_SIZE = 64
# Neighbours along k that share a scale (OCP Microscaling Formats 1.0, "block size").
SCALED_TOGETHER = 32

# Bits of an element, by the names of types. `position` is a place in a group of four.
BITS: Mapping[str, int] = MappingProxyType(
    {
        "f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16, "i8": 8,
        "fp8": 8, "bf8": 8, "fp8_fnuz": 8, "bf8_fnuz": 8, "fp6": 6, "bf6": 6, "fp4": 4,
        "e8m0": 8, "position": 2,
    }
)  # fmt: skip
DTYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        name: np.dtype(scalar)
        for name, scalar in {
            "f64": np.float64, "f32": np.float32, "xf32": np.float32, "i32": np.int32,
            "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8,
            "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
            "fp8_fnuz": ml_dtypes.float8_e4m3fnuz, "bf8_fnuz": ml_dtypes.float8_e5m2fnuz,
            "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn,
            "fp4": ml_dtypes.float4_e2m1fn, "e8m0": ml_dtypes.float8_e8m0fnu,
        }.items()
    }
)  # fmt: skip
FORMATS = ("fp8", "bf8", "fp6", "bf6", "fp4")
"""The formats of a scaled product's A and B, in the order of their numbers in `cbsz` and `blgp`."""


@dataclass(frozen=True, slots=True)
class MfmaLayout:
    """How one operand of an MFMA or SMFMAC lies in a wave.

    kind: the type, a name in `DTYPES` or `position`. elements: how many a lane holds, the first in
    the lowest bits of the first register. run: how many elements of a lane are neighbours along k;
    the next run of the lane comes after those of all other lanes. Unused by C and D.
    """

    instruction: str
    operand: str
    kind: str
    blocks: int
    rows: int
    columns: int
    elements: int
    run: int

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return BITS[self.kind]

    @property
    def lanes(self) -> int:
        """Lanes that hold elements: all of them."""
        return WAVE_SIZE

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return WAVE_SIZE

    @property
    def registers(self) -> int:
        """32-bit registers of a lane."""
        return max(1, self.bits * self.elements // 32)

    @property
    def set_bits(self) -> int:
        """Bits that the operand takes in a lane."""
        return self.bits * self.elements

    @property
    def sets(self) -> int:
        """How many of these operands a lane's register holds: of an index, by `abid`, or of a
        scale, by its byte."""
        return max(1, 32 // self.set_bits)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the matrix: [rows, columns], or [blocks, rows, columns] of several blocks."""
        matrix = (self.rows, self.columns)
        return matrix if self.blocks == 1 else (self.blocks, *matrix)

    def position(self, lane: Any, element: Any) -> tuple[Any, Any, Any]:
        """Return (row, column, block) of a lane's element, for integers or arrays of integers,
        without checks."""
        if self.operand in ("c", "d"):
            return self._result_position(lane, element)
        is_left = self.operand in ("a", "index", "scale_a")
        across = self.rows if is_left else self.columns
        groups = WAVE_SIZE // (across * self.blocks)
        group = lane // (across * self.blocks)
        along = element // self.run * self.run * groups + group * self.run + element % self.run
        place, block = lane % across, lane // across % self.blocks
        return (place, along, block) if is_left else (along, place, block)

    def _result_position(self, lane: Any, element: Any) -> tuple[Any, Any, Any]:
        """Return the place of an element of C or D: a group of lanes holds rows in fours (f64: one
        at a time), and blocks too small for 64 lanes stand beside each other."""
        height = 1 if self.bits == 64 else 4
        groups = WAVE_SIZE // self.columns
        size = self.rows * self.columns
        beside = max(1, WAVE_SIZE * height // size)
        of_block = size * beside // WAVE_SIZE
        group, rest = lane // self.columns, element % of_block
        row = rest // height * height * groups + group // beside * height + rest % height
        return row, lane % self.columns, element // of_block * beside + group % beside

    def element(self, lane: int, i: int) -> tuple[int, int, int]:
        """Return (row, column, block) of element i of a lane. Raises IndexError if the lane holds
        no such element."""
        if not 0 <= lane < WAVE_SIZE:
            raise IndexError(f"lane {lane}: a wave has {WAVE_SIZE}")
        if not 0 <= i < self.elements:
            raise IndexError(
                f"element {i}: a lane holds {self.elements} elements of {self.operand}"
            )
        row, column, block = self.position(lane, i)
        return int(row), int(column), int(block)

    def place(self, row: int, column: int, block: int = 0) -> tuple[int, int]:
        """Return (lane, i) of an element of the matrix. Raises IndexError outside the matrix."""
        inside = 0 <= row < self.rows and 0 <= column < self.columns and 0 <= block < self.blocks
        if not inside:
            raise IndexError(
                f"({row}, {column}) of block {block} is outside of {self.operand}, {self.rows} by "
                f"{self.columns} in {self.blocks}"
            )
        rows, columns, blocks = self.positions()
        lane, i = np.argwhere((rows == row) & (columns == column) & (blocks == block))[0]
        return int(lane), int(i)

    def bit(self, i: int, selected: int = 0) -> tuple[int, int]:
        """Return the (register, lowest bit in it) of a lane's element i. selected: which of the
        `sets`."""
        return divmod(i * self.bits + selected * self.set_bits, 32)

    def positions(self) -> tuple[Array, Array, Array]:
        """Return rows, columns and blocks of all elements: arrays [lanes, elements]."""
        lane, element = np.meshgrid(np.arange(WAVE_SIZE), np.arange(self.elements), indexing="ij")
        return self.position(lane, element)

    def gather(self, values: Array) -> Array:
        """Return the matrix of `shape` that a wave holds. values: [lanes, elements]."""
        rows, columns, blocks = self.positions()
        matrix = np.empty((self.blocks, self.rows, self.columns), values.dtype)
        matrix[blocks, rows, columns] = values
        return matrix.reshape(self.shape)

    def scatter(self, matrix: Array) -> Array:
        """Return what each lane holds of a matrix of `shape`: [lanes, elements]."""
        rows, columns, blocks = self.positions()
        held: Array = matrix.reshape(self.blocks, self.rows, self.columns)[blocks, rows, columns]
        return held
