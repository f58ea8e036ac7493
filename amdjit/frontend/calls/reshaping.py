"""Methods of arrays that give the same memory other axes: `a.reshape(4, n)`, `a.ravel()`,
`a.transpose()`, `a.view(dtype)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import integer_remedy
from amdjit.frontend.calls.allocations import element_type
from amdjit.frontend.expressions.array_attributes import reshaped, size_of, transposed
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.conditional import choose, either
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.expressions.operators import binary
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Method, TupleValue, Value, as_python
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Reshaped
from amdjit.types import Array, Layout, Scalar


def shape_call(
    builder: FunctionBuilder, method: Method, arguments: Arguments, node: ast.Call
) -> Value:
    """Type a call of one of these methods."""
    array = builder.hold(method.receiver, "array", node)
    assert isinstance(array, tree.Expression)
    return _METHODS[method.name](builder, array, arguments, node)


def _ravel(
    builder: FunctionBuilder, array: tree.Expression, arguments: Arguments, node: ast.Call
) -> Value:
    arguments.exactly(builder, node, "ravel", ())
    _check_contiguous(builder, array, "ravel", node)
    return reshaped(builder, array, (size_of(builder, array, node),), node)


def _check_contiguous(
    builder: FunctionBuilder, array: tree.Expression, name: str, node: ast.Call
) -> None:
    type = array.type
    assert isinstance(type, Array)
    if type.layout is not Layout.CONTIGUOUS:
        remedy = "loop over `a.flat`, or copy the elements to a local array first"
        raise builder.error(
            codes.NO_ATTRIBUTE, node.func, type=f"an array with gaps, {type}", attribute=name,
            remedy=remedy,
        )  # fmt: skip


def _reshape(
    builder: FunctionBuilder, array: tree.Expression, arguments: Arguments, node: ast.Call
) -> Value:
    _check_contiguous(builder, array, "reshape", node)
    given = arguments.positional
    if arguments.keywords or not given:
        arguments.exactly(builder, node, "reshape", ("shape",))
    items = given[0].items if len(given) == 1 and isinstance(given[0], TupleValue) else given
    given_extents = tuple(_extent(builder, as_python(item), node) for item in items)
    extents = _completed(builder, array, given_extents, node)
    _check_size(builder, array, extents, node)
    return reshaped(builder, array, extents, node)


def _completed(
    builder: FunctionBuilder, array: tree.Expression, extents: tuple[Value, ...], node: ast.Call
) -> tuple[Value, ...]:
    """Compute the extent that is given as -1, when compiling or at run time."""
    free = [item == CompileTime(-1) for item in extents]
    known = [isinstance(item, CompileTime) for item in extents]
    if not any(free) and all(known):
        return extents
    missing_at = [compare(builder, ast.Eq, item, CompileTime(-1), node) for item in extents]
    number: Value = CompileTime(0)
    for missing in missing_at:
        number = binary(builder, ast.Add, number, missing, node)
    rest: Value = CompileTime(1)
    several = compare(builder, ast.Gt, number, CompileTime(1), node)
    _refuse_if(builder, several, array, node)
    for item, missing in zip(extents, missing_at, strict=True):
        rest = binary(
            builder, ast.Mult, rest, _chosen(builder, missing, CompileTime(1), item, node), node
        )
    if rest == CompileTime(0) and any(free):
        raise _misfit(builder, array, node)
    size = builder.hold(size_of(builder, array, node), "size", node)
    rest = builder.hold(rest, "rest", node)
    left = builder.hold(binary(builder, ast.FloorDiv, size, rest, node), "extent", node)
    pairs = zip(extents, missing_at, strict=True)
    return tuple(
        builder.hold(_chosen(builder, missing, left, item, node), "extent", node)
        for item, missing in pairs
    )


def _chosen(
    builder: FunctionBuilder, condition: Value, one: Value, other: Value, node: ast.Call
) -> Value:
    if isinstance(condition, CompileTime):
        return one if condition.value else other
    return choose(builder, condition, partial(_itself, one), partial(_itself, other), node)


def _extent(builder: FunctionBuilder, item: Value, node: ast.Call) -> Value:
    type = item.type if isinstance(item, tree.Expression) else None
    is_number = isinstance(item, CompileTime) and type_of_constant(item) is int
    if not is_number and not (isinstance(type, Scalar) and type.is_integer):
        remedy = integer_remedy(item, node)
        raise builder.error(codes.INDEX_TYPE, node, type=describe(item), remedy=remedy)
    return builder.hold(item, "extent", node)


def type_of_constant(item: CompileTime) -> type:
    """Return the class of a constant; members of an IntEnum are integers."""
    kind = type(item.value)
    return int if issubclass(kind, int) and kind is not bool else kind


def _check_size(
    builder: FunctionBuilder, array: tree.Expression, extents: tuple[Value, ...], node: ast.Call
) -> None:
    """Compare the numbers of elements: now, or at run time as Python's ValueError."""
    product: Value = CompileTime(1)
    for item in extents:
        product = binary(builder, ast.Mult, product, item, node)
    wrong = compare(builder, ast.NotEq, product, size_of(builder, array, node), node)
    for item in extents:
        negative = compare(builder, ast.Lt, item, CompileTime(0), node)
        wrong = either(builder, wrong, partial(_itself, negative), node)
    _refuse_if(builder, wrong, array, node)


def _refuse_if(
    builder: FunctionBuilder, wrong: Value, array: tree.Expression, node: ast.Call
) -> None:
    if isinstance(wrong, CompileTime):
        if wrong.value:
            raise _misfit(builder, array, node)
        return
    assert isinstance(wrong, tree.Expression)
    text = "cannot reshape an array into a shape with another size"
    check(builder, wrong, text, node)


def _itself(value: Value) -> Value:
    return value


def _misfit(builder: FunctionBuilder, array: tree.Expression, node: ast.Call) -> CompileError:
    text = ", ".join(map(ast.unparse, node.args))
    message = f"cannot reshape {array.type} to ({text})"
    return builder.error(codes.CONSTANT_FAILS, node, message=message)


def _transpose(
    builder: FunctionBuilder, array: tree.Expression, arguments: Arguments, node: ast.Call
) -> Value:
    assert isinstance(array.type, Array)
    given = arguments.positional
    items = given[0].items if len(given) == 1 and isinstance(given[0], TupleValue) else given
    ndim = array.type.ndim
    known = [item.value for item in map(as_python, items) if isinstance(item, CompileTime)]
    axes = tuple(value % ndim for value in known if isinstance(value, int) and ndim)
    if not items and not arguments.keywords:
        axes = tuple(reversed(range(ndim)))
    if arguments.keywords or sorted(axes) != list(range(ndim)):
        message = f"the axes of a transposed array are an order of {tuple(range(ndim))}"
        raise builder.error(codes.CONSTANT_FAILS, node, message=message)
    return transposed(builder, array, axes, node)


def _view(
    builder: FunctionBuilder, array: tree.Expression, arguments: Arguments, node: ast.Call
) -> Value:
    """Read the memory as another type; as in NumPy the last axis must then have whole elements."""
    (dtype,) = arguments.exactly(builder, node, "view", ("dtype",))
    element, kind = element_type(builder, dtype, node), array.type
    assert isinstance(kind, Array)
    _check_contiguous(builder, array, "view", node)
    if kind.pitch or not kind.ndim:
        raise builder.error(
            codes.NO_ATTRIBUTE, node.func, type=kind, attribute="view", remedy="use `bitcast`"
        )
    old, new = kind.element.nbytes, element.nbytes
    least = kind.packing or min(old & -old, 16)
    packing = least if least < new else 0
    if kind.shape is not None:
        last, rest = divmod(kind.shape[-1] * old, new)
        if rest:
            message = f"{kind} has no whole number of {element} in its last axis"
            raise builder.error(codes.CONSTANT_FAILS, node, message=message)
        shape = (*kind.shape[:-1], last)
        extents = tuple(convert(builder, CompileTime(n), kind.index_type, node) for n in shape)
        made = replace(kind, element=element, shape=shape, packing=packing)
        return Reshaped(builder.span(node), made, array, extents)
    return _view_of_unknown(builder, array, replace(kind, element=element, packing=packing), node)


def _view_of_unknown(
    builder: FunctionBuilder, array: tree.Expression, made: Array, node: ast.Call
) -> Value:
    assert isinstance(array.type, Array)
    span, index = builder.span(node), array.type.index_type
    common = math.gcd(array.type.element.nbytes, made.element.nbytes)
    old, new = array.type.element.nbytes // common, made.element.nbytes // common
    extents = [tree.Extent(span, index, array, axis) for axis in range(made.ndim)]
    scaled = binary(builder, ast.Mult, extents[-1], CompileTime(old), node)
    scaled = builder.hold(scaled, "bytes", node)
    if new > 1:
        left = binary(builder, ast.Mod, scaled, CompileTime(new), node)
        wrong = compare(builder, ast.NotEq, left, CompileTime(0), node)
        assert isinstance(wrong, tree.Expression)
        text = f"the last axis has no whole number of {made.element}"
        check(builder, wrong, text, node)
    last = binary(builder, ast.FloorDiv, scaled, CompileTime(new), node)
    parts = tuple(convert(builder, part, index, node) for part in (*extents[:-1], last))
    return Reshaped(span, made, array, parts)


_Handler = Callable[[FunctionBuilder, tree.Expression, Arguments, ast.Call], Value]
_METHODS: Mapping[str, _Handler] = {
    "ravel": _ravel,
    "reshape": _reshape,
    "transpose": _transpose,
    "view": _view,
}
