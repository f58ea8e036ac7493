"""Kernels whose speed on the emulator is measured: a product with LDS tiles, and a loop that lanes
leave one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import blockIdx, shared, syncthreads, threadIdx
from amdjit.isa.analysis.control_flow import Text, build_graph

TILE = 16
PIXELS = 256
MOST_ROUNDS = 256


@amdjit.kernel(block=(TILE, TILE))
def tiled_product(a, b, c):
    """Multiply square f32 matrices whose size is a multiple of the tile."""
    a_tile, b_tile = shared.array((TILE, TILE), amdjit.f32), shared.array((TILE, TILE), amdjit.f32)
    x, y = threadIdx.x, threadIdx.y
    row, column = blockIdx.y * TILE + y, blockIdx.x * TILE + x
    total = amdjit.f32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[y, x] = a[row, start + x]
        b_tile[y, x] = b[start + y, column]
        syncthreads()
        for k in amdjit.static_range(TILE):
            total += a_tile[y, k] * b_tile[k, x]
        syncthreads()
    c[row, column] = total


@amdjit.kernel
def mandelbrot(rounds):
    """Count the rounds until each point of the plane leaves the circle."""
    i = amdjit.grid(1)
    x0 = amdjit.f32(i % PIXELS) * amdjit.f32(3.0 / PIXELS) - amdjit.f32(2.25)
    y0 = amdjit.f32(i // PIXELS) * amdjit.f32(2.5 / PIXELS) - amdjit.f32(1.25)
    x, y, n = amdjit.f32(0), amdjit.f32(0), 0
    while x * x + y * y < amdjit.f32(4) and n < MOST_ROUNDS:
        x, y = x * x - y * y + x0, amdjit.f32(2) * x * y + y0
        n += 1
    rounds[i] = n


@amdjit.kernel
def straight(x, out, steps: amdjit.Const):
    """Execute `count` steps one after the other, without a loop."""
    i = amdjit.grid(1)
    total = amdjit.f32(0)
    for k in amdjit.static_range(steps):
        total = total * amdjit.f32(0.5) + x[(i * 7 + k) & 31]
    out[i] = total


def product_arguments(size: int) -> tuple[Any, ...]:
    """Return two matrices and memory for their product, on the device."""
    random = np.random.default_rng(0)
    a, b = (amdjit.to_device(random.random((size, size), np.float32)) for _ in range(2))
    return a, b, amdjit.zeros((size, size), np.float32)


def mandelbrot_wave_instructions() -> int:
    """Return how many instructions of the loop all waves of a picture execute in total."""
    rounds = amdjit.zeros(PIXELS * PIXELS, np.int32)
    mandelbrot[PIXELS * PIXELS // 256, 256](rounds)
    in_waves = rounds.copy_to_host().reshape(-1, 32).max(1)
    return int(in_waves.sum()) * _loop_length(mandelbrot)


def _loop_length(kernel: amdjit.Kernel) -> int:
    compiled = kernel.specialisations[0]
    found = compiled.linked.kernels[compiled.name]
    (segment,) = (s for s in compiled.linked.segments if s.address <= found.entry_address < s.end)
    blocks = build_graph(Text(segment.data, segment.address), found.entry_address).blocks.values()
    backward = [
        (target, b.instructions[-1].pc)
        for b in blocks
        for target in b.successors
        if target <= b.instructions[-1].pc
    ]
    (first, last), *_ = backward
    return sum(len(b.instructions) for b in blocks if first <= b.pc <= last)
