"""WMMA as multiply-adds: 16x16 products of a wave's fragments, and the sparse SWMMAC.

Fragments become panels of f32, one row of 16 numbers for each k; the products are f32 multiply-adds
in the order of k. For integers that is exact (|sum| < 2**24). For floats it is the quick form,
which does not round as the hardware does; `silicon.py` does.
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value, constant, vector
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.instructions.matrix.dots import below_infinity
from amdjit.emulator.instructions.matrix.layouts import (
    INTEGERS,
    ROW,
    ROW_BYTES,
    Matrix,
    load_float_rows,
    matrix_function,
    place_of,
    result_rows,
    row_pointer,
    sparse_base,
    store_float_rows,
)
from amdjit.isa.floats.elements import ELEMENTS, Element

# Otherwise LLVM unrolls the loop over k, which takes twice the time: the code no longer fits the
# micro-op cache.
NO_UNROLL = '!0 = distinct !{!0, !1}\n!1 = !{!"llvm.loop.unroll.disable"}'


def integer_text(matrix: Matrix, rows_at_once: int, attributes: str) -> str:
    """Return the definition of an integer product's function (`matrix_function`).

    With clamp, the sum saturates after the products that lanes 0 to 15 of a wave32 hold, the first
    half of k, and again after the others: measured on gfx1201 in wave32, and assumed for wave64 and
    SWMMAC.
    """
    function = matrix_function(matrix)
    left, right = chain_panels(function, matrix)
    fill_panels(function, matrix, left, right)
    running, total = function.allocate("[256 x i32]"), function.allocate("[256 x float]")
    for row, place in enumerate(result_rows(function, matrix, "c")):
        function.store(
            function.load(INTEGERS, place, 64), function.offset(running, row * ROW_BYTES), 64
        )
    parts = 2 if matrix.clamp else 1
    for part in range(parts):
        for row in range(16):
            function.store(
                Value(ROW, "zeroinitializer"), function.offset(total, row * ROW_BYTES), 64
            )
        extent = matrix.k // parts
        multiply_all(
            function, (left, right, total), range(part * extent, (part + 1) * extent), rows_at_once
        )
        _add_integers(function, matrix, running, total)
    for row, place in enumerate(result_rows(function, matrix, "d")):
        function.store(
            function.load(INTEGERS, function.offset(running, row * ROW_BYTES), 64), place, 64
        )
    function.give()
    return f"{function.text(attributes)}\n{NO_UNROLL}"


def chain_text(matrix: Matrix, rows_at_once: int, attributes: str) -> str:
    """Return the definition of a float product's function (`matrix_function`) as f32 multiply-adds
    in the order of k.

    `rows_at_once`: accumulators that fit host registers.
    """
    function = matrix_function(matrix)
    left, right = chain_panels(function, matrix)
    fill_panels(function, matrix, left, right)
    total = function.allocate("[256 x float]")
    load_float_rows(function, matrix, total)
    multiply_all(function, (left, right, total), range(matrix.k), rows_at_once)
    if matrix.overflows:
        _clamp_halves(function, total)
    store_float_rows(function, matrix, total)
    function.give()
    return f"{function.text(attributes)}\n{NO_UNROLL}"


def chain_panels(function: NativeFunction, matrix: Matrix) -> tuple[Value, Value]:
    """Reserve memory for A and B as f32, with a row of 16 for each k."""
    panel = f"[{matrix.k * 16} x float]"
    return function.allocate(panel), function.allocate(panel)


def fill_panels(function: NativeFunction, matrix: Matrix, left: Value, right: Value) -> None:
    """Fill the panels with A and B; a sparse A has zeros where it holds no element."""
    _fill(function, right, matrix, "b")
    if matrix.sparse:
        _fill_sparse(function, left, matrix)
    else:
        _fill(function, left, matrix, "a")


def _clamp_halves(function: NativeFunction, total: Value) -> None:
    """Limit finite sums to f16's largest number if the mode FP16_OVFL is on."""
    clamps = function.compare("ne", function.parameter("clamps"), constant("i32", 0))
    for row in range(16):
        place = function.offset(total, row * ROW_BYTES)
        value = function.load(ROW, place, 64)
        function.store(below_infinity(function, value, clamps), place, 64)


def _add_integers(function: NativeFunction, matrix: Matrix, running: Value, total: Value) -> None:
    """Add sums of products, which are exact in f32, to rows of integers."""
    for row in range(16):
        place = function.offset(running, row * ROW_BYTES)
        products = function.load(ROW, function.offset(total, row * ROW_BYTES), 64)
        terms = function.load(INTEGERS, place, 64), function.convert("fptosi", products, "i32")
        added = function.intrinsic("sadd.sat", *terms) if matrix.clamp else function.add(*terms)
        function.store(added, place, 64)


def multiply_all(
    function: NativeFunction, panels: tuple[Value, Value, Value], extent: range, rows: int
) -> None:
    """Add the products of a range of k to all rows of the total, several rows at once."""
    for first in range(0, 16, rows):
        _multiply(function, panels, extent, first, rows)


def _fragment(function: NativeFunction, name: str, element: Element, index: int, row: int) -> Value:
    """Return element `index` of a row's 16 lanes as f32."""
    per_dword = 32 // element.bits
    dword, part = divmod(index, per_dword)
    lanes = function.load(INTEGERS, row_pointer(function, name, dword, row), 64)
    if part:
        lanes = function.shift("lshr", lanes, part * element.bits)
    return element.widen(function, lanes)


def _fill(function: NativeFunction, panel: Value, matrix: Matrix, factor: str) -> None:
    element = ELEMENTS[matrix.a if factor == "a" else matrix.b]
    holders = matrix.factor_rows(factor)
    for row in holders:
        for index, values in enumerate(
            _elements(function, factor, element, matrix.k // len(holders), row)
        ):
            place = place_of(matrix, factor, index, row)
            function.store(values, function.offset(panel, place * ROW_BYTES), 64)


def _elements(
    function: NativeFunction, name: str, element: Element, count: int, row: int
) -> list[Value]:
    """Return elements 0 .. count of a row's 16 lanes as f32."""
    if element is not ELEMENTS["f16"]:
        return [_fragment(function, name, element, index, row) for index in range(count)]
    values = []
    for dword in range(count // 2):
        # Converting 32 neighbours and then separating even from odd ones is a third faster than
        # separating them first.
        pairs = function.load(vector("half"), row_pointer(function, name, dword, row), 64)
        wide = function.convert("fpext", pairs, "float")
        values += [function.shuffle(wide, wide, range(part, 32, 2)) for part in (0, 1)]
    return values


def _fill_sparse(function: NativeFunction, panel: Value, matrix: Matrix) -> None:
    """Fill a panel with a sparse A. It holds two of every four k; an index has their places (ISA
    document, 7.12.3).

    A set of the index has 4 bits for each pair of a lane; a dword holds as many sets as fit.
    """
    element = ELEMENTS[matrix.a]
    set_bits = 4 * matrix.pairs
    amount = function.mul(function.parameter("set"), constant("i32", set_bits % 32))
    for row in matrix.factor_rows("a"):
        chosen = function.load(INTEGERS, row_pointer(function, "index", 0, row), 64)
        chosen = function.binary("lshr", chosen, function.splat(amount, 16))
        for pair in range(matrix.pairs):
            values = [_fragment(function, "a", element, 2 * pair + part, row) for part in (0, 1)]
            places = [
                function.mask(function.shift("lshr", chosen, 4 * pair + 2 * part), 2)
                for part in (0, 1)
            ]
            _scatter_pair(function, panel, values, places, sparse_base(matrix, pair, row))


def _scatter_pair(
    function: NativeFunction, panel: Value, values: list[Value], places: list[Value], base: int
) -> None:
    zero = Value(ROW, "zeroinitializer")
    for position in range(4):
        row = zero
        for value, place in zip(values, places, strict=True):
            here = function.compare("eq", place, constant(INTEGERS, position))
            row = function.binary("fadd", row, function.select(here, value, zero))
        function.store(row, function.offset(panel, (base + position) * ROW_BYTES), 64)


def _multiply(
    function: NativeFunction,
    panels: tuple[Value, Value, Value],
    extent: range,
    first: int,
    rows: int,
) -> None:
    """Add the products of rows first .. first + rows to the total, in a rolled loop over k."""
    before = function.current
    left, right, total = panels
    sums = [
        function.load(ROW, function.offset(total, (first + row) * ROW_BYTES), 64)
        for row in range(rows)
    ]
    loop = function.block("k")
    function.branch(loop)
    function.label(loop)
    step = function.name()
    k = function.emit("i64", f"phi i64 [ {extent.start}, %{before} ], [ {step}, %{loop} ]")
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
    function.declarations["llvm.fma.v16f32"] = (
        f"declare {ROW} @llvm.fma.v16f32({ROW}, {ROW}, {ROW})"
    )
    function.line(f"{step} = add i64 {k.text}, 1")
    more = function.compare("ult", Value("i64", step), i64(extent.stop))
    done = f"{loop}.done"
    function.line(f"br i1 {more.text}, label %{loop}, label %{done}, !llvm.loop !0")
    function.label(done)
    for row, name in enumerate(results):
        function.store(Value(ROW, name), function.offset(total, (first + row) * ROW_BYTES), 64)
