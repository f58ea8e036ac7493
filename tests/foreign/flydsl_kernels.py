"""Kernels in FlyDSL. Read by `compile_flydsl.py` only, in a process that has what FlyDSL
imports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

TYPES = {
    "f16": fx.Float16,
    "bf16": fx.BFloat16,
    "fp8": fx.Float8E4M3FN,
    "i8": fx.Int8,
    "f32": fx.Float32,
    "i32": fx.Int32,
}


def gemm(
    kind: str, total: str, size: tuple[int, int, int], waves: tuple[int, int], unrolled: bool
) -> Callable[..., Any]:
    """Return the launcher of C = A B', of `size` m, n, k: each workgroup a tile of 32x32, its waves
    side by side."""
    m, n, k = size
    operand, result = TYPES[kind], TYPES[total]
    signs = {"sign_a": True, "sign_b": True, "clamp": False} if kind == "i8" else {}
    count = waves[0] * waves[1]

    @flyc.kernel
    def gemm_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor) -> None:
        lane = fx.thread_idx.x
        row, column = fx.block_idx.x, fx.block_idx.y
        tiles_a = fx.zipped_divide(fx.rocdl.make_buffer_tensor(A), fx.make_tile(32, 16))
        tiles_b = fx.zipped_divide(fx.rocdl.make_buffer_tensor(B), fx.make_tile(32, 16))
        tiles_c = fx.zipped_divide(fx.rocdl.make_buffer_tensor(C), fx.make_tile(32, 32))
        tile_c = fx.slice(tiles_c, (None, (row, column)))
        multiply = fx.make_mma_atom(fx.rocdl.WMMA(16, 16, 16, operand, result, **signs))
        tiled = fx.make_tiled_mma(
            multiply, fx.make_layout((waves[0], waves[1], 1), (1, waves[0], 0))
        )
        mine = tiled.thr_slice(lane)
        load = fx.make_copy_atom(fx.rocdl.BufferCopy(operand.width), operand)
        store = fx.make_copy_atom(fx.rocdl.BufferCopy(result.width), result)
        copy_a = fx.make_tiled_copy_A(load, tiled).get_slice(lane)
        copy_b = fx.make_tiled_copy_B(load, tiled).get_slice(lane)
        copy_c = fx.make_tiled_copy_C(store, tiled).get_slice(lane)
        sums = mine.make_fragment_C(tile_c)
        sums.fill(0)

        def multiply_step(step: Any) -> None:
            tile_a = fx.slice(tiles_a, (None, (row, step)))
            tile_b = fx.slice(tiles_b, (None, (column, step)))
            left, right = mine.make_fragment_A(tile_a), mine.make_fragment_B(tile_b)
            fx.copy(load, copy_a.partition_S(tile_a), copy_a.retile(left))
            fx.copy(load, copy_b.partition_S(tile_b), copy_b.retile(right))
            fx.gemm(multiply, sums, left, right, sums)

        if fx.const_expr(unrolled):
            for step in fx.range_constexpr(k // 16):
                multiply_step(step)
        else:
            for step in range(k // 16):
                multiply_step(step)
        fx.copy(store, copy_c.retile(sums), copy_c.partition_S(tile_c))

    @flyc.jit
    def launch(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor) -> None:
        gemm_kernel(A, B, C).launch(grid=(m // 32, n // 32, 1), block=(32 * count, 1, 1))

    return launch
