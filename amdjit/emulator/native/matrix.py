"""WMMA: 16x16 products of a wave's fragments, and the sparse SWMMAC.

Fragments become panels of f32, one row of 16 numbers for each k. All products but f16 and bf16 results are then
f32 multiply-adds in the order of k; integer products are exact in f32 (|sum| < 2**24). Register layouts are those
of AMD's matrix instruction calculator (gfx12), in rows of 16 lanes: 2 of a wave32, 4 of a wave64. How RDNA 4 rounds
inside of a WMMA is not published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from amdjit.emulator.ir import Value, constant, vector
from amdjit.emulator.native.elements import ELEMENTS, Element
from amdjit.emulator.native.function import NativeFunction, i64

ROW = vector("float", 16)
INTEGERS = vector("i32", 16)
_ROW_BYTES = 64
# LLVM unrolls the k loop otherwise, which costs twice the time: the code no longer fits the micro-op cache.
_NO_UNROLL = '!0 = distinct !{!0, !1}\n!1 = !{!"llvm.loop.unroll.disable"}'


@dataclass(frozen=True, slots=True)
class Matrix:
    """One product: element types of A, B and of C and D, the k extent, sparse A, saturation of integer results.

    wave_size: the wave that holds the fragments; a wave64 has half as much in each lane.
    """

    a: str
    b: str
    result: str
    k: int
    sparse: bool = False
    clamp: bool = False
    wave_size: int = 32

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        kind = "swmmac" if self.sparse else "wmma"
        wave = "_w64" if self.wave_size == 64 else ""
        return f"aj_{kind}_{self.result}_{self.k}_{self.a}_{self.b}{'_clamp' if self.clamp else ''}{wave}"

    @property
    def rows(self) -> range:
        """The rows of 16 lanes of the wave."""
        return range(self.wave_size // 16)

    @property
    def result_dwords(self) -> int:
        """How many registers hold C or D."""
        return (8 if self.result in ("f32", "i32") else 4) * 32 // self.wave_size

    @property
    def pairs(self) -> int:
        """Of a sparse A: how many pairs of elements a lane holds."""
        return self.k // 4 // len(self.factor_rows("a")) if self.sparse else 0

    def factor_rows(self, factor: str) -> range:
        """Return the rows of lanes that hold A or B: less than 32 bits of 4-bit integers stay in the lower half."""
        held = self.k // 2 if factor == "a" and self.sparse else self.k
        bits = ELEMENTS[self.a if factor == "a" else self.b].bits
        return self.rows if held * bits * 16 >= 32 * self.wave_size else range(2)

    @property
    def is_integer(self) -> bool:
        """Tell whether the result is i32."""
        return self.result == "i32"


def matrices() -> Iterator[Matrix]:
    """Yield every product that gfx12 has."""
    for wave_size in (32, 64):
        for sparse in (False, True):
            k = 32 if sparse else 16
            for a, result in (("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16")):
                yield Matrix(a, a, result, k, sparse, False, wave_size)
            for a in ("fp8", "bf8"):
                yield from (Matrix(a, b, "f32", k, sparse, False, wave_size) for b in ("fp8", "bf8"))
            for bits, extent in ((8, k), (4, k), (4, 2 * k)):
                yield from _integer_matrices(bits, extent, sparse, wave_size)


def _integer_matrices(bits: int, extent: int, sparse: bool, wave_size: int) -> Iterator[Matrix]:
    for a in (f"i{bits}", f"u{bits}"):
        for b in (f"i{bits}", f"u{bits}"):
            yield from (Matrix(a, b, "i32", extent, sparse, clamp, wave_size) for clamp in (False, True))


def matrix_text(matrix: Matrix, rows_at_once: int, attributes: str) -> str:
    """Return the definition: `void (ptr d, ptr a, ptr b, ptr c)`, and `ptr index, i32 set` more if sparse.

    The pointers are to consecutive registers of 32 dwords; in wave64 each is followed by that to the upper half's.
    `rows_at_once`: accumulators that fit host registers.
    """
    names = ["d", "a", "b", "c", *(["index"] if matrix.sparse else [])]
    halves = [""] if matrix.wave_size == 32 else ["", "_upper"]
    parameters = [("ptr", name + half) for name in names for half in halves]
    if matrix.sparse:
        parameters.append(("i32", "set"))
    function = NativeFunction(matrix.symbol, "void", parameters)
    panel = f"[{matrix.k * 16} x float]"
    left, right = function.allocate(panel), function.allocate(panel)
    total = function.allocate("[256 x float]")
    _fill(function, right, matrix, "b")
    if matrix.sparse:
        _fill_sparse(function, left, matrix)
    else:
        _fill(function, left, matrix, "a")
    _load_result(function, matrix, total)
    before = "entry"
    for first in range(0, 16, rows_at_once):
        before = _multiply(function, (left, right, total), matrix.k, first, rows_at_once, before)
    _store_result(function, matrix, total)
    function.give()
    return f"{function.text(attributes)}\n{_NO_UNROLL}"


def place_of(matrix: Matrix, factor: str, index: int, row: int) -> int:
    """Return the k of element `index` in the lanes of a row of 16, for A that is not sparse and for B."""
    bits = ELEMENTS[matrix.a if factor == "a" else matrix.b].bits
    if bits == 16 and matrix.wave_size == 32:
        run = 4 if matrix.k == 16 else 8
        return 2 * run * (index // run) + run * row + index % run
    return _row_start(matrix, bits, len(matrix.factor_rows(factor)), row) + index


def _row_start(matrix: Matrix, bits: int, rows: int, row: int) -> int:
    """Return the first k of a row of lanes, where the k of a lane are consecutive."""
    if bits == 16 or rows == 2:
        return matrix.k // rows * row
    return matrix.k // 2 * (row % 2) + matrix.k // 4 * (row // 2)


def _row_pointer(function: NativeFunction, name: str, dword: int, row: int) -> Value:
    """Return the address of a register's 16 dwords of a row of lanes."""
    source = function.parameter(f"{name}_upper" if row >= 2 else name)
    return function.offset(source, dword * 128 + row % 2 * 64)


def _fragment(function: NativeFunction, name: str, element: Element, index: int, row: int) -> Value:
    """Return element `index` of the 16 lanes of a row as f32."""
    per_dword = 32 // element.bits
    dword, part = divmod(index, per_dword)
    lanes = function.load(INTEGERS, _row_pointer(function, name, dword, row), 64)
    if part:
        lanes = function.shift("lshr", lanes, part * element.bits)
    return element.widen(function, lanes)


def _fill(function: NativeFunction, panel: Value, matrix: Matrix, factor: str) -> None:
    element = ELEMENTS[matrix.a if factor == "a" else matrix.b]
    holders = matrix.factor_rows(factor)
    for row in holders:
        for index, values in enumerate(_elements(function, factor, element, matrix.k // len(holders), row)):
            place = place_of(matrix, factor, index, row)
            function.store(values, function.offset(panel, place * _ROW_BYTES), 64)


def _elements(function: NativeFunction, name: str, element: Element, count: int, row: int) -> list[Value]:
    """Return elements 0 .. count of the 16 lanes of a row as f32."""
    if element is not ELEMENTS["f16"]:
        return [_fragment(function, name, element, index, row) for index in range(count)]
    values = []
    for dword in range(count // 2):
        # Converting 32 neighbours and parting even from odd ones is a third faster than converting them parted.
        pairs = function.load(vector("half"), _row_pointer(function, name, dword, row), 64)
        wide = function.convert("fpext", pairs, "float")
        values += [function.shuffle(wide, wide, range(part, 32, 2)) for part in (0, 1)]
    return values


def _sparse_base(matrix: Matrix, pair: int, row: int) -> int:
    bits = ELEMENTS[matrix.a].bits
    if bits == 16 and matrix.wave_size == 32:
        return 16 * (pair // 2) + 8 * row + 4 * (pair % 2)
    return _row_start(matrix, bits, len(matrix.factor_rows("a")), row) + 4 * pair


def _fill_sparse(function: NativeFunction, panel: Value, matrix: Matrix) -> None:
    """Of every four k, A holds two; an index names their places (ISA document, 7.12.3).

    A set of the index has 4 bits for each pair of a lane; there are as many as fill a dword.
    """
    element = ELEMENTS[matrix.a]
    set_bits = 4 * matrix.pairs
    amount = function.mul(function.parameter("set"), constant("i32", set_bits % 32))
    for row in matrix.factor_rows("a"):
        chosen = function.load(INTEGERS, _row_pointer(function, "index", 0, row), 64)
        chosen = function.binary("lshr", chosen, function.splat(amount, 16))
        for pair in range(matrix.pairs):
            values = [_fragment(function, "a", element, 2 * pair + part, row) for part in (0, 1)]
            places = [function.mask(function.shift("lshr", chosen, 4 * pair + 2 * part), 2) for part in (0, 1)]
            _scatter_pair(function, panel, values, places, _sparse_base(matrix, pair, row))


def _scatter_pair(function: NativeFunction, panel: Value, values: list[Value], places: list[Value], base: int) -> None:
    zero = Value(ROW, "zeroinitializer")
    for position in range(4):
        row = zero
        for value, place in zip(values, places, strict=True):
            here = function.compare("eq", place, constant(INTEGERS, position))
            row = function.select(here, value, row)
        function.store(row, function.offset(panel, (base + position) * _ROW_BYTES), 64)


def _multiply(
    function: NativeFunction, panels: tuple[Value, Value, Value], k_extent: int, first: int, rows: int, before: str
) -> str:
    """Add the products of rows first .. first + rows to the total: a rolled loop over k."""
    left, right, total = panels
    sums = [function.load(ROW, function.offset(total, (first + row) * _ROW_BYTES), 64) for row in range(rows)]
    loop = function.block("k")
    function.branch(loop)
    function.label(loop)
    step = function.name()
    k = function.emit("i64", f"phi i64 [ 0, %{before} ], [ {step}, %{loop} ]")
    results = [function.name() for _ in range(rows)]
    running = [
        function.emit(ROW, f"phi {ROW} [ {start.text}, %{before} ], [ {after}, %{loop} ]")
        for start, after in zip(sums, results, strict=True)
    ]
    distance = function.shift("shl", k, 6)
    right_row = function.load(ROW, function.offset(right, distance), 64)
    left_row = function.offset(function.offset(left, distance), first * 4)
    for row in range(rows):
        factor = function.splat(function.load("float", function.offset(left_row, row * 4), 4), 16)
        product = f"{ROW} {factor.text}, {ROW} {right_row.text}, {ROW} {running[row].text}"
        function.line(f"{results[row]} = call {ROW} @llvm.fma.v16f32({product})")
    function.declarations["llvm.fma.v16f32"] = f"declare {ROW} @llvm.fma.v16f32({ROW}, {ROW}, {ROW})"
    function.line(f"{step} = add i64 {k.text}, 1")
    more = function.compare("ult", Value("i64", step), i64(k_extent))
    done = f"{loop}.done"
    function.line(f"br i1 {more.text}, label %{loop}, label %{done}, !llvm.loop !0")
    function.label(done)
    for row, name in enumerate(results):
        function.store(Value(ROW, name), function.offset(total, (first + row) * _ROW_BYTES), 64)
    return done


def _result_rows(function: NativeFunction, matrix: Matrix, name: str) -> list[Value]:
    """Return the address of rows 0 to 15 of C or D; two rows share their dwords if the elements have 16 bits."""
    per_dword = 1 if matrix.result in ("f32", "i32") else 2
    count = 16 // len(matrix.rows)
    places = []
    for row in range(16):
        lanes = row // 8 + 2 * (row % 8 // count)
        places.append(_row_pointer(function, name, row % count // per_dword, lanes))
    return places


def _load_result(function: NativeFunction, matrix: Matrix, total: Value) -> None:
    for row, place in enumerate(_result_rows(function, matrix, "c")):
        if matrix.is_integer:
            value = Value(ROW, "zeroinitializer")
        elif matrix.result == "f32":
            value = function.load(ROW, place, 64)
        else:
            bits = function.load(INTEGERS, place, 64)
            shifted = function.shift("lshr", bits, 16) if row % 2 else bits
            value = ELEMENTS[matrix.result].widen(function, shifted)
        function.store(value, function.offset(total, row * _ROW_BYTES), 64)


def _store_result(function: NativeFunction, matrix: Matrix, total: Value) -> None:
    if matrix.is_integer:
        _store_integers(function, matrix, total)
        return
    places = _result_rows(function, matrix, "d")
    values = [function.load(ROW, function.offset(total, row * _ROW_BYTES), 64) for row in range(16)]
    if matrix.result == "f32":
        for place, value in zip(places, values, strict=True):
            function.store(value, place, 64)
        return
    narrow = ELEMENTS[matrix.result].narrow
    for row in range(0, 16, 2):
        low, high = narrow(function, values[row]), narrow(function, values[row + 1])
        function.store(function.or_(low, function.shift("shl", high, 16)), places[row], 64)


def _store_integers(function: NativeFunction, matrix: Matrix, total: Value) -> None:
    sources = _result_rows(function, matrix, "c")
    targets = _result_rows(function, matrix, "d")
    add: Callable[[Value, Value], Value] = function.add
    if matrix.clamp:

        def add(x: Value, y: Value) -> Value:
            return function.intrinsic("sadd.sat", x, y)

    for row in range(16):
        product = function.load(ROW, function.offset(total, row * _ROW_BYTES), 64)
        addend = function.load(INTEGERS, sources[row], 64)
        function.store(add(function.convert("fptosi", product, "i32"), addend), targets[row], 64)
