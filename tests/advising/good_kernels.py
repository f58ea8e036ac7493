"""Kernels of which there is nothing to say."""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import blockIdx, f32, i32, shared, threadIdx
from amdjit.intrinsics import wave
from tests.advising.slow_kernels import Case, floats


@amdjit.kernel(block=256)
def saxpy_in_fours(a, x, y):
    i = amdjit.grid(1) * 4
    for k in amdjit.static_range(4):
        y[i + k] = a * x[i + k] + y[i + k]


@amdjit.kernel(block=(32, 8))
def transpose_with_longer_rows(x, out):
    tile = shared.array((32, 33), f32)
    c, r = threadIdx.x, threadIdx.y
    for k in range(0, 32, 8):
        tile[r + k, c] = x[blockIdx.y * 32 + r + k, blockIdx.x * 32 + c]
    amdjit.syncthreads()
    for k in range(0, 32, 8):
        out[blockIdx.x * 32 + r + k, blockIdx.y * 32 + c] = tile[c, r + k]


@amdjit.kernel(block=(16, 16))
def product_in_tiles(a, b, out):
    left = shared.array((16, 16), f32)
    right = shared.array((16, 17), f32)
    x, y = threadIdx.x, threadIdx.y
    row, column = blockIdx.y * 16 + y, blockIdx.x * 16 + x
    total = f32(0)
    for k in range(0, 64, 16):
        left[y, x] = a[row, k + x]
        right[y, x] = b[k + y, column]
        amdjit.syncthreads()
        for j in amdjit.static_range(16):
            total += left[y, j] * right[j, x]
        amdjit.syncthreads()
    out[row, column] = total


@amdjit.kernel(block=256)
def sum_of_waves(x, out):
    i = amdjit.grid(1) * 4
    total = f32(0)
    for k in amdjit.static_range(4):
        total += x[i + k]
    total = wave.reduce_add(total)
    if threadIdx.x % 32 == 0:
        amdjit.atomic.add(out, 0, total)


@amdjit.kernel(block=256)
def three_points(x, out):
    part = shared.array(258, f32)
    t = threadIdx.x
    i = amdjit.grid(1) + 1
    part[t + 1] = x[i]
    if t == 0:
        part[0] = x[i - 1]
    if t == 255:
        part[257] = x[i + 1]
    amdjit.syncthreads()
    out[i] = part[t] + part[t + 1] + part[t + 2]


@amdjit.kernel(block=64)
def polynomial(x, out):
    i = amdjit.grid(1) * 4
    for k in amdjit.static_range(4):
        value = x[i + k]
        total = f32(0)
        for power in amdjit.static_range(16):
            total = total * value + f32(power)
        out[i + k] = total


@amdjit.kernel(block=(64, 4))
def rows_of_an_image(image, out):
    column, row = amdjit.grid(2)
    out[row, column] = image[row, column] * f32(0.5)


@amdjit.kernel(block=256)
def counts_in_lds(keys, out):
    counts = shared.array(256, i32)
    t = threadIdx.x
    counts[t] = 0
    amdjit.syncthreads()
    i = amdjit.grid(1) * 4
    for k in amdjit.static_range(4):
        amdjit.atomic.add(counts, keys[i + k], 1)
    amdjit.syncthreads()
    amdjit.atomic.add(out, t, counts[t])


@amdjit.kernel(block=256)
def exclusive_sums(x, out):
    part = shared.array(8, i32)
    t = threadIdx.x
    i = amdjit.grid(1)
    value = x[i]
    total = value
    for distance in amdjit.static_range(5):
        other = wave.shuffle_up(total, 1 << distance)
        if t % 32 >= 1 << distance:
            total += other
    if t % 32 == 31:
        part[t // 32] = total
    amdjit.syncthreads()
    before = i32(0)
    for k in amdjit.static_range(8):
        if k < t // 32:
            before += part[k]
    out[i] = before + total


@amdjit.kernel(block=128)
def bytes_in_sixteens(x, out):
    i = amdjit.grid(1) * 16
    for k in amdjit.static_range(16):
        out[i + k] = x[i + k] ^ 0x55


GOOD = (
    Case(saxpy_in_fours, 64, 256, lambda: (np.float32(2), floats(65536), floats(65536))),
    Case(transpose_with_longer_rows, (8, 8), (32, 8), lambda: (floats(256, 256), floats(256, 256))),
    Case(product_in_tiles, (4, 4), (16, 16), lambda: tuple(floats(64, 64) for _ in range(3))),
    Case(sum_of_waves, 32, 256, lambda: (np.ones(32768, np.float32), np.zeros(1, np.float32))),
    Case(three_points, 32, 256, lambda: (floats(8194), floats(8194))),
    Case(polynomial, 64, 64, lambda: (floats(16384), floats(16384))),
    Case(rows_of_an_image, (8, 32), (64, 4), lambda: (floats(128, 512), floats(128, 512))),
    Case(
        counts_in_lds,
        16,
        256,
        lambda: ((np.arange(16384) * 77 % 256).astype(np.int32), np.zeros(256, np.int32)),
    ),
    Case(exclusive_sums, 16, 256, lambda: (np.ones(4096, np.int32), np.zeros(4096, np.int32))),
    Case(
        bytes_in_sixteens,
        32,
        128,
        lambda: (np.arange(65536, dtype=np.uint8), np.zeros(65536, np.uint8)),
    ),
)
