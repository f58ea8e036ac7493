"""The parameters that a fragment is declared with, as values that a kernel names."""

from __future__ import annotations

from enum import Enum
from typing import Any

from amdjit.types import Scalar, f32


class Use(Enum):
    """Which operand of D = A B + C a fragment is; C and D are accumulators, `sparse_a` is an A of
    SWMMAC."""

    MATRIX_A = "matrix_a"
    SPARSE_A = "sparse_a"
    MATRIX_B = "matrix_b"
    ACCUMULATOR = "accumulator"


def is_left(use: Use) -> bool:
    """Return whether a fragment is the left factor, A."""
    return use in (Use.MATRIX_A, Use.SPARSE_A)


class DataLayout(Enum):
    """How a matrix lies in memory: whether neighbours of a row or of a column are adjacent."""

    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


class Nibble(Enum):
    """4-bit integers, which have no type in the kernel language: two to a byte of memory, the first
    in the low bits."""

    I4 = "i4"
    U4 = "u4"


class Rounded(Enum):
    """Types that products round their factors to, of which memory and registers hold another."""

    XF32 = "xf32"


ElementType = Scalar | Nibble | Rounded


def stored_type(dtype: Any) -> Any:
    """Return the type of an element in registers and memory; 4-bit ones have none."""
    return f32 if dtype is Rounded.XF32 else dtype


def type_name(dtype: Any) -> str:
    """Return a type's name in a message."""
    return f"matrix.{dtype.value}" if isinstance(dtype, Nibble | Rounded) else str(dtype)
