"""WMMA and SWMMAC against NumPy, with the register layouts of AMD's matrix instruction calculator (gfx12, wave32)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from building import assemble, emulate, missing_tools
from numpy.typing import NDArray

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")

Matrix = NDArray[Any]
FP8, BF8, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16
DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": BF16, "fp8": FP8, "bf8": BF8, "f32": np.float32, "i32": np.int32}
BITS = {"f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "iu8": 8, "iu4": 4, "f32": 32, "i32": 32}


def dense_k(kind: str, k: int, half: int, element: int) -> int:
    """The k of an element of A or B in the lanes of a half-wave."""
    if BITS[kind] == 16:
        return 8 * (element // 4) + 4 * half + element % 4
    return k // 2 * half + element


def sparse_b_k(kind: str, k: int, half: int, element: int) -> int:
    if BITS[kind] == 16:
        return 16 * (element // 8) + 8 * half + element % 8
    return k // 2 * half + element


def sparse_a_base(kind: str, k: int, half: int, pair: int) -> int:
    if BITS[kind] == 16:
        return 16 * (pair // 2) + 8 * half + 4 * (pair % 2)
    return k // 2 * half + 4 * pair


def pack(elements: NDArray[np.uint64], bits: int) -> NDArray[np.uint32]:
    """(32 lanes, n elements) of raw bits to (n * bits / 32 registers, 32 lanes)."""
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


def fragment(matrix: Matrix, kind: str, place: Callable[[int, int], int], count: int) -> NDArray[np.uint32]:
    """Registers of A (rows by lane) from `matrix[row, k]`."""
    elements = np.zeros((32, count), np.uint64)
    bits = raw(matrix, kind)
    for lane in range(32):
        for element in range(count):
            elements[lane, element] = bits[lane % 16, place(lane // 16, element)]
    return pack(elements, BITS[kind])


def result_registers(matrix: Matrix, kind: str) -> NDArray[np.uint32]:
    """Registers of C or D: row = 8 * (lane // 16) + element, column = lane % 16."""
    bits = raw(matrix, kind)
    elements = np.array([[bits[8 * (lane // 16) + e, lane % 16] for e in range(8)] for lane in range(32)], np.uint64)
    return pack(elements, BITS[kind])


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
    instruction: str, inputs: NDArray[np.uint32], first: int, result: int, count: int, setup: str = ""
) -> NDArray[np.uint32]:
    """Load `inputs` to registers from v[first] on, run one instruction, return `count` registers from v[result] on."""
    rows = range(len(inputs))
    loads = "\n".join(f"  global_load_b32 v{first + i}, v0, s[0:1] offset:{128 * i}" for i in rows)
    stores = "\n".join(f"  global_store_b32 v0, v{result + i}, s[2:3] offset:{128 * i}" for i in range(count))
    code = assemble(BODY.format(loads=loads, stores=stores, instruction=instruction, setup=setup))
    output = np.zeros((count, 32), np.uint32)
    emulate(code, "kernel", 1, 32, [np.ascontiguousarray(inputs), output])
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
        kinds = self.a if self.a == self.b and self.a not in ("fp8", "bf8") else f"{self.a}_{self.b}"
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


def dense_inputs(product: Product, a: Matrix, b: Matrix, c: Matrix) -> NDArray[np.uint32]:
    count = product.k // 2
    left = fragment(a, product.a, lambda half, e: dense_k(product.a, product.k, half, e), count)
    right = fragment(b.T, product.b, lambda half, e: dense_k(product.b, product.k, half, e), count)
    return np.concatenate([left, right, result_registers(c, product.result)])


def operands(product: Product, first: int, factor: int) -> tuple[str, int, int]:
    """The operand text `d, a, b, c` for registers in that order from v[first], and D's place and size."""
    wide = 8 if BITS[product.result] == 32 else 4
    a, b, c = first, first + factor, first + 2 * factor
    pair = f"v[{a}:{a + factor - 1}]" if factor > 1 else f"v{a}"
    other = f"v[{b}:{b + factor - 1}]" if factor > 1 else f"v{b}"
    return f"v[200:{199 + wide}], {pair}, {other}, v[{c}:{c + wide - 1}]", 200, wide


@pytest.mark.parametrize("first", [8, 128])
@pytest.mark.parametrize("product", DENSE, ids=str)
def test_dense_products_are_exact_on_small_integers(product: Product, first: int) -> None:
    random = np.random.default_rng(3)
    a, b = numbers(random, (16, product.k), product.a), numbers(random, (product.k, 16), product.b)
    c = numbers(random, (16, 16), product.result) * 5
    inputs = dense_inputs(product, a, b, c)
    text, result, wide = operands(product, first, product.k // 2 * BITS[product.a] // 32)
    found = run_instruction(f"v_wmma_{product.mnemonic} {text}", inputs, first, result, wide)
    np.testing.assert_array_equal(found, result_registers(a @ b + c, product.result))


@pytest.mark.parametrize("product", DENSE[:8], ids=str)
def test_dense_float_products_are_close_on_any_numbers(product: Product) -> None:
    random = np.random.default_rng(4)
    a, b = (random.standard_normal((16, 16)).astype(DTYPES[kind]) for kind in (product.a, product.b))
    c = random.standard_normal((16, 16)).astype(DTYPES[product.result])
    exact = a.astype(float) @ b.astype(float) + c.astype(float)
    inputs = dense_inputs(product, a, b, c)
    text, result, wide = operands(product, 8, 8 * BITS[product.a] // 32)
    found = run_instruction(f"v_wmma_{product.mnemonic} {text}", inputs, 8, result, wide)
    bits = {32: np.uint32, 16: np.uint16}[BITS[product.result]]
    values = found.T.copy().view(bits).reshape(32, 8).view(DTYPES[product.result])
    back = np.array([[values[16 * (row // 8) + column, row % 8] for column in range(16)] for row in range(16)])
    error = np.abs(back.astype(float) - exact).max()
    assert error <= 16 * float(ml_dtypes.finfo(DTYPES[product.result]).eps)


@pytest.mark.parametrize(
    ("product", "constant"),
    [(DENSE[index], constant) for index in (0, 2) for constant in ("1.0", "-4.0", "0")]
    + [(DENSE[8], constant) for constant in ("3", "-16", "0")],
    ids=str,
)
def test_an_inline_constant_as_c_fills_the_matrix(product: Product, constant: str) -> None:
    random = np.random.default_rng(5)
    a, b = numbers(random, (16, 16), product.a), numbers(random, (16, 16), product.b)
    inputs = dense_inputs(product, a, b, np.zeros((16, 16)))
    text, result, wide = operands(product, 130, 8 * BITS[product.a] // 32)
    start = text.rindex(", ")
    found = run_instruction(f"v_wmma_{product.mnemonic} {text[:start]}, {constant}", inputs, 130, result, wide)
    np.testing.assert_array_equal(found, result_registers(a @ b + float(constant), product.result))


@pytest.mark.parametrize("product", [DENSE[8], DENSE[9], DENSE[10]], ids=str)
@pytest.mark.parametrize("signs", [0, 1, 2, 3])
@pytest.mark.parametrize("clamp", [False, True])
def test_integer_products_with_signs_and_saturation(product: Product, signs: int, clamp: bool) -> None:
    random = np.random.default_rng(6 + signs)
    width = BITS[product.a]
    a, b = (random.integers(0, 1 << width, shape) for shape in ((16, product.k), (product.k, 16)))
    c = random.integers(-(1 << 31), 1 << 31, (16, 16))
    c[0], c[1] = (1 << 31) - 1, -(1 << 31)
    inputs = dense_inputs(product, a, b, c)
    text, result, wide = operands(product, 8, product.k // 2 * width // 32)
    suffix = f" neg_lo:[{signs & 1},{signs >> 1},0]" + (" clamp" if clamp else "")
    found = run_instruction(f"v_wmma_{product.mnemonic} {text}{suffix}", inputs, 8, result, wide)
    left, right = (
        np.where((m >= 1 << (width - 1)) & bool(signs >> n & 1), m - (1 << width), m) for n, m in enumerate((a, b))
    )
    total = left @ right + c
    expected = np.clip(total, -(1 << 31), (1 << 31) - 1) if clamp else total
    np.testing.assert_array_equal(found, result_registers((expected + (1 << 31)) % (1 << 32) - (1 << 31), "i32"))


@pytest.mark.parametrize("operand", [0, 1, 2])
@pytest.mark.parametrize("product", [DENSE[0], DENSE[1], DENSE[2]], ids=str)
def test_negation_of_low_and_high_halves(product: Product, operand: int) -> None:
    random = np.random.default_rng(8)
    a, b, c = (numbers(random, (16, 16), "f16") for _ in range(3))
    flags = ["0", "0", "0"]
    flags[operand] = "1"
    text, result, wide = operands(product, 8, 4)
    modifier = f" neg_lo:[{','.join(flags)}]"
    inputs = dense_inputs(product, a, b, c)
    found = run_instruction(f"v_wmma_{product.mnemonic} {text}{modifier}", inputs, 8, result, wide)
    even = np.arange(16) % 2 == 0
    if operand == 0:
        a = np.where(even[None, :], -a, a)
    elif operand == 1:
        b = np.where(even[:, None], -b, b)
    else:
        c = -c
    np.testing.assert_array_equal(found, result_registers(a @ b + c, product.result))


# iu4 with k = 64 has one set of indices, the others two.
SETS = [(product, selected) for product in SPARSE for selected in ((0,) if product.k == 64 else (0, 1))]


@pytest.mark.parametrize(("product", "selected"), SETS, ids=str)
def test_sparse_products_follow_the_index(product: Product, selected: int) -> None:
    random = np.random.default_rng(9)
    count = product.k // 4
    kept = numbers(random, (32, count), product.a)
    places = np.array([[random.permutation(4)[:2] for _ in range(count // 2)] for _ in range(32)])
    b, c = numbers(random, (product.k, 16), product.b), numbers(random, (16, 16), product.result) * 3
    a = np.zeros((16, product.k))
    index = np.zeros(32, np.uint32)
    for lane in range(32):
        for pair in range(count // 2):
            base = sparse_a_base(product.a, product.k, lane // 16, pair)
            for part in (0, 1):
                a[lane % 16, base + places[lane, pair, part]] = kept[lane, 2 * pair + part]
            nibble = places[lane, pair, 0] | places[lane, pair, 1] << 2
            index[lane] |= np.uint32(nibble << (4 * pair + 16 * selected))
    left = pack(raw(kept, product.a), BITS[product.a])
    right = fragment(b.T, product.b, lambda half, e: sparse_b_k(product.b, product.k, half, e), product.k // 2)
    total = result_registers(c, product.result)
    inputs = np.concatenate([left, right, index[None], total])
    first_b, first_index = 8 + len(left), 8 + len(left) + len(right)
    first_d = first_index + 1
    names = [
        f"v[{first_d}:{first_d + len(total) - 1}]",
        f"v[8:{first_b - 1}]" if len(left) > 1 else "v8",
        f"v[{first_b}:{first_index - 1}]",
        f"v{first_index}",
    ]
    suffix = " index_key:1" if selected else ""
    instruction = f"v_swmmac_{product.mnemonic} {', '.join(names)}{suffix}"
    found = run_instruction(instruction, inputs, 8, first_d, len(total))
    np.testing.assert_array_equal(found, result_registers(a @ b + c, product.result))


def test_products_ignore_exec() -> None:
    product = DENSE[0]
    random = np.random.default_rng(10)
    a, b, c = (numbers(random, (16, 16), "f16") for _ in range(3))
    inputs = dense_inputs(product, a, b, c)
    text, result, wide = operands(product, 8, 4)
    instruction = f"s_mov_b32 exec_lo, 5\n  v_wmma_{product.mnemonic} {text}\n  s_mov_b32 exec_lo, -1"
    found = run_instruction(instruction, inputs, 8, result, wide)
    np.testing.assert_array_equal(found, result_registers(a @ b + c, product.result))
