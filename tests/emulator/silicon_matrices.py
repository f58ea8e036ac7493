"""Matrix products of registers by the scalar model, with the layouts of AMD's matrix instruction
calculator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.emulator.matrix_waves import BITS, Wave
from tests.emulator.silicon_model import dot, integer_dot

Registers = NDArray[np.uint32]


def element(registers: Registers, lane: int, index: int, bits: int) -> int:
    """Return an element of a lane."""
    dword, part = divmod(index, 32 // bits)
    return int(registers[dword, lane]) >> part * bits & (1 << bits) - 1


@dataclass(frozen=True)
class Shape:
    """A matrix instruction: types of the factors and the result, elements that A holds of a row,
    the wave."""

    a: str
    b: str
    result: str
    held: int
    wave: Wave
    sparse: bool = False

    def left(self, registers: Registers) -> list[list[int]]:
        """Return the rows of A in the order of k; of a sparse one, of the elements that it
        holds."""
        return self._rows(registers, self.a, self.held, False)

    def right(self, registers: Registers) -> list[list[int]]:
        """Return the columns of B in the order of k."""
        return self._rows(
            registers, self.b, 2 * self.held if self.sparse else self.held, self.sparse
        )

    def places(self, index: Registers, chosen: int) -> list[list[int]]:
        """Return the k of each element of the rows of a sparse A. `chosen`: which set of the
        index."""
        lanes = self.wave.holders(self.a, self.held)
        pairs = 8 * self.held // lanes
        found = [[0] * self.held for _ in range(16)]
        for lane in range(lanes):
            for pair in range(pairs):
                nibble = int(index[0, lane]) >> 4 * (pair + pairs * chosen) & 15
                base = self.wave.sparse_a_base(self.a, 2 * self.held, lane // 16, pair)
                for part in (0, 1):
                    found[lane % 16][base // 2 + part] = base + (nibble >> 2 * part & 3)
        return found

    def _rows(
        self, registers: Registers, kind: str, extent: int, is_sparse_b: bool
    ) -> list[list[int]]:
        lanes = self.wave.holders(kind, extent)
        rows = [[0] * extent for _ in range(16)]
        place = self.wave.sparse_b_k if is_sparse_b else self.wave.dense_k
        for lane in range(lanes):
            for index in range(16 * extent // lanes):
                k = place(kind, extent, lane // 16, index)
                rows[lane % 16][k] = element(registers, lane, index, BITS[kind])
        return rows

    def product(
        self, a: Registers, b: Registers, c: Registers, index: Registers | None = None,
        chosen: int = 0,
        clamps: bool = False,
    ) -> Registers:  # fmt: skip
        """Return D's registers of a float product."""
        left, right = self.left(a), self.right(b)
        places = [list(range(self.held))] * 16 if index is None else self.places(index, chosen)
        width = BITS[self.result]
        found = np.zeros(c.shape, np.uint32)
        for lane in range(self.wave.size):
            for number in range(self.wave.result_elements):
                row = self.wave.result_row(lane, number)
                column = [right[lane % 16][k] for k in places[row]]
                old = element(c, lane, number, width)
                value = dot(left[row], column, old, (self.a, self.b), self.result, clamps)
                dword, part = divmod(number, 32 // width)
                found[dword, lane] |= np.uint32(value << part * width)
        return found

    def integer_product(
        self, a: Registers, b: Registers, c: Registers, signs: int, clamp: bool,
        index: Registers | None = None, chosen: int = 0,
    ) -> Registers:  # fmt: skip
        """Return D's registers of an integer product; bits 0 and 1 of `signs`: A and B are
        signed."""
        left, right = (
            [
                [_number(value, BITS[self.a], bool(signs >> which & 1)) for value in row]
                for row in rows
            ]
            for which, rows in enumerate((self.left(a), self.right(b)))
        )
        places = [list(range(self.held))] * 16 if index is None else self.places(index, chosen)
        lower = self._lower_lanes()
        found = np.zeros(c.shape, np.uint32)
        for lane in range(self.wave.size):
            for number in range(self.wave.result_elements):
                row = self.wave.result_row(lane, number)
                column = [right[lane % 16][k] for k in places[row]]
                old = _number(int(c[number, lane]), 32, True)
                found[number, lane] = integer_dot(left[row], column, old, lower, clamp)
        return found

    def _lower_lanes(self) -> list[bool]:
        """Return which elements of a row of A a wave32 holds in lanes 0 to 15."""
        lanes = Wave(32).holders(self.a, self.held)
        first = self.held * 16 // lanes if lanes > 16 else self.held
        return [k < first for k in range(self.held)]


def _number(bits: int, width: int, signed: bool) -> int:
    return bits - (1 << width) if signed and bits >> width - 1 else bits
