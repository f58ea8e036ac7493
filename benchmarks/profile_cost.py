"""Measures what counting costs, by launches on the emulator with and without `amdjit.profile`:
`python benchmarks/profile_cost.py [rounds]`.

Arrays are on the device before, and one host thread runs both launches. A factor is the ratio of
their processor times, including what the block does when the launch ends. Without a sample, nothing
is recorded for the cycle model.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from emulator_kernels import PIXELS, TILE, mandelbrot, product_arguments, tiled_product
from measurement import run_fresh, save, table
from sanitizer_cost import iterate

import amdjit
from amdjit import f32
from amdjit.examples import reduction, saxpy, vector_add, wmma_gemm

Launch = Callable[[], None]


@amdjit.kernel
def column_sums(a, out):
    """Add the elements of each row: neighbouring lanes are a row apart."""
    i = amdjit.grid(1)
    total = f32(0)
    for k in range(a.shape[1]):
        total += a[i, k]
    out[i] = total


@amdjit.kernel(block=(32, 8))
def transpose(a, out):
    """Transpose through a tile of LDS without padding."""
    tile = amdjit.shared.array((32, 32), f32)
    x, y = amdjit.threadIdx.x, amdjit.threadIdx.y
    column, row = amdjit.blockIdx.x * 32, amdjit.blockIdx.y * 32
    for part in amdjit.static_range(4):
        tile[y + part * 8, x] = a[row + y + part * 8, column + x]
    amdjit.syncthreads()
    for part in amdjit.static_range(4):
        out[column + y + part * 8, row + x] = tile[x, y + part * 8]


@amdjit.kernel
def histogram(x, bins):
    """Count values with atomics."""
    i = amdjit.grid(1)
    amdjit.atomic.add(bins, x[i], 1)


def launches() -> dict[str, Launch]:
    """Return the launches to time; their arrays are made here, on the device."""
    random = np.random.default_rng(0)
    n = 1_000_000
    x, y, out = (amdjit.to_device(random.random(n, np.float32)) for _ in range(3))
    sums = amdjit.zeros(reduction.BLOCKS, np.float32)
    product = product_arguments(256)
    p, q = (
        amdjit.to_device(random.random((512, 512), np.float32).astype(np.float16)) for _ in range(2)
    )
    r = amdjit.zeros((512, 512), np.float32)
    rounds = amdjit.zeros(PIXELS * PIXELS, np.int32)
    square = amdjit.to_device(random.random((1024, 1024), np.float32))
    turned = amdjit.zeros((1024, 1024), np.float32)
    row_sums = amdjit.zeros(1024, np.float32)
    values = amdjit.to_device(random.integers(0, 64, 1 << 18).astype(np.int32))
    bins = amdjit.zeros(64, np.int32)
    groups, tiles = (n + 255) // 256, (256 // TILE, 256 // TILE)
    return {
        "vector add, 1M f32": lambda: vector_add.vector_add[groups, 256](x, y, out),
        "saxpy, 1M f32": lambda: saxpy.saxpy[groups, 256](np.float32(2), x, y, out),
        "LDS reduction, 1M f32": lambda: reduction.sum_per_block[
            reduction.BLOCKS, reduction.THREADS
        ](x, sums),
        "LDS product, 256^3 f32": lambda: tiled_product[tiles, (TILE, TILE)](*product),
        "WMMA product, 512^3 f16": lambda: wmma_gemm.gemm(p, q, r),
        "mandelbrot, 256^2": lambda: mandelbrot[PIXELS * PIXELS // 256, 256](rounds),
        "arithmetic loop, 64K x 200": lambda: iterate[256, 256](x, out, 200),
        "rows, 1024^2 f32": lambda: column_sums[4, 256](square, row_sums),
        "LDS transpose, 1024^2 f32": lambda: transpose[(32, 32), (32, 8)](square, turned),
        "histogram, 256K": lambda: histogram[1024, 256](values, bins),
    }


def timed(launch: Launch) -> float:
    """Return the processor seconds of a launch."""
    start = time.process_time()
    launch()
    return time.process_time() - start


def counted(launch: Launch, workgroups: int | None) -> float:
    """Return the processor seconds of a launch that is counted."""
    with amdjit.profile(workgroups=workgroups):
        return timed(launch)


def seconds(rounds: int) -> dict[str, list[float]]:
    """Return the least seconds of each launch: plain, counted, and counted and recorded. They are
    measured alternately, after translation."""
    warnings.simplefilter("ignore", amdjit.PerformanceWarning)
    times = {}
    for name, launch in launches().items():
        each = [
            (timed(launch), counted(launch, 0), counted(launch, None)) for _ in range(rounds + 1)
        ]
        times[name] = [min(column) for column in zip(*each[1:], strict=True)]
    return times


def main(rounds: int = 20) -> None:
    """Measure, print and save."""
    environment = {"AMDJIT_EMULATOR_THREADS": "1", "AMDJIT_EMULATOR_TIER": "full"}
    times = run_fresh(Path(__file__), "--child", str(rounds), **environment)
    rows = [
        (name, round(plain * 1e3, 2), round(counts / plain, 2), round(records / plain, 2))
        for name, (plain, counts, records) in times.items()
    ]
    print(table(("kernel", "ms without", "counted", "and recorded"), rows))
    save("profile_cost", {"rounds": rounds, "seconds": times})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(seconds(int(sys.argv[2]))))
    else:
        main(*map(int, sys.argv[1:]))
