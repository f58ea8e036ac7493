"""WMMA and SWMMAC against NumPy, with the register layouts of AMD's matrix instruction calculator
(gfx12)."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from tests.emulator.matrix_products import (
    Dense,
    Product,
    chosen,
    index_sets,
    integer_sum,
    signed,
    signs_text,
    sparse,
)
from tests.emulator.matrix_waves import BITS, W32, W64, Wave
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools


DENSE = [
    Product("f32", "f16", "f16", 16),
    Product("f32", "bf16", "bf16", 16),
    Product("f16", "f16", "f16", 16),
    Product("bf16", "bf16", "bf16", 16),
    *(Product("f32", a, b, 16) for a in ("fp8", "bf8") for b in ("fp8", "bf8")),
    Product("i32", "iu8", "iu8", 16),
    Product("i32", "iu4", "iu4", 16),
    Product("i32", "iu4", "iu4", 32),
]
SPARSE = [
    *(Product(p.result, p.a, p.b, 32) for p in DENSE[:10]),
    Product("i32", "iu4", "iu4", 64),
]


both_waves = pytest.mark.parametrize("wave", [W32, W64], ids=["w32", "w64"])


@pytest.mark.sample(6)
@pytest.mark.covering(1)
@both_waves
@pytest.mark.parametrize("first", [8, 128])
@pytest.mark.parametrize("product", DENSE, ids=str)
def test_dense_products_are_exact_on_small_integers(
    product: Product, first: int, wave: Wave
) -> None:
    dense = chosen(np.random.default_rng(3), product, wave, first)
    dense.expect(dense.run(), dense.a @ dense.b + dense.c)


@pytest.mark.sample(12)
@both_waves
@pytest.mark.parametrize(
    ("product", "constant"),
    [(DENSE[index], constant) for index in (0, 2, 3, 4) for constant in ("1.0", "-4.0", "0")]
    + [(DENSE[8], constant) for constant in ("3", "-16", "0")],
    ids=str,
)
def test_an_inline_constant_as_c_fills_the_matrix(
    product: Product, constant: str, wave: Wave
) -> None:
    dense = chosen(np.random.default_rng(5), product, wave, 130)
    dense.expect(dense.run(constant=constant), dense.a @ dense.b + float(constant))


@pytest.mark.sample(6)
@pytest.mark.covering(2)
@both_waves
@pytest.mark.parametrize("product", [DENSE[8], DENSE[9], DENSE[10]], ids=str)
@pytest.mark.parametrize("signs", [0, 1, 2, 3])
@pytest.mark.parametrize("clamp", [False, True])
def test_integer_products_with_signs_and_saturation(
    product: Product, signs: int, clamp: bool, wave: Wave
) -> None:
    random = np.random.default_rng(6 + signs)
    a, b = (
        random.integers(0, 1 << BITS[product.a], shape)
        for shape in ((16, product.k), (product.k, 16))
    )
    c = random.integers(-(1 << 31), 1 << 31, (16, 16))
    c[0], c[1] = (1 << 31) - 1, -(1 << 31)
    dense = Dense(product, wave, a, b, c)
    found = dense.run(signs_text(signs) + (" clamp" if clamp else ""))
    dense.expect(
        found, integer_sum(signed(product, signs, a, 0), signed(product, signs, b, 1), c, clamp)
    )


@pytest.mark.covering(2)
@both_waves
@pytest.mark.parametrize("operand", [0, 1, 2])
@pytest.mark.parametrize("modifier", ["neg_lo", "neg_hi", "both"])
@pytest.mark.parametrize("product", DENSE[:4], ids=str)
def test_negation_of_low_and_high_halves(
    product: Product, modifier: str, operand: int, wave: Wave
) -> None:
    dense = chosen(np.random.default_rng(8), product, wave)
    flags = ",".join("1" if number == operand else "0" for number in range(3))
    names = ("neg_lo", "neg_hi") if modifier == "both" else (modifier,)
    found = dense.run("".join(f" {name}:[{flags}]" for name in names))
    low, high = "neg_lo" in names, "neg_hi" in names
    even = np.arange(16) % 2 == 0
    flipped = np.where(even, low, high)
    a, b, c = dense.a, dense.b, dense.c
    if operand == 0:
        a = np.where(flipped[None, :], -a, a)
    elif operand == 1:
        b = np.where(flipped[:, None], -b, b)
    else:
        # For C the upper modifier is the absolute value (RDNA 4 ISA, 7.12).
        c = np.abs(c) if high else c
        c = -c if low else c
    dense.expect(found, a @ b + c)


# Floats of a size have the same places: one type has the sets that the next one lacks.
SETS = [
    pytest.param(
        product,
        wave,
        selected,
        id=f"{product}-w{wave.size}-{selected}",
        marks=pytest.mark.exhaustive if number < 8 and (number + selected) % 2 else (),
    )
    for number, product in enumerate(SPARSE)
    for wave in (W32, W64)
    for selected in index_sets(product, wave)
]


@pytest.mark.sample(10)
@pytest.mark.parametrize(("product", "wave", "selected"), SETS)
def test_sparse_products_follow_the_index(product: Product, wave: Wave, selected: int) -> None:
    operands = sparse(np.random.default_rng(9), product, wave)
    operands.expect(operands.run(selected), operands.dense_a() @ operands.b + operands.c)


@pytest.mark.sample(6)
@pytest.mark.covering(2)
@both_waves
@pytest.mark.parametrize("product", SPARSE[8:], ids=str)
@pytest.mark.parametrize("signs", [0, 1, 2, 3])
@pytest.mark.parametrize("clamp", [False, True])
def test_sparse_integers_with_signs_and_saturation(
    product: Product, signs: int, clamp: bool, wave: Wave
) -> None:
    operands = sparse(np.random.default_rng(20 + signs), product, wave, full_range=True)
    found = operands.run(0, signs_text(signs) + (" clamp" if clamp else ""))
    a = operands.dense_a(signed(product, signs, operands.kept, 0))
    operands.expect(found, integer_sum(a, signed(product, signs, operands.b, 1), operands.c, clamp))


@pytest.mark.covering(2)
@both_waves
@pytest.mark.parametrize("operand", [0, 1])
@pytest.mark.parametrize("modifier", ["neg_lo", "neg_hi"])
@pytest.mark.parametrize("product", SPARSE[:4], ids=str)
def test_negation_of_sparse_halves(
    product: Product, modifier: str, operand: int, wave: Wave
) -> None:
    operands = sparse(np.random.default_rng(12), product, wave)
    found = operands.run(0, f" {modifier}:[{int(operand == 0)},{int(operand == 1)},0]")
    # Of B, too, it is the partners of A's low or high halves: captured on gfx1201.
    kept = operands.kept.copy()
    kept[:, int(modifier == "neg_hi") :: 2] *= -1
    operands.expect(found, operands.dense_a(kept) @ operands.b + operands.c)


@both_waves
@pytest.mark.parametrize("lanes", [0, -1])
def test_products_ignore_an_exec_of_no_lanes(wave: Wave, lanes: int) -> None:
    dense = chosen(np.random.default_rng(10), DENSE[0], wave)
    mov, mask = ("s_mov_b32", "exec_lo") if wave.size == 32 else ("s_mov_b64", "exec")
    found = dense.run(setup=f"  {mov} {mask}, {lanes}", after=f"  {mov} {mask}, -1")
    dense.expect(found, dense.a @ dense.b + dense.c)


@both_waves
def test_products_with_some_lanes_inactive_are_a_fault(wave: Wave) -> None:
    dense = chosen(np.random.default_rng(10), DENSE[0], wave)
    mov, mask = ("s_mov_b32", "exec_lo") if wave.size == 32 else ("s_mov_b64", "exec")
    with pytest.raises(amdjit.KernelFault, match="needs all lanes of its wave"):
        dense.run(setup=f"  {mov} {mask}, 5", after=f"  {mov} {mask}, -1")
