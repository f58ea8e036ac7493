"""Attributes of arrays: `a.shape`, `a.size`, `a.T`, `a.flat`, and the names of methods."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from types import MappingProxyType

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.fields import field
from amdjit.frontend.expressions.operators import binary
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Method, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Reshaped, Transposed
from amdjit.types import Array, Layout, Pointer, Record, Scalar, Structure, boolean, u64

REDUCTIONS = frozenset(
    {"all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"}
)
# Methods of arrays that reductions.py and amdjit.frontend.calls type.
_METHODS = REDUCTIONS | {
    "astype",
    "copy",
    "fill",
    "flatten",
    "load",
    "ravel",
    "reshape",
    "store",
    "transpose",
    "view",
}
_REMEDY = (
    "arrays have shape, ndim, size, dtype, load(index, width), store(index, vector), views such as "
    "T and reshape(...), and reductions such as sum()"
)


def array_attribute(
    builder: FunctionBuilder, array: tree.Expression, type: Array, node: ast.Attribute
) -> Value:
    """Type `array.name`."""
    name = node.attr
    if name == "shape":
        return TupleValue(tuple(extent(builder, array, axis, node) for axis in range(type.ndim)))
    if name == "size":
        return size_of(builder, array, node)
    if name in _COMPUTED:
        return _COMPUTED[name](builder, array, type, node)
    if name == "nbytes":
        each = CompileTime(type.element.nbytes)
        return binary(builder, ast.Mult, size_of(builder, array, node), each, node)
    if name == "T":
        return transposed(builder, array, tuple(reversed(range(type.ndim))), node)
    if name == "flat":
        return flat(builder, array, node)
    known = {"ndim": type.ndim, "dtype": type.element, "itemsize": type.element.nbytes}
    if name in known:
        builder.discard(array, node)
        return CompileTime(known[name])
    if name in _METHODS:
        return Method(array, name)
    part = _part(builder, array, type, node)
    if part is not None:
        return part
    raise builder.error(codes.NO_ATTRIBUTE, node, type=type, attribute=name, remedy=_REMEDY)


def _part(
    builder: FunctionBuilder, array: tree.Expression, type: Array, node: ast.Attribute
) -> Value | None:
    """Return the view of a field of all elements, or of their real or imaginary parts."""
    is_part = node.attr in ("real", "imag")
    if isinstance(type.element, Record) and (is_part or not type.element.title):
        return field(builder, array, node.attr, node)
    if isinstance(type.element, Scalar) and type.element is not boolean and node.attr == "real":
        return array
    return None


def _ctypes(
    builder: FunctionBuilder, array: tree.Expression, type: Array, node: ast.AST
) -> TupleValue:
    """Return what has the address of an array's first element as `data`, one that every instruction
    for flat memory takes."""
    span = builder.span(node)
    first = tuple(tree.Constant(span, type.index_type, 0) for _ in range(type.ndim))
    pointer = Pointer(type.element, type.address_space)
    address = tree.Bitcast(span, u64, tree.AddressOf(span, pointer, array, first))
    return TupleValue((address,), Structure("ctypes", ("data",)))


def extent(builder: FunctionBuilder, array: tree.Expression, axis: int, node: ast.AST) -> Value:
    """Return an array's extent along an axis."""
    assert isinstance(array.type, Array)
    if array.type.shape is not None:
        return CompileTime(array.type.shape[axis])
    return tree.Extent(builder.span(node), array.type.index_type, array, axis)


def size_of(builder: FunctionBuilder, array: tree.Expression, node: ast.AST) -> Value:
    """Return the number of an array's elements."""
    assert isinstance(array.type, Array)
    size: Value = extent(builder, array, 0, node) if array.type.ndim else CompileTime(1)
    for axis in range(1, array.type.ndim):
        size = binary(builder, ast.Mult, size, extent(builder, array, axis, node), node)
    return size


def _strides(
    builder: FunctionBuilder, array: tree.Expression, type: Array, node: ast.AST
) -> TupleValue:
    """Return the bytes from one element to the next along each axis."""
    pitch, strides = type.pitch or type.element.nbytes, []
    for axis in range(type.ndim):
        if type.shape is not None and type.layout is Layout.CONTIGUOUS:
            stride: Value = CompileTime(math.prod(type.shape[axis + 1 :]))
        else:
            stride = tree.Stride(builder.span(node), type.index_type, array, axis)
        strides.append(binary(builder, ast.Mult, stride, CompileTime(pitch), node))
    return TupleValue(tuple(strides))


_COMPUTED = MappingProxyType({"strides": _strides, "ctypes": _ctypes})


def transposed(
    builder: FunctionBuilder, array: tree.Expression, axes: tuple[int, ...], node: ast.AST
) -> tree.Expression:
    """Return a view with the axes in another order."""
    type = array.type
    assert isinstance(type, Array)
    if axes == tuple(range(type.ndim)):
        return array
    shape = None if type.shape is None else tuple(type.shape[axis] for axis in axes)
    made = replace(type, layout=Layout.STRIDED, shape=shape, alignment=0)
    return Transposed(builder.span(node), made, array, axes)


def flat(builder: FunctionBuilder, array: tree.Expression, node: ast.AST) -> Value:
    """Return all elements in C order: an array of one axis if they lie in a row, otherwise
    something to loop over."""
    type = array.type
    assert isinstance(type, Array)
    if type.ndim == 1:
        return array
    if type.layout is not Layout.CONTIGUOUS:
        return Method(array, "flat")
    return reshaped(builder, array, (size_of(builder, array, node),), node)


def reshaped(
    builder: FunctionBuilder, array: tree.Expression, extents: tuple[Value, ...], node: ast.AST
) -> tree.Expression:
    """Return a contiguous array's memory with other extents, which have as many elements."""
    type = array.type
    assert isinstance(type, Array)
    held = builder.hold(array, "array", node)
    assert isinstance(held, tree.Expression)
    known = [part.value for part in extents if isinstance(part, CompileTime)]
    is_known = type.shape is not None and len(known) == len(extents)
    shape = tuple(int(str(value)) for value in known) if is_known else None
    made = replace(type, ndim=len(extents), shape=shape)
    sizes = tuple(convert(builder, part, type.index_type, node) for part in extents)
    return Reshaped(builder.span(node), made, held, sizes)
