"""Float WMMA and SWMMAC with the hardware's rounding: four steps of four products for each element
of D.

The factors become panels of integers, one row of 16 for each k; a row of D is 16 lanes. A sparse A
takes part with the 16 elements that it holds: its layout is that of a dense A, and the index of an
element selects its partner in B. That order applies the rule of dense products to SWMMAC; captures
of SWMMAC show which elements meet, and that the neg modifiers of B apply to them afterwards, but
not how they round.
"""

from __future__ import annotations

from functools import reduce

from amdjit.emulator.host.builder import Value, constant, lanes_of, vector
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.instructions.matrix.dot_factors import Factor, parted
from amdjit.emulator.instructions.matrix.grid_step import GridStep
from amdjit.emulator.instructions.matrix.layouts import (
    INTEGERS,
    ROW,
    ROW_BYTES,
    Matrix,
    load_float_rows,
    matrix_function,
    place_of,
    row_pointer,
    sparse_base,
    store_float_rows,
)
from amdjit.emulator.instructions.matrix.loops import Loop
from amdjit.emulator.instructions.matrix.products import (
    NO_UNROLL,
    chain_panels,
    fill_panels,
    multiply_all,
)
from amdjit.emulator.instructions.matrix.quick_steps import QuickFloors, is_extreme_addend
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.isa.matrix_rounding import FORMATS
from amdjit.late_methods import dataclass

# Without this, LLVM reserves registers of the common case for code that almost never runs.
_SELDOM = '!2 = !{!"branch_weights", i32 1, i32 4000}'


@dataclass(frozen=True, slots=True)
class _Panel:
    """Rows of factors in memory, one row for each k."""

    significands: Value
    exponents: Value

    def store(self, f: NativeFunction, place: int, factor: Factor) -> None:
        f.store(factor.significand, f.offset(self.significands, place * ROW_BYTES), 64)
        f.store(factor.exponent, f.offset(self.exponents, place * ROW_BYTES), 64)

    def row(self, f: NativeFunction, distance: Value) -> Factor:
        """Return a row's factors."""
        columns = (self.significands, self.exponents)
        return Factor(*(f.load(INTEGERS, f.offset(column, distance), 64) for column in columns))

    def one(self, f: NativeFunction, distance: Value) -> Factor:
        """Return one factor, repeated in all lanes."""
        columns = (self.significands, self.exponents)
        return Factor(
            *(f.splat(f.load("i32", f.offset(column, distance), 4), 16) for column in columns)
        )


def _step_of(matrix: Matrix) -> GridStep:
    return GridStep.of(matrix.a, matrix.b, matrix.result)


def _panel(f: NativeFunction, rows: int) -> _Panel:
    return _Panel(*(f.allocate(f"[{rows * 16} x i32]") for _ in range(2)))


def rounded_text(matrix: Matrix, rows_at_once: int, attributes: str) -> str:
    """Return the definition of a float product's function (`matrix_function`).

    `rows_at_once`: how many accumulators of a chain of multiply-adds fit host registers.
    """
    f = matrix_function(matrix)
    left, right = _panel(f, matrix.held), _panel(f, matrix.k)
    total, chain = f.allocate("[256 x float]"), chain_panels(f, matrix)
    places = f.allocate(f"[{matrix.held * 16} x i32]") if matrix.sparse else None
    perhaps, whole, general, done = (
        f.block(name) for name in ("perhaps", "whole", "general", "multiplied")
    )
    f.branch_if(starts_whole(f, matrix), perhaps, general)
    f.label(perhaps)
    fill_panels(f, matrix, *chain)
    load_float_rows(f, matrix, total)
    f.branch_if(are_whole(f, matrix, (*chain, total)), whole, general)
    f.label(whole)
    multiply_all(f, (*chain, total), range(matrix.k), rows_at_once)
    f.branch(done)
    f.label(general)
    _round_each_step(f, matrix, left=left, right=right, total=total, places=places)
    f.branch(done)
    f.label(done)
    store_float_rows(f, matrix, total)
    f.give()
    return f"{f.text(attributes)}\n{NO_UNROLL}\n{_SELDOM}"


def _round_each_step(
    f: NativeFunction,
    matrix: Matrix,
    left: _Panel,
    right: _Panel,
    total: Value,
    places: Value | None,
) -> None:
    exponents = _fill(f, left, matrix, "a"), _fill(f, right, matrix, "b")
    if places is not None:
        _fill_places(f, matrix, places)
    load_float_rows(f, matrix, total)
    ordinary, checked, done = f.block("ordinary"), f.block("checked"), f.block("rounded")
    if matrix.overflows:
        f.branch(checked)
    else:
        f.branch_if(_are_ordinary(f, matrix, exponents, total), ordinary, checked)
        f.label(ordinary)
        _multiply(f, matrix, left=left, right=right, total=total, places=places, checked=False)
        f.branch(done)
    f.label(checked)
    _multiply(f, matrix, left=left, right=right, total=total, places=places, checked=True)
    f.branch(done)
    f.label(done)


def _are_ordinary(
    f: NativeFunction, matrix: Matrix, exponents: tuple[list[Value], list[Value]], total: Value
) -> Value:
    """Return an i1: whether the quick form is right in all steps of the product."""
    quick = QuickFloors(_step_of(matrix))
    outside = [
        quick.is_extreme(f, which, factors) for which, factors in zip("ab", exponents, strict=True)
    ]
    rows = [f.load(INTEGERS, f.offset(total, row * ROW_BYTES), 64) for row in range(16)]
    outside.append(is_extreme_addend(f, rows))
    flags = [f.cast("bitcast", lanes, f"i{lanes_of(lanes.type)}") for lanes in outside]
    found = [f.compare("eq", bits, constant(bits.type, 0)) for bits in flags]
    return reduce(f.and_, found)


def _fill(f: NativeFunction, panel: _Panel, matrix: Matrix, which: str) -> list[Value]:
    """Fill a panel with the factors of A or B; return vectors of their exponents."""
    factors = _step_of(matrix).factors
    take_apart = factors.left if which == "a" else factors.right
    bits = FORMATS[matrix.a].bits
    exponents = []
    for row in matrix.factor_rows(which):
        for dword in range(matrix.held_dwords(which)):
            pointer = row_pointer(f, which, dword, row)
            if bits == 16:
                whole = [take_apart(f, f.load(vector("i16"), pointer, 64))]
                elements = list(parted(f, whole[0]))
            else:
                lanes = f.load(INTEGERS, pointer, 64)
                whole = elements = [
                    take_apart(f, f.mask(f.shift("lshr", lanes, part * 8), 8)) for part in range(4)
                ]
            exponents += [factor.exponent for factor in whole]
            for part, factor in enumerate(elements):
                panel.store(f, _place(matrix, which, dword * 32 // bits + part, row), factor)
    return exponents


def _place(matrix: Matrix, which: str, index: int, row: int) -> int:
    """Return an element's row of the panel: its k or, in a sparse A, its place among the elements
    held."""
    if matrix.sparse and which == "a":
        return sparse_base(matrix, index // 2, row) // 2 + index % 2
    return place_of(matrix, which, index, row)


def _fill_places(f: NativeFunction, matrix: Matrix, table: Value) -> None:
    """Fill a table by rows of A: for each element that A holds, the distance of its partners in the
    panel of B."""
    amount = f.mul(f.parameter("set"), constant("i32", 4 * matrix.pairs % 32))
    for row in matrix.factor_rows("a"):
        chosen = f.load(INTEGERS, row_pointer(f, "index", 0, row), 64)
        chosen = f.binary("lshr", chosen, f.splat(amount, 16))
        for index in range(2 * matrix.pairs):
            base = sparse_base(matrix, index // 2, row)
            place = f.add(f.mask(f.shift("lshr", chosen, 2 * index), 2), constant(INTEGERS, base))
            target = f.offset(table, (base // 2 + index % 2) * ROW_BYTES)
            f.store(f.mul(place, constant(INTEGERS, ROW_BYTES)), target, 64)


def _multiply(
    f: NativeFunction,
    matrix: Matrix,
    left: _Panel,
    right: _Panel,
    total: Value,
    places: Value | None,
    checked: bool,
) -> None:
    """Add all products to the rows of the total, in a loop over steps around a loop over the rows
    of D.

    checked: whether to check each row of each step for operands that the quick form does not
    handle.
    """
    rule = _step_of(matrix).rule
    step = Loop(f, "step", matrix.held // rule.step)
    start = f.mul(step.index, i64(rule.step * ROW_BYTES))
    distances = [f.add(start, i64(part * ROW_BYTES)) for part in range(rule.step)]
    columns = [right.row(f, distance) for distance in distances] if places is None else []
    row = Loop(f, "row", 16)
    in_row = [f.add(distance, f.shift("shl", row.index, 2)) for distance in distances]
    if places is not None:
        picked = [f.resize(f.load("i32", f.offset(places, distance), 4), 64) for distance in in_row]
        columns = [right.row(f, distance) for distance in picked]
    factors = [left.one(f, distance) for distance in in_row]
    target = f.offset(total, f.shift("shl", row.index, 6))
    addend = f.load(INTEGERS, target, 64)
    if checked:
        result = _checked_step(f, matrix, factors, columns, addend)
    else:
        arithmetic = _step_of(matrix)
        sums = arithmetic.sums(f, factors, columns)
        result, _ = QuickFloors(arithmetic).result(f, sums, addend)
    f.store(result, target, 64)
    row.close()
    step.close()


def _checked_step(
    f: NativeFunction, matrix: Matrix, left: list[Factor], right: list[Factor], addend: Value
) -> Value:
    """Return a row of D after a step: by the quick form if it is right in all lanes, otherwise by
    the exact one."""
    step = _step_of(matrix)
    sums = step.sums(f, left, right)
    quick, wrong = QuickFloors(step).result(f, sums, addend)
    seldom = f.compare("ne", f.cast("bitcast", wrong, "i16"), constant("i16", 0))
    exactly, done, before = f.block("exactly"), f.block("rounded"), f.current
    f.line(f"br i1 {seldom.text}, label %{exactly}, label %{done}, !prof !2")
    f.label(exactly)
    clamps = (
        f.compare("ne", f.parameter("clamps"), constant("i32", 0))
        if matrix.overflows
        else constant("i1", 0)
    )
    exact = step.exact(f, left, right=right, addend=addend, clamps=clamps, sums=sums)
    f.branch(done)
    f.label(done)
    return f.phi(INTEGERS, (quick, before), (exact, exactly))


# Products of whole numbers and of quarters, for which a chain of multiply-adds is exactly what the
# hardware computes.
#
# All terms are multiples of one unit, and their sum is below 2**24 units (the significand of the
# result): no sum rounds, and no grid on which the hardware aligns terms is as coarse as the unit.
# Matrices of real data fail the test in their first row.


def _unit(matrix: Matrix) -> int:
    """Return the exponent of the unit of all factors: small formats have no bits for fractions."""
    return -2 if matrix.result == "f32" else 0


def starts_whole(f: NativeFunction, matrix: Matrix) -> Value:
    """Return an i1: whether the first elements of A are multiples of the unit."""
    lanes = f.load(INTEGERS, row_pointer(f, "a", 0, 0), 64)
    element = ELEMENTS[matrix.a]
    rows = [element.widen(f, f.shift("lshr", lanes, start)) for start in range(0, 32, element.bits)]
    return _vanish(f, [_remainder(f, row, _unit(matrix)) for row in rows])


def are_whole(f: NativeFunction, matrix: Matrix, panels: tuple[Value, Value, Value]) -> Value:
    """Return an i1: whether a chain is exact for rows of f32 of A, B and C. Replaces -0 in C, which
    no sum keeps, by +0."""
    unit = _unit(matrix)
    remainders, largest = [], []
    for panel, rows, own in zip(
        panels, (matrix.k, matrix.k, 16), (unit, unit, 2 * unit), strict=True
    ):
        values = [f.load(ROW, f.offset(panel, row * ROW_BYTES), 64) for row in range(rows)]
        remainders += [_remainder(f, value, own) for value in values]
        largest.append(_largest(f, values))
    for row in range(16):
        place = f.offset(panels[2], row * ROW_BYTES)
        f.store(f.binary("fadd", f.load(ROW, place, 64), constant(ROW, 0.0)), place, 64)
    products = f.binary(
        "fmul", f.binary("fmul", largest[0], largest[1]), constant("float", matrix.held)
    )
    limit = constant("float", 2.0 ** (FORMATS[matrix.result].fraction_bits + 1 + 2 * unit))
    fits = f.compare("olt", f.binary("fadd", products, largest[2]), limit)
    return f.and_(_vanish(f, remainders), fits)


def _remainder(f: NativeFunction, values: Value, unit: int) -> Value:
    """Return bits that are 0, except for the sign, where f32 numbers are multiples of 2**unit.

    Adding the constant rounds to these multiples or to coarser ones; infinities and NaNs become
    NaN.
    """
    middle = f.const(values, 1.5 * 2.0 ** (23 + unit))
    rounded = f.binary("fsub", f.binary("fadd", values, middle), middle)
    return f.bitcast(f.binary("fsub", rounded, values), "i32")


def _largest(f: NativeFunction, rows: list[Value]) -> Value:
    """Return the largest magnitude as f32; with an infinity or NaN among them, it is at least
    infinity or unordered."""
    magnitudes = [f.mask(f.bitcast(row, "i32"), 31) for row in rows]
    most = reduce(lambda x, y: f.intrinsic("umax", x, y), magnitudes)
    return f.bitcast(f.call("llvm.vector.reduce.umax.v16i32", "i32", [most]), "float")


def _vanish(f: NativeFunction, remainders: list[Value]) -> Value:
    """Return an i1: whether all remainders are 0."""
    union = f.mask(reduce(f.or_, remainders), 31)
    bits = f.cast("bitcast", f.compare("ne", union, f.const(union, 0)), "i16")
    return f.compare("eq", bits, constant("i16", 0))
