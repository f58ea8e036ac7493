"""Which types a NumPy ufunc computes in: that of the first of its loops that takes the operands.

The loops are NumPy's (`np.add.types`), the choice is Numba's: NumPy's, but without the loops of
f16, and beside a float or complex number an integer does not make the loop wider.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.broadcasting import Broadcast, Indices
from amdjit.frontend.expressions.fields import complex_item, element_view, is_records
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.numbers.conversion import complex_type, convert, is_complex, scalar_of_complex
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.types import Array, Record, Scalar, Tuple, Type, f32, f64, from_dtype

__all__ = [
    "Indices",
    "Loop",
    "as_loop_type",
    "check_same_shape",
    "dtype_of",
    "element",
    "loop_of",
    "own_indices",
    "result_shape",
]

_Dtype = np.dtype[np.generic]
# f16, long double, objects, dates and durations.
_LEFT_OUT = frozenset("egGOmM")


@dataclass(frozen=True, slots=True)
class Loop:
    """The types of a ufunc's operands and results."""

    inputs: tuple[_Dtype, ...]
    outputs: tuple[_Dtype, ...]

    @property
    def kind(self) -> str:
        """The kind of numbers that it computes with, as `OfKind` names it; "" for floats."""
        kinds = {dtype.kind for dtype in self.inputs}
        return "complex" if "c" in kinds else "integer" if kinds <= set("biu") else ""


def dtype_of(builder: FunctionBuilder, value: Value) -> _Dtype | None:
    """Return the NumPy type of a number or of an array's elements; None for other values, and for
    types that NumPy lacks."""
    if isinstance(value, TupleValue):
        wide = is_complex(value) and scalar_of_complex(builder, value) == f64
        return np.dtype(np.complex128 if wide else np.complex64) if is_complex(value) else None
    if isinstance(value, CompileTime):
        if isinstance(value.value, complex):
            return np.dtype(np.complex128 if builder.rules.floating == f64 else np.complex64)
        known = builder.rules.default_type(value.value) if value.is_number else None  # type: ignore[arg-type]
        return None if known is None else known.dtype
    type = value.type if isinstance(value, tree.Expression) else None
    return _of_type(type.element if isinstance(type, Array) else type)


def _of_type(type: Type | None) -> _Dtype | None:
    if isinstance(type, Record) and type.title.startswith("complex"):
        return np.dtype(type.title)
    if not isinstance(type, Scalar) or type.dtype.kind not in "biuf":
        return None
    return type.dtype


def loop_of(ufunc: np.ufunc, inputs: Sequence[_Dtype], outputs: Sequence[_Dtype]) -> Loop | None:
    """Return the first loop that the operands convert to, and whose results convert to the
    outputs, if there are any."""
    kinds = {dtype.kind for dtype in inputs}
    is_mixed = bool(kinds & set("iu") and kinds & set("fc"))
    if ufunc is np.divide and kinds <= set("biu"):
        inputs = [np.dtype(np.float64)] * len(inputs)  # NumPy's exception, even for i8
    for text in ufunc.types:
        taken, made = text.split("->")
        if _LEFT_OUT & set(text):
            continue
        loop = Loop(tuple(map(np.dtype, taken)), tuple(map(np.dtype, made)))
        if all(
            _converts(given, wanted, is_mixed, "safe")
            for given, wanted in zip(inputs, loop.inputs, strict=True)
        ) and all(
            _converts(given, wanted, is_mixed, "same_kind")
            for given, wanted in zip(loop.outputs, outputs, strict=False)
        ):
            return loop
    return None


def _converts(given: _Dtype, wanted: _Dtype, is_mixed: bool, casting: str) -> bool:
    if is_mixed and given.kind in "iu" and wanted.kind in "fc":
        return True
    return np.can_cast(given, wanted, casting)  # type: ignore[arg-type]


def as_loop_type(builder: FunctionBuilder, value: Value, dtype: _Dtype, node: ast.AST) -> Value:
    """Convert a number to the type of a loop; complex numbers get both parts."""
    scalar = from_dtype(dtype)
    if scalar is not None:
        return convert(builder, value, scalar, node)
    target = complex_type(f32 if dtype.itemsize == 8 else f64)
    made = builder.hold(convert(builder, value, target, node), "complex", node)
    assert not isinstance(made, tree.Expression) or not isinstance(made.type, Tuple)
    return made


# How the elements of a ufunc's operands meet: NumPy's broadcasting.

_Place = Callable[[Indices], Indices]


def element(builder: FunctionBuilder, value: Value, indices: Indices, node: ast.expr) -> Value:
    """Return a number as it is, or the element of an array."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return value
    if is_records(value):
        view = element_view(builder, value, indices, node)
        return complex_item(builder, view, node)
    whole = ast.copy_location(ast.Subscript(node, node), node)
    fault = index_check(builder, value, indices, whole)
    return tree.Load(builder.span(node), value.type.element, value, indices, check=fault)


def check_same_shape(
    builder: FunctionBuilder, output: tree.Expression, other: tree.Expression, node: ast.expr
) -> None:
    """Refuse two outputs of different shapes; where they are known only at run time, test them."""
    _meeting(builder, output, other, node).check_same_shape()


def own_indices(
    builder: FunctionBuilder, output: tree.Expression, value: Value, node: ast.expr
) -> _Place:
    """Return what gives an operand's indices from those of the output; emit tests that it fits."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return lambda indices: ()
    return _meeting(builder, output, value, node).own_indices()


def _meeting(
    builder: FunctionBuilder, output: tree.Expression, value: tree.Expression, node: ast.expr
) -> Broadcast:
    return Broadcast(builder, output, value, node, lambda: _misfit(builder, output, value, node))


def _misfit(builder: FunctionBuilder, output: Value, value: Value, node: ast.AST) -> CompileError:
    problem = f"{describe(value)} cannot be broadcast to the output, {describe(output)}"
    remedy = "make the extents equal, or give the operand one element along that axis"
    return builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)


def result_shape(
    builder: FunctionBuilder, values: Sequence[Value], node: ast.AST
) -> tuple[int, ...] | None:
    """Return the shape of a result, None if an operand's is known only at run time."""
    arrays = [v for v in values if isinstance(v, tree.Expression) and isinstance(v.type, Array)]
    shapes = [value.type.shape for value in arrays if isinstance(value.type, Array)]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    try:
        return np.broadcast_shapes(*known)
    except ValueError as problem:
        raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem
