"""What gfx11's WMMA and DOT2 compute: the models on the host against captures of a W7900, and
against the scalar model of the tests."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit.intrinsics import amdgcn, matrix
from amdjit.intrinsics.models.matrix_layouts import GFX11_INSTRUCTIONS, MatrixInstruction
from tests import complement_model
from tests.captures import Array, bits, capture, numbers
from tests.matrix.float_data import DATA, multiply_accumulate

TARGET = "gfx1100"
DTYPES = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
}
DOTS = capture("float_dot_gfx1100")["rows"]
FORMATS = ("f16", "bf16")
KINDS = [("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16")]
FLOATS = [each for each in GFX11_INSTRUCTIONS.values() if not each.is_integer]
INTEGERS = [each for each in GFX11_INSTRUCTIONS.values() if each.is_integer]


def words(values: Array) -> Array:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


@pytest.mark.parametrize("row", DOTS, ids=lambda row: row["instruction"])
def test_the_scalar_model_gives_the_captured_dot_products(row: Any) -> None:
    found = complement_model.step(
        numbers(row["a"]), numbers(row["b"]), int(row["c"], 16), row["format"], "f32"
    )
    assert f"{found:#010x}" == row["result"]


def test_a_step_gives_the_captured_dot_products() -> None:
    assert len(DOTS) == 76
    for kind in FORMATS:
        rows = [row for row in DOTS if row["format"] == kind]
        a, b = (bits([row[key] for row in rows], 16).view(DTYPES[kind]) for key in "ab")
        c = bits([row["c"] for row in rows], 32).view(np.float32)
        found = multiply_accumulate(a[:, None, :], b[:, :, None], c[:, None, None], is_gfx11=True)[
            :, 0, 0
        ]
        np.testing.assert_array_equal(
            words(found), bits([row["result"] for row in rows], 32), err_msg=kind
        )


def captured_matrices() -> tuple[Array, Array, Array]:
    """Return the integers of the captured f32 matrix: A, B, C."""
    place = np.add.outer(16 * np.arange(16), np.arange(16))
    return place * 7 % 17 - 8, place * 11 % 17 - 8, place * 13 % 129 - 64


@pytest.mark.parametrize("kind", FORMATS)
def test_the_captured_matrix_is_of_integers_and_yet_not_exact(kind: str) -> None:
    a, b, c = captured_matrices()
    found = matrix.reference(f"wmma_f32_16x16x16_{kind}", a, b, c, target=TARGET)
    results = capture("float_dot_gfx1100")["matrix"]
    assert len(results) == 128
    for row, column, expected in results:
        assert f"{words(found)[row, column]:#010x}" == expected, (row, column)
    assert (found != a @ b + c).mean() > 0.4


@pytest.mark.parametrize("number", range(5))
def test_matrices_with_16_bit_sums_have_the_captured_bits(number: int) -> None:
    given = capture("packed_wmma")["matrices"][number]
    (taken,) = [each for each in given["captures"] if each["arch"] == "gfx11"]
    kind = given["format"]
    a, b, c = (bits(given[key], 16).view(DTYPES[kind]) for key in ("a_rows", "b", "c_rows"))
    rows = ((0, 16 - len(a)), (0, 0))
    name = f"wmma_{kind}_16x16x16_{kind}"
    found = matrix.reference(name, np.pad(a, rows), b, np.pad(c, rows), target=TARGET)
    np.testing.assert_array_equal(words(found)[: len(a)], bits(taken["d_rows"], 16))
    for row, column in np.ndindex(len(a), 16):
        value = complement_model.chain(
            words(a)[row].tolist(), words(b)[:, column].tolist(), int(words(c)[row, column]),
            kind, kind,
        )  # fmt: skip
        assert f"{value:#06x}" == taken["d_rows"][row][column]


@pytest.mark.parametrize(("kind", "result"), KINDS)
@pytest.mark.parametrize("data", ["normal", "any_bits", "finite", "mixed", "tiny", "powers"])
def test_chains_are_those_of_the_scalar_model(kind: str, result: str, data: str) -> None:
    random = np.random.default_rng([len(data), len(kind), len(result)])
    a, b = DATA[data](random, kind, (6, 16)), DATA[data](random, kind, (16, 5))
    for added in (data, "tiny"):
        c = DATA[added](random, result, (6, 5))
        for clamps in (False, True):
            found = words(multiply_accumulate(a, b, c, fp16_ovfl=clamps, is_gfx11=True))
            for row, column in np.ndindex(found.shape):
                assert found[row, column] == complement_model.chain(
                    words(a)[row].tolist(), words(b)[:, column].tolist(),
                    int(words(c)[row, column]), kind, result, clamps,
                )  # fmt: skip


def of_lanes(product: MatrixInstruction, operand: str, values: Array, upper: bool) -> Array:
    """Return the registers of a wave, with the builtin's elements."""
    layout = product.layout(operand)
    packed = matrix.pack(layout, values, int(upper and layout.sets > 1))
    if product.is_integer:
        return packed.view(np.int32)
    return packed.view(DTYPES[layout.kind])


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("product", FLOATS, ids=lambda product: product.name)
def test_models_of_builtins_compute_the_reference(product: MatrixInstruction, upper: bool) -> None:
    random = np.random.default_rng(3)
    kinds = product.a, product.b, product.result
    a, b, c = (DATA["mixed"](random, kind, (16, 16)) for kind in kinds)
    held = [of_lanes(product, each, v, upper) for each, v in zip("abc", (a, b, c), strict=True)]
    flags = [] if product.result == "f32" else [upper]
    expected = matrix.reference(product.name, a, b, c, target=TARGET)
    names = [product.name, product.name.replace("_w", "_tied_w")] if flags else [product.name]
    for name in names:
        found = getattr(amdgcn, name)(*held, *flags)
        got = matrix.unpack(product.layout("d"), found, selected=int(upper and bool(flags)))
        np.testing.assert_array_equal(words(got), words(expected))


def test_each_half_wave_multiplies_its_own_copies() -> None:
    """D's even rows come of the A and B in lanes 0 to 15, its odd rows of those in lanes 16 to
    31."""
    product = GFX11_INSTRUCTIONS["wmma_i32_16x16x16_iu8_w32"]
    random = np.random.default_rng(5)
    a, b, other_a, other_b = random.integers(-9, 10, (4, 16, 16))
    left, right = (
        np.where(
            np.arange(32)[:, None] < 16,
            matrix.pack(product.layout("a"), first),
            matrix.pack(product.layout("a"), second),
        ).view(np.int32)
        for first, second in ((a, other_a), (b.T, other_b.T))
    )
    zero = np.zeros((32, 8), np.int32)
    found = matrix.unpack(
        product.layout("d"), amdgcn.wmma_i32_16x16x16_iu8_w32(True, left, True, right, zero, False)
    )
    np.testing.assert_array_equal(found[::2], (a @ b)[::2])
    np.testing.assert_array_equal(found[1::2], (other_a @ other_b)[1::2])


@pytest.mark.parametrize("product", INTEGERS, ids=lambda product: product.name)
def test_integers_saturate_once(product: MatrixInstruction) -> None:
    """A sum that leaves i32 after half of k and comes back is not saturated, which it is on
    gfx12."""
    a, b = np.ones((16, 16), int), np.ones((16, 16), int)
    a[:, 8:] = -1
    c = np.full((16, 16), 2**31 - 4)
    flags: dict[str, Any] = {"clamp": True}
    assert (matrix.reference(product.name, a, b, c, target=TARGET, **flags) == c).all()
    assert (matrix.reference(product.name, abs(a), b, c, target=TARGET, **flags) == 2**31 - 1).all()
    assert (matrix.reference(f"{product.name}_gfx12", a, b, c, **flags) < c).all()
    held = [of_lanes(product, each, v, False) for each, v in zip("abc", (a, b, c), strict=True)]
    found = getattr(amdgcn, product.name)(True, held[0], True, held[1], held[2], True)
    assert (matrix.unpack(product.layout("d"), found) == c).all()


@pytest.mark.parametrize("product", FLOATS, ids=lambda product: product.name)
@pytest.mark.parametrize("data", ["normal", "finite", "tiny", "powers"])
def test_the_error_is_within_its_bound(product: MatrixInstruction, data: str) -> None:
    random = np.random.default_rng(8)
    kinds = product.a, product.b, product.result
    a, b, c = (DATA[data](random, kind, (16, 16)) for kind in kinds)
    found = matrix.reference(product.name, a, b, c, target=TARGET).astype(float)
    exact = a.astype(float) @ b.astype(float) + c.astype(float)
    bound = matrix.error_bound(product.name, a, b, c, target=TARGET)
    there = np.isfinite(found) & np.isfinite(exact)
    assert (np.abs(found - exact)[there] <= bound[there]).all()
