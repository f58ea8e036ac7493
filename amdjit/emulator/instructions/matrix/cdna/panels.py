"""Operands of a product in memory, in the order in which they are multiplied: panels of factors by
k, and rows of sums by tile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from amdjit.emulator.host.builder import Value, bits_of, vector
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.instructions.matrix.cdna.products import (
    BITS,
    ROW_LANES,
    ROWS,
    WAVE_LANES,
    Mfma,
)
from amdjit.emulator.instructions.matrix.loops import Loop
from amdjit.emulator.layout import VGPR_BYTES
from amdjit.late_methods import dataclass

INTEGERS = vector("i32", ROW_LANES)
_ROW_BYTES = 4 * ROW_LANES
# Lanes of a block of 4 by 4.
_NARROW = 4


@dataclass(frozen=True, slots=True)
class Panel:
    """Factors: for each part of them, numbers by k and place across. across: places."""

    columns: tuple[tuple[Value, str], ...]
    across: int

    @classmethod
    def of(cls, f: NativeFunction, product: Mfma, factor: str, kinds: Sequence[str]) -> Panel:
        """Reserve memory."""
        count = product.along(factor) * product.across
        return cls(
            tuple((f.scratch(f"[{count} x {kind}]"), kind) for kind in kinds), product.across
        )

    def store(self, f: NativeFunction, place: Value, parts: Sequence[Value]) -> None:
        """Store 16 neighbours."""
        for (column, kind), part in zip(self.columns, parts, strict=True):
            f.store(part, _element(f, column, kind, place), 16)

    def row(self, f: NativeFunction, place: Value) -> list[Value]:
        """Return 16 neighbours. place: i64, k * across + the first."""
        return [
            f.load(vector(kind, ROW_LANES), _element(f, column, kind, place), 16)
            for column, kind in self.columns
        ]

    def spread(self, f: NativeFunction, places: Sequence[Value]) -> list[Value]:
        """Return factors for 16 lanes: one for all of them, or each of four for four."""
        found = []
        for column, kind in self.columns:
            size = bits_of(kind) // 8
            ones = [f.load(kind, _element(f, column, kind, place), size) for place in places]
            found.append(_spread(f, ones))
        return found


def _element(f: NativeFunction, column: Value, kind: str, place: Value) -> Value:
    return f.offset(column, f.shift("shl", place, {32: 2, 64: 3}[bits_of(kind)]))


def _spread(f: NativeFunction, ones: Sequence[Value]) -> Value:
    first = f.splat(ones[0], ROW_LANES)
    if len(ones) == 1:
        return first
    four = f.shuffle(first, first, range(_NARROW))
    for number, one in enumerate(ones[1:], 1):
        four = f.insert(four, one, number)
    return f.shuffle(four, four, [lane // _NARROW for lane in range(ROW_LANES)])


def copy_registers(f: NativeFunction, product: Mfma, name: str, dwords: int) -> Value:
    """Return the address of a copy of registers: of each its 64 lanes, in rows of 16."""
    copied = f.scratch(f"[{dwords * WAVE_LANES} x i32]")
    sources = [_source(f, product, name, row) for row in ROWS]
    number = Loop(f, "register", dwords)
    distance = f.mul(number.index, i64(VGPR_BYTES))
    target = f.offset(copied, f.mul(number.index, i64(len(ROWS) * _ROW_BYTES)))
    for row, source in zip(ROWS, sources, strict=True):
        lanes = f.load(INTEGERS, f.offset(source, distance), 64)
        f.store(lanes, f.offset(target, row * _ROW_BYTES), 64)
    number.close()
    return copied


def _source(f: NativeFunction, product: Mfma, name: str, row: int) -> Value:
    """Return the address of a row of 16 lanes; of B, that of the row which it multiplies."""
    if name != "b" or product.sparse:
        return _row_pointer(f, name, row)
    source = f.mask(f.shift("lshr", f.parameter("rows"), 2 * row), 2)
    upper = f.compare("ugt", source, f.const(source, 1))
    half = f.select(upper, f.parameter("b_upper"), f.parameter("b"))
    return f.offset(half, f.shift("shl", f.resize(f.mask(source, 1), 64), 6))


def _row_pointer(f: NativeFunction, name: str, row: int) -> Value:
    half = f.parameter(f"{name}_upper" if row >= 2 else name)
    return f.offset(half, row % 2 * _ROW_BYTES)


@contextmanager
def each_row(f: NativeFunction, product: Mfma, factor: str) -> Iterator[tuple[Value, Value]]:
    """Build a loop over the rows of 16 lanes of A or B. Gives, as i64, the row's number, and the
    place in a panel of a lane's first element."""
    row = Loop(f, "lanes", len(ROWS))
    lane = f.mul(row.index, i64(ROW_LANES))
    group = f.shift("lshr", lane, product.across.bit_length() - 1)
    start = f.and_(lane, i64(product.across - 1))
    first = f.mul(group, i64(product.elements(factor) * product.across))
    yield row.index, f.add(first, start)
    row.close()


@contextmanager
def each_register(
    f: NativeFunction, product: Mfma, factor: str
) -> Iterator[list[tuple[Value, Value]]]:
    """Build a loop over the registers of A or B, and the rows of their lanes. Gives the elements
    there: the place in a panel, and bits, the lowest of 16 lanes."""
    bits = BITS[product.a if factor == "a" else product.b]
    words, per = max(1, bits // 32), max(1, 32 // bits)
    copied = copy_registers(f, product, factor, product.dwords(factor))
    with each_row(f, product, factor) as (row, first):
        number = Loop(f, "dword", product.elements(factor) // per)
        own = f.offset(copied, f.mul(row, i64(_ROW_BYTES)))
        distance = f.mul(number.index, i64(words * len(ROWS) * _ROW_BYTES))
        lanes = _joined(f, f.offset(own, distance), len(ROWS) * _ROW_BYTES, words)
        place = f.add(first, f.mul(number.index, i64(per * product.across)))
        yield [
            (
                f.add(place, i64(part * product.across)),
                f.shift("lshr", lanes, part * bits) if part else lanes,
            )
            for part in range(per)
        ]
        number.close()


def _joined(f: NativeFunction, place: Value, stride: int, words: int) -> Value:
    low = f.load(INTEGERS, place, 64)
    if words == 1:
        return low
    return f.concat_bits(low, f.load(INTEGERS, f.offset(place, stride), 64))


@dataclass(frozen=True, slots=True)
class Sums:
    """C, and in its place the sums: 16 lanes for each element of a lane and row of lanes."""

    product: Mfma
    memory: Value

    @property
    def kind(self) -> str:
        """The type of a number."""
        return {"f32": "float", "f64": "double", "i32": "i32"}[self.product.result]

    @property
    def count(self) -> int:
        """How many rows of 16 lanes there are."""
        return self.product.result_elements * len(ROWS)

    @property
    def size(self) -> int:
        """Bytes of a row."""
        return ROW_LANES * (8 if self.product.is_double else 4)

    @classmethod
    def load(cls, f: NativeFunction, product: Mfma, negate: Value | None) -> Sums:
        """Load C. negate: i64 bits to flip, of f64."""
        kind = "i64" if product.is_double else "i32"
        count = product.result_elements * len(ROWS) * ROW_LANES
        sums = cls(product, f.scratch(f"[{count} x {kind}]"))
        element = Loop(f, "addend", product.result_elements)
        distance = f.mul(f.parameter("stride"), element.index)
        for row in ROWS:
            place = f.offset(_row_pointer(f, "c", row), distance)
            bits = _joined(f, place, VGPR_BYTES, product.result_dwords // product.result_elements)
            if negate is not None:
                bits = f.xor(bits, f.splat(negate, ROW_LANES))
            f.store(bits, sums._place(f, element.index, row), 64)
        element.close()
        return sums

    def store(self, f: NativeFunction, finish: Callable[[Value], Value]) -> None:
        """Store D. finish: makes its bits of a sum."""
        words = 2 if self.product.is_double else 1
        element = Loop(f, "result", self.product.result_elements)
        distance = f.mul(element.index, i64(words * VGPR_BYTES))
        for row in ROWS:
            place = self._place(f, element.index, row)
            bits = finish(f.load(vector(self.kind, ROW_LANES), place, 64))
            target = f.offset(_row_pointer(f, "d", row), distance)
            for part, dword in enumerate(f.split_bits(bits) if words == 2 else (bits,)):
                f.store(dword, f.offset(target, part * VGPR_BYTES), 64)
        element.close()

    def _place(self, f: NativeFunction, element: Value, row: int) -> Value:
        start = f.mul(element, i64(len(ROWS) * self.size))
        return f.offset(f.offset(self.memory, start), row * self.size)

    def at(self, f: NativeFunction, tile: Value, row: Value) -> Value:
        """Return the address of the 16 columns of a tile in a row of the blocks."""
        element, lanes = self.product.result_place(f, tile, row)
        number = f.add(f.mul(element, i64(len(ROWS))), lanes)
        return f.offset(self.memory, f.mul(number, i64(self.size)))
