"""Special forms: functions whose result type depends on compile-time values, which a signature
cannot describe."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from amdjit.declarations import Form
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments, constant_integer
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.calls.allocations import dynamic_array, local_array, shared_array
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.expressions.subscripts import element_indices
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import ConstantArray
from amdjit.types import (
    Array,
    Pointer,
    Record,
    Scalar,
    Vector,
    boolean,
    vector,
)


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


def _array_like(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (array,) = arguments.exactly(builder, node, "const.array_like", ("array",))
    if isinstance(array, ConstantArray):
        return array
    is_array = isinstance(array, tree.Expression) and isinstance(array.type, Array)
    raise builder.error(
        codes.CONSTANT_ARRAY,
        arguments.place(0, "array", node),
        what=describe(array),
        remedy="use the array itself: it is in memory already"
        if is_array
        else "make it a NumPy array outside of the kernel, such as `TABLE = np.array(...)`",
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
    Form.CONST_ARRAY_LIKE: _array_like,
    Form.LOCAL_ARRAY: local_array,
    Form.SHARED_ARRAY: shared_array,
    Form.SHARED_DYNAMIC: dynamic_array,
    Form.SHUFFLE: _shuffle,
    Form.STATIC_RANGE: _loop_only("static_range"),
    Form.UNROLL: _loop_only("unroll"),
}
