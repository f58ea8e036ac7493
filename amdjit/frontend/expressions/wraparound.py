"""`wraparound=True`: indices that are negative at run time count from the end, as in Python.

The extent is added to negative indices: `i + (extent & (i >> 31))`. Indices that cannot be negative
stay as they are.
"""

from __future__ import annotations

import ast

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.types import Scalar

# Intrinsics and functions of amdjit whose results are ids, counts and extents of the launch.
_COUNTS = frozenset(
    {
        "blockDim",
        "blockIdx",
        "flat_work_item_id",
        "global_id",
        "global_size",
        "grid",
        "gridDim",
        "gridsize",
        "lane_id",
        "threadIdx",
        "wave_id",
        "wavefront_size",
    }
)
_ALWAYS = (BinaryOperator.FLOOR_DIVIDE, BinaryOperator.SHIFT_RIGHT, BinaryOperator.MINIMUM)
_UNLESS_IT_WRAPS = (BinaryOperator.ADD, BinaryOperator.MULTIPLY)
_IF_ONE_SIDE_IS = (BinaryOperator.AND, BinaryOperator.MAXIMUM)


def from_start(
    builder: FunctionBuilder,
    given: Value,
    index: tree.Expression,
    extent: tree.Expression | int,
    node: ast.AST,
) -> tree.Expression:
    """Return an index counted from the start. given: the index before it became an i32 or i64."""
    kind = given.type if isinstance(given, tree.Expression) else None
    is_signed = isinstance(kind, Scalar) and kind.is_signed
    if not builder.compilation.wraparound or not is_signed or is_not_negative(builder, index):
        return index
    assert isinstance(index.type, Scalar)
    held = builder.hold(index, "index", node)
    assert isinstance(held, tree.Expression)
    span, type = builder.span(node), index.type
    sign_bit = tree.Constant(span, type, type.bits - 1)
    sign = tree.Binary(span, type, BinaryOperator.SHIFT_RIGHT, held, sign_bit)
    size = extent if isinstance(extent, tree.Expression) else CompileTime(extent)
    length = convert(builder, size, type, node)
    added = tree.Binary(span, type, BinaryOperator.AND, length, sign)
    return tree.Binary(span, type, BinaryOperator.ADD, held, added, no_wrap=True)


def is_not_negative(
    builder: FunctionBuilder, value: tree.Expression, passed: frozenset[tree.Variable] = frozenset()
) -> bool:
    """Whether an integer is known not to be negative."""
    if isinstance(value, tree.Constant):
        return bool(value.value >= 0)
    if isinstance(value, tree.Extent):
        return True
    if isinstance(value, tree.CallIntrinsic):
        return value.intrinsic.name.partition(".")[0] in _COUNTS
    if isinstance(value, tree.Call):
        return value.function.transparent and value.function.name.partition(".")[0] in _COUNTS
    if isinstance(value, tree.TupleItem):
        return is_not_negative(builder, value.tuple, passed)
    if isinstance(value, tree.Convert):
        return _converts_unsigned(builder, value, passed)
    if isinstance(value, tree.Binary):
        return _result_is_not_negative(builder, value, passed)
    return isinstance(value, tree.Read) and _holds_none(builder, value.variable, passed)


def _converts_unsigned(
    builder: FunctionBuilder, value: tree.Convert, passed: frozenset[tree.Variable]
) -> bool:
    """Whether a conversion keeps the value of a number that is not negative."""
    source, target = value.operand.type, value.type
    if not isinstance(source, Scalar) or not isinstance(target, Scalar) or source.is_float:
        return False
    if source.bits == 1 or not source.is_signed:
        return source.bits < target.bits
    return source.bits <= target.bits and is_not_negative(builder, value.operand, passed)


def _result_is_not_negative(
    builder: FunctionBuilder, value: tree.Binary, passed: frozenset[tree.Variable]
) -> bool:
    sides = [is_not_negative(builder, side, passed) for side in (value.left, value.right)]
    if value.operator is BinaryOperator.MODULO:
        return sides[1]  # the sign is that of the right side, as in Python
    if value.operator in _IF_ONE_SIDE_IS:
        return any(sides)
    return all(sides) and (
        value.operator in _ALWAYS or (value.operator in _UNLESS_IT_WRAPS and value.no_wrap)
    )


def _holds_none(
    builder: FunctionBuilder, variable: tree.Variable, passed: frozenset[tree.Variable]
) -> bool:
    """Whether no value of a variable is negative. Of those that a loop carries, later values are
    still unknown."""
    goes_round = any(variable in loop.carried.values() for loop in builder.loops)
    given = builder.given.get(variable, [])
    if goes_round or variable in passed or not (given or variable in builder.counters):
        return False
    return all(is_not_negative(builder, value, passed | {variable}) for value in given)


def note_counter(
    builder: FunctionBuilder,
    variable: tree.Variable,
    start: tree.Expression,
    stop: tree.Expression,
    step: tree.Expression,
) -> None:
    """Remember whether the counter of a range is ever negative."""
    if not builder.compilation.wraparound:
        return
    goes_up = is_not_negative(builder, start) and is_not_negative(builder, step)
    falls = isinstance(step, tree.Constant) and step.value < 0
    stays_above = falls and isinstance(stop, tree.Constant) and stop.value >= -1
    if goes_up or stays_above:
        builder.counters.add(variable)
    else:
        builder.counters.discard(variable)
