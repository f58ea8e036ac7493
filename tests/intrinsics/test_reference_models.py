"""The reference models of the declarations, against plain NumPy."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from amdjit.intrinsics import amdgcn, arithmetic, convert, wave
from amdjit.intrinsics.models.matrix_layouts import (
    WMMA_4_BIT_K16,
    WMMA_4_BIT_K32,
    WMMA_8_BIT,
    WMMA_16_BIT,
    MatrixInstruction,
    unpack_nibbles,
)

RANDOM = np.random.default_rng(7)
ALL = [WMMA_16_BIT, WMMA_8_BIT, WMMA_4_BIT_K16, WMMA_4_BIT_K32]


@pytest.mark.parametrize("product", ALL, ids=lambda product: product.name)
def test_the_layouts_cover_each_matrix_once(product: MatrixInstruction) -> None:
    for operand, shape in (("a", (16, product.k)), ("b", (product.k, 16)), ("d", (16, 16))):
        rows, columns = product.layout(operand).positions()
        assert sorted(zip(rows.ravel(), columns.ravel(), strict=True)) == list(
            itertools.product(*map(range, shape))
        )


def test_the_16_bit_layout_is_the_one_of_the_isa_document() -> None:
    assert WMMA_16_BIT.layout("a").element(0, 4) == (0, 8)
    assert WMMA_16_BIT.layout("a").element(16, 0) == (0, 4)
    assert WMMA_16_BIT.layout("d").element(17, 3) == (11, 1)
    assert WMMA_8_BIT.layout("b").element(18, 7) == (15, 2)
    assert WMMA_4_BIT_K32.layout("b").element(18, 7) == (23, 2)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("wmma_f32_16x16x16_f16_w32_gfx12", np.float16),
        ("wmma_f32_16x16x16_bf16_w32_gfx12", ml_dtypes.bfloat16),
        ("wmma_f32_16x16x16_fp8_fp8_w32_gfx12", ml_dtypes.float8_e4m3fn),
        ("wmma_f32_16x16x16_bf8_bf8_w32_gfx12", ml_dtypes.float8_e5m2),
    ],
)
def test_float_models_give_the_matrix_product(name: str, dtype: type) -> None:
    layouts = WMMA_16_BIT if np.dtype(dtype).itemsize == 2 else WMMA_8_BIT
    left, right = (RANDOM.integers(-4, 5, (16, 16)).astype(dtype) for _ in range(2))
    total = RANDOM.integers(-4, 5, (16, 16)).astype(np.float32)
    a, b = layouts.layout("a").scatter(left), layouts.layout("b").scatter(right)
    if np.dtype(dtype).itemsize == 1:
        a, b = a.view(np.int32), b.view(np.int32)
    result = layouts.layout("d").gather(
        getattr(amdgcn, name)(a, b, layouts.layout("d").scatter(total))
    )
    np.testing.assert_array_equal(
        result, left.astype(np.float32) @ right.astype(np.float32) + total
    )


@pytest.mark.parametrize(("signed_a", "signed_b"), list(itertools.product([True, False], repeat=2)))
def test_byte_models_read_the_sign_flags(signed_a: bool, signed_b: bool) -> None:
    left = RANDOM.integers(0, 256, (16, 16)).astype(np.uint8)
    right = RANDOM.integers(0, 256, (16, 16)).astype(np.uint8)
    a, b = (
        WMMA_8_BIT.layout("a").scatter(left).view(np.int32),
        WMMA_8_BIT.layout("b").scatter(right).view(np.int32),
    )
    c = np.zeros((32, 8), np.int32)
    result = amdgcn.wmma_i32_16x16x16_iu8_w32_gfx12(signed_a, a, signed_b, b, c, False)
    numbers = [
        m.view(np.int8 if s else np.uint8).astype(np.int32)
        for m, s in ((left, signed_a), (right, signed_b))
    ]
    np.testing.assert_array_equal(WMMA_8_BIT.layout("d").gather(result), numbers[0] @ numbers[1])


def test_clamp_saturates_and_its_absence_wraps() -> None:
    ones = np.full((32, 2), 0x01010101, np.int32)
    full = np.full((32, 8), np.iinfo(np.int32).max, np.int32)
    model = amdgcn.wmma_i32_16x16x16_iu8_w32_gfx12
    assert (model(True, ones, True, ones, full, True) == np.iinfo(np.int32).max).all()
    assert (model(True, ones, True, ones, full, False) == np.iinfo(np.int32).min + 15).all()


def test_nibbles_are_read_lowest_first_with_their_sign() -> None:
    words = np.array([[0x000000F1]], np.int32)
    assert unpack_nibbles(words, True)[0, :3].tolist() == [1, -1, 0]
    assert unpack_nibbles(words, False)[0, :3].tolist() == [1, 15, 0]


def test_four_bit_models_of_both_shapes_give_the_product() -> None:
    for name, layouts, words in (
        ("wmma_i32_16x16x16_iu4_w32_gfx12", WMMA_4_BIT_K16, 1),
        ("wmma_i32_16x16x32_iu4_w32_gfx12", WMMA_4_BIT_K32, 2),
    ):
        a, b = (RANDOM.integers(-(2**31), 2**31, (32, words)).astype(np.int32) for _ in range(2))
        operands = (a[:, 0], b[:, 0]) if words == 1 else (a, b)
        result = getattr(amdgcn, name)(
            True, operands[0], False, operands[1], np.zeros((32, 8), np.int32), False
        )
        left = layouts.layout("a").gather(unpack_nibbles(a, True))
        right = layouts.layout("b").gather(unpack_nibbles(b, False))
        np.testing.assert_array_equal(layouts.layout("d").gather(result), left @ right)


def test_conversion_to_pairs_rounds_toward_zero() -> None:
    low, high = convert.cvt_pkrtz(65520.0, 1 + 2**-11 + 2**-20)
    assert (float(low), float(high)) == (65504.0, 1.0)
    assert float(convert.cvt_pkrtz(-1e10, 0.0)[0]) == -65504.0
    assert np.isinf(convert.cvt_pkrtz(np.inf, 0.0)[0])
    assert np.isnan(convert.cvt_pkrtz(np.nan, 0.0)[0])


def test_shuffle_takes_each_lanes_value_from_the_lane_it_names() -> None:
    values = np.arange(32)
    np.testing.assert_array_equal(wave.shuffle(values, values ^ 16), values ^ 16)


def test_funnel_shifts_and_high_products() -> None:
    assert arithmetic.funnel_shift_left(0x80000001, 0xC0000000, 1) == 3
    assert arithmetic.funnel_shift_right(0x80000001, 0xC0000000, 4) == 0x1C000000
    assert arithmetic.mulhi(-1, 1) == -1
    assert arithmetic.med3(3.0, 1.0, 2.0) == 2.0


def test_an_intrinsic_without_a_model_says_so() -> None:
    with pytest.raises(TypeError, match="reference model"):
        wave.lane_id()
