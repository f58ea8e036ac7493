"""Kernels whose counts are known in closed form."""

from __future__ import annotations

import amdjit
from amdjit import f32, i32, shared, syncthreads, threadIdx
from amdjit.intrinsics import amdgcn


@amdjit.kernel
def half_of_the_lanes(x, out):
    i = amdjit.grid(1)
    if i % 2 == 0:
        out[i] = x[i] * f32(3)


@amdjit.kernel
def strided(x, out, stride: amdjit.Const):
    i = amdjit.grid(1)
    out[i] = x[i * stride]


@amdjit.kernel(block=(32, 8))
def turn(a, out, pitch: amdjit.Const):
    tile = shared.array((32, pitch), i32)
    x, y = threadIdx.x, threadIdx.y
    for part in amdjit.static_range(4):
        tile[y + part * 8, x] = a[y + part * 8, x]
    syncthreads()
    for part in amdjit.static_range(4):
        out[y + part * 8, x] = tile[x, y + part * 8]


@amdjit.kernel
def rounds(limits, out):
    i = amdjit.grid(1)
    value = f32(i)
    for _ in range(limits[i]):
        value = value * f32(1.5) + f32(1)
    out[i] = value


@amdjit.kernel
def add_at(places, out):
    amdjit.atomic.add(out, places[amdjit.grid(1)], 1)


@amdjit.kernel
def wait_often(out, count):
    total = shared.array(1, i32)
    for k in range(count):
        if threadIdx.x == 0:
            total[0] = k
        syncthreads()
    out[amdjit.grid(1)] = total[0]


@amdjit.kernel
def multiply(a, b, out, count):
    i = threadIdx.x
    left, right = a.load(i * 8, 8), b.load(i * 8, 8)
    total = amdjit.f32x8(0)
    for _ in range(count):
        total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(left, right, total)
    out.store(i * 8, total)


@amdjit.kernel
def beyond(x, out):
    i = amdjit.grid(1)
    out[i] = x[i + 1_000_000]
