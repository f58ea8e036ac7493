"""Conversions: of literals to the type that they meet, implicit ones that lose nothing, and
explicit ones."""

from __future__ import annotations

import ast
import math
import reprlib
from collections.abc import Hashable
from dataclasses import replace

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import conversion_remedy
from amdjit.frontend.building.special_methods import call_method_of, is_dataclass_record
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.values.kinds import (
    CompileTime,
    TupleValue,
    Value,
    known_integer,
    of_member,
)
from amdjit.frontend.values.promotion import literal_fits, widens_exactly
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import UnaryOperator
from amdjit.types import Array, Known, Scalar, Tuple, Type, Vector, boolean, f32, f64


def literal(builder: FunctionBuilder, value: object, target: Type, node: ast.AST) -> tree.Constant:
    """Return a Python number as a constant of a scalar type, or in every element of a vector
    type."""
    scalar = target.element if isinstance(target, Vector) else target
    assert isinstance(scalar, Scalar)
    if not isinstance(value, (bool, int, float)):
        raise no_conversion(builder, CompileTime(value), target, node)
    if isinstance(value, float) and not scalar.is_float:
        if builder.rules.has_weak_literals or not math.isfinite(value):
            raise no_conversion(builder, CompileTime(value), scalar, node)
        value = int(value)
    if not builder.rules.has_weak_literals:
        value = _as_stored(value, scalar)
    if not literal_fits(value, scalar):
        raise builder.error(
            codes.LITERAL_RANGE,
            node,
            value=reprlib.repr(value),
            type=scalar,
            remedy=_range_remedy(scalar),
        )
    return tree.Constant(builder.span(node), target, _as_type(value, scalar))


def _as_stored(value: bool | int | float, scalar: Scalar) -> bool | int | float:
    """Return a literal as it becomes a type under Numba's rules, as any other number: an integer
    drops the bits that do not fit, a float beyond the type is infinite."""
    if scalar.is_integer and isinstance(value, int):
        low = value % (1 << scalar.bits)
        return low - (1 << scalar.bits) if scalar.is_signed and low > scalar.maximum else low
    if scalar.is_float and not scalar.storage_only and not literal_fits(value, scalar):
        return math.copysign(math.inf, value)
    return value


def _range_remedy(scalar: Scalar) -> str:
    if scalar.is_integer:
        return (
            f"{scalar} holds {scalar.minimum} to {scalar.maximum}: use a wider type on both sides "
            "of an operator"
        )
    return f"use a wider type than {scalar} on both sides of an operator"


def no_conversion(
    builder: FunctionBuilder, value: Value, target: Type, node: ast.AST
) -> CompileError:
    """Make the error for a value of the wrong type."""
    found = value.type if isinstance(value, tree.Expression) else None
    remedy = f"convert it: `{target}(...)`"
    if isinstance(found, Array):
        remedy = "index the array: `a[i]`"
    elif isinstance(found, Vector) and isinstance(target, Scalar):
        remedy = "take an element: `v[i]`"
    elif (known := conversion_remedy(value)) is not None:
        remedy = known
    elif isinstance(value, CompileTime):
        remedy = f"write a number that fits {target}"
    elif isinstance(target, (Array, Tuple)) or not isinstance(found, (Scalar, Vector)):
        remedy = f"use a value of type {target}"
    return builder.error(
        codes.NO_CONVERSION, node, source=describe(value), target=target, remedy=remedy
    )


def _as_type(value: bool | int | float, scalar: Scalar) -> bool | int | float:
    if scalar is boolean:
        return bool(value)
    return float(value) if scalar.is_float else int(value)


def materialise(builder: FunctionBuilder, value: Value, node: ast.AST) -> tree.Expression:
    """Make a run-time value; a literal on its own becomes an i32 or f32."""
    if isinstance(value, tree.Expression):
        return value
    if isinstance(value, TupleValue):
        items = tuple(_materialised_item(builder, item, node) for item in value.items)
        return tree.MakeTuple(
            builder.span(node), Tuple(tuple(item.type for item in items), value.structure), items
        )
    if isinstance(value, CompileTime) and isinstance(value.value, complex):
        return _to_complex(builder, value, complex_type(builder.rules.floating), node)
    if isinstance(value, CompileTime) and isinstance(value.value, (bool, int, float)):
        scalar = builder.rules.default_type(value.value)
        if scalar is None:
            raise builder.error(
                codes.LITERAL_RANGE,
                node,
                value=reprlib.repr(value.value),
                type="any integer type",
                remedy="integers have at most 64 bits",
            )
        constant = literal(builder, value.value, scalar, node)
        if builder.rules.has_weak_literals:
            builder.weak.expressions.add(constant)
        return constant
    raise builder.error(
        codes.NO_OPERATION,
        node,
        what=describe(value),
        remedy="use it where a compile-time value is expected",
    )


def _materialised_item(builder: FunctionBuilder, item: Value, node: ast.AST) -> tree.Expression:
    """Objects that exist only while compiling stay known: they are part of the tuple's type."""
    if isinstance(item, CompileTime) and not item.is_number and isinstance(item.value, Hashable):
        return tree.Constant(builder.span(node), Known(item.value), 0)
    return materialise(builder, item, node)


def convert(builder: FunctionBuilder, value: Value, target: Type, node: ast.AST) -> tree.Expression:
    """Convert without checking for loss: the caller has decided that it is wanted."""
    if (
        isinstance(value, CompileTime)
        and isinstance(target, Known)
        and value == CompileTime(target.value)
    ):
        return tree.Constant(builder.span(node), target, 0)
    if isinstance(value, CompileTime) and isinstance(target, (Scalar, Vector)):
        return literal(builder, value.value, target, node)
    if isinstance(target, Tuple):
        value = of_member(value)
    if isinstance(value, tree.Expression) and isinstance(value.type, Tuple):
        if value.type == target:
            return value
        value = builder.unpack(value)
    if isinstance(target, Tuple) and target in (COMPLEX64, COMPLEX128):
        return _to_complex(builder, value, target, node)
    if isinstance(value, TupleValue) and isinstance(target, Tuple):
        pairs = zip(value.items, target.elements, strict=True)
        items = tuple(convert(builder, item, element, node) for item, element in pairs)
        return tree.MakeTuple(builder.span(node), target, items)
    return _converted(builder, materialise(builder, value, node), target, node)


def _converted(
    builder: FunctionBuilder, expression: tree.Expression, target: Type, node: ast.AST
) -> tree.Expression:
    span = builder.span(node)
    decided = builder.launch_parameters.in_type(expression, target, span)
    if decided is not None:
        return decided
    if expression.type == target:
        # A converted value has a type even if its bits stay the same: the copy is not weak.
        return replace(expression) if builder.weak.is_weak(expression) else expression
    if isinstance(target, Array) and isinstance(expression.type, Array):
        return _with_strides(builder, expression, target, node)
    if isinstance(target, Vector) and isinstance(expression.type, Scalar):
        return tree.Splat(span, target, convert(builder, expression, target.element, node))
    return tree.Convert(span, target, expression)


def _with_strides(
    builder: FunctionBuilder, array: tree.Expression, target: Array, node: ast.AST
) -> tree.Expression:
    """Return a view of the whole array that has strides."""
    held = builder.hold(array, "array", node)
    assert isinstance(held, tree.Expression)
    span, index = builder.span(node), target.index_type
    zeros = tuple(tree.Constant(span, index, 0) for _ in range(target.ndim))
    extents: tuple[tree.Expression, ...] = tuple(
        tree.Extent(span, index, held, axis) for axis in range(target.ndim)
    )
    if target.shape is not None:
        extents = tuple(tree.Constant(span, index, extent) for extent in target.shape)
    return tree.View(
        span, target, array=held, starts=zeros, extents=extents, steps=(1,) * target.ndim
    )


def widen(builder: FunctionBuilder, value: Value, target: Type, node: ast.AST) -> tree.Expression:
    """Convert if every value is preserved; otherwise raise an error that asks for an explicit
    conversion."""
    if builder.weak.number(value) is not None:
        _check_number(builder, value, target, node)
        return convert(builder, value, target, node)
    source = None if isinstance(value, CompileTime) else materialise(builder, value, node).type
    if source is not None and not widens_exactly(source, target):
        raise no_conversion(builder, value, target, node)
    return convert(builder, value, target, node)


def _check_number(builder: FunctionBuilder, value: Value, target: Type, node: ast.AST) -> None:
    """A launch's number converts wherever a literal does: a float never to an integer."""
    if not number_fits(builder, value, target):
        raise no_conversion(builder, value, target, node)


def number_fits(builder: FunctionBuilder, value: Value, target: Type) -> bool:
    """Whether a launch's number may take a type implicitly; the launch checks its value."""
    number = builder.weak.number(value)
    scalar = target.element if isinstance(target, Vector) else target
    if number is None or not isinstance(scalar, Scalar):
        return False
    return scalar.is_float or number.kind is bool or (number.kind is int and scalar.is_integer)


def assign_to(
    builder: FunctionBuilder, value: Value, target: Type, node: ast.AST
) -> tree.Expression:
    """Convert as NumPy's item assignment does, for a store to memory or to a variable of a declared
    type."""
    if target in (COMPLEX64, COMPLEX128):
        return convert(builder, value, target, node)
    if not isinstance(value, CompileTime):
        source = materialise(builder, value, node).type
        is_number = builder.weak.number(value) is not None and isinstance(target, (Scalar, Vector))
        if not (
            number_fits(builder, value, target)
            if is_number
            else builder.rules.assignable(source, target)
        ):
            raise no_conversion(builder, value, target, node)
    return convert(builder, value, target, node)


def assign_in_each_width(
    builder: FunctionBuilder, variable: tree.Variable, value: Value, node: ast.AST
) -> None:
    """Assign a value to a variable, and to its twin of 64 bits if it has one."""
    for each in builder.weak.widths_of(variable):
        converted = convert(builder, value, each.type, node)
        builder.emit(tree.Assign(builder.span(node), each, converted))


def complex_type(scalar: Scalar) -> Tuple:
    """Return the complex type whose parts are f32 or f64."""
    return COMPLEX128 if scalar == f64 else COMPLEX64


def is_complex(value: Value) -> bool:
    """Whether a value is complex, or a complex literal."""
    if isinstance(value, CompileTime):
        return isinstance(value.value, complex)
    return isinstance(value, TupleValue) and value.structure in (
        COMPLEX64.structure,
        COMPLEX128.structure,
    )


def scalar_of_complex(builder: FunctionBuilder, value: Value) -> Scalar:
    """Return the type of a complex value's parts; those of a literal have that of floats."""
    if isinstance(value, CompileTime):
        return builder.rules.floating
    items = value.items if isinstance(value, TupleValue) else ()
    is_wide = isinstance(value, TupleValue) and value.structure == COMPLEX128.structure
    # Parts that began without a width may have become wide in the meantime.
    return (
        f64
        if is_wide or any(isinstance(item, tree.Expression) and item.type == f64 for item in items)
        else f32
    )


def _to_complex(
    builder: FunctionBuilder, value: Value, target: Tuple, node: ast.AST
) -> tree.Expression:
    """A real number gets the imaginary part 0."""
    if isinstance(value, CompileTime) and isinstance(value.value, complex):
        parts: tuple[Value, ...] = (CompileTime(value.value.real), CompileTime(value.value.imag))
    elif isinstance(value, TupleValue) and is_complex(value):
        parts = value.items
    elif isinstance(value, (CompileTime, tree.Expression)) and _is_real(value):
        parts = (value, CompileTime(0))
    else:
        raise no_conversion(builder, value, target, node)
    items = tuple(convert(builder, part, target.elements[0], node) for part in parts)
    return tree.MakeTuple(builder.span(node), target, items)


def _is_real(value: CompileTime | tree.Expression) -> bool:
    if isinstance(value, CompileTime):
        return value.is_number
    return isinstance(value.type, Scalar)


def truth(builder: FunctionBuilder, value: Value, node: ast.AST) -> Value:
    """Return the truth value in Python's sense: a boolean expression or a compile-time bool."""
    if isinstance(value, CompileTime):
        return CompileTime(bool(value.value))
    if isinstance(value, tree.Constant) and isinstance(value.type, Scalar):
        return CompileTime(bool(value.value))
    if (known := known_integer(value)) is not None:
        return CompileTime(known != 0)
    launched = launch_arithmetic.at_launch(builder, launch_arithmetic.truth, (value,), node)
    if launched is not None:
        return launched
    if isinstance(value, TupleValue) and is_complex(value):
        parts = [truth(builder, part, node) for part in value.items]
        real, imaginary = (convert(builder, part, boolean, node) for part in parts)
        return tree.Binary(builder.span(node), boolean, tree.BinaryOperator.OR, real, imaginary)
    if isinstance(value, TupleValue):
        return _truth_of_items(builder, value, node)
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        raise builder.error(codes.CONDITION_TYPE, node, type=describe(value))
    return value if value.type is boolean else tree.Convert(builder.span(node), boolean, value)


def _truth_of_items(builder: FunctionBuilder, value: TupleValue, node: ast.AST) -> Value:
    """A record is true unless its class defines `__bool__` or `__len__`; a tuple is true if it has
    items."""
    for name in ("__bool__", "__len__"):
        own = call_method_of(builder, value, name, (), node)
        if own is not None:
            return truth(builder, own, node)
    return CompileTime(is_dataclass_record(value) or len(value.items) > 0)


def negated(builder: FunctionBuilder, condition: Value, node: ast.AST) -> Value:
    """Return the negation of a truth value."""
    if isinstance(condition, CompileTime):
        return CompileTime(not condition.value)
    assert isinstance(condition, tree.Expression)
    launched = launch_arithmetic.at_launch(builder, launch_arithmetic.opposite, (condition,), node)
    if launched is not None:
        return launched
    return tree.Unary(builder.span(node), boolean, UnaryOperator.NOT, condition)
