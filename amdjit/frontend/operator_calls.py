"""Calls of the functions of Python's `operator`: each is the operator that it is named after."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from amdjit.frontend.builder import FunctionBuilder
from amdjit.frontend.forms import Arguments
from amdjit.frontend.operators import BINARY, binary, compare, unary
from amdjit.frontend.values import Value

Handler = Callable[[FunctionBuilder, Arguments, ast.Call], Value]


def _binary(kind: type[ast.operator], name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        left, right = arguments.exactly(builder, node, name, ("a", "b"))
        return binary(builder, kind, left, right, node)

    return handler


def _comparison(kind: type[ast.cmpop], name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        left, right = arguments.exactly(builder, node, name, ("a", "b"))
        return compare(builder, kind, left, right, node)

    return handler


def _unary(kind: type[ast.unaryop], name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        (operand,) = arguments.exactly(builder, node, name, ("a",))
        return unary(builder, kind, operand, node)

    return handler


_COMPARISONS: Mapping[str, type[ast.cmpop]] = {
    "eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE,
    "is_": ast.Is, "is_not": ast.IsNot,
}  # fmt: skip
_UNARY: Mapping[str, type[ast.unaryop]] = {"neg": ast.USub, "pos": ast.UAdd, "invert": ast.Invert, "not_": ast.Not}

# Of values that do not change, `operator.iadd` is `operator.add`.
OPERATOR_FUNCTIONS: Mapping[Any, Handler] = {
    **{compute: _binary(kind, compute.__name__) for kind, (_, compute) in BINARY.items()},
    **{
        getattr(operator, "i" + compute.__name__.rstrip("_")): _binary(kind, "i" + compute.__name__.rstrip("_"))
        for kind, (_, compute) in BINARY.items()
    },
    **{getattr(operator, name): _comparison(kind, name) for name, kind in _COMPARISONS.items()},
    **{getattr(operator, name): _unary(kind, name) for name, kind in _UNARY.items()},
}
