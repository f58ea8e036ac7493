"""Functions of Python and NumPy that the front end itself types: `abs`, `len`, `min`, `max` and
others."""

from __future__ import annotations

import ast
import dataclasses
import operator
import types
import typing
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import WHOLE_ARRAY
from amdjit.frontend.building.special_methods import call_method_of
from amdjit.frontend.calls.constructors import python_number
from amdjit.frontend.calls.intrinsics import call_intrinsic
from amdjit.frontend.calls.tuple_functions import TUPLE_FUNCTIONS
from amdjit.frontend.expressions import complexes
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.likely_mistakes import check_absolute, check_extreme
from amdjit.frontend.expressions.operators import BINARY, binary, of_launch, unary
from amdjit.frontend.expressions.records import replaced
from amdjit.frontend.names.merging import join_types
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.numbers.conversion import convert, is_complex, truth
from amdjit.frontend.numbers.operands import (
    convert_weakly,
    extreme_of_mixed_signs,
    pair,
)
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.language.type_classes import TypeClass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, UnaryOperator
from amdjit.types import Array, Scalar, Tuple, Type, Vector, boolean, from_dtype, i8

# `type(x)` and `isinstance(x, kind)`, which are known when compiling, so that code can be chosen
# by type.


def _type_of(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (value,) = arguments.exactly(builder, node, "type", ("x",))
    builder.discard(value, node)
    if isinstance(value, tree.Expression):
        return CompileTime(value.type)
    if isinstance(value, CompileTime):
        return CompileTime(type(value.value))
    if isinstance(value, TupleValue):
        python = None if value.structure is None else value.structure.python
        if is_complex(value):
            return CompileTime(np.complex64 if describe(value) == "complex64" else np.complex128)
        return CompileTime(python or tuple)
    raise builder.error(
        codes.NO_OPERATION,
        node,
        what=f"the type of {describe(value)}",
        remedy="apply `type` to a value",
    )


def _is_instance(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    value, kinds = arguments.exactly(builder, node, "isinstance", ("x", "kind"))
    known = static_value(kinds)
    if known is None:
        raise builder.error(codes.NOT_CONSTANT, node, what="the second argument of `isinstance`")
    builder.discard(value, node)
    kinds_of_types: list[TypeClass] = []
    kinds_of_values: list[object] = []
    for kind in _alternatives(known.value):
        if isinstance(kind, TypeClass):
            kinds_of_types.append(kind)
        else:
            kinds_of_values.append(kind)
    type = _type_in(builder, value) if kinds_of_types else None
    return CompileTime(
        any(isinstance(type, kind) for kind in kinds_of_types)
        or any(_is_a(value, kind) for kind in kinds_of_values)
    )


def _type_in(builder: FunctionBuilder, value: Value) -> Type | None:
    """Return the type that a value has at run time, None if it has none."""
    if isinstance(value, tree.Expression):
        return value.type
    if isinstance(value, TupleValue):
        items = tuple(_type_in(builder, item) for item in value.items)
        known = tuple(item for item in items if item is not None)
        return Tuple(known, value.structure) if len(known) == len(items) else None
    if isinstance(value, CompileTime) and isinstance(value.value, (bool, int, float)):
        return builder.rules.default_type(value.value)
    return None


def _alternatives(kinds: object) -> tuple[object, ...]:
    if isinstance(kinds, tuple):
        return tuple(inner for kind in kinds for inner in _alternatives(kind))
    return typing.get_args(kinds) if isinstance(kinds, types.UnionType) else (kinds,)


def _is_a(value: Value, kind: object) -> bool:
    if isinstance(value, CompileTime):
        return isinstance(kind, type) and isinstance(value.value, kind)
    if isinstance(value, tree.Expression):
        return value.type == kind if isinstance(kind, Type) else _is_number_of(value.type, kind)
    if is_complex(value):
        return kind is complex or describe(value) == getattr(kind, "__name__", None)
    python = (
        value.structure.python
        if isinstance(value, TupleValue) and value.structure is not None
        else tuple
    )
    return (
        isinstance(kind, type)
        and isinstance(value, TupleValue)
        and issubclass(python or tuple, kind)
    )


def _is_number_of(type: Type, kind: object) -> bool:
    """Whether a scalar type is of a kind that Python's or NumPy's class names; a bool is an int, as
    in Python."""
    if not isinstance(type, Scalar):
        return False
    if kind in (int, np.integer):
        return type.is_integer or (kind is int and type is boolean)
    if kind in (float, np.floating):
        return type.is_float
    if kind in (bool, np.bool_):
        return type is boolean
    is_numpys = isinstance(kind, _CLASS) and issubclass(kind, np.generic)
    return is_numpys and from_dtype(np.dtype(kind)) == type  # type: ignore[call-overload]


_CLASS = type
TYPE_FUNCTIONS: Mapping[Any, Callable[[FunctionBuilder, Arguments, ast.Call], Value]] = {
    isinstance: _is_instance,
    type: _type_of,
}


# Calls of functions that are operators: those of Python's `operator`, and NumPy's ufuncs.

Handler = Callable[[FunctionBuilder, Arguments, ast.Call], Value]


def _binary(kind: type[ast.operator], name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        left, right = arguments.exactly(builder, node, name, ("a", "b"))
        return binary(builder, kind, left, right, node)

    return handler


def _logical(kind: type[ast.operator], name: str) -> Handler:
    """`np.logical_and` evaluates both operands, unlike `and`, and returns a bool."""

    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        left, right = (
            truth(builder, value, node)
            for value in arguments.exactly(builder, node, name, ("a", "b"))
        )
        return binary(builder, kind, left, right, node)

    return handler


def _comparison(kind: type[ast.cmpop], name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        left, right = arguments.exactly(builder, node, name, ("a", "b"))
        return compare(builder, kind, left, right, node)

    return handler


def _contains(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    items, item = arguments.exactly(builder, node, "contains", ("a", "b"))
    return compare(builder, ast.In, item, items, node)


def _truth(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (value,) = arguments.exactly(builder, node, "truth", ("a",))
    return truth(builder, value, node)


def _unary(kind: type[ast.unaryop], name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        (operand,) = arguments.exactly(builder, node, name, ("a",))
        return unary(builder, kind, operand, node)

    return handler


_COMPARISONS: Mapping[str, type[ast.cmpop]] = {
    "eq": ast.Eq,
    "ne": ast.NotEq,
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
    "is_": ast.Is,
    "is_not": ast.IsNot,
}
_UNARY: Mapping[str, type[ast.unaryop]] = {
    "neg": ast.USub,
    "pos": ast.UAdd,
    "invert": ast.Invert,
    "not_": ast.Not,
}

_OF_NUMPY: Mapping[str, type[ast.operator]] = {
    "add": ast.Add,
    "subtract": ast.Sub,
    "multiply": ast.Mult,
    "divide": ast.Div,
    "floor_divide": ast.FloorDiv,
    "remainder": ast.Mod,
    "power": ast.Pow,
    "bitwise_and": ast.BitAnd,
    "bitwise_or": ast.BitOr,
    "bitwise_xor": ast.BitXor,
    "left_shift": ast.LShift,
    "right_shift": ast.RShift,
}
_COMPARISONS_OF_NUMPY: Mapping[str, type[ast.cmpop]] = {
    "equal": ast.Eq,
    "not_equal": ast.NotEq,
    "less": ast.Lt,
    "less_equal": ast.LtE,
    "greater": ast.Gt,
    "greater_equal": ast.GtE,
}
_UNARY_OF_NUMPY: Mapping[str, type[ast.unaryop]] = {
    "negative": ast.USub,
    "positive": ast.UAdd,
    "invert": ast.Invert,
    "logical_not": ast.Not,
}
_LOGICAL_OF_NUMPY: Mapping[str, type[ast.operator]] = {
    "logical_and": ast.BitAnd,
    "logical_or": ast.BitOr,
    "logical_xor": ast.BitXor,
}

# On immutable values `operator.iadd` is the same as `operator.add`.
OPERATOR_FUNCTIONS: Mapping[Any, Handler] = {
    **{compute: _binary(kind, compute.__name__) for kind, (_, compute) in BINARY.items()},
    **{
        getattr(operator, "i" + compute.__name__.rstrip("_")): _binary(
            kind, "i" + compute.__name__.rstrip("_")
        )
        for kind, (_, compute) in BINARY.items()
    },
    **{getattr(operator, name): _comparison(kind, name) for name, kind in _COMPARISONS.items()},
    operator.contains: _contains,
    operator.truth: _truth,
    **{getattr(operator, name): _unary(kind, name) for name, kind in _UNARY.items()},
    **{getattr(np, name): _binary(kind, name) for name, kind in _OF_NUMPY.items()},
    **{getattr(np, name): _comparison(kind, name) for name, kind in _COMPARISONS_OF_NUMPY.items()},
    **{getattr(np, name): _unary(kind, name) for name, kind in _UNARY_OF_NUMPY.items()},
    **{getattr(np, name): _logical(kind, name) for name, kind in _LOGICAL_OF_NUMPY.items()},
}


def _complex(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    real, imaginary = arguments.exactly(builder, node, "complex", ("real", "imag"), optional=1)
    is_alone = isinstance(imaginary, CompileTime) and imaginary.value is None
    return complexes.make(builder, real, CompileTime(0) if is_alone else imaginary, node)


def _absolute(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (value,) = arguments.exactly(builder, node, "abs", ("x",))
    own = call_method_of(builder, value, "__abs__", (), node)
    if own is not None:
        return own
    if is_complex(value):
        return complexes.magnitude(builder, value, node)
    if isinstance(value, CompileTime) and isinstance(value.value, (bool, int, float)):
        return CompileTime(abs(value.value))
    operation = partial(launch_arithmetic.unary, UnaryOperator.ABSOLUTE)
    launched = launch_arithmetic.at_launch(builder, operation, (value,), node)
    if launched is not None:
        return launched
    if isinstance(value, tree.Expression) and value.type is boolean and _is_numbas(builder):
        value = convert(builder, value, i8, node)
    expression = _number(builder, value, node, "abs")
    if isinstance(expression.type, Scalar) and not (
        expression.type.is_float or expression.type.is_signed
    ):
        check_absolute(builder, expression, node)
        return expression
    made = tree.Unary(builder.span(node), expression.type, UnaryOperator.ABSOLUTE, expression)
    return builder.weak.note_result(made, expression)


def _is_numbas(builder: FunctionBuilder) -> bool:
    return not builder.rules.has_weak_literals


def _number(
    builder: FunctionBuilder, value: Value, node: ast.Call, function: str, or_boolean: bool = False
) -> tree.Expression:
    type = value.type if isinstance(value, tree.Expression) else None
    scalar = type.element if isinstance(type, Vector) else type
    if (
        not isinstance(value, tree.Expression)
        or not isinstance(scalar, Scalar)
        or scalar.storage_only
        or (scalar is boolean and not or_boolean)
    ):
        raise builder.error(
            codes.ARGUMENT_TYPE,
            node,
            parameter="x",
            function=function,
            expected="a number",
            found=describe(value),
            remedy=WHOLE_ARRAY
            if isinstance(type, Array)
            else "convert it: `f32(...)` or `i32(...)`",
        )
    return value


_ON_BOOLEANS = {
    BinaryOperator.MAXIMUM: BinaryOperator.OR,
    BinaryOperator.MINIMUM: BinaryOperator.AND,
}


_Handler = Callable[[FunctionBuilder, Arguments, ast.Call], Value]


def _are_floats(operand: tree.Expression) -> bool:
    return isinstance(operand.type, Scalar) and operand.type.is_float


def _beside_nan(
    builder: FunctionBuilder,
    symbol: BinaryOperator,
    operands: tuple[tree.Expression, tree.Expression],
    node: ast.Call,
) -> Value:
    """Type Numba's `min` and `max` of floats, which ignore a NaN beside a number: they are CUDA's
    `fmin` and `fmax`."""
    function = np.fmin if symbol is BinaryOperator.MINIMUM else np.fmax
    declared = builder.session.builtins[function]
    assert isinstance(declared, Intrinsic)
    return call_intrinsic(builder, declared, Arguments(operands, {}), node)


def _in_float_of_all(
    builder: FunctionBuilder, items: tuple[Value, ...], node: ast.Call
) -> tuple[Value, ...]:
    """Convert several typed numbers to the float type that all have in common: that of two may
    hold less."""
    if len(items) < 3 or not builder.rules.has_weak_literals:
        return items
    is_typed = [
        isinstance(item, tree.Expression) and builder.weak.number(item) is None for item in items
    ]
    typed = [item for item, chosen in zip(items, is_typed, strict=True) if chosen]
    kinds = {item.type for item in typed if isinstance(item, tree.Expression)}
    if not all(isinstance(kind, Scalar) for kind in kinds) or not any(
        isinstance(kind, Scalar) and kind.is_float for kind in kinds
    ):
        return items
    try:
        common = join_types(builder, "an argument", typed, node)
    except CompileError:
        return items  # the pair without a common type is refused
    assert common is not None
    return tuple(
        convert_weakly(builder, item, common, node) if chosen else item
        for item, chosen in zip(items, is_typed, strict=True)
    )


def _extreme(
    symbol: BinaryOperator, on_host: Callable[..., Any], is_pythons: bool = False
) -> _Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        items = arguments.positional
        if len(items) == 1 and isinstance(items[0], TupleValue):
            items = items[0].items
        if len(items) < 2 or arguments.keywords:
            arguments.exactly(builder, node, symbol.value, ("a", "b"))
        items = _in_float_of_all(builder, items, node)
        result = items[0]
        for item in items[1:]:
            if isinstance(result, CompileTime) and isinstance(item, CompileTime):
                result = fold(builder, node, on_host, result.value, item.value)
                continue
            launched = of_launch(builder, symbol, result, item, node)
            if launched is not None:
                result = launched
                continue
            check_extreme(builder, symbol, result, item, node)
            mixed = (
                extreme_of_mixed_signs(builder, symbol, result, item, node)
                if builder.rules.has_weak_literals
                else None
            )
            if mixed is not None:
                result = mixed
                continue
            left, right = pair(builder, result, item, symbol.value, node)
            _number(builder, left, node, symbol.value, or_boolean=True)
            if is_pythons and _is_numbas(builder) and _are_floats(left):
                result = _beside_nan(builder, symbol, (left, right), node)
                continue
            chosen = _ON_BOOLEANS[symbol] if left.type is boolean else symbol
            made = tree.Binary(builder.span(node), left.type, chosen, left, right)
            result = builder.weak.note_result(made, left, right)
        return result

    return handler


def _length(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (value,) = arguments.exactly(builder, node, "len", ("x",))
    own = call_method_of(builder, value, "__len__", (), node)
    if own is not None:
        return own
    if isinstance(value, TupleValue):
        return CompileTime(len(value.items))
    if isinstance(value, CompileTime) and isinstance(value.value, (str, bytes)):
        return CompileTime(len(value.value))
    if isinstance(value, tree.Expression) and isinstance(value.type, Vector):
        builder.discard(value, node)
        return CompileTime(value.type.length)
    if isinstance(value, tree.Expression) and isinstance(value.type, Array) and value.type.ndim > 0:
        if value.type.shape is not None:
            return CompileTime(value.type.shape[0])
        return tree.Extent(builder.span(node), value.type.index_type, value, 0)
    raise builder.error(codes.NOT_INDEXABLE, node, type=describe(value))


def _to_boolean(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (value,) = arguments.exactly(builder, node, "bool", ("x",))
    return truth(builder, value, node)


def _range_elsewhere(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    raise builder.error(
        codes.NO_OPERATION, node, what="`range(...)`", remedy="loop over it: `for i in range(...)`"
    )


def _pow(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    base, exponent, modulus = arguments.exactly(
        builder, node, "pow", ("base", "exp", "mod"), optional=1
    )
    launched = launch_arithmetic.at_launch(
        builder, launch_arithmetic.modular_power, (base, exponent, modulus), node
    )
    if launched is not None:
        return launched
    if not isinstance(modulus, CompileTime) or modulus.value is not None:
        function = builder.session.builtins[int.__pow__]
        assert isinstance(function, DeviceFunction)
        return builder.session.call(builder, function, (base, exponent, modulus), {}, node)
    return binary(builder, ast.Pow, base, exponent, node)


FUNCTIONS: Mapping[Any, _Handler] = {
    abs: _absolute,
    dataclasses.replace: replaced,
    bool: _to_boolean,
    complex: _complex,
    float: lambda builder, arguments, node: python_number(builder, float, arguments, node),
    int: lambda builder, arguments, node: python_number(builder, int, arguments, node),
    len: _length,
    max: _extreme(BinaryOperator.MAXIMUM, max, is_pythons=True),
    min: _extreme(BinaryOperator.MINIMUM, min, is_pythons=True),
    pow: _pow,
    np.absolute: _absolute,
    np.maximum: _extreme(BinaryOperator.MAXIMUM, max),
    np.minimum: _extreme(BinaryOperator.MINIMUM, min),
    range: _range_elsewhere,
    **OPERATOR_FUNCTIONS,
    **TUPLE_FUNCTIONS,
    **TYPE_FUNCTIONS,
}
