"""WMMA and SWMMAC against NumPy, with the register layouts of AMD's matrix instruction calculator
(gfx12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from building import assemble, emulate
from matrix_waves import BITS, DTYPES, W32, W64, Matrix, Wave
from numpy.typing import NDArray
from required_tools import needs_tools

import amdjit

pytestmark = needs_tools


def pack(elements: NDArray[np.uint64], bits: int) -> NDArray[np.uint32]:
    """(lanes, n elements) of raw bits to (n * bits / 32 registers, lanes)."""
    per = 32 // bits
    lanes, count = elements.shape
    grouped = elements.reshape(lanes, count // per, per)
    shifted = grouped << (np.arange(per, dtype=np.uint64) * np.uint64(bits))
    return np.ascontiguousarray(np.bitwise_or.reduce(shifted, axis=2).T.astype(np.uint32))


def raw(values: Matrix, kind: str) -> NDArray[np.uint64]:
    """The bits of numbers of a type."""
    if kind.startswith("iu"):
        return (values.astype(np.int64) & ((1 << BITS[kind]) - 1)).astype(np.uint64)
    typed = values.astype(DTYPES[kind])
    return typed.view({8: np.uint8, 16: np.uint16, 32: np.uint32}[BITS[kind]]).astype(np.uint64)


def fragment(
    wave: Wave, matrix: Matrix, kind: str, place: Callable[[str, int, int, int], int]
) -> NDArray[np.uint32]:
    """Registers of A (rows by lane) from `matrix[row, k]`; lanes that hold nothing have other
    bits."""
    k = matrix.shape[1]
    lanes = wave.holders(kind, k)
    count = 16 * k // lanes
    elements = np.full((wave.size, count), (1 << BITS[kind]) - 3, np.uint64)
    bits = raw(matrix, kind)
    for lane in range(lanes):
        for element in range(count):
            elements[lane, element] = bits[lane % 16, place(kind, k, lane // 16, element)]
    return pack(elements, BITS[kind])


def result_registers(matrix: Matrix, kind: str, wave: Wave = W32) -> NDArray[np.uint32]:
    """Registers of C or D."""
    bits = raw(matrix, kind)
    elements = [
        [bits[wave.result_row(lane, e), lane % 16] for e in range(wave.result_elements)]
        for lane in range(wave.size)
    ]
    return pack(np.array(elements, np.uint64), BITS[kind])


BODY = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_wait_kmcnt 0x0
{loads}
  s_wait_loadcnt 0x0
{setup}
  {instruction}
{stores}
"""


def run_instruction(
    instruction: str,
    inputs: NDArray[np.uint32],
    first: int,
    result: int,
    count: int,
    setup: str = "",
) -> NDArray[np.uint32]:
    """Load `inputs` to registers from v[first] on, run one instruction, return `count` registers
    from v[result] on."""
    rows, lanes = range(len(inputs)), inputs.shape[1]
    loads = "\n".join(
        f"  global_load_b32 v{first + i}, v0, s[0:1] offset:{4 * lanes * i}" for i in rows
    )
    stores = "\n".join(
        f"  global_store_b32 v0, v{result + i}, s[2:3] offset:{4 * lanes * i}" for i in range(count)
    )
    text = BODY.format(loads=loads, stores=stores, instruction=instruction, setup=setup)
    output = np.zeros((count, lanes), np.uint32)
    emulate(
        assemble(text, wave_size=lanes), "kernel", 1, lanes, [np.ascontiguousarray(inputs), output]
    )
    return output


@dataclass(frozen=True)
class Product:
    """A WMMA: its result's and factors' types and its k."""

    result: str
    a: str
    b: str
    k: int

    @property
    def mnemonic(self) -> str:
        kinds = (
            self.a if self.a == self.b and self.a not in ("fp8", "bf8") else f"{self.a}_{self.b}"
        )
        return f"{self.result}_16x16x{self.k}_{kinds}"

    def __str__(self) -> str:
        return self.mnemonic


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


def numbers(random: np.random.Generator, shape: tuple[int, int], kind: str) -> Matrix:
    """Small integers, exact in every type and in every order of summation."""
    low = 0 if kind.startswith("iu") else -3
    return random.integers(low, 4, shape).astype(np.float64)


def registers(first: int, count: int) -> str:
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


@dataclass(frozen=True)
class Dense:
    """A dense product's operands in registers from v[first] on, D from v200 on."""

    product: Product
    wave: Wave
    a: Matrix
    b: Matrix
    c: Matrix
    first: int = 8

    def run(
        self, modifiers: str = "", constant: str | None = None, setup: str = "", after: str = ""
    ) -> Any:
        """Return D's registers."""
        wave, kinds = self.wave, self.product
        left = fragment(wave, self.a, kinds.a, wave.dense_k)
        right = fragment(wave, self.b.T, kinds.b, wave.dense_k)
        addend = result_registers(self.c, kinds.result, wave)
        places = [self.first, self.first + len(left), self.first + len(left) + len(right)]
        texts = [
            registers(place, len(part))
            for place, part in zip(places, (left, right, addend), strict=True)
        ]
        texts[2] = constant or texts[2]
        instruction = (
            f"v_wmma_{kinds.mnemonic} {registers(200, len(addend))}, {', '.join(texts)}{modifiers}"
        )
        inputs = np.concatenate([left, right, addend])
        return run_instruction(
            f"{instruction}\n{after}", inputs, self.first, 200, len(addend), setup
        )

    def expect(self, found: Any, total: Matrix) -> None:
        np.testing.assert_array_equal(
            found, result_registers(total, self.product.result, self.wave)
        )


def chosen(random: np.random.Generator, product: Product, wave: Wave, first: int = 8) -> Dense:
    a, b = numbers(random, (16, product.k), product.a), numbers(random, (product.k, 16), product.b)
    return Dense(product, wave, a, b, numbers(random, (16, 16), product.result) * 5, first)


both_waves = pytest.mark.parametrize("wave", [W32, W64], ids=["w32", "w64"])


@both_waves
@pytest.mark.parametrize("first", [8, 128])
@pytest.mark.parametrize("product", DENSE, ids=str)
def test_dense_products_are_exact_on_small_integers(
    product: Product, first: int, wave: Wave
) -> None:
    dense = chosen(np.random.default_rng(3), product, wave, first)
    dense.expect(dense.run(), dense.a @ dense.b + dense.c)


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


def signs_text(signs: int) -> str:
    return f" neg_lo:[{signs & 1},{signs >> 1},0]"


def signed(product: Product, signs: int, matrix: Matrix, number: int) -> Matrix:
    width = BITS[product.a]
    return np.where(
        (matrix >= 1 << (width - 1)) & bool(signs >> number & 1), matrix - (1 << width), matrix
    )


def integer_sum(a: Matrix, b: Matrix, c: Matrix, clamp: bool) -> Matrix:
    """C and the products modulo 2**32; clamped after each half of k."""
    limit, half = 1 << 31, a.shape[1] // 2
    if not clamp:
        return (a @ b + c + limit) % (2 * limit) - limit
    first = np.clip(a[:, :half] @ b[:half] + c, -limit, limit - 1)
    return np.clip(a[:, half:] @ b[half:] + first, -limit, limit - 1)


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


@dataclass(frozen=True)
class Sparse:
    """A sparse product: A holds `kept`, lanes by elements, at `places` of each four k."""

    product: Product
    wave: Wave
    kept: NDArray[Any]
    places: NDArray[np.int64]
    b: Matrix
    c: Matrix

    def dense_a(self, kept: NDArray[Any] | None = None) -> Matrix:
        values = self.kept if kept is None else kept
        a = np.zeros((16, self.product.k), values.dtype)
        for lane, pair, part in np.ndindex(self.places.shape):
            base = self.wave.sparse_a_base(self.product.a, self.product.k, lane // 16, pair)
            a[lane % 16, base + self.places[lane, pair, part]] = values[lane, 2 * pair + part]
        return a

    def run(self, selected: int, modifiers: str = "") -> Any:
        """Return D's registers."""
        wave, kinds = self.wave, self.product
        lanes, pairs, _ = self.places.shape
        index: NDArray[np.uint32] = np.random.default_rng(1).integers(
            0, 1 << 32, wave.size, np.uint32
        )
        for lane, pair in np.ndindex(lanes, pairs):
            nibble = int(self.places[lane, pair, 0] | self.places[lane, pair, 1] << 2)
            shift = 4 * (pair + pairs * selected)
            index[lane] = int(index[lane]) & ~(15 << shift) | nibble << shift
        held = np.full((wave.size, 2 * pairs), 1)
        held[:lanes] = self.kept
        left = pack(raw(held, kinds.a), BITS[kinds.a])
        right = fragment(wave, self.b.T, kinds.b, wave.sparse_b_k)
        total = result_registers(self.c, kinds.result, wave)
        parts = [total, left, right, index[None]]
        starts = np.cumsum([8, *(len(part) for part in parts[:-1])])
        names = [
            registers(int(start), len(part)) for start, part in zip(starts, parts, strict=True)
        ]
        key = f" index_key:{selected}" if selected else ""
        instruction = f"v_swmmac_{kinds.mnemonic} {', '.join(names)}{key}{modifiers}"
        return run_instruction(instruction, np.concatenate(parts), 8, 8, len(total))

    def expect(self, found: Any, total: Matrix) -> None:
        np.testing.assert_array_equal(
            found, result_registers(total, self.product.result, self.wave)
        )


def sparse(
    random: np.random.Generator, product: Product, wave: Wave, full_range: bool = False
) -> Sparse:
    """`full_range`: integers of all bits instead of small ones."""
    lanes = wave.holders(product.a, product.k // 2)
    count = 16 * (product.k // 2) // lanes
    places = np.array(
        [[random.permutation(4)[:2] for _ in range(count // 2)] for _ in range(lanes)]
    )
    kept, b = (
        numbers(random, (lanes, count), product.a),
        numbers(random, (product.k, 16), product.b),
    )
    c = numbers(random, (16, 16), product.result) * 3
    if full_range:
        limit = 1 << BITS[product.a]
        kept, b = random.integers(0, limit, kept.shape), random.integers(0, limit, b.shape)
        c = random.integers(-(1 << 31), 1 << 31, (16, 16))
        c[0], c[1] = (1 << 31) - 1, -(1 << 31)
    return Sparse(product, wave, kept, places, b, c)


def index_sets(product: Product, wave: Wave) -> range:
    """A dword of the index has so many sets (AMD's matrix instruction calculator)."""
    if product.a == "iu4":
        return range(2 if wave.size == 64 or product.k == 32 else 1)
    return range(2 if wave.size == 32 else 4)


SETS = [
    pytest.param(product, wave, selected, id=f"{product}-w{wave.size}-{selected}")
    for product in SPARSE
    for wave in (W32, W64)
    for selected in index_sets(product, wave)
]


@pytest.mark.parametrize(("product", "wave", "selected"), SETS)
def test_sparse_products_follow_the_index(product: Product, wave: Wave, selected: int) -> None:
    operands = sparse(np.random.default_rng(9), product, wave)
    operands.expect(operands.run(selected), operands.dense_a() @ operands.b + operands.c)


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
