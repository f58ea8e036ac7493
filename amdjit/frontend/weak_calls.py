"""Calls that give numbers without a width: `int(x)`, `float(x)`, and functions of numbers that have none."""

from __future__ import annotations

import ast
from collections.abc import Callable

from amdjit.frontend import launch_arithmetic
from amdjit.frontend.builder import FunctionBuilder
from amdjit.frontend.constructors import convert_to
from amdjit.frontend.conversion import launch_operands
from amdjit.frontend.forms import Arguments
from amdjit.frontend.values import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, f32, i32


def python_number(
    builder: FunctionBuilder, kind: type[int] | type[float], arguments: Arguments, node: ast.Call
) -> Value:
    """Type `int(x)` and `float(x)`: i32 and f32, until they meet what is wider."""
    operands = None if arguments.keywords else launch_operands(builder, arguments.positional)
    if operands is not None and len(operands) == 1:
        return builder.launched.weak(launch_arithmetic.as_kind(kind, operands[0]), builder.span(node))
    made = convert_to(builder, i32 if kind is int else f32, arguments, node)
    if isinstance(made, tree.Convert):
        builder.weakness.expressions.add(made)
    return made


def without_width(
    builder: FunctionBuilder, arguments: Arguments, result: Value, call: Callable[[Arguments], Value]
) -> Value:
    """Let what a function gives for weak numbers be weak: beside an f64 it is computed in f64, by another call."""
    weakness, given = builder.weakness, arguments.positional
    are_weak = all(weakness.is_weak(value) or not _decides(value) for value in given)
    if arguments.keywords or not are_weak or not isinstance(result, tree.Expression) or result.type != f32:
        return result

    def in_f64() -> tree.Expression:
        wide = (builder.launched.wide_operand(v) if isinstance(v, tree.Expression) else v for v in given)
        again = call(Arguments(tuple(wide), {}, arguments.places))
        assert isinstance(again, tree.Expression)
        return again

    weakness.expressions.add(result)
    weakness.in_f64[result] = in_f64
    return result


def _decides(value: Value) -> bool:
    """Whether an argument says how wide a float is: integers and literals do not."""
    kind = value.type if isinstance(value, tree.Expression) else None
    return not isinstance(value, CompileTime) and not (isinstance(kind, Scalar) and not kind.is_float)
