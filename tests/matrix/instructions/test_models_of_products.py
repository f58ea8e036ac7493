"""The public models of dot products and matrix instructions, with which users check results."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

from amdjit.intrinsics import amdgcn, arithmetic, matrix
from amdjit.intrinsics.numbers import dots
from tests.matrix.float_data import DATA, DTYPES, bits_of, multiply_accumulate


def test_models_of_dot_builtins_read_bits() -> None:
    random = np.random.default_rng(9)
    a, b = (random.integers(0, 2**32, 64, np.uint32) for _ in range(2))
    c = random.standard_normal(64).astype(np.float32)
    for left, right in (("fp8", "bf8"), ("bf8", "fp8"), ("fp8", "fp8"), ("bf8", "bf8")):
        found = getattr(amdgcn, f"dot4_f32_{left}_{right}")(a, b, c)
        x, y = (each.view(DTYPES[kind]).reshape(64, 4) for each, kind in ((a, left), (b, right)))
        np.testing.assert_array_equal(bits_of(found), bits_of(arithmetic.dot4_float(x, y, c)))
        assert bits_of(amdgcn.dot4_f32_fp8_bf8(a[0], b[0], c[0])) == bits_of(
            amdgcn.dot4_f32_fp8_bf8(a, b, c)[0]
        )
    pairs = [random.standard_normal((64, 2)).astype(ml_dtypes.bfloat16) for _ in range(2)]
    added = c.astype(ml_dtypes.bfloat16)
    narrow = amdgcn.fdot2_bf16_bf16(*(each.view(np.int16) for each in pairs), added.view(np.int16))
    np.testing.assert_array_equal(narrow.view(np.uint16), bits_of(dots._dot2_bf16(*pairs, added)))


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", list(matrix.INSTRUCTIONS))
def test_models_of_builtins_compute_the_reference_of_what_a_wave_holds(name: str) -> None:
    instruction = matrix.matrix_instruction(name)
    random = np.random.default_rng(12)
    shapes = (16, instruction.held_k), (instruction.k, 16), (16, 16)
    kinds = instruction.a, instruction.b, instruction.result
    if instruction.is_integer:
        a, b, c = (random.integers(-8, 8, shape) for shape in shapes)
        c[0] = 2**31 - 1
    else:
        a, b, c = (
            DATA["mixed"](random, kind, shape) for kind, shape in zip(kinds, shapes, strict=True)
        )
    held = [
        matrix.pack(instruction.layout(each), values)
        for each, values in zip("abc", (a, b, c), strict=True)
    ]
    index, places = None, []
    if instruction.is_sparse:
        index = random.integers(0, 4, shapes[0])
        places = [matrix.pack(instruction.layout("index"), index).view(np.int32)[:, 0]]
    left, right, added = (each.view(np.int32) for each in held)
    if instruction.is_integer:
        found = getattr(amdgcn, name)(True, left, False, right, added, *places, True)
    else:
        found = getattr(amdgcn, name)(left, right, added, *places)
    unsigned = {"b_signed": False, "clamp": True} if instruction.is_integer else {}
    expected = matrix.reference(name, a, b, c, index, **unsigned)
    np.testing.assert_array_equal(
        bits_of(matrix.unpack(instruction.layout("d"), found)), bits_of(expected)
    )


@pytest.mark.parametrize(
    "name", ["wmma_f32_16x16x32_bf16", "wmma_f32_16x16x32_f16", "mfma_f32_16x16x16f16"]
)
def test_products_of_other_processors_have_no_model(name: str) -> None:
    builtin = getattr(amdgcn, name)
    with pytest.raises(TypeError, match="no reference model"):
        builtin(*[np.zeros((32, 8), np.int32)] * len(builtin.parameters))


def test_models_of_integer_dot_builtins() -> None:
    word = np.array([0x80FF017F - 2**32, -1], np.int32)
    assert amdgcn.sudot4(True, word[0], True, 0x01010101, 5, False) == 127 + 1 - 1 - 128 + 5
    assert amdgcn.sudot4(False, word[0], True, np.int32(-1), 0, False) == -(127 + 1 + 255 + 128)
    assert (
        amdgcn.udot4(np.uint32(2**32 - 1), np.uint32(2**32 - 1), np.uint32(2**32 - 1), True)
        == 2**32 - 1
    )
    assert (
        amdgcn.udot4(np.uint32(2**32 - 1), np.uint32(2**32 - 1), np.uint32(2**32 - 1), False)
        == 4 * 255**2 - 1
    )
    # From the lowest bits: -1, 7, 1, 0, -1, -1, 0, -8; and -1 eight times.
    assert amdgcn.sudot8(
        True, word, True, word, np.array([5, 2**31 - 1], np.int32), True
    ).tolist() == [122, 2**31 - 1]
    assert amdgcn.sudot8(True, word, False, word, np.zeros(2, np.int32), False).tolist() == [
        -15 + 50 - 30 - 64,
        -120,
    ]
    assert (
        amdgcn.udot8(np.uint32(0x21), np.uint32(0xFFFFFF43), np.uint32(7), False) == 2 * 4 + 3 + 7
    )


def test_clamped_dot2_is_within_0_and_1() -> None:
    one = np.ones((4, 2), np.float16)
    c = np.array([3, -0.5, -9, np.nan], np.float32)
    np.testing.assert_array_equal(arithmetic.dot2(one, one, c, True), [1, 1, 0, 0])


@pytest.mark.parametrize(
    ("order", "text"),
    [("fragments", "'instruction', 'fragment', 'wide_k'"), ("wide_k", "multiple of 32, not 16")],
)
def test_other_orders_are_refused(order: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        matrix.reference("wmma_f32_16x16x16_fp8_fp8", *[np.zeros((16, 16))] * 3, order=order)


def test_nothing_is_warned_of() -> None:
    random = np.random.default_rng(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind, result in (("f16", "f16"), ("bf16", "f32"), ("bf8", "f32")):
            multiply_accumulate(
                DATA["any_bits"](random, kind, (16, 16)), DATA["any_bits"](random, kind, (16, 16)),
                DATA["any_bits"](random, result, (16, 16)),
            )  # fmt: skip
