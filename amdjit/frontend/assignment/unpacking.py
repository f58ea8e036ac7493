"""Arrays taken apart into names: `p, q = x[i]`, `for a, b in rows`."""

from __future__ import annotations

import ast

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import truth
from amdjit.frontend.building.descriptions import count
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.expressions.subscripts import item_of
from amdjit.frontend.values.kinds import CompileTime, TupleValue
from amdjit.tree import nodes as tree
from amdjit.types import Array


def unpacked(
    builder: FunctionBuilder, array: tree.Expression, target: ast.Tuple | ast.List, place: ast.expr
) -> TupleValue:
    """Return an array's items, one for each target. An extent that is known only at run time is
    tested there, as Python's ValueError."""
    held = builder.hold(array, "array", place)
    assert isinstance(held, tree.Expression)
    assert isinstance(held.type, Array)
    kind, number = held.type, len(target.elts)
    if kind.ndim == 0:
        raise builder.error(codes.NOT_INDEXABLE, place, type=kind)
    if kind.shape is not None:
        number = kind.shape[0]
    elif any(isinstance(item, ast.Starred) for item in target.elts):
        raise _unknown_rest(builder, kind, target, place)
    else:
        extent = tree.Extent(builder.span(place), kind.index_type, held, 0)
        other = compare(builder, ast.NotEq, extent, CompileTime(number), place)
        wrong = truth(builder, other, place)
        assert isinstance(wrong, tree.Expression)
        text = f"wrong number of values to unpack (expected {number})"
        check(builder, wrong, text, place)
    items = (item_of(builder, held, CompileTime(i), place) for i in range(number))
    return TupleValue(tuple(builder.hold(item, "item", place) for item in items))


def _unknown_rest(
    builder: FunctionBuilder, kind: Array, target: ast.Tuple | ast.List, place: ast.expr
) -> Exception:
    text, first = ast.unparse(place), ast.unparse(target.elts[0]).strip("*")
    remedy = f"write out the items, `{first} = {text}[0]`; the rest is a part, `{text}[1:]`"
    return builder.error(
        codes.UNPACK,
        place,
        names=count(len(target.elts), "name") + " with a star",
        values="a number of values that is known only at run time",
        type=kind,
        remedy=remedy,
    )
