"""Kernels that the tests build."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import amdjit
from amdjit import bf16, f16, f32, f64, fp8, i8, i32, i64, shared, syncthreads, u8
from amdjit.intrinsics import matrix
from amdjit.language.compile_time import compile_time

VERTEX = np.dtype([("x", "f4"), ("id", "u1"), ("weight", "f8")])


ODD = np.dtype(
    [("2x", "f4"), ('a"?' + "?=", "i2"), ("size", "u1"), ("is_whole", "u1"), ("gap", "u1"),
     ("gap_2", "f8"), ("rows", [("int", "f4", (2, 3)), ("text", "S5")], 2)]
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A record of the host's."""

    slope: f32
    start: f64
    count: i32


@amdjit.kernel
def saxpy(a, x, y, out):
    """The usual one."""
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


@amdjit.kernel
def transposed(x, out):
    """Strided in, contiguous out."""
    i, j = amdjit.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[j, i] = x[i, j] + f32(100 * i + j)


@amdjit.kernel
def small_floats(h, b, e, c, hs, out):
    """Arrays and numbers of 8 and 16 bits."""
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = f32(h[i]) + 2 * f32(b[i]) + 4 * f32(e[i]) + f32(c) + f32(hs)
        h[i] = f16(f32(h[i]) * f32(0.5))
        b[i] = bf16(f32(b[i]) * f32(3))
        e[i] = fp8(f32(e[i]) * f32(2))


@amdjit.kernel
def records(line: Line, pair, scale: amdjit.Const, vertices, v, out):
    """A dataclass, a tuple, a constant, an array of records and a vector."""
    i = amdjit.grid(1)
    if i < line.count:
        out[i] = (
            f64(line.slope) * i + line.start + f64(pair[0]) + f64(pair[1][i]) * scale + f64(v[2])
        )
        vertices[i].x = f32(i)
        vertices[i].id = u8(i)
        vertices[i].weight = f64(i) * f64(0.5)


@amdjit.kernel(block=(64, 2))
def reversed_rows(x, out):
    """Static LDS, and an exact block."""
    tile = shared.array((2, 64), i32)
    column, row = amdjit.threadIdx.x, amdjit.threadIdx.y
    i = amdjit.blockIdx.x * 2 + row
    tile[row, column] = x[i, column]
    syncthreads()
    out[i, column] = tile[row, 63 - column]


@amdjit.kernel(block=128)
def block_sums(x, out):
    """Dynamic LDS."""
    partial = shared.dynamic(i64)
    t = amdjit.threadIdx.x
    partial[t] = i64(x[amdjit.grid(1)])
    syncthreads()
    if t == 0:
        total = i64(0)
        for k in range(amdjit.blockDim.x):
            total += partial[k]
        out[amdjit.blockIdx.x] = total


@amdjit.kernel
def numbers(n, scale, out):
    """Python's numbers, which take the types of what they meet."""
    i = amdjit.grid(1)
    if i < n:
        out[i] = out[i] * scale + f32(i)


@amdjit.kernel
def conversions(n, s, unused, bytes_, longs, halves, doubles):
    """Two of Python's numbers, each as several types."""
    bytes_[0] = bytes_[1] + n
    longs[0] = longs[1] + n
    halves[0] = halves[1] + n
    doubles[0] = doubles[1] + n
    halves[2] = halves[1] * s
    doubles[2] = doubles[1] * s
    longs[2] = i64(s)
    bytes_[2] = u8(s)


@amdjit.kernel
def product(a, b, c):
    """One tile of a matrix product on the matrix cores."""
    left = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.fill_fragment(total, 0.0)
    matrix.load_matrix_sync(left, a, (0, 0))
    matrix.load_matrix_sync(right, b, (0, 0))
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(c, total, (0, 0))


@amdjit.kernel
def nothing():
    """No argument at all."""


@amdjit.kernel
def default(int, register, x_data, x, this):
    """Parameters that are words of C, and one that could be a member's name."""
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] = int + 10 * register + 100 * x_data + 1000 * this[i]


@amdjit.kernel(debug_variables=True)
def odd_names(r, kernarg, kernarg_data, spans, größe, linux):
    """Names that the header has for itself, in fields and parameters."""
    r[0].size = r[1].gap
    spans[0] = kernarg[0] + kernarg_data + größe + linux


@amdjit.kernel
def computing(n, x):
    """A number that Python computes at each launch."""
    x[0] = n * 2 + 1


@compile_time
def has_wide_waves(compilation):
    """Whether waves have 64 lanes."""
    return compilation.wave_size == 64


@amdjit.kernel
def by_width(n, x):
    """The processor decides which type a number has."""
    if has_wide_waves():
        x[0] = f32(n)
    else:
        x[0] = x[1] + f32(i8(n))
