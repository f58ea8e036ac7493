"""Where a matrix element lies in the registers of a wave, for each WMMA and SWMMAC instruction of
gfx12.

An instruction's name says everything: `wmma_f32_16x16x16_f16_w32_gfx12`,
`swmmac_i32_16x16x64_iu4_w64`. A sparse A is described as it is stored: 16 rows of K / 2 kept
elements. The operand `index` says where they stand in each group of four k.

Sources: RDNA4 ISA, 7.12 "Wave Matrix Multiply Accumulate"; AMD's matrix instruction calculator
1.3.2, which lists the same places for dense A, B, C, D and for sparse A, B and the index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]

# Bits of an element, by the instructions' names for types.
BITS: Mapping[str, int] = MappingProxyType(
    {
        "f32": 32,
        "i32": 32,
        "f16": 16,
        "bf16": 16,
        "fp8": 8,
        "bf8": 8,
        "iu8": 8,
        "iu4": 4,
        "position": 2,
    }
)
OPERANDS = ("a", "b", "c", "d", "index")
# NumPy's types of operands. Positions have none, nor do 4-bit and 8-bit integers, whose sign the
# instruction determines.
DTYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "f32": np.dtype(np.float32),
        "i32": np.dtype(np.int32),
        "f16": np.dtype(np.float16),
        "bf16": np.dtype(ml_dtypes.bfloat16),
        "fp8": np.dtype(ml_dtypes.float8_e4m3fn),
        "bf8": np.dtype(ml_dtypes.float8_e5m2),
    }
)

# result, A, B and K of the dense instructions; a sparse one has twice the K.
_DENSE = (
    ("f32", "f16", "f16", 16),
    ("f32", "bf16", "bf16", 16),
    ("f16", "f16", "f16", 16),
    ("bf16", "bf16", "bf16", 16),
    ("i32", "iu8", "iu8", 16),
    ("i32", "iu4", "iu4", 16),
    ("i32", "iu4", "iu4", 32),
    ("f32", "fp8", "fp8", 16),
    ("f32", "fp8", "bf8", 16),
    ("f32", "bf8", "fp8", 16),
    ("f32", "bf8", "bf8", 16),
)


@dataclass(frozen=True, slots=True)
class MatrixInstruction:
    """D = A B + C: D and C 16 by 16, A 16 by k, B k by 16. a, b, result: types by the ISA's names.

    is_sparse: of every four neighbours in a row of A at most two are nonzero, and only two are
    held.
    """

    result: str
    a: str
    b: str
    k: int
    is_sparse: bool
    wave_size: int

    @property
    def name(self) -> str:
        """clang's name of the builtin, without `__builtin_amdgcn_`."""
        return f"{self.mnemonic}_w{self.wave_size}{'' if self.is_sparse else '_gfx12'}"

    @property
    def mnemonic(self) -> str:
        """The assembler's name, without `v_`: the same in both wave sizes."""
        kinds = f"{self.a}_{self.b}" if self.a in ("fp8", "bf8") else self.a
        return f"{'swmmac' if self.is_sparse else 'wmma'}_{self.result}_16x16x{self.k}_{kinds}"

    @property
    def is_integer(self) -> bool:
        """Whether it multiplies integers, signed or not as its flags say."""
        return self.result == "i32"

    @property
    def held_k(self) -> int:
        """Elements of a row of A that are in the registers."""
        return self.k // 2 if self.is_sparse else self.k

    def layout(self, operand: str) -> Layout:
        """Return how an operand lies in the wave. Raises ValueError if the instruction has no such
        operand."""
        known = OPERANDS if self.is_sparse else OPERANDS[:-1]
        if operand not in known:
            raise ValueError(f"{self.name} has no operand {operand!r}: it has {', '.join(known)}")
        if operand in ("c", "d"):
            elements = 256 // self.wave_size
            return Layout(
                self.name,
                operand,
                self.result,
                16,
                16,
                self.wave_size,
                elements,
                (elements, 0, 8, 4),
            )
        held = self.k if operand == "b" else self.held_k
        kind = self.b if operand == "b" else self.a
        lanes = min(self.wave_size, 16 * held * BITS[kind] // 32)  # a lane holds at least a dword
        elements = 16 * held // lanes
        rows, columns = (held, 16) if operand == "b" else (16, held)
        steps = _steps(kind, elements, self.wave_size, lanes)
        shown = "position" if operand == "index" else kind
        return Layout(self.name, operand, shown, rows, columns, lanes, elements, steps)


def _steps(kind: str, elements: int, wave_size: int, lanes: int) -> tuple[int, int, int, int]:
    """Return the steps of k: see `Layout.steps`."""
    if lanes == 32:
        half = elements // 2
        # 16-bit operands in wave32: the elements of the other half of the lanes lie between two
        # runs of a lane.
        return (
            (half, elements, half, 0)
            if BITS[kind] == 16 and wave_size == 32
            else (elements, 0, elements, 0)
        )
    return (
        (elements, 0, elements, 2 * elements)
        if BITS[kind] == 16
        else (elements, 0, 2 * elements, elements)
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """How one operand of a matrix instruction lies in a wave.

    lanes: how many hold elements, from lane 0 on. elements: how many each holds, the first in the
    lowest bits. steps: (run, next run, odd 16 lanes, upper 32 lanes): how many elements of a lane
    are neighbours, and by how much the row of B, C and D, or the column of A, grows from one run to
    the next, in lanes 16..31 of every 32, and in lanes 32..63.
    """

    instruction: str
    operand: str
    kind: str
    rows: int
    columns: int
    lanes: int
    elements: int
    steps: tuple[int, int, int, int]

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return BITS[self.kind]

    @property
    def sets(self) -> int:
        """How many of these operands a lane's 32-bit register holds; an `index` has fewer than 32
        bits."""
        return max(1, 32 // (self.bits * self.elements))

    @property
    def registers(self) -> int:
        """32-bit registers of a lane."""
        return max(1, self.bits * self.elements // 32)

    @property
    def wave_size(self) -> int:
        """Lanes of the wave, including those that hold nothing."""
        return matrix_instruction(self.instruction).wave_size

    def position(self, lane: Any, element: Any) -> tuple[Any, Any]:
        """Return (row, column) of a lane's element, for integers or arrays of integers, without
        checks."""
        run, next_run, odd, upper = self.steps
        group = lane // 16
        along = element % run + element // run * next_run + group % 2 * odd + group // 2 * upper
        return (lane % 16, along) if self.operand in ("a", "index") else (along, lane % 16)

    def element(self, lane: int, i: int) -> tuple[int, int]:
        """Return (row, column) of element i of a lane. Raises IndexError if the lane holds no such
        element."""
        if not 0 <= lane < self.lanes:
            raise IndexError(
                f"lane {lane} holds nothing of {self.operand}: lanes 0 to {self.lanes - 1} do"
            )
        if not 0 <= i < self.elements:
            raise IndexError(
                f"element {i}: a lane holds {self.elements} elements of {self.operand}"
            )
        row, column = self.position(lane, i)
        return int(row), int(column)

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Return (lane, i) of an element of the matrix. Raises IndexError outside the matrix."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError(
                f"({row}, {column}) is outside of {self.operand}, {self.rows} by {self.columns}"
            )
        rows, columns = self.positions()
        lane, i = np.argwhere((rows == row) & (columns == column))[0]
        return int(lane), int(i)

    def positions(self) -> tuple[Array, Array]:
        """Return rows and columns of all elements: two arrays [lanes, elements]."""
        lane, element = np.meshgrid(np.arange(self.lanes), np.arange(self.elements), indexing="ij")
        return self.position(lane, element)

    def gather(self, values: Array) -> Array:
        """Return the matrix that a wave holds. values: [lanes, elements]; further lanes are
        ignored."""
        matrix = np.empty((self.rows, self.columns), values.dtype)
        matrix[self.positions()] = values[: self.lanes]
        return matrix

    def scatter(self, matrix: Array) -> Array:
        """Return what each lane holds of a matrix: [lanes, elements]."""
        held: Array = matrix[self.positions()]
        return held


def _instructions() -> dict[str, MatrixInstruction]:
    dense = [
        MatrixInstruction(*types, False, wave_size) for types in _DENSE for wave_size in (32, 64)
    ]
    sparse = [
        MatrixInstruction(each.result, each.a, each.b, 2 * each.k, True, each.wave_size)
        for each in dense
    ]
    return {instruction.name: instruction for instruction in (*dense, *sparse)}


INSTRUCTIONS: Mapping[str, MatrixInstruction] = MappingProxyType(_instructions())

# Instructions that share a layout with others of the same sizes.
WMMA_16_BIT = INSTRUCTIONS["wmma_f32_16x16x16_f16_w32_gfx12"]
WMMA_8_BIT = INSTRUCTIONS["wmma_i32_16x16x16_iu8_w32_gfx12"]
WMMA_4_BIT_K16 = INSTRUCTIONS["wmma_i32_16x16x16_iu4_w32_gfx12"]
WMMA_4_BIT_K32 = INSTRUCTIONS["wmma_i32_16x16x32_iu4_w32_gfx12"]


def _without_wave(name: str) -> str:
    return re.sub(r"(_w(32|64))?(_gfx12)?$", "", name)


@cache
def matrix_instruction(name: str) -> MatrixInstruction:
    """Return the instruction with clang's name; `_gfx12` and then `_w32` may be left out. Raises
    ValueError for other names."""
    for suffix in ("", "_gfx12", "_w32", "_w32_gfx12"):
        if f"{name}{suffix}" in INSTRUCTIONS:
            return INSTRUCTIONS[f"{name}{suffix}"]
    short = {_without_wave(known): None for known in INSTRUCTIONS}
    alike = get_close_matches(_without_wave(name), short, 3)
    remedy = (
        f"did you mean {', '.join(alike)}?" if alike else "such as wmma_f32_16x16x16_f16_w32_gfx12"
    )
    raise ValueError(f"{name!r} is no WMMA or SWMMAC instruction of gfx12: {remedy}")


def layout(name: str, operand: str) -> Layout:
    """Return how an operand (a, b, c, d, and index of sparse products) of an instruction lies in
    the wave."""
    return matrix_instruction(name).layout(operand)


def unpack_nibbles(words: Array, signed: bool) -> Array:
    """Return the 4-bit integers of 32-bit words, the lowest bits first: [..., n] becomes [..., 8
    n]."""
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    nibbles = (np.ascontiguousarray(words).view(np.uint32)[..., None] >> shifts) & 15
    values = nibbles.reshape(*words.shape[:-1], -1).astype(np.int64)
    return np.where(signed & (values > 7), values - 16, values)


def unpack_bytes(packed: Any, dtype: Any) -> Array:
    """Return the same bits as numbers of another type, the lowest bits first."""
    return np.ascontiguousarray(packed).view(dtype)
