"""Functions of Python and NumPy that the front end itself types: `abs`, `len`, `min`, `max` and
others."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert, is_complex, truth
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.operands import convert_weakly, launch_operands, pair
from amdjit.frontend.building.remedies import WHOLE_ARRAY
from amdjit.frontend.building.special_methods import call_method_of
from amdjit.frontend.calls.intrinsics import call_intrinsic
from amdjit.frontend.calls.operator_functions import OPERATOR_FUNCTIONS
from amdjit.frontend.calls.tuple_functions import TUPLE_FUNCTIONS
from amdjit.frontend.calls.type_queries import TYPE_FUNCTIONS
from amdjit.frontend.calls.weak_results import python_number
from amdjit.frontend.expressions import complexes, mixed_signs
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.likely_mistakes import check_absolute, check_extreme
from amdjit.frontend.expressions.operators import binary, of_launch
from amdjit.frontend.expressions.records import replaced
from amdjit.frontend.names.merging import join_types
from amdjit.frontend.values import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, UnaryOperator
from amdjit.types import Array, Scalar, Vector, boolean, i8


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
    number = builder.weak_types.number(value)
    launched = None if number is None else launch_arithmetic.unary(UnaryOperator.ABSOLUTE, number)
    if launched is not None:
        return builder.launch_parameters.weak(launched, builder.span(node))
    if isinstance(value, tree.Expression) and value.type is boolean and _is_numbas(builder):
        value = convert(builder, value, i8, node)
    expression = _number(builder, value, node, "abs")
    if isinstance(expression.type, Scalar) and not (
        expression.type.is_float or expression.type.is_signed
    ):
        check_absolute(builder, expression, node)
        return expression
    made = tree.Unary(builder.span(node), expression.type, UnaryOperator.ABSOLUTE, expression)
    return builder.weak_types.made(made, expression)


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
        isinstance(item, tree.Expression) and builder.weak_types.number(item) is None
        for item in items
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
                mixed_signs.extreme(builder, symbol, result, item, node)
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
            result = builder.weak_types.made(made, left, right)
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
    numbers = launch_operands(builder, (base, exponent, modulus))
    launched = None if numbers is None else launch_arithmetic.modular_power(*numbers)
    if launched is not None:
        return builder.launch_parameters.weak(launched, builder.span(node))
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
