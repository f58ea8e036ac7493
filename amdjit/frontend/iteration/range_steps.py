"""Steps of ranges that are known only at run time: as in Python, a step of 0 is an error."""

from __future__ import annotations

import ast

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.values.kinds import Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Scalar, boolean

__all__ = ["check_step", "held_bound", "is_zero"]

_EXTENTS = ("blockDim", "gridDim", "global_size", "gridsize", "wavefront_size")
_KEEP_POSITIVE = (
    BinaryOperator.ADD,
    BinaryOperator.MULTIPLY,
    BinaryOperator.MAXIMUM,
    BinaryOperator.MINIMUM,
)


def is_zero(builder: FunctionBuilder, step: tree.Expression, node: ast.AST) -> tree.Expression:
    """Type the test whether a held step is 0."""
    zero = tree.Constant(builder.span(node), step.type, 0)
    return tree.Compare(builder.span(node), boolean, Comparison.EQUAL, step, zero)


def check_step(builder: FunctionBuilder, step: Value, node: ast.expr) -> None:
    """Report a step of 0 like `raise ValueError`; with `asserts=False` such a range has no
    iterations."""
    if (
        isinstance(step, tree.Expression)
        and not isinstance(step, tree.Constant)
        and not _is_extent(builder, step)
    ):
        check(
            builder,
            is_zero(builder, step, node),
            "range() arg 3 must not be zero",
            node,
        )


def _is_extent(
    builder: FunctionBuilder, value: tree.Expression, passed: frozenset[tree.Variable] = frozenset()
) -> bool:
    """Whether a value is computed from extents of the launch, which are not 0; most steps are
    `gridsize(1)`."""
    if isinstance(value, tree.CallIntrinsic):
        return value.intrinsic.name.partition(".")[0] in _EXTENTS
    if isinstance(value, tree.Call):
        return value.function.transparent and value.function.name.partition(".")[0] in _EXTENTS
    if isinstance(value, tree.Constant):
        return isinstance(value.type, Scalar) and value.value > 0
    if isinstance(value, tree.Binary):
        return value.operator in _KEEP_POSITIVE and all(
            _is_extent(builder, side, passed) for side in (value.left, value.right)
        )
    if isinstance(value, (tree.Convert, tree.TupleItem)):
        return _is_extent(
            builder, value.operand if isinstance(value, tree.Convert) else value.tuple, passed
        )
    return isinstance(value, tree.Read) and _holds_extents(builder, value.variable, passed)


def _holds_extents(
    builder: FunctionBuilder, variable: tree.Variable, passed: frozenset[tree.Variable]
) -> bool:
    """Whether every value of a variable is such an extent. Variables that a loop carries are
    excluded: later values are still unknown."""
    goes_round = any(variable in loop.carried.values() for loop in builder.loops)
    given = builder.given.get(variable)
    if given is None or goes_round or variable in passed:
        return False
    return all(_is_extent(builder, value, passed | {variable}) for value in given)


def held_bound(builder: FunctionBuilder, value: tree.Expression, node: ast.expr) -> tree.Expression:
    """Compute a bound of a loop once, before the loop."""
    held = builder.hold(value, "bound", node)
    assert isinstance(held, tree.Expression)
    return held
