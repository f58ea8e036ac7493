"""WMMA and SWMMAC instructions with their operands' layouts, run and computed by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import assemble, emulate
from tests.emulator.matrix_waves import BITS, DTYPES, W32, Matrix, Wave


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
    """The number of sets in a dword of the index (AMD's matrix instruction calculator)."""
    if product.a == "iu4":
        return range(2 if wave.size == 64 or product.k == 32 else 1)
    return range(2 if wave.size == 32 else 4)
