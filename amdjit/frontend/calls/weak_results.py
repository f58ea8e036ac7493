"""Calls whose results are weak: `int(x)`, `float(x)`, and functions of weak numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError
from amdjit.diagnostics.performance import CompileWarning, Finding
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.operands import launch_operands
from amdjit.frontend.calls.constructors import convert_to
from amdjit.frontend.values import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, Value, known_integer
from amdjit.frontend.values.weak_types import wide_type
from amdjit.tree import nodes as tree
from amdjit.types import PointerPattern, Scalar, Type, TypeVariable, boolean, f32, f64, i32


def python_number(
    builder: FunctionBuilder, kind: type[int] | type[float], arguments: Arguments, node: ast.Call
) -> Value:
    """Type `int(x)` and `float(x)`: i32 and f32, until they meet a wider type."""
    operands = None if arguments.keywords else launch_operands(builder, arguments.positional)
    if operands is not None and len(operands) == 1:
        return builder.launch_parameters.weak(
            launch_arithmetic.as_kind(kind, operands[0]), builder.span(node)
        )
    known = [known_integer(value) for value in arguments.positional]
    if kind is int and len(known) == 1 and known[0] is not None and not arguments.keywords:
        return CompileTime(known[0])
    rules = builder.rules
    target = rules.integer if kind is int else rules.floating
    if not rules.has_weak_literals:
        target = _own_type(kind, arguments) or target
    given = arguments.positional
    if len(given) == 1 and builder.weak_types.is_weak(given[0]) and _has_type(given[0], target):
        return given[0]
    made = convert_to(builder, target, arguments, node)
    if isinstance(made, tree.Convert) and rules.has_weak_literals:
        builder.weak_types.expressions.add(made)
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


def without_width(
    builder: FunctionBuilder,
    callee: Intrinsic | DeviceFunction,
    arguments: Arguments,
    result: Value,
    call: Callable[[Arguments], Value],
) -> Value:
    """Make the result of a function of weak numbers weak: beside an f64 the call is repeated in
    f64."""
    weak_types, given = builder.weak_types, arguments.positional
    are_weak = all(weak_types.is_weak(value) or not _decides(value) for value in given)
    if (
        arguments.keywords
        or not are_weak
        or not isinstance(result, tree.Expression)
        or result.type != f32
    ):
        return result

    kept = _of_fixed_type(callee)

    def in_f64() -> tree.Expression:
        wide = (v if i in kept else _in_f64(builder, v, given) for i, v in enumerate(given))
        again = call(Arguments(tuple(wide), {}, arguments.places))
        assert isinstance(again, tree.Expression)
        return again

    if not builder.rules.has_weak_literals:
        return in_f64()  # Numba's functions of integers are those of f64
    weak_types.expressions.add(result)
    weak_types.again[result] = in_f64
    return result


def _of_fixed_type(callee: Intrinsic | DeviceFunction) -> frozenset[int]:
    """Return the places of parameters that have one type, such as the exponent of `ldexp`."""
    parameters = callee.parameters if isinstance(callee, Intrinsic) else ()
    return frozenset(
        i for i, each in enumerate(parameters) if not isinstance(each.type, TypeVariable)
    )


def _in_f64(builder: FunctionBuilder, value: Value, given: tuple[Value, ...]) -> Value:
    """Return an argument of a call that is repeated in f64. Literals are f64 beside one; where all
    are literals, they become it here."""
    if isinstance(value, tree.Expression):
        return builder.launch_parameters.wide_operand(value, f64)
    if any(isinstance(each, tree.Expression) and _decides(each) for each in given):
        return value
    known = value.value if isinstance(value, CompileTime) else None
    place = next((each.span for each in given if isinstance(each, tree.Expression)), None)
    if not isinstance(known, float) or place is None:
        return value
    return tree.Constant(place, f64, known)


def as_wide_as_needed(
    builder: FunctionBuilder,
    callee: Intrinsic | DeviceFunction,
    arguments: Arguments,
    result: Value,
    call: Callable[[Arguments], Value],
    node: ast.expr,
) -> Value:
    """Make the result of one of amdjit's functions weak if all arguments are: in 64 bits the call
    is repeated."""
    if not isinstance(result, tree.Expression) or result.type not in (i32, f32):
        return result
    weak_types, type = builder.weak_types, result.type
    given = _deciding(callee, arguments, type)
    if not given or not all(weak_types.is_weak(value) and value.type == type for value in given):
        return result
    weak = frozenset(given)

    def widened(value: Value) -> Value:
        if not isinstance(value, tree.Expression) or value not in weak:
            return value
        return builder.launch_parameters.wide_operand(value, wide_type(type))

    def in_64_bits() -> tree.Expression:
        requests = len(builder.launch_parameters.requests)
        positional = tuple(map(widened, arguments.positional))
        keywords = {name: widened(value) for name, value in arguments.keywords.items()}
        try:
            with builder.collect() as added:
                again = call(Arguments(positional, keywords, arguments.places))
        except CompileError:
            del builder.launch_parameters.requests[requests:]
            _warn(builder, callee, type, node)
            return result
        builder.statements += added
        assert isinstance(again, tree.Expression)
        return again

    weak_types.expressions.add(result)
    weak_types.again[result] = in_64_bits
    return result


def _deciding(
    callee: Intrinsic | DeviceFunction, arguments: Arguments, result: Scalar
) -> tuple[tree.Expression, ...]:
    """Return the arguments that decide the width of a result; none if its type is fixed."""
    values = (*arguments.positional, *arguments.keywords.values())
    if isinstance(callee, Intrinsic):
        names = [parameter.name for parameter in callee.parameters]
        given = {**dict(zip(names, arguments.positional, strict=False)), **arguments.keywords}
        kinds = {parameter.name: parameter.type for parameter in callee.parameters}
        # Memory has its own type, whatever is stored to it.
        if not isinstance(callee.result, TypeVariable) or any(
            _points_to(k, callee.result) for k in kinds.values()
        ):
            return ()
        values = tuple(value for name, value in given.items() if kinds.get(name) == callee.result)
    numbers = [
        value
        for value in values
        if isinstance(value, tree.Expression) and value.type is not boolean
    ]
    return tuple(
        v for v in numbers if not isinstance(v.type, Scalar) or v.type.is_float == result.is_float
    )


def _points_to(kind: Type | None, variable: TypeVariable) -> bool:
    return isinstance(kind, PointerPattern) and kind.element == variable


def _warn(
    builder: FunctionBuilder, callee: Intrinsic | DeviceFunction, type: Scalar, node: ast.expr
) -> None:
    name = callee.name if isinstance(callee, Intrinsic) else callee.function.__name__
    span, wide = builder.span(node), wide_type(type)
    found = Finding(
        "narrow",
        span,
        f"`{name}` is computed in {type} and then converted to {wide}",
        f"has no form for {wide}",
        f"write `{type}(...)` around the argument or the result if this is intended",
        CompileWarning,
    )
    builder.session.findings.setdefault((found.name, span.file, span.line), found)


def _decides(value: Value) -> bool:
    """Whether an argument decides the width of a float: integers and literals do not."""
    kind = value.type if isinstance(value, tree.Expression) else None
    return not isinstance(value, CompileTime) and not (
        isinstance(kind, Scalar) and not kind.is_float
    )
