"""The grids of rocWMMA's test plan, and the slices of them that always run: a few of each axis, in
turn."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any

from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.parameters import stored_type
from amdjit.types import (
    bf8,
    bf8_fnuz,
    bf16,
    f16,
    f32,
    f64,
    fp8,
    fp8_fnuz,
    i8,
    i16,
    i32,
    u8,
    u16,
    u32,
)
from tests.matrix.plan.plan_data import COL, ROW
from tests.matrix.plan.plan_kernels import BLOCKS, A, B, C

USES = (A, B, C)
MEMORY_TYPES = (f16, bf16, f32, f64, fp8, bf8, i8, u8, i16, u16, i32, u32)
# rows and columns of a fragment, and of the matrix: those of rocWMMA's grid U, one more than a grid
# of each.
FRAGMENTS = (
    *((16, columns) for columns in (16, 32, 64)),
    *((rows, columns) for rows in (32, 64, 128, 256) for columns in (8, 16, 32, 64)),
)
# Paddings of the input and of the output: rocWMMA's borders are of {4, 3} rows and {8, 1} columns.
PADS = (
    (0, 0, 0, 0), (4, 8, 0, 0), (4, 1, 0, 0), (3, 8, 0, 0), (3, 1, 0, 0),
    (0, 0, 4, 8), (0, 0, 4, 1), (0, 0, 3, 8), (0, 0, 3, 1),
)  # fmt: skip

# Of A, B, C and D, and of the sums: rocWMMA's columns of gfx12, and what amdjit has beyond them.
ROCWMMA_TYPES = (
    (f16, f16, f32, f32), (f16, f16, f16, f32), (f16, f16, f16, f16),
    (bf16, bf16, f32, f32), (bf16, bf16, bf16, f32), (bf16, bf16, bf16, bf16),
    (i8, i8, i32, i32), (i8, i8, i8, i32),
    (fp8, fp8, f32, f32), (bf8, bf8, f32, f32), (fp8, bf8, f32, f32), (bf8, fp8, f32, f32),
)  # fmt: skip
FURTHER_TYPES = (
    (u8, u8, i32, i32), (i8, u8, i32, i32), (u8, i8, i32, i32),
    (matrix.i4, matrix.i4, i32, i32), (matrix.u4, matrix.u4, i32, i32),
    (matrix.i4, matrix.u4, i32, i32),
    (matrix.u4, matrix.i4, i32, i32),
)  # fmt: skip
TYPES = (*ROCWMMA_TYPES, *FURTHER_TYPES)
# What only CDNA multiplies.
CDNA_TYPES = (
    (f32, f32, f32, f32), (f64, f64, f64, f64), (matrix.xf32, matrix.xf32, f32, f32),
    (fp8_fnuz, fp8_fnuz, f32, f32), (bf8_fnuz, bf8_fnuz, f32, f32),
    (fp8_fnuz, bf8_fnuz, f32, f32), (bf8_fnuz, fp8_fnuz, f32, f32),
)  # fmt: skip
# Types of products on CDNA that others have, too.
SHARED_TYPES = (*ROCWMMA_TYPES[:8],)
LAYOUTS = tuple(itertools.product((ROW, COL), repeat=3))
DEPTHS = (16, 32, 64)
WAVE_TILES = (
    (1, 1),
    (2, 1),
    (1, 2),
    (2, 2),
    (4, 1),
    (1, 4),
    (4, 2),
    (2, 4),
    (4, 4),
    (8, 1),
    (1, 8),
    (8, 2),
    (2, 8),
)
SIZES = (
    (64, 64, 1024), (32, 64, 1024), (64, 32, 1024), (256, 256, 1024), (2048, 64, 1024),
    (64, 2048, 1024),
    (512, 512, 512),
)  # fmt: skip


def fits(use: Any, rows: int, columns: int, dtype: Any) -> bool:
    """Whether the elements, one a register, are no more than a lane has."""
    return rows * columns // 32 * max(1, dtype.nbytes // 4) <= 256


def memory_grid() -> Iterator[tuple[Any, ...]]:
    """Yield (use, rows, columns, dtype, layout) of fragments."""
    for use, (rows, columns), dtype, layout in itertools.product(
        USES, FRAGMENTS, MEMORY_TYPES, (ROW, COL)
    ):
        if fits(use, rows, columns, dtype):
            yield use, rows, columns, dtype, layout


def registers(types: Any, blocks: tuple[int, int], depth: int) -> int:
    """Return how many registers a product takes, A and B counted twice as rocWMMA does on gfx12."""
    a_bits, b_bits = (
        4 if each in (matrix.i4, matrix.u4) else stored_type(each).bits for each in types[:2]
    )
    factors = (blocks[0] * a_bits + blocks[1] * b_bits) * depth // 64
    return 2 * factors + 8 * blocks[0] * blocks[1]


def tiles_of(types: Any) -> list[tuple[tuple[int, int], int]]:
    """Return the blocks of a wave and the depths that fit the registers."""
    return [
        each for each in itertools.product(WAVE_TILES, DEPTHS) if registers(types, *each) <= 256
    ]


def depths_of(types: Any, blocks: tuple[int, int]) -> tuple[int, ...]:
    """Return the depths of wave tiles with these numbers of blocks."""
    return tuple(depth for tile, depth in tiles_of(types) if tile == blocks)


def product_grid(of: tuple[Any, ...] = TYPES) -> Iterator[tuple[Any, ...]]:
    """Yield (types, blocks of a wave, depth, layouts, thread block).

    Every type with every wave tile and every depth that fits the registers, in every layout; the
    thread blocks in turn.
    """
    turns = itertools.cycle(BLOCKS)
    for types in of:
        for (blocks, depth), layouts in itertools.product(tiles_of(types), LAYOUTS):
            yield types, blocks, depth, layouts, next(turns)


def dealt_product_grid(of: tuple[Any, ...] = TYPES) -> Iterator[tuple[Any, ...]]:
    """Yield those products that are also compiled for their layouts alone.

    Every type, wave tile and depth, each dealt to one or two of the layouts, of which each gets six
    or more; the thread blocks in turn.
    """
    turns = itertools.cycle(BLOCKS)
    for types in of:
        tiles = tiles_of(types)
        deal = itertools.cycle(tiles)
        for each in LAYOUTS:
            for blocks, depth in itertools.islice(deal, max(6, -(-len(tiles) // len(LAYOUTS)))):
                yield types, blocks, depth, each, next(turns)


def covering(grid: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return few cases of a grid that have every value of every axis: those first that bring most
    new ones."""
    cases = list(grid)
    random.Random(5).shuffle(cases)
    seen: set[tuple[int, Any]] = set()
    chosen = []
    for wanted in range(len(cases[0]), 0, -1):
        for case in cases:
            if len(set(enumerate(case)) - seen) >= wanted:
                chosen.append(case)
                seen |= set(enumerate(case))
    return chosen


def named(value: Any) -> str:
    """Return a short name of a case for its test."""
    if isinstance(value, tuple):
        return "-".join(map(named, value))
    return str(getattr(value, "value", value)) if not hasattr(value, "nbytes") else value.name
