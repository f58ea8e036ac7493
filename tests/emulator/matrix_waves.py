"""Element types of matrices, and where AMD's matrix instruction calculator puts elements in a wave
(gfx12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]
FP8, BF8, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16
DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": BF16,
    "fp8": FP8,
    "bf8": BF8,
    "f32": np.float32,
    "i32": np.int32,
}
BITS = {"f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "iu8": 8, "iu4": 4, "f32": 32, "i32": 32}


@dataclass(frozen=True)
class Wave:
    """Where AMD's matrix instruction calculator puts elements; `row` is a row of 16 lanes of a
    wave."""

    size: int

    def lane_k(self, k: int, row: int) -> int:
        """The first k of a row of lanes whose elements have consecutive k."""
        if self.size == 32:
            return k // 2 * row
        return k // 2 * (row % 2) + k // 4 * (row // 2)

    def dense_k(self, kind: str, k: int, row: int, element: int) -> int:
        if BITS[kind] == 16:
            return (
                8 * (element // 4) + 4 * row + element % 4 if self.size == 32 else 4 * row + element
            )
        if kind == "iu4" and k == 16:
            return 8 * row + element
        return self.lane_k(k, row) + element

    def sparse_b_k(self, kind: str, k: int, row: int, element: int) -> int:
        if BITS[kind] == 16:
            return (
                16 * (element // 8) + 8 * row + element % 8
                if self.size == 32
                else 8 * row + element
            )
        return self.lane_k(k, row) + element

    def sparse_a_base(self, kind: str, k: int, row: int, pair: int) -> int:
        if BITS[kind] == 16:
            return (
                16 * (pair // 2) + 8 * row + 4 * (pair % 2)
                if self.size == 32
                else 8 * row + 4 * pair
            )
        if kind == "iu4" and k == 32:
            return 16 * row + 4 * pair
        return self.lane_k(k, row) + 4 * pair

    def result_row(self, lane: int, element: int) -> int:
        """The row of C or D; the column is lane % 16."""
        row = lane // 16
        return 8 * row + element if self.size == 32 else 8 * (row % 2) + 4 * (row // 2) + element

    @property
    def result_elements(self) -> int:
        return 256 // self.size

    def holders(self, kind: str, held: int) -> int:
        """How many lanes hold a factor of `held` elements a row: a dword is the least that a lane
        has."""
        return min(self.size, 16 * held * BITS[kind] // 32)


W32, W64 = Wave(32), Wave(64)
