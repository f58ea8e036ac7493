"""Tests of indices against the shape of their array, with `bounds_check=True`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from amdjit.abi.reports import FaultSite, Field, Text
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.values.kinds import CompileTime
from amdjit.tree import nodes as tree
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
