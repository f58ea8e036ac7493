"""Kernels in Triton for the tests of `amdjit.triton`: what tutorials and users write."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, row_stride, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * row_stride + i, mask=i < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * row_stride + i, values / tl.sum(values, axis=0), mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < columns
    values = tl.load(x + row * columns + i, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred) / columns + epsilon)
    result = centred * scale * tl.load(weight + i, mask=inside) + tl.load(bias + i, mask=inside)
    tl.store(out + row * columns + i, result, mask=inside)


@triton.jit
def tile_at(matrix, rows, columns, stride, m, n):
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    return tl.load(matrix + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0)


@triton.jit
def matmul(
    a, b, c, m, n, k, stride_a, stride_b, stride_c,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        inner = start + tl.arange(0, K)
        left = tile_at(a, rows, inner, stride_a, m, k)
        right = tile_at(b, inner, columns, stride_b, k, n)
        total += tl.dot(left, right, input_precision="ieee")
    place = c + rows[:, None] * stride_c + columns[None, :]
    tl.store(place, total, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(
    q, k, v, out, scale, LENGTH: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    rows, columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    query = tl.load(q + rows[:, None] * WIDTH + columns[None, :])
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, WIDTH), tl.float32)
    for start in range(0, LENGTH, BLOCK):
        there = start + tl.arange(0, BLOCK)
        key = tl.load(k + there[None, :] * WIDTH + columns[:, None])
        scores = tl.dot(query, key) * scale
        highest = tl.maximum(best, tl.max(scores, 1))
        chances, shrink = tl.exp(scores - highest[:, None]), tl.exp(best - highest)
        weight = weight * shrink + tl.sum(chances, 1)
        value = tl.load(v + there[:, None] * WIDTH + columns[None, :])
        total = total * shrink[:, None] + tl.dot(chances.to(value.dtype), value)
        best = highest
    tl.store(out + rows[:, None] * WIDTH + columns[None, :], total / weight[:, None])


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def running_sum(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def scaled_pair(pair, factor, shift, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(pair[0] + i) * factor + tl.load(pair[1] + i) + shift)


@triton.jit
def mixed(x, y, out, factor, is_kept, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    left = tl.load(x + i, mask=i < n, other=0).to(tl.float32) * factor
    total = left + tl.load(y + i * 2, mask=i < n, other=0).to(tl.float32)
    tl.store(out + i, tl.where(is_kept, total, -total), mask=i < n)


@triton.jit
def through_descriptor(x, out, BLOCK: tl.constexpr):
    block = x.load([tl.program_id(0) * BLOCK, 0])
    out.store([tl.program_id(0) * BLOCK, 0], block * 2)


@triton.autotune(configs=[triton.Config({"BLOCK": size}) for size in (64, 1024)], key=["n"])
@triton.jit
def tuned_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def doubles_without_mask(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i)  # BUG: no mask of the load
    tl.store(out + i, values * 2, mask=i < n)


@triton.jit
def stores_without_mask(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) * 2)  # BUG: no mask of the store


@triton.jit
def all_write_one(out, BLOCK: tl.constexpr):
    tl.store(out, tl.load(out) + tl.program_id(0))  # BUG: a race


@triton.jit
def sum_of_pointed_to(pointers, out, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for number in range(COUNT):
        total += tl.load(tl.load(pointers + number).to(tl.pointer_type(tl.float32)) + i)
    tl.store(out + i, total)
