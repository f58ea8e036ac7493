"""Operators and functions of constants, computed by Python while compiling."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.remedies import NOTHING
from amdjit.frontend.values.kinds import CompileTime

# Constants that no type holds are not worth the time and memory that Python needs for them.
_MOST_BITS = 1 << 16


def _is_huge(compute: Callable[..., Any], left: object, right: object) -> bool:
    """Whether the result of an operator on constants would be too large to be worth computing."""
    if isinstance(left, int) and isinstance(right, int):
        if compute in (operator.pow, pow):
            return right > 0 and left.bit_length() * right > _MOST_BITS
        return compute is operator.lshift and right > _MOST_BITS
    if compute is not operator.mul:
        return False
    items, times = (right, left) if isinstance(left, int) else (left, right)
    return (
        isinstance(times, int)
        and isinstance(items, (str, bytes, tuple))
        and len(items) * times > _MOST_BITS
    )


def fold(
    builder: FunctionBuilder, node: ast.AST, compute: Callable[..., Any], *values: Any
) -> CompileTime:
    """Compute on compile-time values as Python does."""
    try:
        if len(values) == 2 and _is_huge(compute, *values):
            raise OverflowError("the result is too large")
        return CompileTime(compute(*values))
    except Exception as problem:
        if any(value is None for value in values):
            raise builder.error(codes.NO_OPERATION, node, what="None", remedy=NOTHING) from problem
        raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem
