"""Types called in a kernel: `f16(x)`, `f32x4(a, b, c, d)`."""

from __future__ import annotations

import ast
from functools import partial

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.numbers.conversion import convert, literal, no_conversion, truth
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, known_integer
from amdjit.frontend.values.promotion import assignable
from amdjit.tree import nodes as tree
from amdjit.types import Array, Scalar, Vector, boolean


def python_number(
    builder: FunctionBuilder, kind: type[int] | type[float], arguments: Arguments, node: ast.Call
) -> Value:
    """Type `int(x)` and `float(x)`: i32 and f32, until they meet a wider type."""
    if len(arguments.positional) == 1 and not arguments.keywords:
        operation = partial(launch_arithmetic.as_kind, kind)
        launched = launch_arithmetic.at_launch(builder, operation, arguments.positional, node)
        if launched is not None:
            return launched
    known = [known_integer(value) for value in arguments.positional]
    if kind is int and len(known) == 1 and known[0] is not None and not arguments.keywords:
        return CompileTime(known[0])
    rules = builder.rules
    target = rules.integer if kind is int else rules.floating
    if not rules.has_weak_literals:
        target = _own_type(kind, arguments) or target
    given = arguments.positional
    if len(given) == 1 and builder.weak.is_weak(given[0]) and _has_type(given[0], target):
        return given[0]
    made = convert_to(builder, target, arguments, node)
    if isinstance(made, tree.Convert) and rules.has_weak_literals:
        builder.weak.expressions.add(made)
    return made


def _has_type(value: Value, type: Scalar) -> bool:
    return isinstance(value, tree.Expression) and value.type is type


def _own_type(kind: type[int] | type[float], arguments: Arguments) -> Scalar | None:
    """Return the type of the one argument if that is an integer for `int`, a float for `float`."""
    value = arguments.positional[0] if len(arguments.positional) == 1 else None
    type = value.type if isinstance(value, tree.Expression) else None
    if not isinstance(type, Scalar):
        return None
    return type if (type.is_float if kind is float else type.is_integer) else None


def convert_to(
    builder: FunctionBuilder, target: Scalar, arguments: Arguments, node: ast.Call
) -> Value:
    """Convert to a scalar type explicitly, even if that loses information."""
    (value,) = arguments.exactly(builder, node, str(target), ("x",))
    if isinstance(value, CompileTime) and isinstance(value.value, str) and target is not boolean:
        parsed = fold(builder, node, float if target.is_float else int, value.value)
        return literal(builder, parsed.value, target, node)
    if isinstance(value, CompileTime) and isinstance(value.value, (bool, int, float)):
        number = value.value
        if (
            isinstance(number, float)
            and not target.is_float
            and number == number
            and abs(number) != float("inf")
        ):
            number = bool(number) if target is boolean else int(number)
        return literal(builder, number, target, node)
    if target is boolean:
        condition = truth(builder, value, node)
        return convert(builder, condition, boolean, node)
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        raise builder.error(
            codes.NOT_CONVERTIBLE,
            node,
            source=describe(value),
            target=target,
            remedy=_remedy(value, target),
        )
    return convert(builder, value, target, node)


def _remedy(value: Value, target: Scalar) -> str:
    if isinstance(value, tree.Expression) and isinstance(value.type, Vector):
        return (
            f"convert one element, `{target}(v[i])`, or the whole vector: `amdjit.vector({target}, "
            f"{value.type.length})(v)`"
        )
    if isinstance(value, tree.Expression) and isinstance(value.type, Array):
        return f"convert one element: `{target}(a[i])`"
    return "convert a number"


def make_vector(
    builder: FunctionBuilder, target: Vector, arguments: Arguments, node: ast.Call
) -> Value:
    """Type `f32x4()` (zeros), `f32x4(x)` (x everywhere), `f32x4(v)` (a converted vector) or
    `f32x4(a, b, c, d)`."""
    items = arguments.positional
    if len(items) == 1 and isinstance(items[0], TupleValue):
        items = items[0].items
    if arguments.keywords or len(items) not in (0, 1, target.length):
        raise _wrong_length(builder, target, len(items), node)
    if not items:
        return literal(builder, 0, target, node)
    if len(items) == 1:
        return _one_value(builder, target, items[0], node)
    elements = tuple(_element(builder, target.element, item, node) for item in items)
    return tree.MakeVector(builder.span(node), target, elements)


def _wrong_length(
    builder: FunctionBuilder, target: Vector, given: int, node: ast.Call
) -> CompileError:
    remedy = f"write no value (zeros), one (for all elements), or {target.length}"
    expected = count(target.length, "element")
    return builder.error(
        codes.VECTOR_LENGTH, node, type=target, expected=expected, given=given, remedy=remedy
    )


def _one_value(builder: FunctionBuilder, target: Vector, value: Value, node: ast.Call) -> Value:
    if isinstance(value, tree.Expression) and isinstance(value.type, Vector):
        if value.type.length != target.length:
            raise _wrong_length(builder, target, value.type.length, node)
        return convert(builder, value, target, node)
    if isinstance(value, CompileTime):
        return literal(builder, value.value, target, node)
    return convert(builder, _element(builder, target.element, value, node), target, node)


def _element(
    builder: FunctionBuilder, target: Scalar, value: Value, node: ast.Call
) -> tree.Expression:
    if isinstance(value, CompileTime):
        return literal(builder, value.value, target, node)
    if not isinstance(value, tree.Expression) or not assignable(value.type, target):
        raise no_conversion(builder, value, target, node)
    return convert(builder, value, target, node)
