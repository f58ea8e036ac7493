"""A user's program, which type checkers accept as it is. It also runs."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import amdjit
from amdjit import (
    Const,
    blockDim,
    blockIdx,
    boolean,
    f16,
    f16x8,
    f32,
    i32,
    local,
    shared,
    threadIdx,
    wavefront_size,
)
from amdjit.intrinsics import wave


@dataclass(frozen=True)
class Line:
    """A record that kernels take."""

    slope: f32
    offset: f32


@amdjit.device_function
def squared(value: f32) -> f32:
    return value * value


def smaller(a: f32, b: f32) -> f32:
    return a if a < b else b


@amdjit.kernel
def saxpy(a: f32, x: f32[:], y: f32[:], out: f32[:]) -> None:
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


@amdjit.kernel(fastmath=True, block=256)
def tiled(x: amdjit.f32[:, ::1], n: i32, is_last: boolean, line: Line, steps: Const) -> None:
    row, column = amdjit.grid(2)
    tile = shared.array((16, 16), f32)
    mine = local.array(4, f16)
    lane = amdjit.lane_id() % wavefront_size
    tile[threadIdx.y, threadIdx.x] = x[row, column]
    amdjit.syncthreads()
    total = f32(0)
    for k in range(n):
        total += squared(tile[k, 0]) - line.slope
    for k in amdjit.static_range(steps):
        total = smaller(total, amdjit.f32(k) + math.sqrt(total))
    for k in range(4):
        mine[k] = f16(total)
    if is_last and blockIdx.x * blockDim.x + threadIdx.x >= 1 << 4:
        amdjit.atomic.add(x, (0, 0), -total)
    x[row, column] = wave.reduce_add(total) + line.offset + f32(mine[lane % 4])


def sum_of(a: Any, b: Any) -> Any:
    return a + b


@amdjit.kernel
def added(x: Any, y: Any) -> None:
    x[0] = sum_of(x[0], y)


@amdjit.kernel
def eight_at_once(x: f16[:], y: f16[:]) -> None:
    i = amdjit.grid(1)
    values: f16x8 = x.load(8 * i, 8)
    y.store(8 * i, values + values)


def main() -> None:
    """Launch, compile and inspect."""
    x = np.arange(256, dtype=np.float32)
    out = np.empty_like(x)
    saxpy[(x.size + 63) // 64, 64](np.float32(2), x, x, out)
    assert np.array_equal(out, 3 * x)
    saxpy.forall(x.size)(2.0, x, x, out)
    with amdjit.use("emulator:gfx1201") as device:
        print(device.name, device.target)
        there = amdjit.to_device(x)
        stream = amdjit.Stream()
        saxpy[(4, 1, 1), (64, 1), stream](2.0, there, there, there)
        print(there.copy_to_host(stream=stream)[:4], there.shape, there.dtype)
    compiled = saxpy.compile(f32, f32[:], f32[:], f32[:], target="gfx1201")
    print(compiled.signature, compiled.resources.vgprs, len(compiled.code_object))
    tiled.compile(None, None, None, None, 4)
    for numbers in (np.ones(1, np.float64), np.ones(1, np.int32)):
        added[1, 1](numbers, 2)
        assert numbers[0] == 3
    halves = np.ones(64, np.float16)
    eight_at_once[1, 8](halves, halves)


if __name__ == "__main__":
    main()
