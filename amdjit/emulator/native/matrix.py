"""WMMA: 16x16 products of a wave's fragments, and the sparse SWMMAC.

Fragments become panels of f32, one row of 16 numbers for each k. All products but f16 and bf16 results are then
f32 multiply-adds in the order of k; integer products are exact in f32 (|sum| < 2**24). Register layouts are those
of AMD's matrix instruction calculator (gfx12, wave32). How RDNA 4 rounds inside of a WMMA is not published.
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
    """One product: element types of A, B and of C and D, the k extent, sparse A, saturation of integer results."""

    a: str
    b: str
    result: str
    k: int
    sparse: bool = False
    clamp: bool = False

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        kind = "swmmac" if self.sparse else "wmma"
        return f"aj_{kind}_{self.result}_{self.k}_{self.a}_{self.b}{'_clamp' if self.clamp else ''}"

    @property
    def is_integer(self) -> bool:
        """Tell whether the result is i32."""
        return self.result == "i32"


def matrices() -> Iterator[Matrix]:
    """Yield every product that gfx12 has."""
    for sparse in (False, True):
        k = 32 if sparse else 16
        for a, result in (("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16")):
            yield Matrix(a, a, result, k, sparse)
        for a in ("fp8", "bf8"):
            yield from (Matrix(a, b, "f32", k, sparse) for b in ("fp8", "bf8"))
        for bits, extent in ((8, k), (4, k), (4, 2 * k)):
            for a in (f"i{bits}", f"u{bits}"):
                for b in (f"i{bits}", f"u{bits}"):
                    yield from (Matrix(a, b, "i32", extent, sparse, clamp) for clamp in (False, True))


def matrix_text(matrix: Matrix, rows_at_once: int, attributes: str) -> str:
    """Return the definition: `void (ptr d, ptr a, ptr b, ptr c)`, and `i32 set, ptr index` more if sparse.

    The pointers are to consecutive registers of 32 dwords. `rows_at_once`: accumulators that fit host registers.
    """
    parameters = [("ptr", "d"), ("ptr", "a"), ("ptr", "b"), ("ptr", "c")]
    if matrix.sparse:
        parameters += [("ptr", "index"), ("i32", "set")]
    function = NativeFunction(matrix.symbol, "void", parameters)
    panel = f"[{matrix.k * 16} x float]"
    left, right = function.allocate(panel), function.allocate(panel)
    total = function.allocate("[256 x float]")
    _fill(function, right, function.parameter("b"), ELEMENTS[matrix.b], matrix.k)
    if matrix.sparse:
        _fill_sparse(function, left, ELEMENTS[matrix.a], matrix.k)
    else:
        _fill(function, left, function.parameter("a"), ELEMENTS[matrix.a], matrix.k)
    _load_result(function, matrix, total)
    before = "entry"
    for first in range(0, 16, rows_at_once):
        before = _multiply(function, (left, right, total), matrix.k, first, rows_at_once, before)
    _store_result(function, matrix, total)
    function.give()
    return f"{function.text(attributes)}\n{_NO_UNROLL}"


def place_of(element: Element, k_extent: int, index: int, quarter: int) -> int:
    """Return the k of element `index` in the lanes of half-wave `quarter` (0 or 1)."""
    if element.bits == 16 and k_extent == 16:
        return 8 * (index // 4) + 4 * quarter + index % 4
    if element.bits == 16:
        return 16 * (index // 8) + 8 * quarter + index % 8
    return k_extent // 2 * quarter + index


def _fragment(function: NativeFunction, source: Value, element: Element, index: int, half: int) -> Value:
    """Return element `index` of the 16 lanes of a half-wave as f32."""
    per_dword = 32 // element.bits
    dword, part = divmod(index, per_dword)
    lanes = function.load(INTEGERS, function.offset(source, dword * 128 + half * 64), 64)
    if part:
        lanes = function.shift("lshr", lanes, part * element.bits)
    return element.widen(function, lanes)


def _fill(function: NativeFunction, panel: Value, source: Value, element: Element, k_extent: int) -> None:
    for half in (0, 1):
        for index, row in enumerate(_rows(function, source, element, k_extent // 2, half)):
            place = place_of(element, k_extent, index, half)
            function.store(row, function.offset(panel, place * _ROW_BYTES), 64)


def _rows(function: NativeFunction, source: Value, element: Element, count: int, half: int) -> list[Value]:
    """Return elements 0 .. count of the 16 lanes of a half-wave as f32."""
    if element is not ELEMENTS["f16"]:
        return [_fragment(function, source, element, index, half) for index in range(count)]
    rows = []
    for dword in range(count // 2):
        # Converting 32 neighbours and parting even from odd ones is a third faster than converting them parted.
        pairs = function.load(vector("half"), function.offset(source, dword * 128 + half * 64), 64)
        wide = function.convert("fpext", pairs, "float")
        rows += [function.shuffle(wide, wide, range(part, 32, 2)) for part in (0, 1)]
    return rows


def _sparse_base(element: Element, k_extent: int, pair: int, half: int) -> int:
    if element.bits == 16:
        return 16 * (pair // 2) + 8 * half + 4 * (pair % 2)
    return k_extent // 2 * half + 4 * pair


def _fill_sparse(function: NativeFunction, panel: Value, element: Element, k_extent: int) -> None:
    """Of every four k, A holds two; an index names their places (ISA document, 7.12.3)."""
    source, index = function.parameter("a"), function.parameter("index")
    amount = function.shift("shl", function.parameter("set"), 4)
    for half in (0, 1):
        chosen = function.load(INTEGERS, function.offset(index, half * 64), 64)
        chosen = function.binary("lshr", chosen, function.splat(amount, 16))
        for pair in range(k_extent // 8):
            values = [_fragment(function, source, element, 2 * pair + part, half) for part in (0, 1)]
            places = [function.mask(function.shift("lshr", chosen, 4 * pair + 2 * part), 2) for part in (0, 1)]
            base = _sparse_base(element, k_extent, pair, half)
            _scatter_pair(function, panel, values, places, base)


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


def _result_rows(function: NativeFunction, matrix: Matrix, pointer: Value) -> list[Value]:
    """Return C or D's place of each row: (row, address, shift) for rows 0 to 15."""
    wide = matrix.result in ("f32", "i32")
    return [function.offset(pointer, (row % 8 // (1 if wide else 2)) * 128 + (row // 8) * 64) for row in range(16)]


def _load_result(function: NativeFunction, matrix: Matrix, total: Value) -> None:
    for row, place in enumerate(_result_rows(function, matrix, function.parameter("c"))):
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
    target = function.parameter("d")
    places = _result_rows(function, matrix, target)
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
    sources = _result_rows(function, matrix, function.parameter("c"))
    targets = _result_rows(function, matrix, function.parameter("d"))
    add: Callable[[Value, Value], Value] = function.add
    if matrix.clamp:

        def add(x: Value, y: Value) -> Value:
            return function.intrinsic("sadd.sat", x, y)

    for row in range(16):
        product = function.load(ROW, function.offset(total, row * _ROW_BYTES), 64)
        addend = function.load(INTEGERS, sources[row], 64)
        function.store(add(function.convert("fptosi", product, "i32"), addend), targets[row], 64)
