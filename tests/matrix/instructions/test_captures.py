"""Every value of the captures of real chips, against the models on the host, bit for bit."""

from __future__ import annotations

from itertools import islice
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit.intrinsics import amdgcn, arithmetic, matrix
from tests.captures import Array, bits, capture, digest, xorshift32
from tests.matrix.scalar_dots import chain, step

DTYPES = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
}
FLOAT_DOTS = capture("float_dot_gfx1201")["rows"]
DOT2 = [row for row in FLOAT_DOTS if row["instruction"].startswith("V_DOT2")]
WMMA = [row for row in FLOAT_DOTS if row["instruction"].startswith("V_WMMA")]
FORMATS = ("f16", "bf16")


def of_format(rows: list[Any], kind: str) -> tuple[Array, Array, Array, Array]:
    """Return A and B [rows, products], C and the results' bits."""
    chosen = [row for row in rows if row["format"] == kind]
    a, b = (bits([row[key] for row in chosen], 16).view(DTYPES[kind]) for key in "ab")
    return (
        a,
        b,
        bits([row["c"] for row in chosen], 32).view(np.float32),
        bits([row["result"] for row in chosen], 32),
    )


def test_the_captures_are_all_there() -> None:
    assert (len(DOT2), len(WMMA)) == (85, 24)
    assert len(capture("packed_wmma")["matrices"]) == 5
    assert len(capture("packed_operands")["rows"]) == 220
    assert len(capture("wmma_integer_gfx1201")["rows"]) == 192
    assert len(capture("swmmac_gfx1201")["rows"]) == 128


@pytest.mark.parametrize("row", FLOAT_DOTS, ids=lambda row: row["instruction"])
def test_the_scalar_model_of_the_tests_gives_the_captured_bits(row: Any) -> None:
    a, b = (bits(row[key], 16).tolist() for key in "ab")
    compute = step if len(a) == 2 else chain
    kinds = row["format"], row["format"]
    assert f"{compute(a, b, int(row['c'], 16), kinds, 'f32'):#010x}" == row["result"]


@pytest.mark.parametrize("kind", FORMATS)
def test_dot2_gives_the_captured_bits(kind: str) -> None:
    a, b, c, expected = of_format(DOT2, kind)
    np.testing.assert_array_equal(arithmetic.dot2(a, b, c).view(np.uint32), expected)
    builtin = (
        amdgcn.fdot2(a, b, c, False) if kind == "f16" else amdgcn.fdot2_f32_bf16(a, b, c, False)
    )
    np.testing.assert_array_equal(builtin.view(np.uint32), expected)


@pytest.mark.parametrize("kind", FORMATS)
def test_wmma_gives_the_captured_bits(kind: str) -> None:
    a, b, c, expected = of_format(WMMA, kind)
    square = np.zeros((16, 16), np.float32)
    square[np.arange(len(c)), np.arange(len(c))] = c
    rows = ((0, 16 - len(a)), (0, 0))
    found = matrix.reference(
        f"wmma_f32_16x16x16_{kind}", np.pad(a, rows), np.pad(b, rows).T, square
    )
    np.testing.assert_array_equal(np.diag(found).view(np.uint32)[: len(c)], expected)


MATRICES = [
    (number, index)
    for number, each in enumerate(capture("packed_wmma")["matrices"])
    for index, taken in enumerate(each["captures"])
    if taken["arch"] == "gfx12"
]


@pytest.mark.parametrize(("number", "index"), MATRICES)
def test_matrices_with_16_bit_sums_have_the_captured_bits(number: int, index: int) -> None:
    """The program that made them put k into the lanes as fragments do."""
    given = capture("packed_wmma")["matrices"][number]
    taken, kind = given["captures"][index], given["format"]
    a, b, c = (bits(given[key], 16).view(DTYPES[kind]) for key in ("a_rows", "b", "c_rows"))
    rows = ((0, 16 - len(a)), (0, 0))
    name = f"wmma_{kind}_16x16x16_{kind}_w{taken['wave']}"
    found = matrix.reference(name, np.pad(a, rows), b, np.pad(c, rows), order="fragment")
    np.testing.assert_array_equal(found.view(np.uint16)[: len(a)], bits(taken["d_rows"], 16))


FLOAT_CONSTANTS = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 1 / (2 * np.pi))


def constant(selector: int, kind: str) -> int:
    """Return the 16 bits of an inline constant (RDNA4 ISA, 7.8, "Constants")."""
    if selector < 193:
        return selector - 128
    if selector < 209:
        return (192 - selector) & 0xFFFF
    value = np.array(FLOAT_CONSTANTS[selector - 240], np.float32)
    # 1 / (2 pi) as bf16 is cut, not rounded.
    return (
        int(value.view(np.uint32)) >> 16
        if kind == "bf16"
        else int(value.astype(np.float16).view(np.uint16))
    )


def halves(text: str) -> Array:
    word = int(text, 16)
    return np.array([word & 0xFFFF, word >> 16], np.uint16)


def operands(row: Any) -> tuple[str, Array, Array, Array]:
    """Return the format and the words of A, B and C after their modifiers, as two 16-bit numbers
    each."""
    kind = "bf16" if "BF16" in row["instruction"] else "f16"
    first, second = (int(word, 16) for word in row["encoding"])
    absolute, negated, selector = first >> 8 & 7, second >> 29, second >> 18 & 0x1FF
    a, b, c = (halves(row[key]) for key in "abc")
    if selector < 256:
        c = np.full(2, constant(selector, kind), np.uint16)
    for number, factor in enumerate((a, b)):
        factor ^= np.array([negated >> number & 1, absolute >> number & 1], np.uint16) << 15
    if absolute & 4:
        c &= 0x7FFF
    if negated & 4:
        c ^= 0x8000
    return kind, a, b, c


@pytest.mark.parametrize("kind", FORMATS)
def test_modifiers_and_constants_of_c_give_the_captured_bits(kind: str) -> None:
    rows = [row for row in capture("packed_operands")["rows"] if operands(row)[0] == kind]
    assert len(rows) == 110
    for row in rows:
        _, a, b, c = operands(row)
        dtype = DTYPES[kind]
        left, right = np.tile(a.view(dtype), (16, 8)), np.tile(b.view(dtype), (16, 8)).T
        added = np.tile(c.view(dtype), (16, 8)).T
        found = matrix.reference(f"wmma_{kind}_16x16x16_{kind}", left, right, added).view(np.uint16)
        assert [f"{found[1, 0]:04x}{found[0, 0]:04x}"] == [row["gfx1201"][2:]], row


def registers(numbers: Any, count: int) -> Array:
    """Return that many registers of a wave32, in the order in which the captures draw them: u32
    [lanes, registers]."""
    return np.array(list(islice(numbers, 32 * count)), np.uint32).reshape(count, 32).T.copy()


@pytest.mark.parametrize("shape", ["16X16X16_IU8", "16X16X16_IU4", "16X16X32_IU4"])
def test_integer_products_have_the_captured_digests(shape: str) -> None:
    rows = [
        row for row in capture("wmma_integer_gfx1201")["rows"] if row["instruction"].endswith(shape)
    ]
    assert len(rows) == 64
    choices = np.array([0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFF80, 0x80000080], np.uint32)
    model = getattr(amdgcn, f"wmma_i32_{shape.lower()}_w32_gfx12")
    for row in rows:
        numbers = xorshift32(0xA3987412 + row["sample"])
        drawn = registers(numbers, 6).view(np.int32)
        c = choices[registers(numbers, 8) % 6].view(np.int32)
        a, b = (
            (drawn[:, 0], drawn[:, 2]) if shape == "16X16X16_IU4" else (drawn[:, :2], drawn[:, 2:4])
        )
        signs = bool(row["signed_a"]), bool(row["signed_b"])
        found = model(signs[0], a, signs[1], b, c, bool(row["clamp"]))
        assert digest(found.view(np.uint32).T.ravel()) == row["digest"], row


def drawn(numbers: Any, count: int, dtype: Any) -> Array:
    """Return registers of small numbers of a type, the lowest bits first: u32 [lanes,
    registers]."""
    each = 4 // np.dtype(dtype).itemsize
    values = np.array(list(islice(numbers, 32 * count * each))).reshape(count, 32, each) % 5 - 2.0
    return np.ascontiguousarray(values.astype(dtype)).view(np.uint32)[..., 0].T.copy()


EIGHTHS = {"FP8": ml_dtypes.float8_e4m3fn, "BF8": ml_dtypes.float8_e5m2}


def sparse_operands(row: Any) -> tuple[Array, Array, Array, Array]:
    """Return the registers of A, B, C and the index."""
    _, _, result, _, *factors = row["instruction"].split("_")
    if row["kind"] == "sw8":
        numbers = xorshift32(0x7381A593 + row["sample"])
        a, b = drawn(numbers, 2, EIGHTHS[factors[0]]), drawn(numbers, 4, EIGHTHS[factors[1]])
    else:
        numbers = xorshift32(0x76895231)
        a, b = (drawn(numbers, count, DTYPES[factors[0].lower()]) for count in (4, 8))
        # Those of B mean its picked elements, of which the first of a pair meets A's low half.
        low, high = (row["neg"] >> 0 ^ row["neg"] >> 1) & 1, (row["neg"] >> 2 ^ row["neg"] >> 3) & 1
        a ^= np.uint32(low << 15 | high << 31)
    c = drawn(numbers, 8 if result == "F32" else 4, DTYPES[result.lower()])
    fields = np.array([4, 8, 12, 9, 13, 14], np.uint32)[
        np.array(list(islice(numbers, 256))).reshape(32, 8) % 6
    ]
    index = np.bitwise_or.reduce(fields << np.arange(0, 32, 4, dtype=np.uint32), axis=1)
    return a, b, c, index >> np.uint32(16 * row["index_key"])


@pytest.mark.parametrize(
    "name", sorted({row["instruction"] for row in capture("swmmac_gfx1201")["rows"]})
)
def test_sparse_products_have_the_captured_digests(name: str) -> None:
    rows = [row for row in capture("swmmac_gfx1201")["rows"] if row["instruction"] == name]
    assert len(rows) == 16
    result, factor = (kind.lower() for kind in (name.split("_")[2], name.split("_")[4]))
    for row in rows:
        a, b, c, index = sparse_operands(row)
        words = np.int32 if row["kind"] == "sw8" else np.int16 if factor == "bf16" else np.float16
        total = np.float32 if result == "f32" else words
        model = getattr(amdgcn, f"{name[2:].lower()}_w32")
        found = model(a.view(words), b.view(words), c.view(total), index.view(np.int32))
        assert digest(np.ascontiguousarray(found).view(np.uint32).T.ravel()) == row["digest"], row
