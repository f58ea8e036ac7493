"""How MFMA adds: the models on the host against an independent writing of the published rules, and
against what distinguishes the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from amdjit.intrinsics import matrix
from amdjit.intrinsics.models import mfma_arithmetic
from amdjit.intrinsics.models.exact_sums import fused_f64
from amdjit.intrinsics.models.mfma_instructions import CDNA, MfmaInstruction, mfma_instruction
from amdjit.intrinsics.models.mfma_layouts import BITS, DTYPES, Array
from tests import cdna_model

RULES = [
    ("gfx908", "mfma_f32_16x16x4f32"), ("gfx908", "mfma_f32_16x16x16f16"),
    ("gfx908", "mfma_f32_16x16x8bf16"), ("gfx90a", "mfma_f64_16x16x4f64"),
    ("gfx90a", "mfma_f32_16x16x16f16"), ("gfx90a", "mfma_f32_16x16x8bf16"),
    ("gfx90a", "mfma_f32_16x16x16bf16_1k"), ("gfx942", "mfma_f32_16x16x4f32"),
    ("gfx942", "mfma_f32_16x16x8_xf32"), ("gfx942", "mfma_f32_16x16x16f16"),
    ("gfx942", "mfma_f32_4x4x4f16"), ("gfx942", "mfma_f32_16x16x16bf16_1k"),
    ("gfx942", "mfma_f32_16x16x32_fp8_fp8"), ("gfx942", "mfma_f32_16x16x32_bf8_bf8"),
]  # fmt: skip
SHOWN = 4  # of so many columns, one is computed by the independent model
ANY_BITS, NEAR, CANCELLING, TINY = "any bits", "near", "cancelling", "tiny"


def bits_of(values: Array) -> Array:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def random_bits(random: np.random.Generator, kind: str, shape: Any, spread: str) -> Array:
    """Return numbers of a type: of any encoding, of exponents that are near, or mostly
    subnormal."""
    dtype, size = DTYPES[kind], BITS[kind]
    raw = random.integers(0, 1 << size, shape, dtype=np.uint64)
    if spread != ANY_BITS:
        width, fraction, bias = cdna_model.FORMATS[kind]
        reach = min(6, width)
        low = 0 if spread == TINY else bias - reach // 2
        field = random.integers(max(low, 0), low + reach, shape).astype(np.uint64)
        rest = raw & np.uint64((1 << fraction) - 1)
        sign = raw >> np.uint64(size - 1) << np.uint64(size - 1)
        raw = sign | field << np.uint64(fraction) | rest
    return raw.astype(f"u{size // 8}").view(dtype)


def operands(
    instruction: MfmaInstruction, random: np.random.Generator, spread: str
) -> tuple[Array, Array, Array]:
    m, n, k = instruction.m, instruction.n, instruction.k
    a = random_bits(random, instruction.a, (m, k), spread)
    b = random_bits(random, instruction.b, (k, n), spread)
    c = random_bits(random, instruction.result, (m, n), spread)
    if spread == TINY and instruction.a in ("bf16", "f32", "xf32", "f64"):
        b = random_bits(random, instruction.b, (k, n), NEAR)
    if spread == CANCELLING:
        a[:, 1::2], b[1::2] = -a[:, ::2], b[::2]
        nudged = random.integers(0, 2, (k // 2, n), dtype=np.int64)
        raw = bits_of(b[1::2]).astype(np.int64) ^ nudged
        b[1::2] = raw.astype(bits_of(b).dtype).view(b.dtype)
        c = (c * random.choice([0, 2.0**-30, 2.0**-12], c.shape)).astype(c.dtype)
    return a, b, c


def expected(a: Array, b: Array, c: Array, name: str, target: str) -> list[int]:
    instruction = mfma_instruction(name, target)
    kind = "bf16_1k" if name.endswith("_1k") else instruction.a
    left, right, added = bits_of(a), bits_of(b), bits_of(c)
    return [
        cdna_model.element(
            list(map(int, left[row])), list(map(int, right[:, column])),
            int(added[row, column]), kind, target,
        )
        for row in range(len(a))
        for column in range(0, b.shape[1], SHOWN)
    ]  # fmt: skip


def differing(target: str, name: str, spread: str, seed: int) -> int:
    """Return in how many elements the model and the independent writing differ."""
    with np.errstate(all="ignore"):
        a, b, c = operands(mfma_instruction(name, target), np.random.default_rng(seed), spread)
    found = bits_of(matrix.reference(name, a, b, c, target=target))[:, ::SHOWN]
    wanted = np.array(expected(a, b, c, name, target), np.uint64).reshape(found.shape)
    return int((found != wanted).sum())


@pytest.mark.sample(7)
@pytest.mark.covering(1)
@pytest.mark.parametrize("spread", [ANY_BITS, NEAR, CANCELLING, TINY])
@pytest.mark.parametrize(("target", "name"), RULES)
def test_a_product_is_that_of_the_independent_model(target: str, name: str, spread: str) -> None:
    assert differing(target, name, spread, 1) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2, 42))
@pytest.mark.parametrize(("target", "name"), RULES)
def test_many_products_are_those_of_the_independent_model(
    target: str, name: str, seed: int
) -> None:
    for spread in (ANY_BITS, NEAR, CANCELLING, TINY):
        assert differing(target, name, spread, seed) == 0


MUTANTS: list[tuple[dict[str, Any], str, str]] = [
    ({"cut": "floor"}, "gfx942", "mfma_f32_16x16x16f16"),
    ({"cut": "floor"}, "gfx942", "mfma_f32_16x16x32_bf8_bf8"),
    ({"c_drops": None}, "gfx942", "mfma_f32_16x16x32_bf8_bf8"),
    ({"groups_meet": False}, "gfx942", "mfma_f32_16x16x32_bf8_bf8"),
    ({"flushes_products": False, "flushes_result": False}, "gfx90a", "mfma_f32_16x16x8bf16"),
    ({"how": "unfused"}, "gfx908", "mfma_f32_16x16x8bf16"),
]


@pytest.mark.parametrize(("change", "target", "name"), MUTANTS)
def test_a_wrong_rule_is_found(
    change: dict[str, Any], target: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = replace(mfma_arithmetic.rule_of(mfma_instruction(name, target)), **change)
    monkeypatch.setattr(mfma_arithmetic, "rule_of", lambda _: rule)
    spreads = (ANY_BITS, NEAR, CANCELLING, TINY)
    assert any(differing(target, name, spread, seed) for seed in (1, 2) for spread in spreads)


def of_several_steps(target: str, name: str) -> bool:
    instruction = mfma_instruction(name, target)
    return 1 < mfma_arithmetic.rule_of(instruction).step <= instruction.k // 2


@pytest.mark.parametrize(("target", "name"), [rule for rule in RULES if of_several_steps(*rule)])
def test_a_step_of_another_length_is_found(
    target: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = mfma_arithmetic.rule_of(mfma_instruction(name, target))
    longer = replace(rule, step=2 * rule.step)
    monkeypatch.setattr(mfma_arithmetic, "rule_of", lambda _: longer)
    spreads = (ANY_BITS, NEAR, CANCELLING, TINY)
    assert any(differing(target, name, spread, seed) for seed in (1, 2) for spread in spreads)


def test_fused_f64_is_the_exact_sum_rounded_once() -> None:
    random = np.random.default_rng(3)
    for spread in (ANY_BITS, NEAR, TINY):
        x, y, z = (random_bits(random, "f64", 400, spread) for _ in range(3))
        with np.errstate(all="ignore"):
            z[:100] = -(x * y)[:100]
        found = bits_of(np.where(np.isnan(fused_f64(x, y, z)), np.nan, fused_f64(x, y, z)))
        for at in range(400):
            given = [int(bits_of(each)[at]) for each in (x, y, z)]
            wanted = cdna_model.fused(given[:1], given[1:2], given[2], "f64", "f64", "gfx90a")
            assert int(found[at]) == wanted, given


@pytest.mark.parametrize("target", CDNA)
def test_sums_of_small_integers_are_exact(target: str) -> None:
    random = np.random.default_rng(4)
    for instruction in matrix.mfma_instructions(target).values():
        m, n, k = 2 * instruction.m, instruction.n, 2 * instruction.k
        a, b = random.integers(-2, 3, (m, k)), random.integers(-2, 3, (k, n))
        c, index = random.integers(-9, 9, (m, n)), None
        whole = a
        if instruction.is_sparse:
            whole = np.where(np.arange(k) % 4 % 3 == 0, a, 0)
            a, index = matrix.compress_2to4(whole)
        given = {"formats": ("fp4", "bf6")} if instruction.is_scaled else {}
        d = matrix.reference(instruction.name, a, b, c, index, target=target, **given)
        np.testing.assert_array_equal(d.astype(np.int64), whole @ b + c)


def test_the_processors_round_differently() -> None:
    a, b, c = np.zeros((16, 16)), np.zeros((16, 16)), np.zeros((16, 16))
    a[:, :4], b[:4] = [[1, 2.0**-12, 2.0**-12, 2.0**-1]], [[1], [2.0**-12], [2.0**-12], [2.0**-10]]
    a[1:, 3], c[1:] = 0, -1
    name = "mfma_f32_16x16x16f16"
    sums = [matrix.reference(name, a, b, c, target=target)[1, 0] for target in CDNA[:3]]
    assert sums == [2.0**-23, 0, 2.0**-23]


def test_integers_wrap_or_saturate() -> None:
    a, b, c = np.full((16, 32), 127), np.full((32, 16), 127), np.full((16, 16), 2**31 - 1)
    name = "mfma_i32_16x16x32_i8"
    assert (matrix.reference(name, a, b, c, target="gfx942") < 0).all()
    assert (matrix.reference(name, a, b, c, target="gfx942", clamp=True) == 2**31 - 1).all()


def test_scales_multiply_32_neighbours_each() -> None:
    random = np.random.default_rng(5)
    name = "mfma_scale_f32_16x16x128_f8f6f4"
    a, b = random.integers(-2, 3, (16, 128)), random.integers(-2, 3, (128, 16))
    scales = 2.0 ** random.integers(-3, 4, (16, 4)), 2.0 ** random.integers(-3, 4, (4, 16))
    zero = np.zeros((16, 16))
    d = matrix.reference(name, a, b, zero, target="gfx950", formats=("bf8", "fp6"), scales=scales)
    wanted = (a * np.repeat(scales[0], 32, 1)) @ (b * np.repeat(scales[1], 32, 0))
    np.testing.assert_array_equal(d, wanted)
    with pytest.raises(ValueError, match="powers of two"):
        matrix.reference(name, a, b, zero, target="gfx950", scales=(3 * scales[0], scales[1]))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"a_signed": False}, "multiplies signed integers only"),
        ({"fp16_ovfl": True}, "no results of f16"),
        ({"scales": (np.ones((16, 1)), np.ones((1, 16)))}, "has no scales"),
        ({"index": np.zeros((16, 16))}, r"takes \(16, 16\), \(16, 16\), \(16, 16\)"),
        ({"target": "gfx1201"}, "is no WMMA or SWMMAC instruction of gfx12"),
    ],
)
def test_what_mfma_has_not_is_refused(given: dict[str, Any], text: str) -> None:
    zero = np.zeros((16, 16))
    arguments = {"target": "gfx942", **given}
    with pytest.raises(ValueError, match=text):
        matrix.reference("mfma_f32_16x16x16f16", zero, zero, zero, **arguments)
