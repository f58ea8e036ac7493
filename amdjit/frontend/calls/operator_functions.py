"""Calls of functions that are operators: those of Python's `operator`, and NumPy's ufuncs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import truth
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.operators import BINARY, binary, unary
from amdjit.frontend.values.kinds import Value

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
