"""The scalar model of matrix arithmetic returns every value that was captured from gfx1201."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.captures import capture, digest, numbers
from tests.emulator.matrix_waves import W32
from tests.emulator.silicon_captures import (
    integer_inputs,
    negated_halves,
    of_gfx12,
    sparse_inputs,
    sparse_kinds,
    sparse_seed,
)
from tests.emulator.silicon_matrices import Shape
from tests.emulator.silicon_model import dot, dot_step, rounded


def test_the_model_gives_the_captured_dot_products() -> None:
    rows = capture("float_dot_gfx1201")["rows"]
    assert len(rows) == 109
    for row in rows:
        kinds = (row["format"], row["format"])
        found = dot(numbers(row["a"]), numbers(row["b"]), int(row["c"], 16), kinds)
        assert found == int(row["result"], 16), row


@pytest.mark.parametrize(
    "matrix", capture("packed_wmma")["matrices"], ids=lambda matrix: matrix["name"]
)
def test_the_model_gives_the_captured_matrices_with_packed_results(matrix: dict[str, Any]) -> None:
    kind = matrix["format"]
    for found in of_gfx12(matrix):
        logical = [wave_k(found["wave"], k) for k in range(16)]
        for row, (a, c, d) in enumerate(
            zip(matrix["a_rows"], matrix["c_rows"], found["d_rows"], strict=True)
        ):
            for column in range(16):
                left, right = ([0] * 16 for _ in range(2))
                for place, k in enumerate(logical):
                    left[k], right[k] = int(a[place], 16), int(matrix["b"][place][column], 16)
                result = dot(left, right, int(c[column], 16), (kind, kind), kind)
                assert f"{result:#06x}" == d[column], (row, column)


# Bits of the inline constants by their encoding, in halves of f16 and of bf16.
_CONSTANTS = {
    128: (0, 0), 129: (1, 1), 144: (16, 16), 192: (64, 64), 193: (0xFFFF, 0xFFFF),
    208: (0xFFF0, 0xFFF0),
    240: (0x3800, 0x3F00), 241: (0xB800, 0xBF00), 242: (0x3C00, 0x3F80), 243: (0xBC00, 0xBF80),
    244: (0x4000, 0x4000), 246: (0x4400, 0x4080), 248: (0x3118, 0x3E22),
}  # fmt: skip


def test_the_model_gives_the_captured_operands_of_packed_matrices() -> None:
    """neg_lo and neg_hi are signs of halves of A and B, sign and absolute value of C; op_sel and
    clamp do nothing."""
    rows = capture("packed_operands")["rows"]
    assert len(rows) == 220
    for row in rows:
        is_brain = "BF16" in row["instruction"]
        kind = "bf16" if is_brain else "f16"
        high, low = numbers(row["encoding"])
        neg_lo, neg_hi, source = low >> 29, high >> 8 & 7, low >> 18 & 0x1FF
        factors = [
            [
                int(row[name], 16) & 0xFFFF ^ (neg_lo >> number & 1) << 15,
                int(row[name], 16) >> 16 ^ (neg_hi >> number & 1) << 15,
            ]
            for number, name in enumerate("ab")
        ]
        c = int(row["c"], 16) & 0xFFFF if source >= 256 else _CONSTANTS[source][is_brain]
        c = c & 0x7FFF if neg_hi >> 2 else c
        c ^= (neg_lo >> 2) << 15
        found = dot(factors[0] * 8, factors[1] * 8, c, (kind, kind), kind)
        assert found | found << 16 == int(row["gfx1201"], 16), row


def wave_k(wave: int, place: int) -> int:
    """The logical k of the place that the captures' program gave an element."""
    if wave == 64:
        return place
    half, index = divmod(place, 8)
    return 8 * (index // 4) + 4 * half + index % 4


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["IU8", "IU4"])
@pytest.mark.parametrize("clamp", [0, 1])
def test_the_model_gives_the_captured_integer_products(name: str, clamp: int) -> None:
    rows = [
        row for row in capture("wmma_integer_gfx1201")["rows"] if row["instruction"].endswith(name)
    ]
    for row in [row for row in rows if row["clamp"] == clamp]:
        inputs = integer_inputs(row["sample"])
        kind = name.lower()
        shape = Shape(kind, kind, "i32", 32 if "X32" in row["instruction"] else 16, W32)
        signs = row["signed_a"] | row["signed_b"] << 1
        found = shape.integer_product(inputs[:2], inputs[2:4], inputs[6:], signs, bool(clamp))
        assert digest(found) == row["digest"], row


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("op", range(4))
@pytest.mark.parametrize("kind", ["sw16", "sw8"])
def test_the_model_gives_the_captured_sparse_products(kind: str, op: int) -> None:
    rows = [
        row for row in capture("swmmac_gfx1201")["rows"] if (row["kind"], row["op"]) == (kind, op)
    ]
    assert len(rows) == 16
    for row in rows:
        a_kind, b_kind, result = sparse_kinds(row["instruction"])
        a, b, c, index = sparse_inputs(a_kind, b_kind, result, sparse_seed(row))
        a = a ^ np.uint32(negated_halves(row.get("neg", 0)))
        found = Shape(a_kind, b_kind, result, 16, W32, sparse=True).product(
            a, b, c, index, row["index_key"]
        )
        assert digest(found) == row["digest"], row


def test_rounding_to_nearest_even_and_gradual_underflow() -> None:
    assert rounded(1, -149, "f32") == 1
    assert rounded(3, -150, "f32") == 2
    assert rounded(-1, -151, "f32") == 0
    assert rounded((1 << 25) - 1, 0, "f32") == 0x4C000000
    assert rounded(2047, 5, "f16") == 0x7BFF
    assert rounded(4095, 4, "f16") == 0x7C00
    assert rounded(-4095, 4, "f16", clamps=True) == 0xFBFF


def test_eighths_share_one_grid_and_have_their_own_nan() -> None:
    """2**16 and two products of -2**-12: each loses all of its bits on the common grid and counts
    as -2**-8."""
    big, tiny = 0x78, 0x01
    found = dot_step([big, tiny | 0x80, tiny | 0x80, 0], [big, tiny, tiny, 0], 0, ("fp8", "fp8"))
    assert found == rounded((1 << 24) - 2, -8, "f32")
    assert dot_step([0x7F, 0, 0, 0], [0] * 4, 0, ("fp8", "fp8")) == 0xFFC00A3D
    assert dot_step([0x7C, 0, 0, 0], [0] * 4, 0, ("bf8", "bf8")) == 0xFFC00A3D
