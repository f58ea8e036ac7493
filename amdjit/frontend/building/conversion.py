"""Conversions: of literals to the type they meet, by themselves where nothing is lost, and on
request."""

from __future__ import annotations

import ast
import reprlib
from collections.abc import Hashable, Sequence
from dataclasses import replace

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder, describe
from amdjit.frontend.building.special_methods import call_method_of, is_dataclass_record
from amdjit.frontend.values import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.frontend.values.promotion import (
    assignable,
    common_type,
    default_type,
    literal_fits,
    literal_type,
    widens_exactly,
)
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.language.launch_numbers import LaunchNumber
from amdjit.tree import nodes as tree
from amdjit.types import (
    Array,
    Known,
    Scalar,
    Tuple,
    Type,
    Vector,
    boolean,
    f32,
    f64,
    i32,
    i64,
    u32,
    u64,
)


def literal(builder: FunctionBuilder, value: object, target: Type, node: ast.AST) -> tree.Constant:
    """Write a Python number in a scalar type, or in every element of a vector type."""
    scalar = target.element if isinstance(target, Vector) else target
    assert isinstance(scalar, Scalar)
    if not isinstance(value, (bool, int, float)):
        raise no_conversion(builder, CompileTime(value), target, node)
    if isinstance(value, float) and not scalar.is_float:
        raise no_conversion(builder, CompileTime(value), scalar, node)
    if not literal_fits(value, scalar):
        raise builder.error(
            codes.LITERAL_RANGE,
            node,
            value=reprlib.repr(value),
            type=scalar,
            remedy=_range_remedy(scalar),
        )
    return tree.Constant(builder.span(node), target, _as_type(value, scalar))


def _range_remedy(scalar: Scalar) -> str:
    if scalar.is_integer:
        return (
            f"{scalar} holds {scalar.minimum} to {scalar.maximum}: take a wider type, on both "
            "sides of an operator"
        )
    return f"take a wider type than {scalar}, on both sides of an operator"


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
    elif isinstance(value, CompileTime):
        remedy = f"write a number that {target} holds"
    elif isinstance(target, (Array, Tuple)) or not isinstance(found, (Scalar, Vector)):
        remedy = f"give a value of type {target}"
    return builder.error(
        codes.NO_CONVERSION, node, source=describe(value), target=target, remedy=remedy
    )


def _as_type(value: bool | int | float, scalar: Scalar) -> bool | int | float:
    if scalar is boolean:
        return bool(value)
    return float(value) if scalar.is_float else int(value)


def materialise(builder: FunctionBuilder, value: Value, node: ast.AST) -> tree.Expression:
    """Make a run-time value; a literal that stands alone becomes i32 or f32."""
    if isinstance(value, tree.Expression):
        return value
    if isinstance(value, TupleValue):
        items = tuple(_materialised_item(builder, item, node) for item in value.items)
        return tree.MakeTuple(
            builder.span(node), Tuple(tuple(item.type for item in items), value.structure), items
        )
    if isinstance(value, CompileTime) and isinstance(value.value, complex):
        return _to_complex(builder, value, COMPLEX64, node)
    if isinstance(value, CompileTime) and isinstance(value.value, (bool, int, float)):
        scalar = default_type(value.value)
        if scalar is None:
            raise builder.error(
                codes.LITERAL_RANGE,
                node,
                value=reprlib.repr(value.value),
                type="any integer type",
                remedy="integers have 64 bits at most",
            )
        constant = literal(builder, value.value, scalar, node)
        builder.weakness.expressions.add(constant)
        return constant
    raise builder.error(
        codes.NO_OPERATION,
        node,
        what=describe(value),
        remedy="use it where a compile-time value is expected",
    )


def _materialised_item(builder: FunctionBuilder, item: Value, node: ast.AST) -> tree.Expression:
    """Objects that exist when compiling only stay known: they are part of the tuple's type."""
    if isinstance(item, CompileTime) and not item.is_number and isinstance(item.value, Hashable):
        return tree.Constant(builder.span(node), Known(item.value), 0)
    return materialise(builder, item, node)


def convert(builder: FunctionBuilder, value: Value, target: Type, node: ast.AST) -> tree.Expression:
    """Convert without a check of loss: the caller has decided that it is wanted."""
    if (
        isinstance(value, CompileTime)
        and isinstance(target, Known)
        and value == CompileTime(target.value)
    ):
        return tree.Constant(builder.span(node), target, 0)
    if isinstance(value, CompileTime) and isinstance(target, (Scalar, Vector)):
        return literal(builder, value.value, target, node)
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
    decided = builder.launched.in_type(expression, target, span)
    if decided is not None:
        return decided
    if expression.type == target:
        # What was converted has a type, also where its bits stay: a copy is not weak.
        return replace(expression) if builder.weakness.is_weak(expression) else expression
    if isinstance(target, Array) and isinstance(expression.type, Array):
        return _with_strides(builder, expression, target, node)
    if isinstance(target, Vector) and isinstance(expression.type, Scalar):
        return tree.Splat(span, target, convert(builder, expression, target.element, node))
    return tree.Convert(span, target, expression)


def _with_strides(
    builder: FunctionBuilder, array: tree.Expression, target: Array, node: ast.AST
) -> tree.Expression:
    """Return the whole array as a view that has strides."""
    held = builder.hold(array, "array", node)
    assert isinstance(held, tree.Expression)
    span, index = builder.span(node), target.index_type
    zeros = tuple(tree.Constant(span, index, 0) for _ in range(target.ndim))
    extents: tuple[tree.Expression, ...] = tuple(
        tree.Extent(span, index, held, axis) for axis in range(target.ndim)
    )
    if target.shape is not None:
        extents = tuple(tree.Constant(span, index, extent) for extent in target.shape)
    return tree.View(span, target, held, zeros, extents, (1,) * target.ndim)


def widen(builder: FunctionBuilder, value: Value, target: Type, node: ast.AST) -> tree.Expression:
    """Convert where no value is lost; otherwise an error that asks for an explicit conversion."""
    if builder.weakness.number(value) is not None:
        _check_number(builder, value, target, node)
        return convert(builder, value, target, node)
    source = None if isinstance(value, CompileTime) else materialise(builder, value, node).type
    if source is not None and not widens_exactly(source, target):
        raise no_conversion(builder, value, target, node)
    return convert(builder, value, target, node)


def _check_number(builder: FunctionBuilder, value: Value, target: Type, node: ast.AST) -> None:
    """A launch's number goes where a literal goes: a float to no integer."""
    if not number_fits(builder, value, target):
        raise no_conversion(builder, value, target, node)


def number_fits(builder: FunctionBuilder, value: Value, target: Type) -> bool:
    """Whether a launch's number may take a type by itself; the launch checks its value."""
    number = builder.weakness.number(value)
    scalar = target.element if isinstance(target, Vector) else target
    if number is None or not isinstance(scalar, Scalar):
        return False
    return scalar.is_float or number.kind is bool or (number.kind is int and scalar.is_integer)


def assign_to(
    builder: FunctionBuilder, value: Value, target: Type, node: ast.AST
) -> tree.Expression:
    """Convert for a store to memory or to a variable of a declared type, as NumPy's item assignment
    does."""
    if target in (COMPLEX64, COMPLEX128):
        return convert(builder, value, target, node)
    if not isinstance(value, CompileTime):
        source = materialise(builder, value, node).type
        is_number = builder.weakness.number(value) is not None and isinstance(
            target, (Scalar, Vector)
        )
        if not (number_fits(builder, value, target) if is_number else assignable(source, target)):
            raise no_conversion(builder, value, target, node)
    return convert(builder, value, target, node)


def pair(
    builder: FunctionBuilder, left: Value, right: Value, operator: str, node: ast.AST
) -> tuple[tree.Expression, tree.Expression]:
    """Bring two operands to the type they have in common."""
    target = _pair_type(builder, left, right) or _beside_unsigned(builder, left, right, operator)
    if target is None:
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator=operator,
            left=describe(left),
            right=describe(right),
            remedy=_remedy(left, right),
        )
    first, second = (
        convert_weakly(builder, left, target, node),
        convert_weakly(builder, right, target, node),
    )
    if target == f32 and (builder.weakness.is_weak(first) or builder.weakness.is_weak(second)):
        # An integer has no part in how wide the float is that it becomes beside a weak one.
        for value, converted in ((left, first), (right, second)):
            if (
                isinstance(value, tree.Expression)
                and isinstance(value.type, Scalar)
                and not value.type.is_float
            ):
                builder.weakness.expressions.add(converted)
    return first, second


def convert_weakly(
    builder: FunctionBuilder, value: Value, target: Type, node: ast.AST
) -> tree.Expression:
    """Convert to what an operator's operands have in common: what is weak stays so."""
    if isinstance(value, tree.Expression) and value.type == target:
        return value
    converted = convert(builder, value, target, node)
    weakness = builder.weakness
    if converted is not value and (isinstance(value, CompileTime) or weakness.is_weak(value)):
        weakness.expressions.add(converted)
        number = weakness.number(value)
        if number is not None and isinstance(converted, tree.Read):
            weakness.numbers[converted] = number
    return converted


def launch_operands(
    builder: FunctionBuilder, values: Sequence[Value]
) -> tuple[LaunchNumber, ...] | None:
    """Return the operands as a launch's numbers if each is one or a literal, and not all are
    literals."""
    numbers: list[LaunchNumber] = []
    for value in values:
        number = builder.weakness.number(value)
        if (
            number is None
            and isinstance(value, CompileTime)
            and isinstance(value.value, (bool, int, float))
        ):
            number = launch_arithmetic.constant(value.value)
        if number is None:
            return None
        numbers.append(number)
    return tuple(numbers) if any(number.parameters for number in numbers) else None


def sample_of(builder: FunctionBuilder, value: Value) -> bool | int | float | complex | None:
    """Return a literal whose type is chosen as that of a literal or of a launch's number is, None
    for others."""
    if isinstance(value, CompileTime):
        return value.value if isinstance(value.value, (bool, int, float, complex)) else None
    number = builder.weakness.number(value)
    return None if number is None else number.kind(1)


def _pair_type(builder: FunctionBuilder, left: Value, right: Value) -> Type | None:
    samples = sample_of(builder, left), sample_of(builder, right)
    both_typed = samples[0] is samples[1] is None or None not in samples
    if both_typed and isinstance(left, tree.Expression) and isinstance(right, tree.Expression):
        return _typed_pair(builder, left, right)
    typed, sample = (left, samples[1]) if samples[0] is None else (right, samples[0])
    if not isinstance(sample, (bool, int, float)) or not isinstance(typed, tree.Expression):
        return None
    scalar = literal_type(sample, typed.type)
    if isinstance(typed.type, Vector):
        return typed.type if scalar == typed.type.element else None
    return scalar


# What gives the same bits whether a number is negative or wraps around.
_MODULAR = frozenset("+-*&|^")


def _beside_unsigned(
    builder: FunctionBuilder, left: Value, right: Value, operator: str
) -> Type | None:
    """A weak integer takes an unsigned type as a literal does, where a negative one does no
    harm."""
    if (
        not isinstance(left, tree.Expression)
        or not isinstance(right, tree.Expression)
        or operator not in _MODULAR
    ):
        return None
    for weak, other in ((left, right), (right, left)):
        if (
            weak in builder.weakness.expressions
            and weak.type in (i32, i64)
            and other.type in (u32, u64)
        ):
            return other.type
    return None


def _typed_pair(
    builder: FunctionBuilder, left: tree.Expression, right: tree.Expression
) -> Type | None:
    """A weak float beside a 64-bit integer is an f64, as a literal is."""
    types = {left.type, right.type}
    is_weak_float = any(
        side.type == f32 and builder.weakness.is_weak(side) for side in (left, right)
    )
    return f64 if is_weak_float and types & {i64, u64} else common_type(left.type, right.type)


def _remedy(left: Value, right: Value) -> str:
    types = [value.type for value in (left, right) if isinstance(value, tree.Expression)]
    scalars = [type.element if isinstance(type, Vector) else type for type in types]
    if len(types) == 2 and all(isinstance(scalar, Scalar) for scalar in scalars):
        if any(isinstance(scalar, Scalar) and scalar.storage_only for scalar in scalars):
            return "fp8 and bf8 only store: convert to f32 first, `f32(...)`"
        return f"convert one of them: `{types[0]}(...)` or `{types[1]}(...)`"
    return "operators work on numbers and vectors; for an array, index it: `a[i]`"


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


def scalar_of_complex(value: Value) -> Scalar:
    """Return the type of a complex value's parts; a literal's are f32."""
    items = value.items if isinstance(value, TupleValue) else ()
    is_wide = isinstance(value, TupleValue) and value.structure == COMPLEX128.structure
    # Parts that began without a width may have become wide since.
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
    """Return the truth of a value as Python sees it: a boolean expression or a compile-time
    bool."""
    if isinstance(value, CompileTime):
        return CompileTime(bool(value.value))
    number = builder.weakness.number(value)
    if number is not None:
        return builder.launched.weak(launch_arithmetic.truth(number), builder.span(node))
    if isinstance(value, TupleValue) and is_complex(value):
        real, imaginary = (truth(builder, part, node) for part in value.items)
        assert isinstance(real, tree.Expression)
        assert isinstance(imaginary, tree.Expression)
        return tree.Binary(builder.span(node), boolean, tree.BinaryOperator.OR, real, imaginary)
    if isinstance(value, TupleValue):
        return _truth_of_items(builder, value, node)
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        raise builder.error(codes.CONDITION_TYPE, node, type=describe(value))
    return value if value.type is boolean else tree.Convert(builder.span(node), boolean, value)


def _truth_of_items(builder: FunctionBuilder, value: TupleValue, node: ast.AST) -> Value:
    """A record is true unless its class says what is; a tuple is where it has items."""
    for name in ("__bool__", "__len__"):
        own = call_method_of(builder, value, name, (), node)
        if own is not None:
            return truth(builder, own, node)
    return CompileTime(is_dataclass_record(value) or len(value.items) > 0)
