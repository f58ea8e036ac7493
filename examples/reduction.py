"""Add up 16 million numbers: each work-item adds its share, each workgroup adds these by a tree in
LDS, and the same kernel adds the workgroups' sums.

Every work-item reads four neighbouring elements at a time (one 128-bit load) and walks through the
array in steps of the whole grid, so that neighbouring lanes always read neighbouring memory.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import blockIdx, f32, f32x4, shared, syncthreads, threadIdx
from amdjit.examples.report import Report, compare

THREADS = 256
BLOCKS = 512


@amdjit.kernel(block=THREADS)
def sum_per_block(x, out):
    first, step = amdjit.grid(1), amdjit.gridsize(1)
    n = x.shape[0]
    whole = n // 4

    four = f32x4()
    for i in range(first, whole, step):
        four += x.load(4 * i, 4)
    total = (four[0] + four[1]) + (four[2] + four[3])
    if 4 * whole + first < n:  # up to three remaining elements
        total += x[4 * whole + first]

    tree = shared.array(THREADS, f32)
    t = threadIdx.x
    tree[t] = total
    syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            tree[t] += tree[t + stride]
        syncthreads()
        stride //= 2
    if t == 0:
        out[blockIdx.x] = tree[0]


def main(n: int = 16 * 1024 * 1024) -> Report:
    """Add up n random f32 and compare with NumPy's sum in f64."""
    x = np.random.default_rng(3).random(n, np.float32)
    partial = np.empty(BLOCKS, np.float32)
    total = np.empty(1, np.float32)
    sum_per_block[BLOCKS, THREADS](x, partial)
    sum_per_block[1, THREADS](partial, total)
    expected = x.sum(dtype=np.float64)
    # Each element goes through about n / (4 BLOCKS THREADS) + 20 additions.
    tolerance = float(np.finfo(np.float32).eps * expected)
    return compare(
        "reduction", f"the sum of {n} f32 against NumPy's in f64", total, [expected], tolerance
    )


if __name__ == "__main__":
    print(main())
