"""Where a matrix element lies in the registers of a wave, and what the WMMA instructions compute, in NumPy.

Whole-wave operands are arrays with one row a lane: `a[lane]` is what one lane holds. Sources: RDNA4 ISA, 7.12 "Wave
Matrix Multiply Accumulate"; AMD's matrix instruction calculator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]


class Layout(Protocol):
    """How one operand of a matrix instruction lies in a wave."""

    @property
    def elements(self) -> int:
        """Elements that a lane holds."""
        ...

    def position(self, lane: Any, element: Any) -> tuple[Any, Any]:
        """Return (row, column) of a lane's element; takes integers or arrays of them."""
        ...


@dataclass(frozen=True, slots=True)
class InputLayout:
    """A (rows 0..15 by k) or B (k by columns 0..15) of a gfx12 wave32 WMMA.

    run: elements of a lane with consecutive k; then follows as long a run of the other half of the lanes.
    """

    elements: int
    run: int
    is_b: bool = False

    def position(self, lane: Any, element: Any) -> tuple[Any, Any]:
        """Return (row, column) of a lane's element."""
        k = (2 * (element // self.run) + lane // 16) * self.run + element % self.run
        return (k, lane % 16) if self.is_b else (lane % 16, k)


@dataclass(frozen=True, slots=True)
class AccumulatorLayout:
    """C and D of a gfx12 wave32 WMMA: 16 by 16."""

    elements: int = 8

    def position(self, lane: Any, element: Any) -> tuple[Any, Any]:
        """Return (row, column) of a lane's element."""
        return 8 * (lane // 16) + element, lane % 16


@dataclass(frozen=True, slots=True)
class WmmaLayouts:
    """The operands' layouts of one instruction; k: the common extent of A and B."""

    k: int
    a: InputLayout
    b: InputLayout
    d: AccumulatorLayout = AccumulatorLayout()


def _layouts(elements: int, run: int) -> WmmaLayouts:
    return WmmaLayouts(2 * elements, InputLayout(elements, run), InputLayout(elements, run, is_b=True))


WMMA_16_BIT = _layouts(elements=8, run=4)
WMMA_8_BIT = _layouts(elements=8, run=8)
WMMA_4_BIT_K16 = _layouts(elements=8, run=8)
WMMA_4_BIT_K32 = _layouts(elements=16, run=16)


def _positions(layout: Layout) -> tuple[Any, Any]:
    lane, element = np.meshgrid(np.arange(32), np.arange(layout.elements), indexing="ij")
    return layout.position(lane, element)


def gather(layout: Layout, values: Array, rows: int, columns: int) -> Array:
    """Return the matrix that a wave holds; values: [32, elements]."""
    matrix = np.empty((rows, columns), values.dtype)
    matrix[_positions(layout)] = values
    return matrix


def scatter(layout: Layout, matrix: Array) -> Array:
    """Return what each lane holds of a matrix: [32, elements]."""
    held: Array = matrix[_positions(layout)]
    return held


def unpack_nibbles(words: Array, signed: bool) -> Array:
    """Return the 4-bit integers of 32-bit words, the lowest bits first: [..., n] becomes [..., 8 n]."""
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    nibbles = (np.ascontiguousarray(words).view(np.uint32)[..., None] >> shifts) & 15
    values = nibbles.reshape(*words.shape[:-1], -1).astype(np.int64)
    return np.where(signed & (values > 7), values - 16, values)


def unpack_bytes(packed: Any, dtype: Any) -> Array:
    """Return the same bits as numbers of another type, the lowest bits first."""
    return np.ascontiguousarray(packed).view(dtype)


def multiply_accumulate(layouts: WmmaLayouts, a: Array, b: Array, c: Array) -> Array:
    """Return D = A B + C for unpacked whole-wave operands, exact but for one rounding to C's type at the end.

    Integer results wrap. The order in which the hardware adds floats is not documented: its last bits may differ.
    """
    wide = np.int64 if c.dtype.kind == "i" else np.float64
    product = gather(layouts.a, a, 16, layouts.k).astype(wide) @ gather(layouts.b, b, layouts.k, 16).astype(wide)
    total = product + gather(layouts.d, c, 16, 16).astype(wide)
    return scatter(layouts.d, total).astype(c.dtype)


def multiply_accumulate_integers(layouts: WmmaLayouts, a: Array, b: Array, c: Array, clamp: bool) -> Array:
    """Return D = A B + C of integers, saturated to i32 if `clamp`, else wrapped."""
    wide = multiply_accumulate(layouts, a, b, c.astype(np.int64))
    limits = np.iinfo(np.int32)
    return (np.clip(wide, limits.min, limits.max) if clamp else wide).astype(np.int32)
