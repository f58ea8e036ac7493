"""Rounding to whole numbers that are i64 or stay floats: `math.floor(x)`, `round(x)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, f16, f32, f64, i32, i64

# NumPy's functions round to floats.
_FLOATS = {math.floor: np.floor, math.ceil: np.ceil, math.trunc: np.trunc, round: np.rint}


def rounded(
    builder: FunctionBuilder,
    callee: Any,
    arguments: Arguments,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value | None:
    """Type the rounding of a number by Numba's rules: `round(x)` is an i64, `math.floor(x)` and
    its like are floats. None for other functions, and where Python's integers are i32."""
    if builder.rules.has_weak_literals or callee not in _FLOATS:
        return None
    if len(arguments.positional) not in (1, 2) or arguments.keywords:
        return None
    value = arguments.positional[0]
    if isinstance(value, CompileTime) and isinstance(value.value, (int, float)):
        is_float = callee is not round
        return CompileTime(float(_FLOATS[callee](value.value))) if is_float else None
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        return None
    if len(arguments.positional) == 2:
        return _to_digits(builder, value, value.type, arguments, call, node)
    if callee is not round:
        return _to_float(builder, callee, value, call, node)
    if value.type.is_float:
        whole = call(builder, builder.session.builtins[_FLOATS[callee]], arguments, node)
        return convert(builder, whole, builder.rules.integer, node)
    return convert(builder, value, builder.rules.integer, node)


def _to_float(
    builder: FunctionBuilder,
    callee: Any,
    value: tree.Expression,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value:
    """Type Numba's `math.floor(x)`, `ceil` and `trunc` of CUDA: a float stays one, an integer
    becomes f64."""
    assert isinstance(value.type, Scalar)
    if not value.type.is_float:
        return convert(builder, value, builder.rules.float_for(value.type), node)
    return call(builder, builder.session.builtins[_FLOATS[callee]], Arguments((value,), {}), node)


def _to_digits(
    builder: FunctionBuilder,
    value: tree.Expression,
    type: Scalar,
    arguments: Arguments,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value | None:
    """Type Numba's `round(x, digits)`, which multiplies an f32 by an f64."""
    if type is f64 or type is f16:
        return None
    wide = Arguments((convert(builder, value, f64, node), arguments.positional[1]), {})
    made = call(builder, builder.session.builtins[round], wide, node)
    return convert(builder, made, builder.rules.overload(((f32,), (f64,)), [type])[0], node)


def rounded_without_width(
    builder: FunctionBuilder,
    callee: Any,
    arguments: Arguments,
    result: Value,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value:
    """Make the whole number that a float is rounded to weak, as that of `int(x)` is: an i64 where
    it meets one."""
    if callee not in _FLOATS or len(arguments.positional) != 1 or arguments.keywords:
        return result
    (value,) = arguments.positional
    kind = value.type if isinstance(value, tree.Expression) else None
    is_of_float = isinstance(kind, Scalar) and kind.is_float
    if not is_of_float or not isinstance(result, tree.Expression) or result.type is not i32:
        return result

    def in_64_bits() -> tree.Expression:
        function = builder.session.builtins[_FLOATS[callee]]
        return convert(builder, call(builder, function, arguments, node), i64, node)

    builder.weak_types.expressions.add(result)
    builder.weak_types.again[result] = in_64_bits
    return result
