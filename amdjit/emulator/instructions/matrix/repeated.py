"""WMMA of gfx11: each row of 16 lanes holds all of A and B, and the rows of lanes take turns at the
rows of D.

A row of D is computed from the copies of A and B in its own row of lanes. Floats are added in eight
steps of two products (`grid_step`, or for ordinary ones `quick_steps`), integers exactly: clamp
saturates their sum once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from amdjit.emulator.host.builder import Value, constant, lanes_of
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.matrix.dot_factors import Factor
from amdjit.emulator.instructions.matrix.grid_step import GridStep
from amdjit.emulator.instructions.matrix.layouts import (
    INTEGERS,
    ROW_BYTES,
    Matrix,
    matrix_function,
    row_pointer,
)
from amdjit.emulator.instructions.matrix.loops import Loop
from amdjit.emulator.instructions.matrix.quick_steps import QuickComplements, QuickFactor
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.late_methods import dataclass

_PANEL_BYTES = 16 * ROW_BYTES
# What a factor consists of in memory.
Parts = list[Value]


def repeated_matrices() -> Iterator[Matrix]:
    """Yield all products of gfx11."""
    for wave_size in (32, 64):
        for a, result in (("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16")):
            yield Matrix(a, a, result, 16, wave_size=wave_size, is_repeated=True)
        for bits in (8, 4):
            for a in (f"i{bits}", f"u{bits}"):
                for b in (f"i{bits}", f"u{bits}"):
                    plain = Matrix(a, b, "i32", 16, wave_size=wave_size, is_repeated=True)
                    yield from (plain, replace(plain, clamp=True))


@dataclass(frozen=True, slots=True)
class _Panel:
    """Factors in memory, one row of 16 for each k; of B, such a panel for each row of lanes.

    columns: of vectors of these types, of which a factor consists.
    """

    columns: tuple[tuple[Value, str], ...]

    def store(self, f: NativeFunction, place: int, parts: Sequence[Value]) -> None:
        for (column, _), part in zip(self.columns, parts, strict=True):
            f.store(part, f.offset(column, place), 64)

    def row(self, f: NativeFunction, distance: Value) -> list[Value]:
        return [
            f.load(f"<16 x {kind}>", f.offset(each, distance), 64) for each, kind in self.columns
        ]

    def one(self, f: NativeFunction, distance: Value) -> list[Value]:
        """Return the parts of one factor, repeated in all lanes."""
        parts = [f.load(kind, f.offset(each, distance), 4) for each, kind in self.columns]
        return [f.splat(part, 16) for part in parts]


def _panels(f: NativeFunction, matrix: Matrix, kinds: Sequence[str]) -> tuple[_Panel, _Panel]:
    """Reserve memory for A and B."""
    left, right = (
        _Panel(tuple((f.allocate(f"[{256 * count} x {kind}]"), kind) for kind in kinds))
        for count in (1, len(matrix.rows))
    )
    return left, right


def repeated_text(matrix: Matrix, attributes: str) -> str:
    """Return the definition of a product's function (`matrix_function`)."""
    f = matrix_function(matrix)
    if matrix.is_integer:
        _multiply_integers(f, matrix)
    else:
        _multiply_floats(f, matrix)
    f.give()
    return f.text(attributes)


def _own_rows(f: NativeFunction, matrix: Matrix, dword: int) -> Value:
    """Return a register of A, each row of it from the row of lanes that computes that row of D."""
    groups = len(matrix.rows)
    merged = f.load(INTEGERS, row_pointer(f, "a", dword, 0), 64)
    for group in range(1, groups):
        other = f.load(INTEGERS, row_pointer(f, "a", dword, group), 64)
        picked = [lane + 16 if lane % groups == group else lane for lane in range(16)]
        merged = f.shuffle(merged, other, picked)
    return merged


def _result_place(f: NativeFunction, matrix: Matrix, name: str, row: int) -> Value:
    groups = len(matrix.rows)
    return row_pointer(f, name, row // groups, row % groups)


def _half_shift(f: NativeFunction) -> Value:
    return f.splat(f.shift("shl", f.parameter("half"), 4), 16)


def _load_accumulators(f: NativeFunction, matrix: Matrix, total: Value) -> None:
    """Load C into 16 rows of memory: integers, or the bits of f32."""
    for row in range(16):
        lanes = f.load(INTEGERS, _result_place(f, matrix, "c", row), 64)
        if matrix.takes_halves:
            half = f.mask(f.binary("lshr", lanes, _half_shift(f)), 16)
            lanes = f.bitcast(ELEMENTS[matrix.result].widen(f, half), "i32")
        f.store(lanes, f.offset(total, row * ROW_BYTES), 64)


def _store_results(f: NativeFunction, matrix: Matrix, total: Value) -> None:
    """Store 16 rows to D; the other halves of its registers stay as they are."""
    for row in range(16):
        place = _result_place(f, matrix, "d", row)
        lanes = f.load(INTEGERS, f.offset(total, row * ROW_BYTES), 64)
        if matrix.takes_halves:
            amount = _half_shift(f)
            half = ELEMENTS[matrix.result].narrow(f, f.bitcast(lanes, "float"))
            other = f.not_(f.binary("shl", f.const(lanes, 0xFFFF), amount))
            kept = f.and_(f.load(INTEGERS, place, 64), other)
            lanes = f.or_(kept, f.binary("shl", half, amount))
        f.store(lanes, place, 64)


def _sources(f: NativeFunction, matrix: Matrix) -> Iterator[tuple[str, int, Value]]:
    """Yield the registers of A and B: which of them, where their first row is in the panel, and
    their lanes."""
    for dword in range(matrix.held_dwords("a")):
        place = 2 * dword * ROW_BYTES
        yield "a", place, _own_rows(f, matrix, dword)
        for group in matrix.rows:
            lanes = f.load(INTEGERS, row_pointer(f, "b", dword, group), 64)
            yield "b", place + group * _PANEL_BYTES, lanes


def _step_of(matrix: Matrix) -> GridStep:
    return GridStep.of(matrix.a, matrix.b, matrix.result, is_gfx11=True)


def _multiply_floats(f: NativeFunction, matrix: Matrix) -> None:
    """Compute quickly what is ordinary in all steps, and else each step for any operands."""
    step = _step_of(matrix)
    quick = QuickComplements(step)
    total = f.allocate("[256 x i32]")
    panels = _panels(f, matrix, ("float", "i32")), _panels(f, matrix, ("i32", "i32", "i32"))
    _load_accumulators(f, matrix, total)
    ordinary, checked, done = (f.block(name) for name in ("ordinary", "checked", "rounded"))
    f.branch_if(_are_ordinary(f, matrix, quick, total), ordinary, checked)
    f.label(ordinary)
    for which, place, lanes in _sources(f, matrix):
        for part, each in enumerate(quick.factors(f, which, lanes)):
            target = panels[0]["ab".index(which)]
            target.store(f, place + part * ROW_BYTES, (each.number, each.field))

    def quickly(left: list[Parts], right: list[Parts], addend: Value) -> Value:
        own, other = ([QuickFactor(*parts) for parts in side] for side in (left, right))
        return quick.result(f, own, other, addend)

    _all_steps(f, matrix, (*panels[0], total), quickly)
    f.branch(done)
    f.label(checked)
    for which, place, lanes in _sources(f, matrix):
        for part, every in enumerate(step.pairs(f, which, lanes)[1]):
            target = panels[1]["ab".index(which)]
            assert every.sign is not None
            parts = (every.significand, every.exponent, every.sign)
            target.store(f, place + part * ROW_BYTES, parts)
    overflows = matrix.overflows
    clamps = f.compare("ne", f.parameter("clamps"), i32(0)) if overflows else constant("i1", 0)

    def exactly(left: list[Parts], right: list[Parts], addend: Value) -> Value:
        own, other = ([Factor(*parts) for parts in side] for side in (left, right))
        return step.exact(f, own, other, addend, clamps)

    _all_steps(f, matrix, (*panels[1], total), exactly)
    f.branch(done)
    f.label(done)
    _store_results(f, matrix, total)


def _are_ordinary(
    f: NativeFunction, matrix: Matrix, quick: QuickComplements, total: Value
) -> Value:
    """Return an i1: whether all operands are ordinary."""
    extreme = [quick.are_extreme(f, [lanes for _, _, lanes in _sources(f, matrix)])]
    rows = [f.load(INTEGERS, f.offset(total, row * ROW_BYTES), 64) for row in range(16)]
    extreme.append(quick.are_extreme_addends(f, rows))
    flags = [f.cast("bitcast", lanes, f"i{lanes_of(lanes.type)}") for lanes in extreme]
    return reduce(f.and_, [f.compare("eq", bits, constant(bits.type, 0)) for bits in flags])


def _all_steps(
    f: NativeFunction,
    matrix: Matrix,
    panels: tuple[_Panel, _Panel, Value],
    compute: Callable[[list[Parts], list[Parts], Value], Value],
) -> None:
    """Add all products: a loop over steps around one over rows of lanes and one over their rows of
    D."""
    left, right, total = panels
    groups = len(matrix.rows)
    length = _step_of(matrix).rule.step
    step = Loop(f, "step", 16 // length)
    start = f.mul(step.index, i64(length * ROW_BYTES))
    distances = [f.add(start, i64(part * ROW_BYTES)) for part in range(length)]
    group = Loop(f, "group", groups)
    base = f.mul(group.index, i64(_PANEL_BYTES))
    columns = [right.row(f, f.add(base, distance)) for distance in distances]
    turn = Loop(f, "turn", 16 // groups)
    row = f.add(f.mul(turn.index, i64(groups)), group.index)
    own = f.shift("shl", row, 2)
    factors = [left.one(f, f.add(distance, own)) for distance in distances]
    target = f.offset(total, f.shift("shl", row, 6))
    addend = f.load(INTEGERS, target, 64)
    f.store(compute(factors, columns, addend), target, 64)
    for loop in (turn, group, step):
        loop.close()


def _multiply_integers(f: NativeFunction, matrix: Matrix) -> None:
    groups = len(matrix.rows)
    left, right = f.allocate("[256 x i32]"), f.allocate(f"[{groups * 256} x i32]")
    total = f.allocate("[256 x i32]")
    for dword in range(matrix.held_dwords("a")):
        _store_integers(f, left, matrix.a, _own_rows(f, matrix, dword), dword)
        for group in matrix.rows:
            lanes = f.load(INTEGERS, row_pointer(f, "b", dword, group), 64)
            panel = f.offset(right, group * _PANEL_BYTES)
            _store_integers(f, panel, matrix.b, lanes, dword)
    _load_accumulators(f, matrix, total)
    turns = Loop(f, "group", groups)
    panel = f.offset(right, f.mul(turns.index, i64(_PANEL_BYTES)))
    columns = [f.load(INTEGERS, f.offset(panel, k * ROW_BYTES), 64) for k in range(16)]
    turn = Loop(f, "turn", 16 // groups)
    row = f.add(f.mul(turn.index, i64(groups)), turns.index)
    own = f.offset(left, f.shift("shl", row, 2))
    ones = [f.splat(f.load("i32", f.offset(own, k * ROW_BYTES), 4), 16) for k in range(16)]
    products = [f.mul(one, column) for one, column in zip(ones, columns, strict=True)]
    target = f.offset(total, f.shift("shl", row, 6))
    terms = reduce(f.add, products), f.load(INTEGERS, target, 64)
    f.store(f.intrinsic("sadd.sat", *terms) if matrix.clamp else f.add(*terms), target, 64)
    turn.close()
    turns.close()
    _store_results(f, matrix, total)


def _store_integers(f: NativeFunction, panel: Value, kind: str, lanes: Value, dword: int) -> None:
    """Store the integers of a register as rows of i32."""
    bits = int(kind[1:])
    for part in range(32 // bits):
        raised = f.shift("shl", lanes, 32 - bits * (part + 1))
        element = f.shift("ashr" if kind[0] == "i" else "lshr", raised, 32 - bits)
        place = (32 // bits * dword + part) * ROW_BYTES
        f.store(element, f.offset(panel, place), 64)
