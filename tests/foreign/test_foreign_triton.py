"""Kernels that Triton compiled for gfx1201: as NumPy computes them, and clean under every check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.foreign.foreign_data import (
    DTYPES,
    EPSILON,
    attention,
    integers,
    layer_norm,
    normal,
    rounding,
    softmax,
)
from tests.foreign.foreign_launches import Expected, Launch, record_launch
from tests.foreign.triton_launches import (
    BUFFER,
    PLAIN,
    SCRATCH,
    WIDE,
    Record,
    build,
    matmul,
    programs,
)

pytestmark = pytest.mark.foreign

rng = np.random.default_rng(20)


@pytest.mark.parametrize(
    ("kind", "n", "stride", "block", "facts", "options"),
    [
        ("f32", 1000, 1, 256, PLAIN, {"num_warps": 1}),
        ("f32", 1024, 1, 256, WIDE, {"num_warps": 4}),
        ("f32", 999, 1, 512, BUFFER, {"num_warps": 2}),
        ("f16", 1000, 1, 1024, BUFFER, {"num_warps": 8}),
        ("bf16", 1001, 1, 128, WIDE, {"num_warps": 2}),
        ("f16", 300, 3, 128, PLAIN, {"num_warps": 4}),
        ("i8", 777, 1, 256, WIDE, {"num_warps": 1}),
        ("i32", 777, 2, 64, BUFFER, {"num_warps": 16}),
    ],
)
def test_sums_of_vectors_are_numpys(
    record: Record, kind: str, n: int, stride: int, block: int, facts: Any, options: dict[str, int]
) -> None:
    x, y, out = (
        integers(rng, (n * stride,), kind),
        integers(rng, (n * stride,), kind),
        np.zeros(n * stride, np.int8),
    )
    out = out.astype(DTYPES[kind])
    types = [
        ("x", kind + "*"),
        ("y", kind + "*"),
        ("out", kind + "*"),
        ("n", "i32"),
        ("stride", "i32"),
    ]
    code = build("vector_add", types, {"BLOCK": block}, facts, **options)
    wanted = out.copy()
    wanted[::stride] = x[::stride] + y[::stride]
    args = [x, y, out, np.int32(n), np.int32(stride), *SCRATCH]
    launch = Launch(programs(n, block), args, [Expected(out, wanted)])
    record_launch(record, code, launch, "vector add", f"{kind}, {n} in {block}")


@pytest.mark.parametrize(
    ("kind", "columns", "block", "facts", "options"),
    [
        ("f32", 100, 128, PLAIN, {"num_warps": 1}),
        ("f32", 128, 128, WIDE, {"num_warps": 4}),
        ("f16", 781, 1024, BUFFER, {"num_warps": 4}),
        ("bf16", 1000, 1024, WIDE, {"num_warps": 8}),
        ("f32", 1, 16, PLAIN, {"num_warps": 2}),
    ],
)
def test_softmax_is_numpys(
    record: Record, kind: str, columns: int, block: int, facts: Any, options: dict[str, int]
) -> None:
    x, out = normal(rng, (5, columns), kind) * DTYPES[kind](3), np.zeros((5, columns), DTYPES[kind])
    types = [("x", kind + "*"), ("out", kind + "*"), ("stride", "i32"), ("columns", "i32")]
    code = build("softmax", types, {"BLOCK": block}, facts, **options)
    reference = softmax(x)
    bound = rounding(reference, kind) + 16 * EPSILON["f32"] * reference
    args = [x, out, np.int32(columns), np.int32(columns), *SCRATCH]
    launch = Launch(5, args, [Expected(out, reference, bound)])
    record_launch(record, code, launch, "softmax", f"{kind}, {columns} in {block}")


@pytest.mark.parametrize(
    ("kind", "columns", "block", "facts", "options"),
    [
        ("f32", 300, 128, PLAIN, {"num_warps": 4}),
        ("f16", 256, 256, WIDE, {"num_warps": 2}),
        ("bf16", 523, 256, BUFFER, {"num_warps": 8}),
        ("f32", 640, 64, WIDE, {"num_warps": 1, "num_stages": 3}),
    ],
)
def test_layer_norm_is_numpys(
    record: Record, kind: str, columns: int, block: int, facts: Any, options: dict[str, int]
) -> None:
    x, out = normal(rng, (4, columns), kind), np.zeros((4, columns), DTYPES[kind])
    weight, bias = normal(rng, (columns,), "f32"), normal(rng, (columns,), "f32")
    types = [("x", kind + "*"), ("weight", "f32*"), ("bias", "f32*"), ("out", kind + "*")]
    types += [("stride", "i32"), ("columns", "i32"), ("epsilon", "f32")]
    code = build("layer_norm", types, {"BLOCK": block}, facts, **options)
    reference, bound = layer_norm(x, weight, bias, 1e-5)
    args = [x, weight, bias, out, np.int32(columns), np.int32(columns), np.float32(1e-5), *SCRATCH]
    launch = Launch(4, args, [Expected(out, reference, bound + rounding(reference, kind))])
    record_launch(record, code, launch, "layer norm", f"{kind}, {columns} in {block}")


@pytest.mark.parametrize(
    ("kinds", "layout", "size", "blocks", "facts", "options"),
    [
        (("f16", "f16", "f32"), "NN", (70, 90, 100), (32, 32, 32), PLAIN, {"num_warps": 4}),
        (
            ("f16", "f16", "f16"),
            "NT",
            (64, 64, 96),
            (64, 32, 32),
            WIDE,
            {"num_warps": 2, "num_stages": 1},
        ),
        (
            ("f16", "f16", "f32"),
            "TN",
            (64, 96, 64),
            (32, 64, 64),
            BUFFER,
            {"num_warps": 4, "num_stages": 3},
        ),
        (
            ("f16", "f16", "f32"),
            "TT",
            (33, 65, 130),
            (64, 64, 32),
            BUFFER,
            {"num_warps": 8, "num_stages": 2},
        ),
        (("bf16", "bf16", "f32"), "NN", (48, 80, 64), (16, 16, 32), WIDE, {"num_warps": 1}),
        (("bf16", "bf16", "bf16"), "NT", (64, 64, 128), (128, 64, 64), BUFFER, {"num_warps": 8}),
        (
            ("bf16", "bf16", "f32"),
            "TN",
            (50, 50, 50),
            (32, 32, 16),
            PLAIN,
            {"num_warps": 2, "num_stages": 4},
        ),
        (("fp8", "fp8", "f32"), "NN", (64, 64, 64), (32, 32, 64), BUFFER, {"num_warps": 4}),
        (("fp8", "fp8", "f32"), "NT", (70, 40, 200), (64, 32, 64), PLAIN, {"num_warps": 4}),
        (
            ("fp8", "bf8", "f32"),
            "TN",
            (32, 64, 96),
            (32, 64, 32),
            WIDE,
            {"num_warps": 2, "num_stages": 3},
        ),
        (("bf8", "bf8", "f16"), "TT", (32, 32, 64), (16, 32, 32), BUFFER, {"num_warps": 1}),
        (("i8", "i8", "i32"), "NN", (70, 90, 100), (32, 32, 32), PLAIN, {"num_warps": 4}),
        (
            ("i8", "i8", "i32"),
            "NT",
            (64, 64, 128),
            (64, 64, 64),
            BUFFER,
            {"num_warps": 8, "num_stages": 2},
        ),
        (("i8", "i8", "i32"), "TN", (64, 48, 64), (32, 16, 64), WIDE, {"num_warps": 2}),
        (("f32", "f32", "f32"), "NN", (40, 40, 40), (32, 32, 16), PLAIN, {"num_warps": 4}),
        (("f32", "f32", "f32"), "TT", (64, 32, 64), (32, 32, 32), BUFFER, {"num_warps": 2}),
    ],
)
def test_matmul_of_integers_is_exact(
    record: Record,
    kinds: tuple[str, str, str],
    layout: str,
    size: tuple[int, int, int],
    blocks: tuple[int, int, int],
    facts: Any,
    options: dict[str, int],
) -> None:
    m, n, k = size
    largest = 1 if kinds[2] in ("f16", "bf16") else 4
    a, b = integers(rng, (m, k), kinds[0], largest), integers(rng, (k, n), kinds[1], largest)
    matmul(record, a, b, kinds, layout, blocks, facts, options)


@pytest.mark.parametrize(
    ("kinds", "layout"),
    [
        (("f16", "f16", "f32"), "NT"),
        (("bf16", "bf16", "f32"), "TN"),
        (("fp8", "fp8", "f32"), "NN"),
        (("bf8", "fp8", "f32"), "NT"),
        (("f16", "f16", "f16"), "NN"),
    ],
)
def test_matmul_of_random_numbers(record: Record, kinds: tuple[str, str, str], layout: str) -> None:
    a, b = normal(rng, (64, 160), kinds[0]), normal(rng, (160, 48), kinds[1])
    matmul(record, a, b, kinds, layout, (32, 16, 32), BUFFER, {"num_warps": 2, "num_stages": 2})


@pytest.mark.parametrize(
    ("kind", "length", "head", "blocks", "causal", "options"),
    [
        ("f16", 64, 32, (32, 32), False, {"num_warps": 2}),
        ("f16", 100, 64, (64, 32), True, {"num_warps": 4}),
        ("bf16", 77, 32, (16, 64), False, {"num_warps": 1, "num_stages": 3}),
        ("bf16", 128, 64, (64, 64), True, {"num_warps": 8, "num_stages": 1}),
    ],
)
def test_attention_is_numpys(
    record: Record,
    kind: str,
    length: int,
    head: int,
    blocks: tuple[int, int],
    causal: bool,
    options: dict[str, int],
) -> None:
    q, k, v = (normal(rng, (2, length, head), kind) for _ in range(3))
    out = np.zeros_like(q)
    scale = head**-0.5
    types = [(name, kind + "*") for name in ("q", "k", "v", "out")]
    types += [("length", "i32"), ("scale", "f32"), ("head_stride", "i32")]
    constants = {"BM": blocks[0], "BN": blocks[1], "HEAD": head, "CAUSAL": causal}
    code = build("attention", types, constants, WIDE, **options)
    reference, bound = attention(q, k, v, scale, causal, kind)
    args = [q, k, v, out, np.int32(length), np.float32(scale), np.int32(length * head), *SCRATCH]
    expected = [Expected(out, reference, bound + rounding(reference, kind))]
    launch = Launch((programs(length, blocks[0]), 2), args, expected)
    variant = f"{kind}{', causal' if causal else ''}, {length} x {head} in {blocks[0]}x{blocks[1]}"
    record_launch(record, code, launch, "attention", variant)


@pytest.mark.parametrize(("columns", "block", "waves"), [(100, 128, 1), (500, 512, 4), (64, 64, 8)])
def test_sums_places_of_the_largest_and_running_sums(
    record: Record, columns: int, block: int, waves: int
) -> None:
    x = rng.permuted(np.arange(-20, columns - 20, dtype=np.int32)[None, :].repeat(3, 0), axis=1)
    sums, places, running = np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros_like(x)
    types = [("x", "i32*"), ("sums", "i32*"), ("places_of_largest", "i32*"), ("running", "i32*")]
    types += [("stride", "i32"), ("columns", "i32")]
    code = build("row_reductions", types, {"BLOCK": block}, num_warps=waves)
    expected = [
        Expected(sums, x.sum(1)),
        Expected(places, x.argmax(1)),
        Expected(running, x.cumsum(1)),
    ]
    args = [x, sums, places, running, np.int32(columns), np.int32(columns), *SCRATCH]
    record_launch(
        record, code, Launch(3, args, expected), "sum, argmax, cumsum", f"{columns} in {block}"
    )


@pytest.mark.parametrize(
    ("kind", "columns", "waves"), [("f32", 128, 4), ("i32", 256, 2), ("f16", 64, 1)]
)
def test_sorted_rows_are_numpys(record: Record, kind: str, columns: int, waves: int) -> None:
    x = (rng.standard_normal((3, columns)) * 100).astype(DTYPES[kind])
    out = np.zeros_like(x)
    code = build(
        "sort_rows",
        [("x", kind + "*"), ("out", kind + "*")],
        {"COLUMNS": columns},
        WIDE,
        num_warps=waves,
    )
    launch = Launch(3, [x, out, *SCRATCH], [Expected(out, np.sort(x, 1))])
    record_launch(record, code, launch, "sort", f"{kind}, {columns}")


@pytest.mark.parametrize(
    ("kind", "shape", "blocks", "waves"),
    [("f32", (50, 70), (32, 32), 4), ("i8", (64, 33), (16, 64), 2)],
)
def test_transposed_matrices_are_numpys(
    record: Record, kind: str, shape: tuple[int, int], blocks: tuple[int, int], waves: int
) -> None:
    x = integers(rng, shape, kind, 100)
    out = np.zeros(shape[::-1], DTYPES[kind])
    types = [("x", kind + "*"), ("out", kind + "*"), ("rows", "i32"), ("columns", "i32")]
    code = build("transpose", types, {"BR": blocks[0], "BC": blocks[1]}, num_warps=waves)
    grid = (programs(shape[0], blocks[0]), programs(shape[1], blocks[1]))
    args = [x, out, np.int32(shape[0]), np.int32(shape[1]), *SCRATCH]
    record_launch(
        record, code, Launch(grid, args, [Expected(out, x.T)]), "transpose", f"{kind}, {shape}"
    )


@pytest.mark.parametrize("waves", [1, 4])
def test_atomic_counts_are_numpys(record: Record, waves: int) -> None:
    x, counts = rng.integers(0, 10, 1000).astype(np.int32), np.zeros(10, np.int32)
    types = [("x", "i32*"), ("counts", "i32*"), ("n", "i32")]
    code = build("count_values", types, {"BLOCK": 256}, num_warps=waves)
    launch = Launch(
        4, [x, counts, np.int32(1000), *SCRATCH], [Expected(counts, np.bincount(x, minlength=10))]
    )
    record_launch(record, code, launch, "histogram by atomics", f"{waves} waves")


def test_the_last_program_adds_the_parts_of_all(record: Record) -> None:
    x, parts = integers(rng, (1000,), "f32"), np.zeros(4, np.float32)
    ticket, out = np.zeros(1, np.int32), np.zeros(1, np.float32)
    types = [("x", "f32*"), ("parts", "f32*"), ("ticket", "i32*"), ("out", "f32*"), ("n", "i32")]
    code = build("last_program_adds", types, {"BLOCK": 256, "PROGRAMS": 4}, num_warps=4)
    launch = Launch(
        4, [x, parts, ticket, out, np.int32(1000), *SCRATCH], [Expected(out, x.sum(keepdims=True))]
    )
    record_launch(record, code, launch, "sum across programs", "acquire and release by a ticket")


def test_integer_arithmetic_is_numpys(record: Record) -> None:
    x, y = (rng.integers(-(2**20), 2**20, 1000).astype(np.int32) for _ in range(2))
    y[y == 0] = 1
    out = np.zeros_like(x)
    types = [("x", "i32*"), ("y", "i32*"), ("out", "i32*"), ("n", "i32")]
    code = build("mixed_arithmetic", types, {"BLOCK": 128}, WIDE, num_warps=4)
    quotient = np.trunc(x / y).astype(np.int32)
    remainder = x - quotient * y
    product = ((x.astype(np.int64) * y) >> 3 & 0x7FFF).astype(np.int32)
    reference = np.where(x > y, quotient + remainder, product) ^ np.trunc(x * 0.25).astype(np.int32)
    launch = Launch(8, [x, y, out, np.int32(1000), *SCRATCH], [Expected(out, reference)])
    record_launch(
        record, code, launch, "integer arithmetic", "division, 64-bit products, conversions"
    )
