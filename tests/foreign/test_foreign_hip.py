"""Programs in HIP's language, compiled by clang without ROCm: as NumPy computes them, and clean
under every check."""

from __future__ import annotations

import numpy as np
import pytest

from tests.foreign.foreign_compilers import compile_hip
from tests.foreign.foreign_data import DTYPES, integers, normal, product_bound, wide
from tests.foreign.foreign_launches import Expected, Launch, record_launch
from tests.foreign.foreign_table import Record

pytestmark = pytest.mark.foreign

rng = np.random.default_rng(23)
LEVELS = pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])


@LEVELS
@pytest.mark.parametrize("kind", ["f16", "bf16", "fp8", "i8"])
@pytest.mark.parametrize(
    ("size", "random"), [((64, 64, 64), False), ((70, 100, 45), False), ((33, 17, 200), True)]
)
def test_gemm_with_two_buffers(
    record: Record, level: str, kind: str, size: tuple[int, int, int], random: bool
) -> None:
    m, n, k = size
    total = "i32" if kind == "i8" else "f32"
    fill = normal if random and total == "f32" else integers
    a, b = fill(rng, (m, k), kind), fill(rng, (n, k), kind)
    out = np.zeros((m, n), DTYPES[total])
    code = compile_hip("gemm.hip", f"gemm_{kind}", 128, level)
    bound = product_bound(a, b.T) if fill is normal else 0
    args = [a, b, out, np.uint32(m), np.uint32(n), np.uint32(k)]
    launch = Launch((-(-n // 64), -(-m // 64)), args, [Expected(out, wide(a) @ wide(b).T, bound)])
    record_launch(record, code, launch, f"GEMM {kind}, double buffer", f"{level} {m}x{n}x{k}")


@LEVELS
@pytest.mark.parametrize("k", [32, 96])
def test_a_sparse_product_is_numpys(record: Record, level: str, k: int) -> None:
    a, b = integers(rng, (32, k // 2), "f16"), integers(rng, (k, 16), "f16")
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], np.uint8)
    places = pairs[rng.integers(0, 6, (32, k // 4))].reshape(32, k // 2)
    whole = np.zeros((32, k))
    columns = np.arange(k // 2) // 2 * 4 + places
    np.put_along_axis(whole, columns, wide(a), 1)
    out = np.zeros((32, 16), np.float32)
    code = compile_hip("sparse.hip", "sparse_f16", 32, level)
    launch = Launch(2, [a, places, b, out, np.uint32(k)], [Expected(out, whole @ wide(b))])
    record_launch(record, code, launch, "sparse product f16 (SWMMAC)", f"{level} 32x16x{k}")


@LEVELS
def test_sums_of_all_blocks(record: Record, level: str) -> None:
    x = integers(rng, (1000,), "f32", 100)
    total, parts, ticket = np.zeros(1, np.float32), np.zeros(4, np.float32), np.zeros(1, np.uint32)
    reference = x.sum(keepdims=True)
    launch = Launch(4, [x, total, np.uint32(1000)], [Expected(total, reference)])
    code = compile_hip("reductions.hip", "sum_f32", 256, level)
    record_launch(record, code, launch, "sum by shuffles, LDS and an atomic", level)
    args = [x, parts, ticket, total, np.uint32(1000), np.uint32(4)]
    code = compile_hip("reductions.hip", "sum_in_order", 256, level)
    record_launch(
        record, code, Launch(4, args, [Expected(total, reference)]), "sum by the last block", level
    )


@LEVELS
def test_scans_and_histograms_are_numpys(record: Record, level: str) -> None:
    x, out = rng.integers(-50, 50, 700).astype(np.int32), np.zeros(700, np.int32)
    reference = np.concatenate([x[start : start + 256].cumsum() for start in range(0, 700, 256)])
    code = compile_hip("reductions.hip", "scan_i32", 256, level)
    launch = Launch(3, [x, out, np.uint32(700)], [Expected(out, reference)])
    record_launch(record, code, launch, "scan through LDS", level)
    values, counts = rng.integers(0, 256, 3000).astype(np.uint8), np.zeros(256, np.uint32)
    code = compile_hip("reductions.hip", "histogram", 256, level)
    expected = [Expected(counts, np.bincount(values, minlength=256))]
    launch = Launch(2, [values, counts, np.uint32(3000)], expected)
    record_launch(record, code, launch, "histogram in LDS", level)


@LEVELS
def test_a_maximum_by_compare_and_swap(record: Record, level: str) -> None:
    x, largest = rng.random(600), np.zeros(1, np.float64)
    code = compile_hip("reductions.hip", "largest_f64", 256, level)
    launch = Launch(3, [x, largest, np.uint32(600)], [Expected(largest, x.max(keepdims=True))])
    record_launch(record, code, launch, "maximum of f64 by compare and swap", level)


@LEVELS
def test_a_stencil_in_dynamic_lds(record: Record, level: str) -> None:
    x, out = integers(rng, (500,), "f32", 100), np.zeros(500, np.float32)
    padded = np.pad(x, 1)
    code = compile_hip("reductions.hip", "stencil", 96, level, dynamic_lds=98 * 4)
    args = [x, out, np.uint32(500), np.uint32(96)]
    launch = Launch(6, args, [Expected(out, padded[:-2] + 2 * padded[1:-1] + padded[2:])])
    record_launch(record, code, launch, "stencil in dynamic LDS", level)
