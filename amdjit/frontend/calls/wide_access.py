"""`array.load(index, width)` and `array.store(index, vector)`: several adjacent elements at once,
or one.

`base` is a part of the index that is the same in all lanes of a wave. Its address then stays in
scalar registers, and one vector register with the part that differs between lanes serves many
accesses.
"""

from __future__ import annotations

import ast

from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments, constant_integer
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.expressions.subscripts import element_indices
from amdjit.frontend.numbers.conversion import assign_to, convert
from amdjit.frontend.values.effects import depends_on_memory
from amdjit.frontend.values.kinds import CompileTime, Method, Value
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Based
from amdjit.types import AddressSpace, Array, Layout, Record, Scalar, Vector, boolean, i32, i64

Indices = tuple[tree.Expression, ...]


def access_call(
    builder: FunctionBuilder, method: Method, arguments: Arguments, node: ast.Call
) -> Value:
    """`array.load(index, width)` and `array.store(index, vector)`."""
    array = method.receiver
    assert isinstance(array, tree.Expression)
    kind = array.type
    assert isinstance(kind, Array)
    if isinstance(kind.element, (Vector, Record)) or kind.pitch or kind.packing:
        what = (
            "are vectors already"
            if isinstance(kind.element, Vector)
            else "are records or parts of them"
        )
        raise builder.error(
            codes.NO_ATTRIBUTE,
            node.func,
            type=kind,
            attribute=method.name,
            remedy=f"its elements {what}: index it, `a[i]`",
        )
    names = ("index", "width" if method.name == "load" else "vector", "alignment", "base")
    index, second, known, base = arguments.exactly(
        builder, node, f"array.{method.name}", names, optional=2
    )
    has_base = base != CompileTime(None)
    indices = element_indices(builder, array, kind, index, node, wraps=not has_base)
    if has_base:
        array, indices = _based(builder, array, indices, base, node)
    access = _load if method.name == "load" else _store
    return access(
        builder, array, kind, indices, second, _alignment(builder, kind, known, node), node
    )


def _load(
    builder: FunctionBuilder,
    array: tree.Expression,
    kind: Array,
    indices: Indices,
    second: Value,
    alignment: int,
    node: ast.Call,
) -> tree.Expression:
    width = constant_integer(builder, second, node, "the width of a load")
    if width == 1:
        check = index_check(builder, array, indices, node)
        return tree.Load(builder.span(node), kind.element, array, indices, check=check)
    vector = _wide(builder, kind, width, node)
    if kind.layout is Layout.STRIDED:
        return _gather(builder, array, indices, vector, node)
    check = index_check(builder, array, indices, node, width)
    return tree.Load(
        builder.span(node),
        vector,
        array=array,
        indices=indices,
        width=width,
        alignment=alignment,
        check=check,
    )


def _store(
    builder: FunctionBuilder,
    array: tree.Expression,
    kind: Array,
    indices: Indices,
    second: Value,
    alignment: int,
    node: ast.Call,
) -> Value:
    if _is_number(second):
        value = assign_to(builder, second, kind.element, node)
        check = index_check(builder, array, indices, node)
        builder.emit(tree.Store(builder.span(node), array, indices, value, check=check))
        return CompileTime(None)
    if not isinstance(second, tree.Expression) or not isinstance(second.type, Vector):
        raise builder.error(
            codes.ARGUMENT_TYPE,
            node,
            parameter="vector",
            function="array.store",
            expected="a vector or a number",
            found=describe(second),
            remedy="store a vector, or one element",
        )
    vector = _wide(builder, kind, second.type.length, node)
    value = assign_to(builder, second, vector, node)
    if kind.layout is Layout.STRIDED:
        _scatter(builder, array, indices, value, node)
    else:
        check = index_check(builder, array, indices, node, vector.length)
        builder.emit(
            tree.Store(
                builder.span(node),
                array,
                indices=indices,
                value=value,
                width=vector.length,
                alignment=alignment,
                check=check,
            )
        )
    return CompileTime(None)


def _is_number(value: Value) -> bool:
    if isinstance(value, tree.Expression):
        return isinstance(value.type, Scalar)
    return isinstance(value, CompileTime) and value.is_number


def _based(
    builder: FunctionBuilder, array: tree.Expression, indices: Indices, base: Value, node: ast.Call
) -> tuple[tree.Expression, Indices]:
    """Index the array from a base; if that saves nothing, or a check needs the whole index, add the
    base to the indices."""
    kind = array.type
    assert isinstance(kind, Array)
    # Python evaluates the index first.
    indices = tuple(
        _held(builder, index, node) if depends_on_memory(index) else index for index in indices
    )
    starts = element_indices(builder, array, kind, base, node, wraps=False)
    is_global = kind.address_space is AddressSpace.GLOBAL and kind.offset_bits == 32
    saves = is_global or kind.address_space is AddressSpace.LDS
    if saves and kind.layout is not Layout.STRIDED and not builder.compilation.bounds_check:
        return Based(builder.span(node), kind, array, starts), indices
    return array, tuple(
        _sum(builder, start, index, node) for start, index in zip(starts, indices, strict=True)
    )


def _sum(
    builder: FunctionBuilder, left: tree.Expression, right: tree.Expression, node: ast.Call
) -> tree.Expression:
    """Add two parts of an index, exactly if the index is checked."""
    wide = builder.compilation.bounds_check or i64 in (left.type, right.type)
    type = i64 if wide else i32
    parts = convert(builder, left, type, node), convert(builder, right, type, node)
    return tree.Binary(builder.span(node), type, tree.BinaryOperator.ADD, *parts, no_wrap=True)


def _alignment(builder: FunctionBuilder, array: Array, given: Value, node: ast.Call) -> int:
    """Return the known alignment of an access, 0 for that of the vector. Rows may begin at any
    element."""
    if given == CompileTime(None):
        return array.element.nbytes if array.layout is Layout.ROWS else 0
    bytes = constant_integer(builder, given, node, "the alignment of an access")
    if bytes < array.element.nbytes or bytes > 16 or bytes & (bytes - 1):
        message = (
            f"an alignment of {bytes} bytes is not a power of two from {array.element.nbytes} to 16"
        )
        raise builder.error(codes.CONSTANT_FAILS, node, message=message)
    return bytes


def _gather(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: Indices,
    vector: Vector,
    node: ast.Call,
) -> tree.Expression:
    """Load elements one by one: neighbours along the last axis of a strided array need not be
    adjacent in memory."""
    span = builder.span(node)
    array, indices = (
        _held(builder, array, node),
        tuple(_held(builder, index, node) for index in indices),
    )
    places = [_moved(builder, indices, number, node) for number in range(vector.length)]
    checks = [index_check(builder, array, place, node) for place in places]
    pairs = zip(places, checks, strict=True)
    loads = (tree.Load(span, vector.element, array, place, check=check) for place, check in pairs)
    return tree.MakeVector(span, vector, tuple(loads))


def _scatter(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: Indices,
    value: tree.Expression,
    node: ast.Call,
) -> None:
    span = builder.span(node)
    assert isinstance(value.type, Vector)
    array, value = _held(builder, array, node), _held(builder, value, node)
    indices = tuple(_held(builder, index, node) for index in indices)
    assert isinstance(value.type, Vector)
    for number in range(value.type.length):
        position = convert(builder, CompileTime(number), i32, node)
        element = tree.ExtractElement(span, value.type.element, value, position)
        place = _moved(builder, indices, number, node)
        builder.emit(
            tree.Store(span, array, place, element, check=index_check(builder, array, place, node))
        )


def _moved(builder: FunctionBuilder, indices: Indices, number: int, node: ast.AST) -> Indices:
    last = indices[-1]
    distance = convert(builder, CompileTime(number), last.type, node)
    return (
        *indices[:-1],
        tree.Binary(last.span, last.type, tree.BinaryOperator.ADD, last, distance, no_wrap=True),
    )


def _held(builder: FunctionBuilder, value: tree.Expression, node: ast.AST) -> tree.Expression:
    held = builder.hold(value, "value", node)
    assert isinstance(held, tree.Expression)
    return held


def _wide(builder: FunctionBuilder, array: Array, width: int, node: ast.Call) -> Vector:
    assert isinstance(array.element, Scalar)
    bits = array.element.bits * width
    if array.element is boolean or width < 2 or bits not in (16, 32, 64, 96, 128, 256, 512, 1024):
        raise builder.error(
            codes.WIDE_ACCESS,
            node,
            width=count(width, "element"),
            type=array,
        )
    return Vector(array.element, width)
