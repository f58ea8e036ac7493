"""Tests of indices against the shape of their array, with `bounds_check=True`, and indices that
count from the end, with `wraparound=True`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from amdjit.abi.reports import FaultSite, Field, Text
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.types import Array, Scalar, boolean


def index_check(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: Sequence[tree.Expression],
    node: ast.expr,
    width: int = 1,
) -> int:
    """Return the `check` of an access: the fault's number plus 1, or 0 if no check is wanted or
    needed."""
    kind = array.type
    assert isinstance(kind, Array)
    if not builder.compilation.bounds_check or _is_inside(kind, indices, width):
        return 0
    return (
        _index_site(builder, kind, indices, node, f" of {width} elements" if width > 1 else "") + 1
    )


def _index_site(
    builder: FunctionBuilder,
    kind: Array,
    indices: Sequence[tree.Expression],
    node: ast.expr,
    what: str,
) -> int:
    """Return the number of the fault of an index. what: what the index selects, for the message."""
    builder.reports = max(builder.reports, 1)
    name = _array_name(node)
    index = [Field(index.type) for index in indices if isinstance(index.type, Scalar)]
    shape = [Field(kind.index_type)] * kind.ndim
    shown = _listed(index) if len(index) > 1 else index
    wrapped = builder.compilation.wraparound
    counted = ", counted from the start," if wrapped else ""
    text = (
        "index ",
        *shown,
        f"{what}{counted} is outside of `{name}`, whose shape is ",
        *_listed(shape),
    )
    source = builder.source
    site = FaultSite(
        "index",
        Text(tuple(text)),
        file=source.text.file,
        line=node.lineno,
        array=name,
        is_library=source.is_library,
        indices=len(index),
        is_wrapped=wrapped,
    )
    return builder.session.reports.add_fault(site)


def checked_axes(
    builder: FunctionBuilder,
    array: tree.Expression,
    dropped: Mapping[int, tree.Expression],
    node: ast.expr,
) -> dict[int, tree.Expression]:
    """Test the indices of the axes that a view drops. Slices need no test, since they are clipped
    to the array."""
    kind = array.type
    assert isinstance(kind, Array)
    if not builder.compilation.bounds_check or not dropped:
        return dict(dropped)
    held = {axis: builder.hold(index, "index", node) for axis, index in dropped.items()}
    indices = {axis: index for axis, index in held.items() if isinstance(index, tree.Expression)}
    span = builder.span(node)
    outside: tree.Expression | None = None
    for axis, index in indices.items():
        extent = tree.Extent(span, kind.index_type, array, axis)
        for fails in (
            _compare(builder, ast.Lt, index, 0, node),
            _compare(builder, ast.GtE, index, extent, node),
        ):
            outside = (
                fails if outside is None else tree.Logical(span, boolean, False, outside, fails)
            )
    assert outside is not None
    axes = f" of axis {next(iter(indices))}" if len(indices) == 1 else f" of axes {tuple(indices)}"
    number = _index_site(builder, kind, list(indices.values()), node, axes)
    extents = tuple(tree.Extent(span, kind.index_type, array, axis) for axis in range(kind.ndim))
    builder.emit(
        tree.If(span, outside, [tree.Fault(span, number, (*indices.values(), *extents))], [])
    )
    return indices


def _compare(
    builder: FunctionBuilder,
    kind: type[ast.cmpop],
    index: tree.Expression,
    bound: tree.Expression | int,
    node: ast.expr,
) -> tree.Expression:
    result = compare(
        builder,
        kind,
        index,
        bound if isinstance(bound, tree.Expression) else CompileTime(bound),
        node,
    )
    if isinstance(result, CompileTime):
        return tree.Constant(builder.span(node), boolean, bool(result.value))
    assert isinstance(result, tree.Expression)
    return result


def _is_inside(kind: Array, indices: Sequence[tree.Expression], width: int) -> bool:
    if kind.shape is None:
        return False
    widths = [*([1] * (kind.ndim - 1)), width]
    return all(
        isinstance(index, tree.Constant) and 0 <= index.value <= extent - wide
        for index, extent, wide in zip(indices, kind.shape, widths, strict=True)
    )


def _array_name(node: ast.expr) -> str:
    """Return the source text of the array in a subscript or in a call such as `a.load(i, 4)`."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.args[0] if node.func.attr == "address_of" else node.func.value)
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "the array"


def _listed(fields: Sequence[Field]) -> list[str | Field]:
    parts: list[str | Field] = ["("]
    for position, field in enumerate(fields):
        parts += [", ", field] if position else [field]
    return [*parts, ",)" if len(fields) == 1 else ")"]


# `wraparound=True`: indices that are negative at run time count from the end, as in Python.
#
# The extent is added to negative indices: `i + (extent & (i >> 31))`. Indices that cannot be
# negative stay as they are.


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
