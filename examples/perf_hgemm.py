"""D = alpha A B + beta C in f16, as fast as fragments allow, after rocWMMA's perf_hgemm sample.

A workgroup of 4 waves computes a 128 by 128 tile of D, each wave a 64 by 64 quarter of it. B is
given by columns, that is, as its transpose. The loop over k has 32 WMMAs and 16 reads of LDS per
step, and nothing else on the vector unit (docs/fast_gemm.md). This is how:

- Two tiles of LDS take turns. While the waves multiply one step of k from the first, the next step
  is on its way from global memory into the second, so one barrier per step is enough. The loop
  takes two steps per iteration, so that each step's tile is known: addresses in LDS are then
  constants in the instructions.
- The waves load each tile together, each its own blocks, 16 bytes per lane; the place of a block is
  scalar arithmetic.
- The barrier orders only LDS: loads from global memory stay in flight across it.
- `sched_barrier` keeps the compiler from waiting for the next tile before it multiplies this one.
- The fragments compute the transpose, D^T = B^T A^T: a lane then holds neighbours of a row of D,
  and stores them at once.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f16x8, f32, f32x8, shared, static_range
from amdjit.examples.report import Report, compare_relative, small_integers
from amdjit.examples.waves import lanes, of_waves
from amdjit.intrinsics import matrix, wave
from amdjit.intrinsics.sync import lds_barrier, sched_barrier

WAVES = 4
TILE = 128
QUARTER = 64


@amdjit.device_function
def strip_of(dtype, step):
    """Return an accumulator for 16 rows of a wave's quarter of D, which are 16 columns of its
    transpose."""
    return matrix.fragment(matrix.accumulator, QUARTER, 16, step, dtype, matrix.col_major)


@amdjit.device_function
def multiply(a_tile, b_tile, row, column, dtype, depth, total):
    """Add a tile's products to the wave's accumulators. Each step goes as far along k as one read
    of LDS."""
    step = total[0].kind.k
    left = matrix.fragment(matrix.matrix_a, QUARTER, 16, step, dtype, matrix.row_major, wide_k=True)
    right = matrix.fragment(
        matrix.matrix_b, QUARTER, 16, step, dtype, matrix.col_major, wide_k=True
    )
    for k in static_range(0, depth, step):
        matrix.load_matrix_sync(left, b_tile, (column, k))
        for strip in static_range(len(total)):
            matrix.load_matrix_sync(right, a_tile, (row + 16 * strip, k))
            matrix.mma_sync(total[strip], left, right, total[strip])


@amdjit.device_function
def compute_tile(a, b, c, d, kinds, depth, finish, parameters):
    """Compute the workgroup's tile of D: `finish(total, part, parameters)` turns a part of C into
    it, strip by strip.

    kinds: the types of A's and B's elements, and of their sums. depth: a tile's extent along k.
    """
    dtype, sum_type = kinds
    step = 32 // dtype.nbytes  # of k in 16 bytes of each half of a wave
    # 16 extra bytes per row, so that neighbouring rows begin in different banks.
    a_tiles = shared.array((2, TILE, depth + 16 // dtype.nbytes), dtype)
    b_tiles = shared.array((2, TILE, depth + 16 // dtype.nbytes), dtype)
    number = wave.wave_id()
    first_row, first_column = TILE * blockIdx.y, TILE * blockIdx.x
    row, column = QUARTER * (number // 2), QUARTER * (number % 2)
    a_part = matrix.fragment(
        matrix.matrix_a, TILE, TILE, depth, dtype, matrix.row_major, wide_k=True
    )
    b_part = matrix.fragment(
        matrix.matrix_b, TILE, TILE, depth, dtype, matrix.col_major, wide_k=True
    )
    total = tuple(strip_of(sum_type, step) for _ in range(QUARTER // 16))
    for strip in total:
        matrix.fill_fragment(strip, 0)

    matrix.load_matrix_coop_sync(a_part, a, (first_row, 0), number, WAVES)
    matrix.load_matrix_coop_sync(b_part, b, (first_column, 0), number, WAVES)
    for k in range(0, a.shape[1], 2 * depth):
        for turn in static_range(2):
            if turn == 0 or k + depth < a.shape[1]:
                following = k + (turn + 1) * depth
                matrix.store_matrix_coop_sync(a_tiles[turn], a_part, (0, 0), number, WAVES)
                matrix.store_matrix_coop_sync(b_tiles[turn], b_part, (0, 0), number, WAVES)
                lds_barrier()
                if following < a.shape[1]:
                    matrix.load_matrix_coop_sync(a_part, a, (first_row, following), number, WAVES)
                    matrix.load_matrix_coop_sync(
                        b_part, b, (first_column, following), number, WAVES
                    )
                sched_barrier()
                multiply(a_tiles[turn], b_tiles[turn], row, column, dtype, depth, total)
                sched_barrier()

    old = strip_of(d.dtype, step)
    for i in static_range(len(total)):
        place = first_row + row + 16 * i, first_column + column
        matrix.load_matrix_sync(old, c, place)
        finish(total[i], old, parameters)
        matrix.store_matrix_sync(d, old, place)


@amdjit.device_function
def scaled_sum(total, part, parameters):
    """Set a part of C to alpha total + beta C, eight elements at a time."""
    alpha, beta = parameters
    for e in static_range(0, part.num_elements, 8):
        part.x.store(e, f16x8(alpha * total.x.load(e, 8) + beta * f32x8(part.x.load(e, 8))))


@amdjit.kernel(block=(32 * WAVES, 1, 1))
def perf_hgemm(a, b, c, d, alpha, beta):
    """a: m by k; b: n by k, the transpose of B; c, d: m by n; m and n multiples of 128, k of 32."""
    compute_tile(a, b, c, d, (f16, f32), 32, scaled_sum, (alpha, beta))


def main(m: int = 256, n: int = 128, k: int = 160) -> Report:
    """Multiply rocWMMA's integers, which f16 holds; its rule is 10 epsilon."""
    a, b, c = small_integers(m, k), small_integers(n, k), small_integers(m, n)
    d = np.full((m, n), np.nan, np.float16)
    launch = of_waves(perf_hgemm, WAVES)[(n // TILE, m // TILE), lanes() * WAVES]
    launch(a, b, c, d, f32(2), f32(2))
    expected = 2 * (a.astype(np.float64) @ b.T.astype(np.float64)) + 2 * c.astype(np.float64)
    return compare_relative(
        "perf_hgemm", f"2 A B + 2 C of {m}x{n}x{k} f16 against NumPy", d, expected, 10
    )


if __name__ == "__main__":
    print(main())
