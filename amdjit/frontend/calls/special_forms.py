"""Special forms: functions whose result type depends on compile-time values, which a signature
cannot describe."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import numpy as np

from amdjit.declarations import Form
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments, constant_integer
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.expressions.subscripts import element_indices
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.frontend.values.structures import element_of_dtype
from amdjit.tree import nodes as tree
from amdjit.types import (
    AddressSpace,
    Array,
    Element,
    Layout,
    Pointer,
    Record,
    Scalar,
    Vector,
    boolean,
    i32,
    vector,
)

# The scratch memory of a lane that LLVM's AMDGPU backend can address: 18 bits of dwords, less some
# for spills.
_MOST_PRIVATE_BYTES = 128 * 1024


def _allocate(space: AddressSpace, name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        shape, dtype = arguments.exactly(builder, node, f"{name}.array", ("shape", "dtype"))
        extents = _shape(builder, shape, arguments.place(0, "shape", node))
        element = _element_type(builder, dtype, arguments.place(1, "dtype", node))
        type = Array(element, len(extents), Layout.CONTIGUOUS, space, extents)
        if space is AddressSpace.PRIVATE and type.size * element.nbytes > _MOST_PRIVATE_BYTES:
            raise builder.error(
                codes.PRIVATE_SIZE, node, used=type.size * element.nbytes, limit=_MOST_PRIVATE_BYTES
            )
        return builder.hold(tree.AllocateArray(builder.span(node), type, name), name, node)

    return handler


def _dynamic(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    names = ("dtype", "offset", "shape")
    dtype, offset, shape = arguments.exactly(builder, node, "shared.dynamic", names, optional=2)
    element = _element_type(builder, dtype, node)
    type = Array(element, 1, Layout.CONTIGUOUS, AddressSpace.LDS)
    if not _is_none(shape):
        extents = _shape(builder, shape, arguments.place(2, "shape", node))
        type = Array(element, len(extents), Layout.CONTIGUOUS, AddressSpace.LDS, extents)
    start = (
        None
        if _is_none(offset)
        else _lds_offset(builder, offset, arguments.place(1, "offset", node))
    )
    return builder.hold(
        tree.AllocateArray(builder.span(node), type, "dynamic", True, start), "dynamic", node
    )


def _is_none(value: Value) -> bool:
    return isinstance(value, CompileTime) and value.value is None


# The alignment that wide loads and stores need, so that of every array.
_LDS_ALIGNMENT = 16


def _lds_offset(builder: FunctionBuilder, value: Value, place: ast.AST) -> tree.Expression:
    if isinstance(value, CompileTime):
        known = value.value
        places = range(0, builder.compilation.target.lds_per_workgroup, _LDS_ALIGNMENT)
        if not isinstance(known, int) or isinstance(known, bool) or known not in places:
            raise builder.error(codes.LDS_OFFSET, place, found=repr(known))
    elif (
        not isinstance(value, tree.Expression)
        or not isinstance(value.type, Scalar)
        or not value.type.is_integer
    ):
        raise builder.error(codes.LDS_OFFSET, place, found=describe(value))
    return convert(builder, value, i32, place)


def _element_type(builder: FunctionBuilder, value: Value, node: ast.AST) -> Element:
    known = value.value if isinstance(value, CompileTime) else None
    if isinstance(known, type) and issubclass(known, np.generic):
        known = np.dtype(known)
    if isinstance(known, np.dtype):
        known = element_of_dtype(known)
    if isinstance(known, (Scalar, Vector, Record)):
        return known
    raise builder.error(codes.ANNOTATION, node, name="dtype", found=describe(value))


def _shape(builder: FunctionBuilder, value: Value, place: ast.AST) -> tuple[int, ...]:
    items = value.items if isinstance(value, TupleValue) else (value,)
    extents = []
    for item in items:
        known = (
            isinstance(item, CompileTime)
            and isinstance(item.value, int)
            and not isinstance(item.value, bool)
        )
        if not known or not isinstance(item, CompileTime) or int(str(item.value)) <= 0:
            raise builder.error(codes.BAD_SHAPE, place, found=describe(value))
        extents.append(int(str(item.value)))
    if not extents:
        raise builder.error(codes.BAD_SHAPE, place, found="()")
    return tuple(extents)


def _address_of(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    array, index = arguments.exactly(builder, node, "address_of", ("array", "index"))
    if not isinstance(array, tree.Expression) or not isinstance(array.type, Array):
        raise builder.error(codes.NOT_INDEXABLE, node, type=describe(array))
    indices = element_indices(builder, array, array.type, index, node)
    natural = array.type.element.nbytes if isinstance(array.type.element, Scalar) else 1
    if isinstance(array.type.element, Record) or 0 < array.type.packing < natural:
        raise builder.error(
            codes.NOT_CONVERTIBLE,
            node,
            source=array.type,
            target="an address",
            remedy="take the address of a field that is aligned: `np.dtype(..., align=True)`",
        )
    type = Pointer(array.type.element, array.type.address_space)
    check = index_check(builder, array, indices, node)
    return tree.AddressOf(builder.span(node), type, array, indices, check)


def _bitcast(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    value, target = arguments.exactly(builder, node, "bitcast", ("value", "type"))
    if not isinstance(target, CompileTime) or not isinstance(target.value, (Scalar, Vector)):
        raise builder.error(codes.ANNOTATION, node, name="type", found=describe(target))
    is_typed = isinstance(value, tree.Expression) and isinstance(value.type, (Scalar, Vector))
    if (
        not isinstance(value, tree.Expression)
        or not is_typed
        or boolean in (value.type, target.value)
    ):
        raise builder.error(
            codes.NOT_CONVERTIBLE,
            node,
            source=describe(value),
            target=f"the bits of {target.value}",
            remedy="pass a typed number or vector, such as `bitcast(f32(1.0), i32)`",
        )
    assert isinstance(value.type, (Scalar, Vector))
    if value.type.bits != target.value.bits:
        raise builder.error(
            codes.BITCAST_SIZE,
            node,
            source=value.type,
            target=target.value,
            source_bits=value.type.bits,
            target_bits=target.value.bits,
        )
    return tree.Bitcast(builder.span(node), target.value, value)


def _shuffle(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    left, right, indices = arguments.exactly(builder, node, "shuffle", ("v", "w", "indices"))
    for value in (left, right):
        if not isinstance(value, tree.Expression) or not isinstance(value.type, Vector):
            raise builder.error(
                codes.NOT_CONVERTIBLE,
                node,
                source=describe(value),
                target="a vector",
                remedy="pass vectors",
            )
    assert isinstance(left, tree.Expression)
    assert isinstance(right, tree.Expression)
    if (
        left.type != right.type
        or not isinstance(left.type, Vector)
        or not isinstance(indices, TupleValue)
    ):
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator="shuffle",
            left=left.type,
            right=right.type,
            remedy="pass two vectors of one type and a tuple of constant indices",
        )
    picks = tuple(
        constant_integer(builder, item, node, "an index of `shuffle`") for item in indices.items
    )
    for pick in picks:
        if not 0 <= pick < 2 * left.type.length:
            last = 2 * left.type.length - 1
            raise builder.error(codes.INDEX_RANGE, node, index=pick, type="two vectors", last=last)
    if not 2 <= len(picks) <= 64:
        raise builder.error(
            codes.VECTOR_LENGTH,
            node,
            type="a vector",
            expected="2 to 64 elements",
            given=len(picks),
            remedy="write 2 to 64 indices; one element is `v[i]`",
        )
    return tree.Shuffle(
        builder.span(node), vector(left.type.element, len(picks)), left, right, picks
    )


def _loop_only(name: str) -> Handler:
    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        raise builder.error(
            codes.NO_OPERATION,
            node,
            what=f"`{name}(...)`",
            remedy=f"loop over it: `for i in {name}(...)`",
        )

    return handler


Handler = Callable[[FunctionBuilder, Arguments, ast.Call], Value]

FORMS: Mapping[Form, Handler] = {
    Form.ADDRESS_OF: _address_of,
    Form.BITCAST: _bitcast,
    Form.LOCAL_ARRAY: _allocate(AddressSpace.PRIVATE, "local"),
    Form.SHARED_ARRAY: _allocate(AddressSpace.LDS, "shared"),
    Form.SHARED_DYNAMIC: _dynamic,
    Form.SHUFFLE: _shuffle,
    Form.STATIC_RANGE: _loop_only("static_range"),
    Form.UNROLL: _loop_only("unroll"),
}
