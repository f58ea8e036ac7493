"""Kernels in Triton's language, each in as many shapes as its constants allow. Read by
`compile_triton.py` only."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, stride, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    total = tl.load(x + places * stride, inside) + tl.load(y + places * stride, inside)
    tl.store(out + places * stride, total, inside)


@triton.jit
def softmax(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * stride + places, inside, -float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(
        out + row * stride + places, (powers / tl.sum(powers, 0)).to(out.dtype.element_ty), inside
    )


@triton.jit
def layer_norm(x, weight, bias, out, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        places = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + places, places < columns, 0.0).to(tl.float32)
    mean = tl.sum(total, 0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        places = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + places, places < columns, 0.0).to(tl.float32)
        centred = tl.where(places < columns, values - mean, 0.0)
        squares += centred * centred
    factor = tl.rsqrt(tl.sum(squares, 0) / columns + epsilon)
    for start in range(0, columns, BLOCK):
        places = start + tl.arange(0, BLOCK)
        inside = places < columns
        values = tl.load(x + row * stride + places, inside, 0.0).to(tl.float32)
        scaled = (values - mean) * factor * tl.load(weight + places, inside) + tl.load(
            bias + places, inside
        )
        tl.store(out + row * stride + places, scaled.to(out.dtype.element_ty), inside)


@triton.jit
def matmul(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column, c_row,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """C = A B. The blocks of GROUP rows of C go to neighbouring programs."""
    number = tl.program_id(0)
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = number // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    rows = (first + number % (GROUP * across) % height) * BM + tl.arange(0, BM)
    columns = number % (GROUP * across) // height * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), SUM)
    for start in range(0, K, BK):
        here = start + depth
        left = tl.load(
            a + rows[:, None] * a_row + here[None, :] * a_column,
            (rows[:, None] < M) & (here[None, :] < K),
            0.0,
        )
        right = tl.load(
            b + here[:, None] * b_row + columns[None, :] * b_column,
            (here[:, None] < K) & (columns[None, :] < N),
            0.0,
        )
        total = tl.dot(left, right, total, out_dtype=SUM)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * c_row + columns[None, :], total.to(c.dtype.element_ty), inside)


@triton.jit
def attention(
    q, k, v, out, length, scale, head_stride,
    BM: tl.constexpr, BN: tl.constexpr, HEAD: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Softmax over the keys as they come, with a running maximum; program (i, j): query block i of
    head j."""
    base = tl.program_id(1) * head_stride
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    depth = tl.arange(0, HEAD)
    queries = tl.load(q + base + rows[:, None] * HEAD + depth[None, :], rows[:, None] < length, 0.0)
    largest = tl.full((BM,), -1e30, tl.float32)
    weights = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, HEAD), tl.float32)
    end = min(length, (tl.program_id(0) + 1) * BM) if CAUSAL else length
    for start in range(0, end, BN):
        columns = start + tl.arange(0, BN)
        keys = tl.load(
            k + base + columns[None, :] * HEAD + depth[:, None], columns[None, :] < length, 0.0
        )
        values = tl.load(
            v + base + columns[:, None] * HEAD + depth[None, :], columns[:, None] < length, 0.0
        )
        scores = tl.dot(queries, keys) * scale
        seen = columns[None, :] < length
        if CAUSAL:
            seen = seen & (columns[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -1e30)
        now = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp(scores - now[:, None])
        fade = tl.exp(largest - now)
        weights = weights * fade + tl.sum(powers, 1)
        total = total * fade[:, None] + tl.dot(powers.to(values.dtype), values)
        largest = now
    result = (total / weights[:, None]).to(out.dtype.element_ty)
    tl.store(out + base + rows[:, None] * HEAD + depth[None, :], result, rows[:, None] < length)


@triton.jit
def row_reductions(x, sums, places_of_largest, running, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * stride + places, inside, 0)
    tl.store(sums + row, tl.sum(values, 0))
    lowest = tl.where(inside, values, -2147483648)
    tl.store(places_of_largest + row, tl.argmax(lowest, 0))
    tl.store(running + row * stride + places, tl.cumsum(values, 0), inside)


@triton.jit
def sort_rows(x, out, COLUMNS: tl.constexpr):
    places = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(out + places, tl.sort(tl.load(x + places)))


@triton.jit
def transpose(x, out, rows, columns, BR: tl.constexpr, BC: tl.constexpr):
    down = tl.program_id(0) * BR + tl.arange(0, BR)
    across = tl.program_id(1) * BC + tl.arange(0, BC)
    tile = tl.load(
        x + down[:, None] * columns + across[None, :],
        (down[:, None] < rows) & (across[None, :] < columns),
    )
    inside = (across[:, None] < columns) & (down[None, :] < rows)
    tl.store(out + across[:, None] * rows + down[None, :], tl.trans(tile), inside)


@triton.jit
def count_values(x, counts, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    tl.atomic_add(counts + tl.load(x + places, inside, 0), 1, inside)


@triton.jit
def last_program_adds(x, parts, ticket, out, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Sum in one launch: the program that comes last adds the parts of all."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts + tl.program_id(0), tl.sum(tl.load(x + places, places < n, 0.0), 0))
    tl.debug_barrier()
    if tl.atomic_add(ticket, 1) == PROGRAMS - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, PROGRAMS), cache_modifier=".cv"), 0))


@triton.jit
def mixed_arithmetic(x, y, out, n, BLOCK: tl.constexpr):
    """Elementwise functions, conversions and selections, integer division among them."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    a = tl.load(x + places, inside, 0)
    b = tl.load(y + places, inside, 1)
    quotient = a // b + a % b
    wide = (a.to(tl.int64) * b.to(tl.int64)) >> 3
    packed = tl.where(a > b, quotient, (wide & 0x7FFF).to(tl.int32))
    tl.store(out + places, packed ^ (a.to(tl.float32) * 0.25).to(tl.int32), inside)
