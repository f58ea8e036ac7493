"""Kernels whose code quality is measured, in addition to the examples. The same algorithms in C are
in benchmarks/c."""

from __future__ import annotations

import amdjit
from amdjit import atomic, blockIdx, f16, f32, i32, shared, static_range, threadIdx
from amdjit.intrinsics import amdgcn, matrix, sync, wave

THREADS = 256
BINS = 256
LOG2_E = 1.4426950408889634


@amdjit.kernel(block=(THREADS, 1, 1), fastmath=frozenset({"contract"}))
def saxpy_256(a, x, y, out):
    """Compute one element per work-item, with the block compiled in, and products and sums fused as
    C compilers do."""
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


@amdjit.kernel(block=(THREADS, 1, 1), fastmath=frozenset({"contract"}))
def saxpy_4(a, x, y, out):
    """Compute four elements per work-item."""
    i = 4 * amdjit.grid(1)
    if i < out.shape[0]:
        out.store(i, a * x.load(i, 4) + y.load(i, 4))


@amdjit.kernel(block=(THREADS, 1, 1))
def tree_reduction(x, out):
    """Compute the sum of each workgroup's 256 elements with a tree in LDS."""
    t = threadIdx.x
    tree = shared.array(THREADS, f32)
    tree[t] = x[amdjit.grid(1)]
    sync.lds_barrier()
    for level in amdjit.static_range(8):
        if t < THREADS >> (level + 1):
            tree[t] += tree[t + (THREADS >> (level + 1))]
        sync.lds_barrier()
    if t == 0:
        out[blockIdx.x] = tree[0]


@amdjit.kernel(block=(THREADS, 1, 1))
def wave_reduction(x, out):
    """Compute the same sum by exchanging values between lanes, with one barrier."""
    i, t = amdjit.grid(1), threadIdx.x
    total = wave.reduce_add(x[i] if i < x.shape[0] else 0.0)
    partial = shared.array(8, f32)
    if t % 32 == 0:
        partial[t // 32] = total
    sync.lds_barrier()
    last = partial[t % 8]
    last += wave.swap_in_rows(last, 1)
    last += wave.swap_in_rows(last, 2)
    last += wave.swap_in_rows(last, 4)
    if t == 0:
        out[blockIdx.x] = last


@amdjit.kernel(block=(32, 1, 1), fastmath=frozenset({"contract"}))
def row_softmax(x, out):
    """Compute the softmax of each row in one wave; each lane handles every 32nd column."""
    row, lane = blockIdx.x, threadIdx.x
    columns = x.shape[1]
    largest = f32(-3.0e38)
    for c in amdjit.unroll(range(lane, columns, 32), 1):
        largest = max(largest, x[row, c])
    largest = wave.reduce_max(largest)
    total = f32(0)
    for c in amdjit.unroll(range(lane, columns, 32), 1):
        total += amdgcn.exp2f((x[row, c] - largest) * LOG2_E)
    scale = amdgcn.rcpf(wave.reduce_add(total))
    for c in amdjit.unroll(range(lane, columns, 32), 1):
        out[row, c] = amdgcn.exp2f((x[row, c] - largest) * LOG2_E) * scale


@amdjit.kernel(block=(32, 8, 1), fastmath=frozenset({"contract"}))
def stencil(x, out):
    """Compute the mean of the four neighbours minus the middle, inside the borders."""
    c, r = amdjit.grid(2)
    if 0 < r < x.shape[0] - 1 and 0 < c < x.shape[1] - 1:
        out[r, c] = 0.25 * (x[r - 1, c] + x[r + 1, c] + x[r, c - 1] + x[r, c + 1]) - x[r, c]


@amdjit.kernel(block=(THREADS, 1, 1))
def histogram(x, counts):
    """Count bytes in LDS, then add the workgroup's counts to all."""
    t = threadIdx.x
    bins = shared.array(BINS, i32)
    bins[t] = 0
    sync.lds_barrier()
    i = amdjit.grid(1)
    if i < x.shape[0]:
        atomic.add(bins, x[i], 1)
    sync.lds_barrier()
    atomic.add(counts, t, bins[t])


@amdjit.kernel(block=(16, 16, 1), fastmath=frozenset({"contract"}))
def naive_gemm(a, b, c):
    """Compute one element of the product per work-item, from f16 with sums in f32."""
    column, row = amdjit.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = f32(0)
        for k in amdjit.unroll(range(a.shape[1]), 1):
            total += f32(a[row, k]) * f32(b[k, column])
        c[row, column] = total


@amdjit.kernel(block=(16, 16, 1), fastmath=frozenset({"contract"}))
def tiled_matmul(a, b, c):
    """Multiply with 16x16 tiles in LDS, in f32. The extents are multiples of 16."""
    tx, ty = threadIdx.x, threadIdx.y
    column, row = amdjit.grid(2)
    left, right = shared.array((16, 16), f32), shared.array((16, 16), f32)
    total = f32(0)
    for k in amdjit.unroll(range(0, a.shape[1], 16), 1):
        left[ty, tx] = a[row, k + tx]
        right[ty, tx] = b[k + ty, column]
        sync.lds_barrier()
        for i in amdjit.static_range(16):
            total += left[ty, i] * right[i, tx]
        sync.lds_barrier()
    c[row, column] = total


@amdjit.kernel(block=(32, 1, 1))
def many_fragments(a, b, d):
    """Compute D^T = (A B)^T, 64 by 64 per wave, with 32 fragments of 16 by 16: 16 of D, and 8 each
    of A and B for 32 of k."""
    row, column = 64 * blockIdx.y, 64 * blockIdx.x
    left = tuple(
        matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major) for _ in range(8)
    )
    right = tuple(
        matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.col_major) for _ in range(8)
    )
    total = tuple(
        matrix.fragment(matrix.accumulator, 16, 16, 16, f32, matrix.col_major) for _ in range(16)
    )
    for part in total:
        matrix.fill_fragment(part, 0)
    for k in range(0, a.shape[1], 32):
        for i in static_range(8):
            matrix.load_matrix_sync(left[i], a, (row + 16 * (i % 4), k + 16 * (i // 4)))
            matrix.load_matrix_sync(right[i], b, (column + 16 * (i % 4), k + 16 * (i // 4)))
        for i in static_range(32):
            part = total[i % 16]
            matrix.mma_sync(part, left[i // 4 % 4 + i // 16 * 4], right[i % 4 + i // 16 * 4], part)
    for i in static_range(16):
        matrix.store_matrix_sync(d, total[i], (column + 16 * (i % 4), row + 16 * (i // 4)))


@amdjit.kernel(block=(32, 1, 1))
def many_fragments_by_rows(a, b, d):
    """Compute D = A B in the same way, but store it by rows: a lane holds neighbours of a column,
    and stores them one by one."""
    row, column = 64 * blockIdx.y, 64 * blockIdx.x
    left = tuple(
        matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major) for _ in range(8)
    )
    right = tuple(
        matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.col_major) for _ in range(8)
    )
    total = tuple(matrix.fragment(matrix.accumulator, 16, 16, 16, f32) for _ in range(16))
    for part in total:
        matrix.fill_fragment(part, 0)
    for k in range(0, a.shape[1], 32):
        for i in static_range(8):
            matrix.load_matrix_sync(left[i], a, (row + 16 * (i % 4), k + 16 * (i // 4)))
            matrix.load_matrix_sync(right[i], b, (column + 16 * (i % 4), k + 16 * (i // 4)))
        for i in static_range(32):
            part = total[i % 16]
            matrix.mma_sync(part, left[i % 4 + i // 16 * 4], right[i // 4 % 4 + i // 16 * 4], part)
    for i in static_range(16):
        matrix.store_matrix_sync(d, total[i], (row + 16 * (i % 4), column + 16 * (i // 4)))
