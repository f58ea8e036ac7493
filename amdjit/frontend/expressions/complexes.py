"""Operators on complex numbers, which are pairs of floats."""

from __future__ import annotations

import ast
import cmath
import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions import divisors
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.numbers.conversion import complex_type, is_complex, scalar_of_complex
from amdjit.frontend.numbers.operands import convert_weakly
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.frontend.values.promotion import common_scalar
from amdjit.language.overloads import OfKind
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison, UnaryOperator
from amdjit.types import Scalar, boolean, f32, f64

Parts = tuple[tree.Expression, tree.Expression]

_SHARED = ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "isnan",
           "isinf", "isfinite")  # fmt: skip
_INVERSE = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
OF_COMPLEX: Mapping[Any, Any] = MappingProxyType(
    {getattr(np, name): getattr(cmath, name) for name in _SHARED}
    | {getattr(np, f"arc{name}"): getattr(cmath, f"a{name}") for name in _INVERSE}
)
"""What NumPy's functions are of complex numbers: the functions of Python's `cmath`."""


def version_of(builder: FunctionBuilder, function: Any, is_static: bool) -> Any:
    """Return what a function is of complex numbers: where these are known, one of the host's."""
    own = OfKind(function, "complex")
    if own in builder.session.builtins and not is_static:
        return own
    return OF_COMPLEX.get(function, function)


def binary(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> Value:
    """Type `+ - * /` if an operand is complex."""
    scalar = _common(builder, symbol.value, left, right, node)
    (a, b), (c, d) = _held(builder, left, scalar, node), _held(builder, right, scalar, node)

    def op(kind: BinaryOperator, x: tree.Expression, y: tree.Expression) -> tree.Expression:
        return builder.weak.note_result(tree.Binary(builder.span(node), scalar, kind, x, y), x, y)

    if symbol in (BinaryOperator.ADD, BinaryOperator.SUBTRACT):
        return _pair(scalar, op(symbol, a, c), op(symbol, b, d))
    if symbol is BinaryOperator.MULTIPLY:
        times = BinaryOperator.MULTIPLY
        real = op(BinaryOperator.SUBTRACT, op(times, a, c), op(times, b, d))
        return _pair(scalar, real, op(BinaryOperator.ADD, op(times, a, d), op(times, b, c)))
    if symbol is not BinaryOperator.DIVIDE:
        raise _refuse(builder, symbol.value, left, right, node)
    divisors.checked(builder, symbol, TupleValue((a, b)), TupleValue((c, d)), node)
    return _called(builder, complex.__truediv__, (a, b, c, d), scalar, node)


def power(builder: FunctionBuilder, base: Value, exponent: Value, node: ast.AST) -> Value:
    """Type `base ** exponent` if one of them is complex."""
    scalar = _common(builder, "**", base, exponent, node)
    parts = (*_held(builder, base, scalar, node), *_held(builder, exponent, scalar, node))
    return _called(builder, complex.__pow__, parts, scalar, node)


def _called(
    builder: FunctionBuilder,
    operator: Any,
    parts: tuple[tree.Expression, ...],
    scalar: Scalar,
    node: ast.AST,
) -> Value:
    """Call the function of parts that an operator is, which returns two."""
    function = builder.session.builtins[operator]
    result = builder.session.call(builder, function, parts, {}, node)  # type: ignore[arg-type]
    assert isinstance(result, TupleValue)
    return TupleValue(result.items, complex_type(scalar).structure)


def compare(
    builder: FunctionBuilder, symbol: Comparison, left: Value, right: Value, node: ast.AST
) -> Value:
    """Type `==` and `!=` if an operand is complex."""
    if symbol not in (Comparison.EQUAL, Comparison.NOT_EQUAL):
        raise _refuse(builder, symbol.value, left, right, node)
    scalar = _common(builder, symbol.value, left, right, node)
    (a, b), (c, d) = _held(builder, left, scalar, node), _held(builder, right, scalar, node)
    span = builder.span(node)
    real, imaginary = (
        tree.Compare(span, boolean, symbol, a, c),
        tree.Compare(span, boolean, symbol, b, d),
    )
    combine = BinaryOperator.AND if symbol is Comparison.EQUAL else BinaryOperator.OR
    return tree.Binary(span, boolean, combine, real, imaginary)


def negated(builder: FunctionBuilder, value: TupleValue, both: bool, node: ast.AST) -> Value:
    """Type `-z`, or the conjugate, which changes only the sign of the imaginary part."""
    real, imaginary = value.items
    assert isinstance(real, tree.Expression)
    assert isinstance(imaginary, tree.Expression)
    span = builder.span(node)
    opposite = tree.Unary(span, imaginary.type, UnaryOperator.NEGATE, imaginary)
    changed = tree.Unary(span, real.type, UnaryOperator.NEGATE, real) if both else real
    return value.with_items((changed, opposite))


def magnitude(builder: FunctionBuilder, value: Value, node: ast.expr) -> Value:
    """Type `abs(z)`."""
    if isinstance(value, TupleValue):
        length = partial(launch_arithmetic.of_function, math.hypot)
        launched = launch_arithmetic.at_launch(builder, length, value.items, node)
        if launched is not None:
            return launched
    scalar = scalar_of_complex(builder, value)
    function = builder.session.builtins[complex.__abs__]
    return builder.session.call(builder, function, _held(builder, value, scalar, node), {}, node)  # type: ignore[arg-type]


def make(builder: FunctionBuilder, real: Value, imaginary: Value, node: ast.AST) -> Value:
    """Type `complex(real, imag)`: a complex128 if a part is f64, else a complex64. With Numba's
    typing integers are f64, too."""
    scalar = f32
    for part in (real, imaginary):
        if not _is_real(part):
            raise builder.error(
                codes.NOT_CONVERTIBLE,
                node,
                source=describe(part),
                target="a part of a complex number",
                remedy="pass two real numbers: `complex(real, imag)`",
            )
        scalar = f64 if _part_type(builder, part) == f64 else scalar
    parts = [convert_weakly(builder, part, scalar, node) for part in (real, imaginary)]
    return _pair(scalar, *builder.in_order(parts, node))


def _part_type(builder: FunctionBuilder, value: Value) -> Scalar | None:
    """Return the type that a part made of a real number has; None for a literal without one."""
    if isinstance(value, CompileTime):
        return None if builder.rules.has_weak_literals else builder.rules.floating
    assert isinstance(value, tree.Expression)
    assert isinstance(value.type, Scalar)
    if builder.rules.has_weak_literals or value.type.is_float:
        return f64 if value.type == f64 else f32
    return builder.rules.float_for(value.type)


def _is_real(value: Value) -> bool:
    if isinstance(value, CompileTime):
        return isinstance(value.value, (bool, int, float))
    return (
        isinstance(value, tree.Expression)
        and isinstance(value.type, Scalar)
        and not value.type.storage_only
    )


def _pair(scalar: Scalar, real: Value, imaginary: Value) -> TupleValue:
    return TupleValue((real, imaginary), complex_type(scalar).structure)


def _held(builder: FunctionBuilder, value: Value, scalar: Scalar, node: ast.AST) -> Parts:
    """Return both parts, computed now because the operators use them more than once."""
    parts: tuple[Value, ...] = (value, CompileTime(0))
    if isinstance(value, CompileTime) and isinstance(value.value, complex):
        parts = (CompileTime(value.value.real), CompileTime(value.value.imag))
    elif isinstance(value, TupleValue):
        parts = value.items
    real, imaginary = (
        builder.hold(convert_weakly(builder, part, scalar, node), "complex", node) for part in parts
    )
    assert isinstance(real, tree.Expression)
    assert isinstance(imaginary, tree.Expression)
    return real, imaginary


def _common(
    builder: FunctionBuilder, operator: str, left: Value, right: Value, node: ast.AST
) -> Scalar:
    """Return the type of the parts: that of the wider complex operand, or of a float that is wider
    still."""
    result: Scalar | None = None
    for value in (left, right):
        if not (is_complex(value) or _is_real(value)):
            raise _refuse(builder, operator, left, right, node)
        is_typed = is_complex(value) and not isinstance(value, CompileTime)
        found = scalar_of_complex(builder, value) if is_typed else _part_type(builder, value)
        if found is not None:
            result = found if result is None else common_scalar(result, found)
    return result or f32


def _refuse(
    builder: FunctionBuilder, operator: str, left: Value, right: Value, node: ast.AST
) -> Exception:
    return builder.error(
        codes.OPERAND_TYPES,
        node,
        operator=operator,
        left=describe(left),
        right=describe(right),
        remedy="complex numbers support + - * / ** == != abs() and .conjugate(), also together "
        "with real numbers",
    )
