"""Products of f32 matrices in the first steps of a published series of ever faster kernels for an
RX 7900 XTX (seb-v/fp32_sgemm_amd, 4096 by 4096 matrices), as far as their forms are described."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import blockIdx, f32, local, shared, static_range, syncthreads, threadIdx

__all__ = ["STEPS", "Step", "run_step"]

# A kernel, the shape of a workgroup, the rows and columns that it computes, the published ms.
Step = tuple[Any, Any, int, float]

# Rows and columns that a workgroup computes, and that a work-item does of them in registers.
SMALL, TILE, PART, DEPTH = 32, 128, 8, 8


@amdjit.kernel(block=(16, 16))
def naive(a, b, c):
    column, row = amdjit.grid(2)
    total = f32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, column]
    c[row, column] = total


@amdjit.kernel(block=(SMALL, SMALL))
def lds_tiles(a, b, c):
    x, y = threadIdx.x, threadIdx.y
    row, column = blockIdx.y * SMALL + y, blockIdx.x * SMALL + x
    left, right = shared.array((SMALL, SMALL), f32), shared.array((SMALL, SMALL), f32)
    total = f32(0)
    for first in range(0, a.shape[1], SMALL):
        left[y, x] = a[row, first + x]
        right[y, x] = b[first + y, column]
        syncthreads()
        for k in static_range(SMALL):
            total += left[y, k] * right[k, x]
        syncthreads()
    c[row, column] = total


@amdjit.kernel(block=256)
def register_tiles(a, b, c):
    t = threadIdx.x
    x, y = t % 16 * PART, t // 16 * PART
    top, first_column = blockIdx.y * TILE, blockIdx.x * TILE
    left, right = shared.array((DEPTH, TILE), f32), shared.array((DEPTH, TILE), f32)
    totals = local.array((PART, PART), f32)
    for i in static_range(PART):
        for j in static_range(PART):
            totals[i, j] = f32(0)
    for first in range(0, a.shape[1], DEPTH):
        for part in static_range(4):
            place = part * 256 + t
            left[place % DEPTH, place // DEPTH] = a[top + place // DEPTH, first + place % DEPTH]
            right[place // TILE, place % TILE] = b[
                first + place // TILE, first_column + place % TILE
            ]
        syncthreads()
        for k in static_range(DEPTH):
            for i in static_range(PART):
                for j in static_range(PART):
                    totals[i, j] += left[k, y + i] * right[k, x + j]
        syncthreads()
    for i in static_range(PART):
        for j in static_range(PART):
            c[top + y + i, first_column + x + j] = totals[i, j]


@amdjit.kernel(block=256)
def fetched_ahead(a, b, c):  # noqa: C901 - the published step in one piece
    t = threadIdx.x
    x, y = t % 16 * PART, t // 16 * PART
    top, first_column = blockIdx.y * TILE, blockIdx.x * TILE
    left, right = shared.array((DEPTH, TILE), f32), shared.array((DEPTH, TILE), f32)
    totals = local.array((PART, PART), f32)
    ahead = local.array(8, f32)
    for i in static_range(PART):
        for j in static_range(PART):
            totals[i, j] = f32(0)
    for part in static_range(4):
        place = part * 256 + t
        ahead[part] = a[top + place // DEPTH, place % DEPTH]
        ahead[4 + part] = b[place // TILE, first_column + place % TILE]
    for first in range(DEPTH, a.shape[1] + DEPTH, DEPTH):
        for part in static_range(4):
            place = part * 256 + t
            left[place % DEPTH, place // DEPTH] = ahead[part]
            right[place // TILE, place % TILE] = ahead[4 + part]
        syncthreads()
        if first < a.shape[1]:
            for part in static_range(4):
                place = part * 256 + t
                ahead[part] = a[top + place // DEPTH, first + place % DEPTH]
                ahead[4 + part] = b[first + place // TILE, first_column + place % TILE]
        for k in static_range(DEPTH):
            for i in static_range(PART):
                for j in static_range(PART):
                    totals[i, j] += left[k, y + i] * right[k, x + j]
        syncthreads()
    for i in static_range(PART):
        for j in static_range(PART):
            c[top + y + i, first_column + x + j] = totals[i, j]


STEPS: dict[str, Step] = {
    "f32, naive": (naive, (16, 16), 16, 136.0),
    "f32, LDS tiles": (lds_tiles, (SMALL, SMALL), SMALL, 34.2),
    "f32, register tiles": (register_tiles, 256, TILE, 6.03),
    "f32, fetched ahead": (fetched_ahead, 256, TILE, 5.38),
}


def run_step(step: Step, extent: int, depth: int) -> None:
    """Run a step on one workgroup's part of a product."""
    a, b = np.ones((extent, depth), np.float32), np.ones((depth, extent), np.float32)
    step[0][(1, 1), step[1]](a, b, np.zeros((extent, extent), np.float32))
