"""Compares an f16 GEMM with MFMA on the emulator of gfx942 with the one with WMMA on the emulator
of gfx1201 (`examples/wmma_gemm.py`), measured alternately.

A workgroup of 4 waves computes a 128 by 128 tile, each wave a 64 by 64 quarter of it in 4
accumulators of v_mfma_f32_32x32x8_f16; both factors come from LDS. `python
benchmarks/emulator_speed.py` prints the table.
"""

from __future__ import annotations

import dataclasses
import os
import time
from typing import Any

import numpy as np
from measurement import table

import amdjit
from amdjit import (
    blockIdx,
    f16,
    f16x2,
    f16x4,
    f16x8,
    f32x4,
    f32x16,
    local,
    shared,
    static_range,
    threadIdx,
)
from amdjit.emulator.device import EmulatorDevice
from amdjit.examples import wmma_gemm
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.sync import lds_barrier
from amdjit.options import read_environment
from amdjit.target import find_target

THREADS = 256
TILE = 128
QUARTER = 64
DEPTH = 32
PITCH = DEPTH + 8  # elements from one row in LDS to the next
# The largest ratio of MFMA's time to WMMA's.
MOST = 2.0


@amdjit.device_function
def load_tiles(a, b, k, a_part, b_part):
    t = threadIdx.x
    for i in static_range(2):
        a_part[i] = a.load((TILE * blockIdx.y + 64 * i + t // 4, k + 8 * (t % 4)), 8)
        b_part[i] = b.load((k + 2 * (t // 16) + i, TILE * blockIdx.x + 8 * (t % 16)), 8)


@amdjit.device_function
def store_tiles(a_tile, b_tile, a_part, b_part):
    """Store this work-item's share in LDS, B by columns."""
    t = threadIdx.x
    for i in static_range(2):
        a_tile.store(PITCH * (64 * i + t // 4) + 8 * (t % 4), a_part[i])
    for j in static_range(8):
        place = PITCH * (8 * (t % 16) + j) + 2 * (t // 16)
        b_tile.store(place, f16x2(b_part[0][j], b_part[1][j]))


@amdjit.device_function
def multiply(a_tile, b_tile, step, row, column, total):
    """Add 8 steps of k. B comes first, so that a lane holds 4 neighbours in a row of C."""
    lane = threadIdx.x % 64
    place = PITCH * (lane % 32) + 4 * (lane // 32) + 8 * step
    fragments = local.array(2, f16x4)
    for i in static_range(2):
        fragments[i] = a_tile.load(PITCH * (row + 32 * i) + place, 4)
    for j in static_range(2):
        other = b_tile.load(PITCH * (column + 32 * j) + place, 4)
        for i in static_range(2):
            total[i, j] = amdgcn.mfma_f32_32x32x8f16(other, fragments[i], total[i, j], 0, 0, 0)


@amdjit.device_function
def store_result(c, row, column, total):
    lane = threadIdx.x % 64
    for i in static_range(2):
        for j in static_range(2):
            sums = total[i, j]
            for q in static_range(4):
                place = row + 32 * i + lane % 32, column + 32 * j + 8 * q + 4 * (lane // 32)
                four = f32x4(sums[4 * q], sums[4 * q + 1], sums[4 * q + 2], sums[4 * q + 3])
                c.store(place, four)


@amdjit.kernel(block=(THREADS, 1, 1))
def mfma_gemm(a, b, c):
    a_tile, b_tile = shared.array(PITCH * TILE, f16), shared.array(PITCH * TILE, f16)
    a_part, b_part = local.array(2, f16x8), local.array(2, f16x8)
    total = local.array((2, 2), f32x16)
    for i in static_range(2):
        for j in static_range(2):
            total[i, j] = f32x16()
    quarter = threadIdx.x // 64
    row, column = QUARTER * (quarter // 2), QUARTER * (quarter % 2)
    depth = a.shape[1]
    load_tiles(a, b, 0, a_part, b_part)
    for k in range(0, depth, DEPTH):
        store_tiles(a_tile, b_tile, a_part, b_part)
        lds_barrier()
        if k + DEPTH < depth:
            load_tiles(a, b, k + DEPTH, a_part, b_part)
        for step in static_range(4):
            multiply(a_tile, b_tile, step, row, column, total)
        lds_barrier()
    store_result(c, TILE * blockIdx.y + row, TILE * blockIdx.x + column, total)


def gemm(a: Any, b: Any, c: Any) -> None:
    """Compute C = A B for sizes that are multiples of the tiles."""
    mfma_gemm[(b.shape[1] // TILE, a.shape[0] // TILE), THREADS](a, b, c)


def seconds(size: int, rounds: int) -> dict[str, float]:
    """Return the processor's seconds of both GEMMs of N(0,1) on one thread."""
    random = np.random.default_rng(0)
    values = [random.standard_normal((size, size)).astype(np.float16) for _ in range(2)]
    settings = dataclasses.replace(read_environment(os.environ), emulator_tier="full")
    launches = {}
    for name, run in (("gfx1201", wmma_gemm.gemm), ("gfx942", gemm)):
        target = find_target(name)
        assert target is not None
        device = EmulatorDevice(target, 1, environment=settings)
        with amdjit.use(device):
            a, b = (amdjit.to_device(value) for value in values)
            launches[name] = device, run, (a, b, amdjit.zeros((size, size), np.float32))
    found = dict.fromkeys(launches, float("inf"))
    for _ in range(rounds + 1):
        for name, (device, run, arrays) in launches.items():
            with amdjit.use(device):
                start = time.process_time()
                run(*arrays)
                found[name] = min(found[name], time.process_time() - start)
    return found


def report(size: int, measured: dict[str, float]) -> str:
    """Return the table of the figures."""
    head = (f"f16 GEMM, {size}^3, 1 thread", "WMMA, ms", "MFMA, ms", "ratio", "aim")
    wmma, mfma = measured["gfx1201"], measured["gfx942"]
    row = "N(0,1)", round(wmma * 1e3, 1), round(mfma * 1e3, 1), round(mfma / wmma, 2), f"<= {MOST}"
    return table(head, [row])
