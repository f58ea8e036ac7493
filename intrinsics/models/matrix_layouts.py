"""Where a matrix element lies in the registers of a wave, for each WMMA and SWMMAC instruction of
gfx12 and of gfx11.

An instruction's name says everything: `wmma_f32_16x16x16_f16_w32_gfx12`,
`swmmac_i32_16x16x64_iu4_w64`. A sparse A is described as it is stored: 16 rows of K / 2 kept
elements. The operand `index` says where they stand in each group of four k.

gfx11 has dense products only. Each group of 16 lanes holds all of A and B; the groups take turns at
the rows of C and D. An element of a 16-bit C or D has a register of its own: its lower half, or
with `op_sel` the upper one.

Sources: RDNA4 ISA, 7.12 "Wave Matrix Multiply Accumulate"; RDNA3 ISA, 7.9; AMD's matrix instruction
calculator 1.3.2, which lists the same places for dense A, B, C, D and for sparse A, B and the
index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

from amdjit.target import TARGETS, Feature, find_target

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


class Generation(Enum):
    """Processors with the same matrix instructions: those of CDNA have MFMA, each its own set."""

    GFX11 = "gfx11"
    GFX12 = "gfx12"
    GFX908 = "gfx908"
    GFX90A = "gfx90a"
    GFX942 = "gfx942"
    GFX950 = "gfx950"

    @property
    def is_cdna(self) -> bool:
        """Whether the instructions are MFMA and SMFMAC (`mfma_instructions`)."""
        return self not in (Generation.GFX11, Generation.GFX12)


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
# Those of gfx11, which has no sparse ones.
_DENSE_GFX11 = _DENSE[:6]


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
    generation: Generation = Generation.GFX12

    @property
    def name(self) -> str:
        """clang's name of the builtin, without `__builtin_amdgcn_`."""
        is_marked = self.generation is Generation.GFX12 and not self.is_sparse
        return f"{self.mnemonic}_w{self.wave_size}{'_gfx12' if is_marked else ''}"

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
        if self.generation is Generation.GFX11:
            return self._repeated(operand)
        if operand in ("c", "d"):
            elements = 256 // self.wave_size
            return Layout(
                self.name,
                operand,
                kind=self.result,
                rows=16,
                columns=16,
                lanes=self.wave_size,
                elements=elements,
                steps=(elements, 0, 8, 4),
            )
        held = self.k if operand == "b" else self.held_k
        kind = self.b if operand == "b" else self.a
        lanes = min(self.wave_size, 16 * held * BITS[kind] // 32)  # a lane holds at least a dword
        elements = 16 * held // lanes
        rows, columns = (held, 16) if operand == "b" else (16, held)
        steps = _steps(kind, elements, self.wave_size, lanes)
        shown = "position" if operand == "index" else kind
        return Layout(
            self.name,
            operand,
            kind=shown,
            rows=rows,
            columns=columns,
            lanes=lanes,
            elements=elements,
            steps=steps,
        )

    def _repeated(self, operand: str) -> Layout:
        """Return how an operand lies in a wave of gfx11."""
        if operand in ("c", "d"):
            groups = self.wave_size // 16
            return Layout(
                self.name,
                operand,
                kind=self.result,
                rows=16,
                columns=16,
                lanes=self.wave_size,
                elements=16 // groups,
                steps=(1, groups, 1, 2),
                slot_bits=32,
            )
        kind = self.b if operand == "b" else self.a
        return Layout(
            self.name,
            operand,
            kind=kind,
            rows=16,
            columns=16,
            lanes=16,
            elements=16,
            steps=(16, 0, 0, 0),
            copies=self.wave_size // 16,
        )


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
    the next, in lanes 16..31 of every 32, and in lanes 32..63. copies: how often the wave holds all
    of it; lane n beyond the first `lanes` holds what lane n - `lanes` does. slot_bits: bits of a
    register that an element takes, 0 for its own width.
    """

    instruction: str
    operand: str
    kind: str
    rows: int
    columns: int
    lanes: int
    elements: int
    steps: tuple[int, int, int, int]
    copies: int = 1
    slot_bits: int = 0

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return BITS[self.kind]

    @property
    def sets(self) -> int:
        """How many of these operands a lane's 32-bit register holds; an `index` has fewer than 32
        bits."""
        return max(1, 32 // self.set_bits)

    @property
    def is_spread(self) -> bool:
        """Whether each element has a register of which it takes a part."""
        return self.slot_bits > self.bits

    @property
    def set_bits(self) -> int:
        """How far one of several `sets` is from the next in a register."""
        return self.bits if self.is_spread else self.bits * self.elements

    @property
    def registers(self) -> int:
        """32-bit registers of a lane."""
        return max(1, (self.slot_bits or self.bits) * self.elements // 32)

    @property
    def wave_size(self) -> int:
        """Lanes of the wave, including those that hold nothing."""
        return 64 if "_w64" in self.instruction else 32

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
        holders = self.lanes * self.copies
        if not 0 <= lane < holders:
            raise IndexError(
                f"lane {lane} holds nothing of {self.operand}: lanes 0 to {holders - 1} do"
            )
        if not 0 <= i < self.elements:
            raise IndexError(
                f"element {i}: a lane holds {self.elements} elements of {self.operand}"
            )
        row, column = self.position(lane, i)
        return int(row), int(column)

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Return (lane, i) of an element of the matrix, of the first lane that holds it. Raises
        IndexError outside the matrix."""
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


def _instructions(
    dense: tuple[tuple[str, str, str, int], ...], generation: Generation
) -> Mapping[str, MatrixInstruction]:
    found = [
        MatrixInstruction(*types, False, wave_size, generation)
        for types in dense
        for wave_size in (32, 64)
    ]
    if generation is Generation.GFX12:
        found += [replace(each, k=2 * each.k, is_sparse=True) for each in found]
    return MappingProxyType({instruction.name: instruction for instruction in found})


INSTRUCTIONS = _instructions(_DENSE, Generation.GFX12)
GFX11_INSTRUCTIONS = _instructions(_DENSE_GFX11, Generation.GFX11)
_BY_FEATURE = MappingProxyType(
    {Feature.WMMA_GFX12: INSTRUCTIONS, Feature.WMMA_GFX11: GFX11_INSTRUCTIONS}
)


def instructions_with(features: frozenset[Feature]) -> Mapping[str, MatrixInstruction]:
    """Return the instructions of a processor with these features by clang's names; nothing if it
    has none of those here."""
    return next((_BY_FEATURE[each] for each in _BY_FEATURE if each in features), {})


@cache
def instructions_of(target: str | None) -> Mapping[str, MatrixInstruction]:
    """Return the instructions of a processor; None stands for gfx12. Raises ValueError for one that
    has none of those here."""
    if target is None:
        return INSTRUCTIONS
    processor = find_target(target)
    found = instructions_with(processor.features) if processor is not None else {}
    if not found:
        having = ", ".join(each.name for each in TARGETS if instructions_with(each.features))
        raise ValueError(f"no WMMA instructions of {target!r} are known: give one of {having}")
    return found


# Instructions that share a layout with others of the same sizes.
WMMA_16_BIT = INSTRUCTIONS["wmma_f32_16x16x16_f16_w32_gfx12"]
WMMA_8_BIT = INSTRUCTIONS["wmma_i32_16x16x16_iu8_w32_gfx12"]
WMMA_4_BIT_K16 = INSTRUCTIONS["wmma_i32_16x16x16_iu4_w32_gfx12"]
WMMA_4_BIT_K32 = INSTRUCTIONS["wmma_i32_16x16x32_iu4_w32_gfx12"]


def _without_wave(name: str) -> str:
    return re.sub(r"(_w(32|64))?(_gfx12)?$", "", name)


@cache
def matrix_instruction(name: str, target: str | None = None) -> MatrixInstruction:
    """Return the instruction with clang's name; `_gfx12` and then `_w32` may be left out.

    target: a processor, such as gfx1100; without one, the name is of gfx12. Raises ValueError for
    other names.
    """
    known = instructions_of(target)
    for suffix in ("", "_gfx12", "_w32", "_w32_gfx12"):
        if f"{name}{suffix}" in known:
            return known[f"{name}{suffix}"]
    short = {_without_wave(each): None for each in known}
    alike = get_close_matches(_without_wave(name), short, 3)
    usual = next(iter(known))
    remedy = f"did you mean {', '.join(alike)}?" if alike else f"such as {usual}"
    kinds = "WMMA or SWMMAC" if known is INSTRUCTIONS else "WMMA"
    where = next(iter(known.values())).generation.value
    raise ValueError(f"{name!r} is no {kinds} instruction of {where}: {remedy}")


def layout(name: str, operand: str, target: str | None = None) -> Layout:
    """Return how an operand (a, b, c, d, and index of sparse products) of an instruction lies in
    the wave. target: see `matrix_instruction`."""
    return matrix_instruction(name, target).layout(operand)


def unpack_nibbles(words: Array, signed: bool) -> Array:
    """Return the 4-bit integers of 32-bit words, the lowest bits first: [..., n] becomes [..., 8
    n]."""
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    nibbles = (np.ascontiguousarray(words).view(np.uint32)[..., None] >> shifts) & 15
    values = nibbles.reshape(*words.shape[:-1], -1).astype(np.int64)
    return np.where(signed & (values > 7), values - 16, values)


def index_rows(index: Array) -> Array:
    """Return which row of B each kept element of A is multiplied with; index: 0 to 3, [m, k /
    2]."""
    return 4 * (np.arange(index.shape[1]) // 2) + index
