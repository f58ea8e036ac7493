"""Compares reductions and scans of a workgroup with hand-written ones: instructions that a wave
executes, barriers, LDS, and estimated cycles.

    python benchmarks/block_reductions.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measurement import save, table

import amdjit
from amdjit import block, f32
from amdjit.intrinsics import wave

GROUPS, SIZE = 64, 256


@amdjit.kernel(block=(SIZE,))
def tree_in_lds(x: f32[:], out: f32[:]):
    tile = amdjit.shared.array(SIZE, f32)
    i = amdjit.threadIdx.x
    tile[i] = x[amdjit.grid(1)]
    amdjit.syncthreads()
    stride = SIZE // 2
    while stride > 0:
        if i < stride:
            tile[i] += tile[i + stride]
        amdjit.syncthreads()
        stride //= 2
    if i == 0:
        out[amdjit.blockIdx.x] = tile[0]


@amdjit.kernel(block=(SIZE,))
def waves_and_lds(x: f32[:], out: f32[:]):
    totals = amdjit.shared.array(SIZE // 32, f32)
    total = wave.reduce(x[amdjit.grid(1)], "add")
    if amdjit.lane_id() == 0:
        totals[amdjit.wave_id()] = total
    amdjit.syncthreads()
    if amdjit.threadIdx.x == 0:
        for other in range(1, SIZE // 32):
            total += totals[other]
        out[amdjit.blockIdx.x] = total


@amdjit.kernel(block=(SIZE,))
def block_reduce(x: f32[:], out: f32[:]):
    total = block.reduce("add", x[amdjit.grid(1)])
    if amdjit.threadIdx.x == 0:
        out[amdjit.blockIdx.x] = total


@amdjit.kernel
def block_reduce_of_any_block(x: f32[:], out: f32[:]):
    total = block.reduce(lambda a, b: a + b, x[amdjit.grid(1)])
    if amdjit.threadIdx.x == 0:
        out[amdjit.blockIdx.x] = total


@amdjit.kernel(block=(SIZE,))
def scan_in_lds(x: f32[:], out: f32[:]):
    tile = amdjit.shared.array(SIZE, f32)
    i = amdjit.threadIdx.x
    tile[i] = x[amdjit.grid(1)]
    amdjit.syncthreads()
    distance = 1
    while distance < SIZE:
        before = f32(0)
        if i >= distance:
            before = tile[i - distance]
        amdjit.syncthreads()
        tile[i] += before
        amdjit.syncthreads()
        distance *= 2
    out[amdjit.grid(1)] = tile[i]


@amdjit.kernel(block=(SIZE,))
def block_scan(x: f32[:], out: f32[:]):
    out[amdjit.grid(1)] = block.inclusive_scan("add", x[amdjit.grid(1)])


@amdjit.kernel
def block_scan_of_any_block(x: f32[:], out: f32[:]):
    out[amdjit.grid(1)] = block.inclusive_scan(lambda a, b: a + b, x[amdjit.grid(1)])


KERNELS = (
    tree_in_lds,
    waves_and_lds,
    block_reduce,
    block_reduce_of_any_block,
    scan_in_lds,
    block_scan,
    block_scan_of_any_block,
)


def measured(kernel: Any) -> dict[str, Any]:
    """Return the counts of one launch."""
    x = amdjit.to_device(np.ones(GROUPS * SIZE, np.float32))
    out = amdjit.zeros(GROUPS * SIZE)
    kernel[GROUPS, SIZE](x, out)
    with amdjit.profile() as profile:
        kernel[GROUPS, SIZE](x, out)
    (launch,) = profile.launches
    compiled = kernel.compile()
    waves = GROUPS * SIZE // 32
    return {
        "kernel": kernel.__name__,
        "instructions of a wave": sum(each.executions for each in launch.instructions) / waves,
        "barriers": compiled.asm.count("s_barrier_wait"),
        "LDS bytes": compiled.resources.lds_bytes,
        "cycles": launch.cycles.kernel,
    }


def main() -> None:
    """Measure and write the results."""
    with amdjit.use("emulator:gfx1201"):
        rows = [measured(kernel) for kernel in KERNELS]
    print(table(list(rows[0]), [list(row.values()) for row in rows]))
    save("block_reductions", {"kernels": rows})


if __name__ == "__main__":
    main()
