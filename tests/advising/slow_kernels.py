"""Kernels with one thing each that makes them slow, and the group of the change that helps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f32, i32, i64, local, shared, threadIdx
from amdjit.intrinsics.sync import sched_barrier


@dataclass(frozen=True)
class Case:
    """A launch: kernel, grid, block and a function that makes its arguments. kind: of the change
    that should be proposed first, or how it begins. cause: what should be named first, where no
    change is known."""

    kernel: Any
    grid: Any
    block: Any
    arguments: Callable[[], tuple[Any, ...]]
    kind: str = ""
    cause: str = ""

    @property
    def name(self) -> str:
        return str(self.kernel.__name__)


def floats(*shape: int) -> Any:
    return np.random.default_rng(1).random(shape, np.float32)


@amdjit.kernel(block=(32, 8))
def transpose_through_lds(x, out):
    tile = shared.array((32, 32), f32)
    c, r = threadIdx.x, threadIdx.y
    for k in range(0, 32, 8):
        tile[r + k, c] = x[blockIdx.y * 32 + r + k, blockIdx.x * 32 + c]
    amdjit.syncthreads()
    for k in range(0, 32, 8):
        out[blockIdx.x * 32 + r + k, blockIdx.y * 32 + c] = tile[c, r + k]


@amdjit.kernel(block=64)
def rows_of_sixteen(x, out):
    tile = shared.array((64, 16), f32)
    t = threadIdx.x
    for k in range(16):
        tile[t, k] = x[blockIdx.x * 1024 + k * 64 + t]
    amdjit.syncthreads()
    total = f32(0)
    for k in range(16):
        total += tile[t, k] * tile[63 - t, k]
    out[blockIdx.x * 64 + t] = total


@amdjit.kernel(block=128)
def rows_of_halves(x, out):
    tile = shared.array((128, 64), f16)
    t = threadIdx.x
    for k in range(64):
        tile[t, k] = x[(blockIdx.x * 64 + k) * 128 + t]
    amdjit.syncthreads()
    total = f32(0)
    for k in range(64):
        total += f32(tile[127 - t, k])
    out[blockIdx.x * 128 + t] = total


@amdjit.kernel(block=64)
def rows_by_hand(x, out):
    tile = shared.array(64 * 32, f32)
    t = threadIdx.x
    for k in range(32):
        tile[t * 32 + k] = x[blockIdx.x * 2048 + k * 64 + t]
    amdjit.syncthreads()
    total = f32(0)
    for k in range(32):
        total += tile[(63 - t) * 32 + k] * f32(k)
    out[blockIdx.x * 64 + t] = total


@amdjit.kernel(block=64, max_registers=24)
def too_few_registers(x, out):
    i = amdjit.grid(1)
    values = local.array(32, f32)
    for k in amdjit.static_range(32):
        values[k] = x[k * 512 + i]
    sched_barrier()
    total = f32(0)
    for k in amdjit.static_range(32):
        total += values[k] * values[31 - k] * f32(k)
    out[i] = total


@amdjit.kernel(block=256)
def asks_for_barriers(x, out):
    part = shared.array(256, f32)
    t = threadIdx.x
    i = amdjit.grid(1)
    value = x[i]
    for k in range(32):
        part[t] = value
        amdjit.syncthreads()
        value = part[t] * f32(0.5) + f32(k)
    out[i] = value


@amdjit.kernel(block=64, unroll=1)
def local_array_in_scratch(x, out):
    i = amdjit.grid(1)
    values = local.array(64, f32)
    for k in range(64):
        values[k] = x[k * 512 + i]
    total = f32(0)
    for j in range(64):
        total += values[63 - j] * f32(j)
    out[i] = total


@amdjit.kernel(block=(32, 4))
def rows_along_lanes(x, out):
    row, column = amdjit.grid(2)
    out[row, column] = x[row, column] * f32(2) + f32(1)


@amdjit.kernel(block=(16, 16))
def sums_along_lanes(x, y, out):
    row, column = amdjit.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = x[row, column] + y[row, column]


@amdjit.kernel(block=64)
def columns_first(x, out):
    t = amdjit.grid(1)
    total = i32(0)
    for column in range(4):
        for row in range(64):
            total += x[row * 256 + t, column]
    out[t] = total


@amdjit.kernel(block=256)
def one_byte_each(x, out):
    i = amdjit.grid(1)
    out[i] = x[i] ^ 0x55


@amdjit.kernel(block=256)
def one_half_each(x, y, out):
    i = amdjit.grid(1)
    out[i] = x[i] + y[i]


@amdjit.kernel(block=256)
def doubles_by_an_argument(x, out, factor):
    i = amdjit.grid(1)
    value = x[i]
    for _ in range(8):
        value = f32(value * factor + x[i])
    out[i] = value


@amdjit.kernel(block=256, typing="numba")
def doubles_by_literals(x, out):
    i = amdjit.grid(1)
    value = x[i]
    for _ in range(8):
        value = value * 0.5 + 0.25
    out[i] = value


@amdjit.kernel(block=256)
def divides_by_an_argument(x, out, width, height):
    i = amdjit.grid(1)
    row, column = i // width, i % width
    out[i] = x[(row * 7) % height * width + (column * 5) % width]


@amdjit.kernel(block=256)
def rounds_by_an_argument(x, out, rounds, stride):
    i = amdjit.grid(1)
    total = f32(0)
    for k in range(rounds):
        total = total * f32(0.5) + x[i + (k % stride) * 256]
    out[i] = total


@amdjit.kernel(block=256)
def wide_integers(x, out):
    i = i64(amdjit.grid(1))
    value = i64(1)
    for k in range(16):
        value = (value * i64(31) + i + i64(k)) % i64(65521)
    out[i] = x[i] + i32(value)


@amdjit.kernel(block=256, unroll=1)
def waits_in_each_round(x, out):
    i = amdjit.grid(1)
    total = f32(0)
    for k in range(64):
        total += x[k * 1024 + i]
    out[i] = total


@amdjit.kernel(opt_level=0)
def not_optimised(x, out):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] * f32(2)


@amdjit.kernel
def compiled_for_large_blocks(x, out):
    i = amdjit.grid(1)
    values = local.array(200, f32)
    for k in amdjit.static_range(200):
        values[k] = x[k * 128 + i]
    sched_barrier()
    total = f32(0)
    for k in amdjit.static_range(200):
        total += values[k] * values[199 - k]
    out[i] = total


@amdjit.kernel(block=256)
def every_second_lane(x, out):
    i = amdjit.grid(1)
    value = x[i]
    if i % 4 == 0:
        for k in range(64):
            value = value * f32(0.99) + f32(k)
    out[i] = value


SLOW = (
    Case(
        transpose_through_lds,
        (4, 4),
        (32, 8),
        lambda: (floats(128, 128), floats(128, 128)),
        "layout",
    ),
    Case(rows_of_sixteen, 16, 64, lambda: (floats(16 * 1024), floats(1024)), "layout"),
    Case(
        rows_of_halves,
        4,
        128,
        lambda: (floats(4 * 64 * 128).astype(np.float16), floats(512)),
        "layout",
    ),
    Case(rows_by_hand, 8, 64, lambda: (floats(8 * 2048), floats(512)), "layout"),
    Case(too_few_registers, 8, 64, lambda: (floats(32 * 512), floats(512)), "registers"),
    Case(asks_for_barriers, 8, 256, lambda: (floats(2048), floats(2048)), "barrier"),
    Case(local_array_in_scratch, 8, 64, lambda: (floats(64 * 512), floats(512)), "scratch"),
    Case(
        rows_along_lanes, (16, 128), (32, 4), lambda: (floats(512, 512), floats(512, 512)), "axes"
    ),
    Case(
        sums_along_lanes,
        (32, 32),
        (16, 16),
        lambda: tuple(floats(512, 512) for _ in range(3)),
        "axes",
    ),
    Case(
        columns_first,
        4,
        64,
        lambda: (np.arange(65536, dtype=np.int32).reshape(-1, 4), np.zeros(256, np.int32)),
        "loops",
    ),
    Case(
        one_byte_each,
        2048,
        256,
        lambda: (np.arange(2**19, dtype=np.uint8), np.zeros(2**19, np.uint8)),
        "work",
    ),
    Case(
        one_half_each,
        1024,
        256,
        lambda: tuple(floats(2**18).astype(np.float16) for _ in range(3)),
        "work",
    ),
    Case(
        doubles_by_an_argument,
        16,
        256,
        lambda: (floats(4096), floats(4096), np.float64(0.5)),
        "doubles",
    ),
    Case(doubles_by_literals, 16, 256, lambda: (floats(4096), floats(4096)), "doubles"),
    Case(
        divides_by_an_argument, 32, 256, lambda: (floats(8192), floats(8192), 64, 128), "constants"
    ),
    Case(rounds_by_an_argument, 8, 256, lambda: (floats(4096), floats(2048), 24, 3), "constants"),
    Case(
        wide_integers,
        8,
        256,
        lambda: (np.arange(2048, dtype=np.int32), np.zeros(2048, np.int32)),
        "integers",
    ),
    Case(waits_in_each_round, 4, 256, lambda: (floats(65536), floats(1024)), "unroll"),
    Case(not_optimised, 64, 256, lambda: (floats(16384), floats(16384)), "optimisation"),
    Case(compiled_for_large_blocks, 2, 64, lambda: (floats(200 * 128), floats(128)), "block"),
    Case(
        every_second_lane, 64, 256, lambda: (floats(16384), floats(16384)), cause="inactive lanes"
    ),
)
