"""Operators and functions of constants, computed by Python while compiling."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.remedies import NOTHING
from amdjit.frontend.values.kinds import CompileTime

# Constants that no type holds are not worth the time and memory that Python needs for them.
_MOST_BITS = 1 << 16
_TOO_LARGE = "the result is too large"


_NUMBER = re.compile(r"\d+")
_WIDTH_AS_ARGUMENT = re.compile(r":[^{}]*\{|%[^a-zA-Z]*\*")


def format_width(specification: str) -> int:
    """Return the largest number in a format."""
    return max(
        (int(n) if len(n) < 10 else _MOST_BITS + 1 for n in _NUMBER.findall(specification)),
        default=0,
    )


def check_width(builder: FunctionBuilder, specification: str, node: ast.AST) -> None:
    """Refuse a format for more characters than any text is worth."""
    if format_width(specification) > _MOST_BITS:
        raise builder.error(codes.CONSTANT_FAILS, node, message=_TOO_LARGE)


def _of_text(text: str, values: tuple[Any, ...]) -> int:
    """Return how long a formatted text is, about."""
    numbers = [value for value in values if isinstance(value, int)]
    largest = max(numbers, default=0) if _WIDTH_AS_ARGUMENT.search(text) else 0
    return max(format_width(text), largest)


def _of_product(left: Any, right: Any) -> int:
    if isinstance(left, int) and isinstance(right, int):
        return left.bit_length() + right.bit_length()
    items, times = (right, left) if isinstance(left, int) else (left, right)
    return len(items) * times


def _of_remainder(left: Any, right: Any) -> int:
    text = left.decode("latin-1") if isinstance(left, bytes) else left
    values = right if isinstance(right, tuple) else (right,)
    return _of_text(text, values) if isinstance(text, str) else 0


_SIZES: Mapping[Callable[..., Any], Callable[..., int]] = {
    math.comb: lambda n, k: k * n.bit_length(),
    math.factorial: lambda n: n * n.bit_length(),
    math.perm: lambda n, k: k * n.bit_length(),
    operator.add: lambda left, right: len(left) + len(right),
    operator.lshift: lambda _, bits: bits,
    operator.mod: _of_remainder,
    operator.mul: _of_product,
    operator.pow: lambda base, exponent: base.bit_length() * exponent,
    pow: lambda base, exponent: base.bit_length() * exponent,
    round: lambda number, digits: -digits if isinstance(number, int) else 0,
}
"""About how many bits, characters or items the results of operators and functions have."""


def _size(compute: Callable[..., Any], values: tuple[Any, ...]) -> int:
    owner = getattr(compute, "__self__", None)
    try:
        if isinstance(owner, str):
            return _size_of_method(compute.__name__, owner, values)
        if isinstance(owner, int):
            return max(value for value in values if isinstance(value, int))
        return _SIZES[compute](*values)
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0  # it is none of these, or fails when it is computed


def _size_of_method(name: str, text: str, values: tuple[Any, ...]) -> int:
    if name == "format":
        return _of_text(text, values)
    if name == "replace":
        return len(text) * len(values[1])
    return max(value for value in values if isinstance(value, int))


def fold(
    builder: FunctionBuilder, node: ast.AST, compute: Callable[..., Any], *values: Any
) -> CompileTime:
    """Compute on compile-time values as Python does."""
    try:
        if _size(compute, values) > _MOST_BITS:
            raise OverflowError(_TOO_LARGE)
        return CompileTime(compute(*values))
    except Exception as problem:
        if any(value is None for value in values):
            raise builder.error(codes.NO_OPERATION, node, what="None", remedy=NOTHING) from problem
        raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem
