"""Attention forward, softmax(Q K^T / sqrt(d)) V, in one pass over the keys: no matrix of scores in
memory.

Each wave has 16 queries; the workgroup loads keys and values for all its waves. A wave computes the
transposes S^T = K Q^T and O^T = V^T P^T. A query is then a column, whose maximum and sum cost a
lane one exchange with another (`matrix.reduce`), and P, the exponentials of an accumulator, is
directly the right operand of the next product. For the mask, `matrix.place_of` says which key and
query an element belongs to.

After "FlashAttention-2" (Dao, 2023): whenever the maximum grows, the sums so far are scaled down.
"""

from __future__ import annotations

import math

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f32, shared, static_range
from amdjit.examples.report import Report, compare_relative
from amdjit.examples.waves import lanes, of_waves
from amdjit.intrinsics import amdgcn, matrix, wave

WAVES = 4
DEPTH = 64  # of a head: elements of a query
KEYS = 32  # of a step
LOG2_E = math.log2(math.e)
INFINITY = f32("inf")


@amdjit.device_function
def load_step(k, v, key, key_tile, value_tile):
    """Bring keys into LDS, and values transposed: each wave a quarter of their columns."""
    number = wave.wave_id()
    keys = matrix.fragment(matrix.matrix_a, KEYS, 16, DEPTH, f16, matrix.row_major)
    values = matrix.fragment(matrix.matrix_a, KEYS, 16, DEPTH // WAVES, f16, matrix.row_major)
    matrix.load_matrix_coop_sync(keys, k, (key, 0), number, WAVES, clip=True)
    matrix.load_matrix_sync(values, v, (key, DEPTH // WAVES * number), clip=True)
    matrix.synchronize_workgroup()
    matrix.store_matrix_coop_sync(key_tile, keys, (0, 0), number, WAVES)
    matrix.store_matrix_sync(value_tile, matrix.transpose(values), (DEPTH // WAVES * number, 0))
    matrix.synchronize_workgroup()


@amdjit.device_function
def mask(scores, key, query, key_count, is_causal):
    """Mask the keys after the last one and, if the attention is causal, those after their query."""
    for i in static_range(scores.num_elements):
        row, column = matrix.place_of(scores, i)
        last = min(key_count - 1, query + column) if is_causal else key_count - 1
        scores.x[i] = scores.x[i] if key + row <= last else -INFINITY


@amdjit.kernel(block=(32 * WAVES, 1, 1))
def flash_attention(q, k, v, out, scale, is_causal: amdjit.Const):
    """q, out: f16 [heads, queries, 64]; k, v: [heads, keys, 64]; grid: (queries / 64, heads).
    scale: of the scores."""
    key_tile, value_tile = (
        shared.array((KEYS, DEPTH + 8), f16),
        shared.array((DEPTH, KEYS + 8), f16),
    )
    head, query = blockIdx.y, 16 * (WAVES * blockIdx.x + wave.wave_id())
    queries = matrix.fragment(matrix.matrix_b, KEYS, 16, DEPTH, f16, matrix.col_major)
    keys = matrix.fragment(matrix.matrix_a, KEYS, 16, DEPTH, f16, matrix.row_major)
    scores = matrix.fragment(matrix.accumulator, KEYS, 16, DEPTH, f32)
    values = matrix.fragment(matrix.matrix_a, DEPTH, 16, KEYS, f16, matrix.row_major)
    rounded = matrix.fragment(matrix.accumulator, KEYS, 16, DEPTH, f16)
    total = matrix.fragment(matrix.accumulator, DEPTH, 16, KEYS, f32, matrix.col_major)
    result = matrix.fragment(matrix.accumulator, DEPTH, 16, KEYS, f16, matrix.col_major)
    matrix.load_matrix_sync(queries, q[head], (query, 0), clip=True)
    matrix.fill_fragment(total, 0)
    peak, weight = -INFINITY, f32(0)  # of the lane's query

    key_count = k.shape[1]
    last = min(key_count, 16 * WAVES * (blockIdx.x + 1)) if is_causal else key_count
    for key in range(0, last, KEYS):
        load_step(k[head], v[head], key, key_tile, value_tile)
        matrix.load_matrix_sync(keys, key_tile)
        matrix.load_matrix_sync(values, value_tile)
        matrix.fill_fragment(scores, 0)
        matrix.mma_sync(scores, keys, queries, scores)
        if key + KEYS > (min(key_count, query + 1) if is_causal else key_count):
            mask(scores, key, query, key_count, is_causal)
        highest = max(peak, scale * matrix.reduce(scores, 0, "max")[0])
        rescale = amdgcn.exp2f(peak - highest)
        for i in static_range(scores.num_elements):
            scores.x[i] = amdgcn.exp2f(scale * scores.x[i] - highest)
            rounded.x[i] = f16(scores.x[i])
        peak, weight = highest, rescale * weight + matrix.reduce(scores, 0)[0]
        for i in static_range(total.num_elements):
            total.x[i] = rescale * total.x[i]
        weights = matrix.apply_fragment(
            rounded, matrix.matrix_b, DEPTH, 16, KEYS, f16, matrix.col_major
        )
        matrix.mma_sync(total, values, weights, total)
    inverse = 1 / weight
    for i in static_range(total.num_elements):
        result.x[i] = f16(inverse * total.x[i])
    matrix.store_matrix_sync(out[head], result, (query, 0), clip=True)


def run(heads: int, query_count: int, key_count: int, is_causal: bool) -> Report:
    """Attend to random keys, of which each query prefers different ones."""
    random = np.random.default_rng(3)
    q = random.standard_normal((heads, query_count, DEPTH)).astype(np.float16)
    k, v = random.standard_normal((2, heads, key_count, DEPTH)).astype(np.float16)
    out = np.full_like(q, np.nan)
    grid = -(-query_count // (16 * WAVES)), heads
    launch = of_waves(flash_attention, WAVES)[grid, lanes() * WAVES]
    launch(q, k, v, out, f32(LOG2_E / math.sqrt(DEPTH)), is_causal)
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) / math.sqrt(DEPTH)
    if is_causal:
        scores = np.where(np.arange(key_count) <= np.arange(query_count)[:, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = weights @ v.astype(np.float64) / weights.sum(axis=2, keepdims=True)
    text = (
        f"{'causal ' if is_causal else ''}attention of {heads} heads, {query_count} queries, "
        f"{key_count} keys"
    )
    return compare_relative("flash_attention", f"{text}, against NumPy", out, expected, 10)


def main() -> list[Report]:
    """Run sizes that are no multiples of tiles."""
    return [run(2, 72, 104, False), run(1, 75, 75, True)]


if __name__ == "__main__":
    print(*main(), sep="\n")
