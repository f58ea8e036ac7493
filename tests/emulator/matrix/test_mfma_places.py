"""Where MFMA's operands lie: matrices of small integers, put into registers by the formulas that
AMD's matrix instruction calculator prints (1.3.2, `--detail-instruction`), multiplied by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.intrinsics.models.mfma_arithmetic import Modifiers
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction
from amdjit.intrinsics.models.mfma_layouts import DTYPES, Array
from tests.emulator.mfma_registers import bits_of, instructions, packed, product_of, run_native


def bits(values: Array, kind: str) -> Array:
    if kind in ("i8", "i32"):
        typed = np.ascontiguousarray(values.astype(DTYPES[kind]))
        return typed.view(f"u{typed.itemsize}").astype(np.uint64)
    return bits_of(values, kind)


def factor_place(
    instruction: MfmaInstruction, held: int, i: int, k: int, block: int
) -> tuple[int, int]:
    """Return (lane, element): `16 * floor(k / 4) + i`, `32 * block + 64 * k + i` and the like."""
    m, blocks = instruction.m, instruction.blocks
    return m * blocks * (k // held) + m * block + i, k % held


def result_place(instruction: MfmaInstruction, i: int, j: int, block: int) -> tuple[int, int]:
    """Return (lane, element). Elements of f64 are two registers."""
    if instruction.result == "f64":
        beside = 4 * block if instruction.m == 4 else 0
        return 16 * (i % 4) + beside + j, i // 4
    if instruction.m == 32:
        return 32 * (i // 4) % 64 + j, 16 * block + 4 * (i // 8) + i % 4
    if instruction.m == 16:
        return 16 * (i // 4) + j, 4 * block + i % 4
    return 4 * block + j, i


def spread(places: list[tuple[int, int]], values: Array, elements: int) -> Array:
    held = np.zeros((64, elements), np.int64)
    for (lane, element), value in zip(places, values.ravel(), strict=True):
        held[lane, element] = value
    return held


def check(each: MfmaInstruction) -> None:
    random = np.random.default_rng(7)
    m, k, blocks, kept = each.m, each.k, each.blocks, each.held_k
    shape = blocks, m, kept
    a, b = random.integers(-3, 4, shape), random.integers(-3, 4, (blocks, k, m))
    c = random.integers(-9, 10, (blocks, m, m))
    held_a, held_b = m * kept * blocks // 64, m * k * blocks // 64
    left = [factor_place(each, held_a, i, x, n) for n, i, x in np.ndindex(shape)]
    right = [factor_place(each, held_b, j, x, n) for n, x, j in np.ndindex(b.shape)]
    sums = [result_place(each, i, j, n) for n, i, j in np.ndindex(c.shape)]
    given = [
        packed(each.layout(name), bits(spread(places, values, count), kind))
        for name, places, values, count, kind in (
            ("a", left, a, held_a, each.a), ("b", right, b, held_b, each.b),
            ("c", sums, c, m * m * blocks // 64, each.result),
        )
    ]  # fmt: skip
    modifiers, whole = Modifiers(), a
    if each.is_sparse:
        # Two of every four, the first before the second: 2 bits each, in lanes as A.
        pairs = np.array([(x, y) for y in range(4) for x in range(y)])
        index = pairs[random.integers(0, 6, (1, m, kept // 2))].reshape(shape)
        number = max(1, 32 // (2 * held_a)) - 1
        words = np.zeros(64, np.uint64)
        for (lane, element), value in zip(left, index.ravel(), strict=True):
            words[lane] |= np.uint64(int(value) << 2 * element + 2 * held_a * number)
        given.append(words.astype(np.uint32)[None])
        modifiers, whole = Modifiers(abid=number), np.zeros((1, m, k), np.int64)
        for n, i, x in np.ndindex(shape):
            whole[n, i, 4 * (x // 2) + index[n, i, x]] = a[n, i, x]
    found = run_native(each, given, modifiers)
    expected = spread(sums, whole @ b + c, m * m * blocks // 64)
    np.testing.assert_array_equal(found, packed(each.layout("d"), bits(expected, each.result)))


def name_of(instruction: MfmaInstruction) -> str:
    return product_of(instruction).symbol


@pytest.mark.sample(12)
@pytest.mark.parametrize("each", instructions()[::3], ids=name_of)
def test_matrices_lie_where_amds_calculator_says(each: MfmaInstruction) -> None:
    check(each)


@pytest.mark.exhaustive
@pytest.mark.parametrize("each", instructions(), ids=name_of)
def test_all_matrices_lie_where_amds_calculator_says(each: MfmaInstruction) -> None:
    check(each)
