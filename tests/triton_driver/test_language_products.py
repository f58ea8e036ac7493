"""Triton's matrix products on the emulator, of all types and with all epilogues. Against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import amdjit.triton

pytest.importorskip("triton", reason="Triton is not installed")

import triton
import triton.language as tl

from tests.triton_driver.language import dtype_of, empty, expect, values

PROCESSORS = ("gfx1201", "gfx1100", "gfx942", "gfx950")
pytestmark = pytest.mark.foreign


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with amdjit.triton.use(f"emulator:{request.param}"):
        yield request.param


@triton.jit
def product(
    x, stride_xm, stride_xk, y, stride_yk, stride_yn, w, added, z, stride_zm, stride_zn,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, END: tl.constexpr, OUT: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x + m[:, None] * stride_xm + k[None, :] * stride_xk)
    b = tl.load(y + k[:, None] * stride_yk + n[None, :] * stride_yn)
    places = z + m[:, None] * stride_zm + n[None, :] * stride_zn
    total = tl.dot(a, b, input_precision="ieee", out_dtype=OUT)
    if END == "add matrix":
        total += tl.load(added + m[:, None] * stride_zm + n[None, :] * stride_zn)
    if END == "add rows":
        total += tl.load(added + m * stride_zm)[:, None]
    if END == "add columns":
        total += tl.load(added + n * stride_zn)[None, :]
    if END == "softmax":
        total = total - tl.max(total, 1)[:, None]
        powers = tl.exp(total.to(tl.float32))
        total = powers / tl.sum(powers, 1)[:, None]
    if END == "chain":
        last = tl.load(w + n[:, None] * N + n[None, :])
        total = tl.dot(total.to(last.dtype), last, input_precision="ieee", out_dtype=OUT)
    tl.store(places, total)


TYPES = {"float32": tl.float32, "float16": tl.float16, "int32": tl.int32, "int8": tl.int8}


def check(
    shape: tuple[int, int, int], dtype: str, out: str, end: str = "none",
    turned: tuple[bool, bool] = (False, False), **options: Any,
) -> None:  # fmt: skip
    m, n, k = shape
    is_small = dtype == "int8" or dtype.startswith("float8")

    def operand(rows: int, columns: int, seed: int, is_turned: bool) -> Any:
        size = (columns, rows) if is_turned else (rows, columns)
        found = (
            values(size, dtype, seed, 20)
            if dtype == "int8"
            else (values(size, "float32", seed) * (1 if is_small else 0.1)).astype(dtype_of(dtype))
        )
        return found.T if is_turned else found

    x, y, w = operand(m, k, 1, turned[0]), operand(k, n, 2, turned[1]), operand(n, n, 3, False)
    result = (
        "int32"
        if dtype == "int8"
        else "float16"
        if out == "float16" and end != "softmax"
        else "float32"
    )
    z = empty((n, m), result).T if end == "transposed" else empty((m, n), result)
    z[...] = values((m, n), result, 4, 10)
    start = z.astype(np.float64)
    a, b, c = (each.astype(np.float64) for each in (x, y, w))
    wanted = a @ b
    if end == "add matrix":
        wanted = wanted + start
    if end == "add rows":
        wanted = wanted + start[:, :1]
    if end == "add columns":
        wanted = wanted + start[:1]
    if end == "softmax":
        powers = np.exp(wanted - wanted.max(1, keepdims=True))
        wanted = powers / powers.sum(1, keepdims=True)
    if end == "chain":
        wanted = wanted.astype(np.float32).astype(dtype_of(dtype)).astype(np.float64) @ c
    steps = [step // each.itemsize for each in (x, y) for step in each.strides]
    ends = [step // z.itemsize for step in z.strides]
    product[(1,)](
        x, *steps[:2], y, *steps[2:], w, z.copy("K"), z, *ends, m, n, k, end,
        TYPES[result], **options,
    )  # fmt: skip
    if end == "chain" and dtype.startswith("float8"):
        # One rounding of the first product to 8 bits may differ.
        close = 0.1 * float(np.abs(wanted).max())
    else:
        close = 1e-2 if "float16" in (result, dtype) or dtype == "bfloat16" else 1e-3
    expect(z.astype(np.float64), wanted, 0 if dtype == "int8" and end != "softmax" else close)


ENDS = ("none", "transposed", "add matrix", "add rows", "add columns", "softmax", "chain")
KINDS = (
    ("float16", "float16"), ("float16", "float32"), ("bfloat16", "float32"), ("float32", "float32"),
    ("int8", "int32"), ("float8_e4m3fn", "float32"), ("float8_e5m2", "float32"),
    ("float8_e4m3fnuz", "float32"), ("float8_e5m2fnuz", "float32"), ("float64", "float64"),
)  # fmt: skip


@pytest.mark.parametrize("size", [16, 32, 64])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("dtype", "out"), KINDS[:-1])
def test_products(device: str, size: int, end: str, dtype: str, out: str) -> None:
    if dtype == "int8" and end in ("softmax", "chain"):
        pytest.skip("a product of integers is no probability, and 8 bits do not hold it")
    check((size, size, size), dtype, out, end)


SIZES = (
    (128, 256, 32, 8), (128, 16, 32, 4), (32, 128, 64, 4), (128, 128, 64, 4), (64, 128, 128, 4),
    (32, 128, 64, 2), (64, 64, 32, 4), (32, 32, 128, 16), (128, 128, 64, 2), (64, 128, 128, 2),
    (32, 32, 32, 1),
)  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("turned", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize(("dtype", "out"), [KINDS[0], KINDS[1], KINDS[3], KINDS[4]])
@pytest.mark.parametrize("kpack", [1, 2])
def test_products_of_many_sizes(
    device: str,
    sizes: tuple[int, int, int, int],
    turned: tuple[bool, bool],
    dtype: str,
    out: str,
    kpack: int,
) -> None:
    check(sizes[:3], dtype, out, turned=turned, num_warps=sizes[3], kpack=kpack)


@pytest.mark.parametrize(
    "sizes",
    [(2, 2, 16, 1), (1, 64, 64, 1), (64, 2, 64, 2), (64, 64, 4, 4), (32, 32, 1, 4), (32, 32, 8, 4)],
)
@pytest.mark.parametrize("end", ["none", "transposed", "add matrix", "add rows", "add columns"])
@pytest.mark.parametrize(("dtype", "out"), [KINDS[0], KINDS[3], KINDS[4]])
def test_small_products(
    device: str, sizes: tuple[int, int, int, int], end: str, dtype: str, out: str
) -> None:
    check(sizes[:3], dtype, out, end, num_warps=sizes[3])


@pytest.mark.parametrize("nonkdim", [16, 32])
@pytest.mark.parametrize(("dtype", "out"), KINDS[:-1])
def test_instructions_of_both_sizes(device: str, nonkdim: int, dtype: str, out: str) -> None:
    check((64, 64, 64), dtype, out, matrix_instr_nonkdim=nonkdim)


@pytest.mark.parametrize("waves", [0, 1, 2, 4])
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_options_of_compilation(device: str, waves: int, stages: int) -> None:
    check((64, 64, 32), "float16", "float32", waves_per_eu=waves, num_stages=stages)


@triton.jit
def batched(
    x, y, z, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr
):
    b, m, n, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(x + b[:, None, None] * M * K + m[None, :, None] * K + k[None, None, :])
    right = tl.load(y + b[:, None, None] * K * N + k[None, :, None] * N + n[None, None, :])
    at = b[:, None, None] * M * N + m[None, :, None] * N + n[None, None, :]
    tl.store(z + at, tl.dot(left, right, input_precision="ieee", out_dtype=OUT))


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize(("dtype", "out"), [KINDS[1], KINDS[3], KINDS[4]])
def test_products_of_batches(device: str, count: int, num_warps: int, dtype: str, out: str) -> None:
    x, y = values((count, 32, 32), dtype, 1, 20), values((count, 32, 32), dtype, 2, 20)
    z = empty((count, 32, 32), out)
    batched[(1,)](x, y, z, count, 32, 32, 32, TYPES[out], num_warps=num_warps)
    expect(z, x.astype(np.float64) @ y.astype(np.float64), 1e-3)


@triton.jit
def scaled_product(
    x,
    sx,
    y,
    sy,
    z,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
):
    KA: tl.constexpr = K // 2 if A == "e2m1" else K
    KB: tl.constexpr = K // 2 if B == "e2m1" else K
    m, n = tl.arange(0, M), tl.arange(0, N)
    s = tl.arange(0, K // 32)
    a = tl.load(x + m[:, None] * KA + tl.arange(0, KA)[None, :])
    b = tl.load(y + tl.arange(0, KB)[:, None] * N + n[None, :])
    scale_a = tl.load(sx + m[:, None] * (K // 32) + s[None, :])
    scale_b = tl.load(sy + n[:, None] * (K // 32) + s[None, :])
    tl.store(z + m[:, None] * N + n[None, :], tl.dot_scaled(a, scale_a, A, b, scale_b, B))


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled_operand(kind: str, rows: int, k: int, seed: int) -> tuple[Any, Any, Any]:
    """Return bytes, scales and values of an operand, whose rows are along the sum."""
    random = np.random.default_rng(seed)
    scales = random.integers(124, 131, (rows, k // 32), np.uint8)
    if kind == "e2m1":
        data = random.integers(0, 256, (rows, k // 2), np.uint8)
        found = FP4[np.stack([data & 15, data >> 4], -1).reshape(rows, k)]
    else:
        name = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}[kind]
        small = random.standard_normal((rows, k)).astype(dtype_of(name))
        data, found = small.view(np.uint8), small.astype(np.float64)
    return data, scales, found * np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1)


@pytest.mark.parametrize("left", ["e2m1", "e4m3", "e5m2"])
@pytest.mark.parametrize("right", ["e2m1", "e4m3", "e5m2"])
@pytest.mark.parametrize("shape", [(32, 32, 128), (64, 64, 128), (128, 32, 256)])
@pytest.mark.parametrize("nonkdim", [16, 32])
def test_scaled_products(
    device: str, left: str, right: str, shape: tuple[int, int, int], nonkdim: int
) -> None:
    m, n, k = shape
    x, sx, a = scaled_operand(left, m, k, 1)
    y, sy, b = scaled_operand(right, n, k, 2)
    z = empty((m, n), "float32")
    scaled_product[(1,)](
        x, sx, np.ascontiguousarray(y.T), sy, z, m, n, k, left, right, matrix_instr_nonkdim=nonkdim
    )
    expect(z, a @ b.T, 1e-3 if device == "gfx950" else 1e-2)
