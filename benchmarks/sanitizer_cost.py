"""What each check costs: launches on the emulator with and without it: `python
benchmarks/sanitizer_cost.py [rounds [sixteenths of the size]]`.

Arrays are on the device before, one host thread runs both: a factor is that of the launch alone, in
seconds of the processor. Checks that do not change the translated code differ from 1 by noise.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measurement import run_fresh, save, table

import amdjit
from amdjit import f32, shared, syncthreads
from amdjit.examples import reduction, saxpy, vector_add, wmma_gemm
from amdjit.options import SANITIZER_CHECKS

TILE = 16


@amdjit.kernel(block=(TILE, TILE))
def tiled_product(a, b, c):
    """Multiply with a tile of each matrix in LDS."""
    left = shared.array((TILE, TILE), f32)
    right = shared.array((TILE, TILE), f32)
    x, y = amdjit.threadIdx.x, amdjit.threadIdx.y
    column, row = amdjit.grid(2)
    total = f32(0)
    for start in range(0, a.shape[1], TILE):
        left[y, x] = a[row, start + x]
        right[y, x] = b[start + y, column]
        syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        syncthreads()
    c[row, column] = total


@amdjit.kernel
def iterate(x, out, rounds):
    """Compute, and touch memory once."""
    i = amdjit.grid(1)
    value = x[i]
    for _ in range(rounds):
        value = value * value - f32(0.5)
    out[i] = value


def launches(sixteenths: int) -> dict[str, Callable[[], None]]:
    """Return the launches to time; their arrays are made here, on the device."""
    random = np.random.default_rng(0)
    n, size = 1_000_000 * sixteenths // 16, 16 * sixteenths
    x, y, out = (amdjit.to_device(random.random(n, np.float32)) for _ in range(3))
    sums = amdjit.zeros(reduction.BLOCKS, np.float32)
    a, b, c = (amdjit.to_device(random.random((size, size), np.float32)) for _ in range(3))
    wide = 2 * size
    p, q = (
        amdjit.to_device(random.random((wide, wide), np.float32).astype(np.float16))
        for _ in range(2)
    )
    r = amdjit.zeros((wide, wide), np.float32)
    groups = (n + 255) // 256
    tiles = (size // TILE, size // TILE)
    million = f"{n / 1e6:g}M f32"
    return {
        f"vector add, {million}": lambda: vector_add.vector_add[groups, 256](x, y, out),
        f"saxpy, {million}": lambda: saxpy.saxpy[groups, 256](np.float32(2), x, y, out),
        f"LDS reduction, {million}": lambda: reduction.sum_per_block[
            reduction.BLOCKS, reduction.THREADS
        ](x, sums),
        f"LDS product, {size}^3 f32": lambda: tiled_product[tiles, (TILE, TILE)](a, b, c),
        f"WMMA product, {wide}^3 f16": lambda: wmma_gemm.gemm(p, q, r),
        f"arithmetic loop, {size // 4}K x 200": lambda: iterate[size, 256](x, out, 200),
    }


def timed(launch: Callable[[], None]) -> float:
    """Return the processor seconds of a launch."""
    start = time.process_time()
    launch()
    return time.process_time() - start


def seconds(check: str, rounds: int, sixteenths: int) -> dict[str, tuple[float, float]]:
    """Return the least seconds of each launch without and with a check, in turns, translated
    before."""
    warnings.simplefilter("ignore", amdjit.PerformanceWarning)
    times = {}
    for name, launch in launches(sixteenths).items():
        plain, checked = [], []
        for _ in range(rounds + 1):
            plain.append(timed(launch))
            with amdjit.sanitize(check):
                checked.append(timed(launch))
        times[name] = (min(plain[1:]), min(checked[1:]))
    return times


def main(rounds: int = 20, sixteenths: int = 16) -> None:
    """Measure, print and save."""
    script = Path(__file__)
    # The tier that checks use: the factor is that of the check alone.
    environment = {"AMDJIT_EMULATOR_THREADS": "1", "AMDJIT_EMULATOR_TIER": "full"}
    measured = {
        check: run_fresh(script, "--child", check, str(rounds), str(sixteenths), **environment)
        for check in SANITIZER_CHECKS
    }
    rows = []
    for name in next(iter(measured.values())):
        plain = min(times[name][0] for times in measured.values())
        factors = (round(times[name][1] / times[name][0], 2) for times in measured.values())
        rows.append((name, round(plain * 1e3, 2), *factors))
    print(table(("kernel", "ms without", *measured), rows))
    save("sanitizer_cost", {"rounds": rounds, "seconds": measured})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(seconds(sys.argv[2], *map(int, sys.argv[3:]))))
    else:
        main(*map(int, sys.argv[1:]))
