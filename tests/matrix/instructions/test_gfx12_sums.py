"""Sums of products on the host against a model in Python's integers, on data of many kinds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from amdjit.intrinsics import matrix
from amdjit.intrinsics.models import quick_sums
from amdjit.intrinsics.models.dots import dot_of_numbers
from tests.matrix.float_data import DATA, DTYPES, bits_of, multiply_accumulate
from tests.matrix.scalar_dots import chain, step
from tests.matrix.sparse_data import distinct_places

Array = np.ndarray[Any, Any]

EIGHTHS = ("fp8", "bf8")
SUMS = [
    (("f16", "f16"), "f32"), (("bf16", "bf16"), "f32"), (("f16", "f16"), "f16"),
    (("bf16", "bf16"), "bf16"),
    *(((left, right), "f32") for left in EIGHTHS for right in EIGHTHS),
]  # fmt: skip
each_sum = pytest.mark.parametrize(
    ("kinds", "result"), SUMS, ids=["_".join((*kinds, result)) for kinds, result in SUMS]
)


def expected(
    a: Array, b: Array, c: Array, kinds: tuple[str, str], result: str, fp16_ovfl: bool = False
) -> Array:
    """Return the bits of c + a b by the scalar model."""
    rows, columns, added = bits_of(a).tolist(), bits_of(b).T.tolist(), bits_of(c).tolist()
    return np.array(
        [
            [
                chain(row, column, added[i][j], kinds, result, fp16_ovfl)
                for j, column in enumerate(columns)
            ]
            for i, row in enumerate(rows)
        ],
        bits_of(c).dtype,
    )


def dot(a: Array, b: Array, c: Array) -> Array:
    return np.asarray(dot_of_numbers(a, b, c, (a.dtype, b.dtype), c.dtype))


@pytest.mark.sample(24)
@each_sum
@pytest.mark.parametrize("factors", DATA)
def test_matrices_are_summed_bit_for_bit(kinds: tuple[str, str], result: str, factors: str) -> None:
    seed = [SUMS.index((kinds, result)), list(DATA).index(factors)]
    random = np.random.default_rng(seed)
    for number, (other, added) in enumerate(product(sorted({factors, "normal", "tiny"}), DATA)):
        # Those that are left out have the neighbouring sums.
        if (number + sum(seed)) % 2:
            continue
        a, b = DATA[factors](random, kinds[0], (2, 16)), DATA[other](random, kinds[1], (16, 3))
        c = DATA[added](random, result, (2, 3))
        fp16_ovfl = bool(number // 2 % 2)
        found = bits_of(multiply_accumulate(a, b, c, fp16_ovfl=fp16_ovfl))
        wanted = expected(a, b, c, kinds, result, fp16_ovfl)
        np.testing.assert_array_equal(found, wanted, f"{factors} by {other} with {added}")


@pytest.mark.sample(14)
@each_sum
@pytest.mark.parametrize("factors", DATA)
def test_the_quick_path_computes_what_the_rule_does(
    kinds: tuple[str, str], result: str, factors: str
) -> None:
    seed = [SUMS.index((kinds, result)), list(DATA).index(factors)]
    random = np.random.default_rng([*seed, 8])
    for number, (other, added) in enumerate(product(DATA, DATA)):
        if (number // 8 + number + sum(seed)) % 3:
            continue
        a, b = DATA[factors](random, kinds[0], (6, 32)), DATA[other](random, kinds[1], (32, 5))
        c = DATA[added](random, result, (6, 5))
        if number % 3 == 0:
            a[:, 1::2], b[1::2] = -a[:, ::2], b[::2]
        ways = [
            multiply_accumulate(a, b, c, fp16_ovfl=bool(number % 2), is_quick=is_quick)
            for is_quick in (True, False)
        ]
        np.testing.assert_array_equal(*map(bits_of, ways), f"{factors} by {other} with {added}")


@each_sum
def test_dot_products_side_by_side_are_one_step(kinds: tuple[str, str], result: str) -> None:
    random = np.random.default_rng(3)
    size = 4 if kinds[0] in EIGHTHS else 2
    for factors in DATA.values():
        for added in DATA.values():
            a, b = (factors(random, kind, (12, size)) for kind in kinds)
            c = added(random, result, (12,))
            found = bits_of(dot(a, b, c))
            rows = zip(bits_of(a).tolist(), bits_of(b).tolist(), bits_of(c).tolist(), strict=True)
            assert found.tolist() == [step(*row, kinds, result) for row in rows]


@pytest.mark.parametrize(
    ("kind", "result", "lowest"),
    [("f16", "f16", -14), ("bf16", "bf16", -126), ("bf16", "f32", -126)],
)
def test_a_tiny_negative_c_is_a_unit_on_fine_grids_and_nothing_on_others(
    kind: str, result: str, lowest: int
) -> None:
    """Beside products that cancel, on grids on both sides of L."""
    grids = np.arange(lowest - 6, lowest + 7)
    product = grids + 24
    a = (2.0 ** (product // 2)[:, None] * [1, 1]).astype(DTYPES[kind])
    b = (2.0 ** (product - product // 2)[:, None] * [1, -1]).astype(DTYPES[kind])
    unsigned = np.arange(1, 20).astype(f"u{DTYPES[result].itemsize}")
    for sign in (0, 1):
        tiny = (unsigned | unsigned.dtype.type(sign) << 8 * unsigned.itemsize - 1).view(
            DTYPES[result]
        )
        c = np.tile(tiny, (len(grids), 1))
        found = bits_of(
            dot(np.repeat(a[:, None], 19, axis=1), np.repeat(b[:, None], 19, axis=1), c)
        )
        rows = list(zip(bits_of(a).tolist(), bits_of(b).tolist(), strict=True))
        wanted = [
            [step(x, y, each, (kind, kind), result) for each in bits_of(tiny).tolist()]
            for x, y in rows
        ]
        np.testing.assert_array_equal(found, wanted)
        if sign:
            assert (found[grids > lowest][:, 0] == 0).all()
            assert (found[grids == lowest] != 0).all()


@pytest.mark.parametrize(("kind", "lowest"), [("f16", -14), ("bf16", -126)])
def test_a_product_of_the_smallest_numbers_takes_a_unit_from_any_other(
    kind: str, lowest: int
) -> None:
    """However far apart the two are, further than f64 can hold their sum."""
    apart = np.arange(24, 44)
    large = 1.5 * 2.0 ** (max(2 * lowest, -140) + apart)
    a = np.stack([large, np.full(len(apart), float(smallest_number(kind)))], axis=1).astype(
        DTYPES[kind]
    )
    b = np.stack(
        [np.ones(len(apart)), np.full(len(apart), -float(smallest_number(kind)))], axis=1
    ).astype(DTYPES[kind])
    c = (-large).astype(np.float32)
    for row in range(len(apart)):  # alone: what is far apart anywhere makes all sums careful
        found = dot(a[row], b[row], c[row])
        assert found < 0
        assert bits_of(found) == step(
            *(bits_of(each[row]).tolist() for each in (a, b, c)), (kind, kind), "f32"
        )


@pytest.mark.parametrize(("kind", "odd", "lowest"), [("fp8", 1.125, -6), ("bf8", 1.25, -14)])
def test_products_of_bytes_are_cut_one_by_one(kind: str, odd: float, lowest: int) -> None:
    """Two that lose half a unit each lose a whole one, where one cut of their sum would lose
    nothing."""
    small = odd * 2.0**lowest
    cut = 0
    for apart in range(10, 2 * (8 - lowest) + 1):
        exponent = 2 * lowest + apart
        a = np.array([2.0 ** (exponent // 2), small, small, 0]).astype(DTYPES[kind])
        b = np.array([2.0 ** (exponent - exponent // 2), small, small, 0]).astype(DTYPES[kind])
        c = np.array(-(2.0**exponent), np.float32)
        found = dot(a, b, c)
        assert bits_of(found) == step(
            *(bits_of(each).tolist() for each in (a, b, c)), (kind, kind), "f32"
        )
        cut += float(found) < 2 * small * small and float(found) > 0
    assert cut > 2


def smallest_number(kind: str) -> Any:
    """Return the smallest number of a type."""
    return np.ones(1, np.uint16).view(DTYPES[kind])[0]


def test_matrices_larger_than_a_tile_are_the_same_in_all_their_parts() -> None:
    """Specials in one tile change nothing in the others, whatever the tile."""
    random = np.random.default_rng(4)
    a, b = DATA["normal"](random, "f16", (160, 32)), DATA["normal"](random, "f16", (32, 176))
    c = DATA["normal"](random, "f32", (160, 176))
    a[3, 5], b[20, 170], c[150, 2] = np.inf, np.nan, -np.inf
    whole = bits_of(multiply_accumulate(a, b, c))
    rows, columns = [0, 3, 127, 128, 150, 159], [0, 2, 127, 128, 170, 175]
    some = multiply_accumulate(
        a[rows], np.ascontiguousarray(b[:, columns]), c[np.ix_(rows, columns)]
    )
    np.testing.assert_array_equal(whole[np.ix_(rows, columns)], bits_of(some))
    np.testing.assert_array_equal(
        bits_of(some),
        expected(a[rows], b[:, columns], c[np.ix_(rows, columns)], ("f16",) * 2, "f32"),
    )


def test_the_short_cut_for_integers_ends_where_a_sum_could_lose_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With it and without it, on both sides of the largest sums of integers that are exact."""
    random = np.random.default_rng(5)
    taken = []
    short_cut = quick_sums._sum_of_integers
    for kind, result in (
        ("f16", "f32"),
        ("f16", "f16"),
        ("bf16", "bf16"),
        ("bf16", "f32"),
        ("fp8", "f32"),
    ):
        for limit, low in product((1, 3, 5, 12, 15, 64, 400, 1024, 2048), (-1, 0)):
            a, b = (
                random.integers(low * limit, limit + 1, n).astype(DTYPES[kind])
                for n in ((16, 32), (32, 16))
            )
            c = random.integers(low * limit, limit + 1, (16, 16)).astype(DTYPES[result])
            monkeypatch.setattr(quick_sums, "_sum_of_integers", short_cut)
            found = multiply_accumulate(a, b, c)
            taken.append(short_cut(a, b, c, result) is not None)
            monkeypatch.setattr(quick_sums, "_sum_of_integers", lambda *_: None)
            np.testing.assert_array_equal(bits_of(found), bits_of(multiply_accumulate(a, b, c)))
    assert 5 < sum(taken) < len(taken) - 5


def test_a_chain_is_instructions_one_after_the_other() -> None:
    random = np.random.default_rng(6)
    for name in ("wmma_f32_16x16x16_bf16", "wmma_f16_16x16x16_f16", "wmma_f32_16x16x16_bf8_fp8"):
        a, b, c = (random.standard_normal(shape) for shape in ((32, 48), (48, 16), (32, 16)))
        whole = matrix.reference(name, a, b, c)
        for k in (0, 16, 32):
            c = matrix.reference(name, a[:, k : k + 16], b[k : k + 16], c)
        np.testing.assert_array_equal(bits_of(whole), bits_of(c))
        assert (np.asarray(whole, float) != a @ b).any()


@pytest.mark.parametrize(
    "name", [name for name, each in matrix.INSTRUCTIONS.items() if each.is_sparse]
)
def test_a_sparse_product_is_the_dense_one_of_what_the_index_picks(name: str) -> None:
    """Row by row; positions may be the same twice, and what is not picked may be NaN."""
    instruction = matrix.matrix_instruction(name)
    random = np.random.default_rng(7)
    k, dense = 2 * instruction.k, re_dense(name)
    if instruction.is_integer:
        a, b = random.integers(-8, 8, (16, k // 2)), random.integers(-8, 8, (k, 16))
        c = random.choice([-(2**31), 2**31 - 1, 0, 2**31 - 100], (16, 16))
    else:
        a, b, c = (random.standard_normal(shape) for shape in ((16, k // 2), (k, 16), (16, 16)))
        b[5], b[8] = np.nan, 0
    index = random.integers(0, 4, (16, k // 2))
    for clamp in (False, True):
        found = matrix.reference(name, a, b, c, index, clamp=clamp)
        for row in (0, 15):
            picked = b[4 * (np.arange(k // 2) // 2) + index[row]]
            same = matrix.reference(dense, np.tile(a[row], (16, 1)), picked, c, clamp=clamp)
            np.testing.assert_array_equal(bits_of(found[row]), bits_of(same[row]))


def re_dense(name: str) -> str:
    """Return the dense instruction that takes as many products."""
    family, result, shape, *kinds = name.rsplit("_w", 1)[0].split("_")
    assert family == "swmmac"
    return "_".join(
        ("wmma", result, {"16x16x32": "16x16x16", "16x16x64": "16x16x32"}[shape], *kinds)
    )


@pytest.mark.parametrize(
    "name", ["wmma_i32_16x16x16_iu8", "wmma_i32_16x16x32_iu4", "swmmac_i32_16x16x32_iu4"]
)
def test_clamp_saturates_after_each_half_of_an_instruction(name: str) -> None:
    """What goes over the limit in the first half of k comes back from there in the second; and so
    on along k."""
    instruction = matrix.matrix_instruction(name)
    held = instruction.held_k
    half = np.repeat([1, -1], held // 2)
    a = np.tile(np.concatenate([half, half]), (16, 1))
    b, c = np.full((2 * instruction.k, 16), 7), np.full((16, 16), 2**31 - 1)
    index = np.zeros((16, 2 * held), int) if instruction.is_sparse else None
    found = matrix.reference(name, a, b, c, index, clamp=True)
    assert (found == 2**31 - 1 - 7 * held // 2).all()
    assert (matrix.reference(name, a, b, c, index) == 2**31 - 1).all()


def test_overflow_of_f16_is_its_largest_number_if_the_mode_says_so_but_infinity_stays() -> None:
    a, b = np.full((16, 16), 60000.0), np.eye(16)
    c = np.full((16, 16), 60000.0)
    b[0, 1] = np.inf
    found = matrix.reference("wmma_f16_16x16x16_f16", a, b, c, fp16_ovfl=True)
    assert (found[0, 0], found[0, 1]) == (65504, np.inf)
    assert matrix.reference("wmma_f16_16x16x16_f16", a, b, c)[0, 0] == np.inf


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "name", [name for name, each in matrix.INSTRUCTIONS.items() if not each.is_integer]
)
def test_the_error_is_within_its_bound_and_the_bound_is_not_far_above(name: str) -> None:
    instruction = matrix.matrix_instruction(name)
    random = np.random.default_rng(11)
    worst = 0.0
    for data in ("normal", "powers", "tiny", "integers"):
        shapes = (16, 4 * instruction.held_k), (4 * instruction.k, 16), (16, 16)
        kinds = instruction.a, instruction.b, instruction.result
        a, b, c = (
            DATA[data](random, kind, shape) for kind, shape in zip(kinds, shapes, strict=True)
        )
        index = distinct_places(random, shapes[0]) if instruction.is_sparse else None
        found = matrix.reference(name, a, b, c, index).astype(float)
        whole = a.astype(float) if index is None else matrix.expand_2to4(a.astype(float), index)
        error = np.abs(found - (whole @ b.astype(float) + c.astype(float)))
        bound = matrix.error_bound(name, a, b, c, index)
        assert (error <= bound).all(), data
        worst = max(worst, (error / bound).max())
    assert worst > (
        0.001 if instruction.layout("a").bits == 8 else 0.01
    )  # sums of bytes are mostly exact


def test_integers_have_no_error() -> None:
    assert not matrix.error_bound("wmma_i32_16x16x16_iu8", *[np.ones((16, 16))] * 3).any()


def test_the_rule_is_not_a_chain_of_fused_products() -> None:
    """Else these tests could not tell the two apart."""
    random = np.random.default_rng(8)
    a, b = (DATA["normal"](random, "f16", shape) for shape in ((64, 16), (16, 64)))
    fused = np.zeros((64, 64), np.float32)
    for k in range(16):
        fused = (fused + np.outer(a[:, k].astype(float), b[k])).astype(np.float32)
    found = matrix.reference("wmma_f32_16x16x16_f16", a, b, np.zeros((64, 64)))
    assert 0.2 < (found != fused).mean() < 0.9
