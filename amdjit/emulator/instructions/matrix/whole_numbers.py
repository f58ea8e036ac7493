"""Products of whole numbers and of quarters, for which a chain of multiply-adds is exactly what the
hardware computes.

All terms are multiples of one unit, and their sum is below 2**24 units (the significand of the
result): no sum rounds, and no grid on which the hardware aligns terms is as coarse as the unit.
Matrices of real data fail the test in their first row.
"""

from __future__ import annotations

from functools import reduce

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.matrix.layouts import (
    INTEGERS,
    ROW,
    ROW_BYTES,
    Matrix,
    row_pointer,
)
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.isa.matrix_rounding import FORMATS


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
