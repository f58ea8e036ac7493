"""C = A B for any M, N, K that are multiples of 16: f16 in, f32 out, on the matrix cores, through
LDS.

A workgroup of 4 waves computes a 128 by 128 tile of C, each wave a 64 by 64 quarter of it in 16
accumulators. For every 32 steps of k the waves together load a 128 by 32 tile of A and a 32 by 128
tile of B into LDS, then read them from there 4 times over. Notes on the order of elements and
steps:

- LDS holds B by columns, so that the 8 values of k that a lane needs are adjacent: one 128-bit read
  per fragment, as for A. Each work-item transposes its 4 by 8 block of B in registers on the way.
- The WMMA gets B as its first operand and A as its second. It then computes the transpose of the
  tile, so that a lane holds 8 neighbouring elements of one row of C: two 128-bit stores instead of
  eight narrow ones.
- The next tile is on its way from global memory while the WMMAs of this one run; barriers order
  only LDS accesses.
- Rows of LDS are 8 elements longer than the tile, so that lanes that read different rows hit
  different banks.
- Where the tile extends beyond the matrix, work-items read a valid place instead, and the results
  are not stored. Only k must end exactly: its last tile may have one step of 16 instead of two.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f16x4, f16x8, f32x4, f32x8, local, shared, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import amdgcn, wave
from amdjit.intrinsics.sync import lds_barrier

THREADS = 128
TILE = 128  # of C, both ways
WAVE_TILE = 64  # a wave's quarter
DEPTH = 32  # of a tile of A and B
PITCH = DEPTH + 8  # elements from one row in LDS to the next


@amdjit.device_function
def load_tiles(a, b, k, a_part, b_part):
    """Load this work-item's share: 4 rows' 8 elements of A's tile, and 4 by 8 of B's."""
    t = threadIdx.x
    rows, columns, depth = a.shape[0], b.shape[1], a.shape[1]
    a_column = min(k + 8 * (t % 4), depth - 8)
    b_row = min(k + 4 * (t // 16), depth - 4)
    b_column = min(TILE * blockIdx.x + 8 * (t % 16), columns - 8)
    for i in static_range(4):
        a_row = min(TILE * blockIdx.y + 32 * i + t // 4, rows - 1)
        a_part[i] = a.load((a_row, a_column), 8)
        b_part[i] = b.load((b_row + i, b_column), 8)


@amdjit.device_function
def store_tiles(a_tile, b_tile, a_part, b_part):
    """Put this work-item's share into LDS, B's by columns."""
    t = threadIdx.x
    for i in static_range(4):
        a_tile.store(PITCH * (32 * i + t // 4) + 8 * (t % 4), a_part[i])
    for j in static_range(8):
        column = f16x4(b_part[0][j], b_part[1][j], b_part[2][j], b_part[3][j])
        b_tile.store(PITCH * (8 * (t % 16) + j) + 4 * (t // 16), column)


@amdjit.device_function
def multiply(a_tile, b_tile, step, row, column, total):
    """Add 16 steps of k to the wave's accumulators."""
    lane = threadIdx.x % 32
    place = PITCH * (lane % 16) + 8 * (lane // 16) + 16 * step
    a_fragments = local.array(4, f16x8)
    for i in static_range(4):
        a_fragments[i] = a_tile.load(PITCH * (row + 16 * i) + place, 8)
    for j in static_range(4):
        b_fragment = b_tile.load(PITCH * (column + 16 * j) + place, 8)
        for i in static_range(4):
            total[i, j] = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(
                b_fragment, a_fragments[i], total[i, j]
            )


@amdjit.device_function
def store_result(c, row, column, total):
    """Write the part of the wave's accumulators that lies in C."""
    lane = threadIdx.x % 32
    for i in static_range(4):
        for j in static_range(4):
            if row + 16 * i < c.shape[0] and column + 16 * j < c.shape[1]:
                sums = total[i, j]
                place = row + 16 * i + lane % 16, column + 16 * j + 8 * (lane // 16)
                c.store(place, f32x4(sums[0], sums[1], sums[2], sums[3]))
                c.store((place[0], place[1] + 4), f32x4(sums[4], sums[5], sums[6], sums[7]))


@amdjit.kernel(block=(THREADS, 1, 1))
def wmma_gemm(a, b, c):
    a_tile = shared.array(PITCH * TILE, f16)
    b_tile = shared.array(PITCH * TILE, f16)
    a_part, b_part = local.array(4, f16x8), local.array(4, f16x8)
    total = local.array((4, 4), f32x8)
    for i in static_range(4):
        for j in static_range(4):
            total[i, j] = f32x8()

    quarter = wave.wave_id()
    row, column = WAVE_TILE * (quarter // 2), WAVE_TILE * (quarter % 2)
    depth = a.shape[1]
    load_tiles(a, b, 0, a_part, b_part)
    for k in range(0, depth, DEPTH):
        store_tiles(a_tile, b_tile, a_part, b_part)
        lds_barrier()
        if k + DEPTH < depth:
            load_tiles(a, b, k + DEPTH, a_part, b_part)
        multiply(a_tile, b_tile, 0, row, column, total)
        if k + 16 < depth:
            multiply(a_tile, b_tile, 1, row, column, total)
        lds_barrier()

    store_result(c, TILE * blockIdx.y + row, TILE * blockIdx.x + column, total)


def gemm(a, b, c) -> None:
    """C = A B for arrays of f16, f16 and f32, on the host or the device. Raises ValueError for
    shapes that do not fit."""
    (m, k), n = a.shape, b.shape[1]
    if (
        b.shape[0] != k
        or c.shape != (m, n)
        or any(extent % 16 or not extent for extent in (m, n, k))
    ):
        raise ValueError(
            f"shapes {a.shape} x {b.shape} -> {c.shape}: they must fit and be multiples of 16"
        )
    wmma_gemm[((n + TILE - 1) // TILE, (m + TILE - 1) // TILE), THREADS](a, b, c)


def main(m: int = 1024, n: int = 1024, k: int = 1024) -> Report:
    """Multiply random matrices and compare with NumPy's f32 product."""
    random = np.random.default_rng(9)
    a = random.uniform(-1, 1, (m, k)).astype(np.float16)
    b = random.uniform(-1, 1, (k, n)).astype(np.float16)
    c = np.empty((m, n), np.float32)
    gemm(a, b, c)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    # Sums of k products below 1, in a different order than NumPy's.
    tolerance = 4 * float(np.finfo(np.float32).eps) * k
    return compare(
        "wmma_gemm",
        f"a {m}x{k} by {k}x{n} product of f16 in f32 against NumPy",
        c,
        expected,
        tolerance,
    )


if __name__ == "__main__":
    print(main())
