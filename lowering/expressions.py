"""Expressions to values, with one short function for each kind of node.

before: `f32(x) if c else f32(0)`
after:  a branch on `c` to two blocks, then `phi float` of their values
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering import array_views
from amdjit.lowering.abi import ArrayValue, components, flatten, unflatten
from amdjit.lowering.arithmetic import binary, compare, unary
from amdjit.lowering.constant_arrays import constant_array
from amdjit.lowering.conversions import bitcast, convert
from amdjit.lowering.emit_context import implicit_argument
from amdjit.lowering.indexing import split_constant
from amdjit.lowering.intrinsics import Argument, call_intrinsic
from amdjit.lowering.local_indices import guarded_indices, guarded_position
from amdjit.lowering.memory import (
    Index,
    allocate,
    allocate_dynamic,
    base_address,
    element_address,
    load,
    record_view,
    stride_of,
    view,
)
from amdjit.lowering.reports import calls_to_callee, check_index
from amdjit.lowering.state import FunctionState
from amdjit.lowering.types import I1, I32, I64, constant, literal, llvm_type, undefined
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Reshaped, Transposed
from amdjit.tree.bases import Based
from amdjit.tree.constant_arrays import ConstantArray
from amdjit.tree.record_views import RecordView
from amdjit.types import AddressSpace, Array, Known, Layout, Scalar, Void

__all__ = ["address", "evaluate"]

# Of the implicit arguments (LLVM AMDGPU guide, "Code Object V5 Metadata"): hidden_dynamic_lds_size,
# 32 bits.
_HIDDEN_DYNAMIC_LDS_SIZE = 120


def evaluate(state: FunctionState, node: tree.Expression) -> Any:
    """Return the value of an expression: an LLVM value, an ArrayValue, a tuple of values, or
    None."""
    builder = state.builder
    outer = builder.debug_metadata
    builder.debug_metadata = state.location(node.span)
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise InternalError(f"no lowering of {type(node).__name__}")
    value = handler(state, node)
    builder.debug_metadata = outer
    return value


def address(
    state: FunctionState,
    array: ArrayValue,
    node: tree.Load | tree.Store | tree.AddressOf | RecordView,
) -> Any:
    """Return the address of the element that a node accesses."""
    indices = node.indices
    if not indices:
        return array.pointer
    if node.check:
        known = [_index(state, index) for index in indices]
        check_index(
            state,
            node.check,
            array,
            known,
            1 if isinstance(node, (tree.AddressOf, RecordView)) else node.width,
        )
        return element_address(state.builder, array, known)
    if array.type.address_space is AddressSpace.PRIVATE and state.module.options.local_checks:
        known = [_index(state, index) for index in indices]
        width = 1 if isinstance(node, (tree.AddressOf, RecordView)) else node.width
        return element_address(state.builder, array, guarded_indices(state, array, known, width))
    if array.type.layout is Layout.STRIDED:
        return element_address(state.builder, array, [_index(state, index) for index in indices])
    if isinstance(node.array, Based):
        return element_address(
            state.builder, array, [_index(state, index) for index in indices], keeps_apart=True
        )
    last, constant = split_constant(indices[-1])
    return element_address(
        state.builder, array, [_index(state, index) for index in (*indices[:-1], last)], constant
    )


def _based(state: FunctionState, node: Based) -> Any:
    array = evaluate(state, node.array)
    starts = [_index(state, start) for start in node.starts]
    return replace(array, pointer=base_address(state.builder, array, starts))


def _index(state: FunctionState, node: tree.Expression) -> Index:
    if not isinstance(node.type, Scalar):
        raise InternalError(f"an index of type {node.type}")
    return evaluate(state, node), node.type


def _constant(state: FunctionState, node: tree.Constant) -> Any:
    return None if isinstance(node.type, Known) else constant(node.type, node.value)


def _read(state: FunctionState, node: tree.Read) -> Any:
    return state.read(node.variable)


def _binary(state: FunctionState, node: tree.Binary) -> Any:
    left, right = evaluate(state, node.left), evaluate(state, node.right)
    return binary(state.builder, node.type, node.operator, left, right, node.no_wrap)


def _unary(state: FunctionState, node: tree.Unary) -> Any:
    return unary(state.builder, node.type, node.operator, evaluate(state, node.operand))


def _compare(state: FunctionState, node: tree.Compare) -> Any:
    left, right = evaluate(state, node.left), evaluate(state, node.right)
    return compare(state.builder, node.left.type, node.operator, left, right)


def _logical(state: FunctionState, node: tree.Logical) -> Any:
    builder = state.builder
    left = evaluate(state, node.left)
    right_block, after = builder.append_basic_block("right"), builder.append_basic_block("decided")
    decided_in = builder.block
    builder.cbranch(left, *((right_block, after) if node.is_and else (after, right_block)))
    builder.position_at_end(right_block)
    with state.branch():
        right = evaluate(state, node.right)
    right_end = builder.block
    builder.branch(after)
    builder.position_at_end(after)
    result = builder.phi(I1)
    result.add_incoming(literal(I1, not node.is_and), decided_in)
    result.add_incoming(right, right_end)
    return result


def _conditional(state: FunctionState, node: tree.Conditional) -> Any:
    builder = state.builder
    condition = evaluate(state, node.condition)
    sides = (builder.append_basic_block("true"), builder.append_basic_block("false"))
    after = builder.append_basic_block("chosen")
    builder.cbranch(condition, *sides)
    ends = []
    for block, side in zip(sides, (node.when_true, node.when_false), strict=True):
        builder.position_at_end(block)
        with state.branch():
            ends.append((list(flatten(evaluate(state, side))), builder.block))
        builder.branch(after)
    builder.position_at_end(after)
    merged = []
    for number, llvm in enumerate(components(node.type)):
        phi = builder.phi(llvm)
        for values, block in ends:
            phi.add_incoming(values[number], block)
        merged.append(phi)
    return unflatten(node.type, merged)


def _convert(state: FunctionState, node: tree.Convert) -> Any:
    return convert(state.builder, evaluate(state, node.operand), node.operand.type, node.type)


def _bitcast(state: FunctionState, node: tree.Bitcast) -> Any:
    return bitcast(state.builder, evaluate(state, node.operand), llvm_type(node.type))


def _make_vector(state: FunctionState, node: tree.MakeVector) -> Any:
    vector = undefined(llvm_type(node.type))
    for position, element in enumerate(node.elements):
        vector = state.builder.insert_element(
            vector, evaluate(state, element), literal(I32, position)
        )
    return vector


def _splat(state: FunctionState, node: tree.Splat) -> Any:
    return state.builder.splat(evaluate(state, node.operand), llvm_type(node.type))


def _extract_element(state: FunctionState, node: tree.ExtractElement) -> Any:
    vector, index = evaluate(state, node.vector), evaluate(state, node.index)
    index = guarded_position(state, index, node.index.type, vector.type.count)
    return state.builder.extract_element(vector, index)


def _insert_element(state: FunctionState, node: tree.InsertElement) -> Any:
    vector, index, value = (evaluate(state, part) for part in (node.vector, node.index, node.value))
    index = guarded_position(state, index, node.index.type, vector.type.count)
    return state.builder.insert_element(vector, value, index)


def _shuffle(state: FunctionState, node: tree.Shuffle) -> Any:
    left, right = evaluate(state, node.left), evaluate(state, node.right)
    return state.builder.shuffle(left, right, node.indices)


def _make_tuple(state: FunctionState, node: tree.MakeTuple) -> Any:
    return tuple(evaluate(state, element) for element in node.elements)


def _tuple_item(state: FunctionState, node: tree.TupleItem) -> Any:
    return evaluate(state, node.tuple)[node.index]


def _extent(state: FunctionState, node: tree.Extent) -> Any:
    return evaluate(state, node.array).extents[node.axis]


def _stride(state: FunctionState, node: tree.Stride) -> Any:
    return stride_of(state.builder, evaluate(state, node.array), node.axis)


def _view(state: FunctionState, node: tree.View) -> Any:
    return view(
        state.builder,
        evaluate(state, node.array),
        node.type,  # type: ignore[arg-type]
        [_index(state, start) for start in node.starts],
        [None if extent is None else evaluate(state, extent) for extent in node.extents],
        [evaluate(state, s) if isinstance(s, tree.Expression) else s for s in node.steps],
    )


def _reshaped(state: FunctionState, node: Reshaped) -> Any:
    if not isinstance(node.type, Array):
        raise InternalError(f"a shape of {node.type}")
    extents = [evaluate(state, extent) for extent in node.extents]
    return array_views.reshaped(evaluate(state, node.array), node.type, extents)


def _transposed(state: FunctionState, node: Transposed) -> Any:
    if not isinstance(node.type, Array):
        raise InternalError(f"axes of {node.type}")
    array = evaluate(state, node.array)
    return array_views.transposed(state.builder, array, node.type, node.axes)


def _allocate_array(state: FunctionState, node: tree.AllocateArray) -> Any:
    """Reserve the array once, no matter how often the expression is evaluated."""
    if not isinstance(node.type, Array):
        raise InternalError(f"an allocation of {node.type}")
    if node.dynamic:
        nbytes = implicit_argument(
            state.builder, state.module.options, _HIDDEN_DYNAMIC_LDS_SIZE, 32
        )
        offset = evaluate(state, node.offset) if node.offset is not None else literal(I32, 0)
        return allocate_dynamic(state.builder, node.type, nbytes, offset)
    made = state.module.lds if node.type.address_space is AddressSpace.LDS else state.private
    if id(node) not in made:
        name = f"{state.function.name}.{node.name}"
        array = allocate(state.builder, name, node.type, node.alignment)
        made[id(node)] = (node, array)
    return made[id(node)][1]


def _load(state: FunctionState, node: tree.Load) -> Any:
    array = evaluate(state, node.array)
    return load(state.builder, array, address(state, array, node), node.width, node.alignment)


def _record_view(state: FunctionState, node: RecordView) -> Any:
    if not isinstance(node.type, Array):
        raise InternalError(f"a view of {node.type}")
    array = evaluate(state, node.array)
    return record_view(state.builder, array, address(state, array, node), node.offset, node.type)


def _address_of(state: FunctionState, node: tree.AddressOf) -> Any:
    return address(state, evaluate(state, node.array), node)


def _call_intrinsic(state: FunctionState, node: tree.CallIntrinsic) -> Any:
    arguments: list[Argument] = []
    for parameter, argument in zip(node.intrinsic.parameters, node.arguments, strict=True):
        if parameter.immediate is not None:
            arguments.append((None, argument))
        else:
            arguments.append((argument.type, evaluate(state, argument)))
    return call_intrinsic(state, node.intrinsic, arguments, node.type)


def _call(state: FunctionState, node: tree.Call) -> Any:
    builder = state.builder
    values = [part for argument in node.arguments for part in flatten(evaluate(state, argument))]
    if node.function.reports:
        calls = calls_to_callee(state, node.site)
        values += [state.record, literal(I64, 0) if calls is None else calls]
    if node.function in state.module.crossing:
        builder.crossings += 1
        state.region.crosses |= state.module.crossing[node.function]
    called = builder.call(state.module.functions[node.function], values)
    count = len(components(node.type))
    if isinstance(node.type, Void) or count == 0:
        return unflatten(node.type, ())
    if count == 1:
        return unflatten(node.type, [called])
    return unflatten(node.type, [builder.extract_value(called, part) for part in range(count)])


_HANDLERS: Mapping[type, Callable[[FunctionState, Any], Any]] = MappingProxyType(
    {
        tree.Constant: _constant,
        tree.Read: _read,
        tree.Binary: _binary,
        tree.Unary: _unary,
        tree.Compare: _compare,
        tree.Logical: _logical,
        tree.Conditional: _conditional,
        tree.Convert: _convert,
        tree.Bitcast: _bitcast,
        tree.MakeVector: _make_vector,
        tree.Splat: _splat,
        tree.ExtractElement: _extract_element,
        tree.InsertElement: _insert_element,
        tree.Shuffle: _shuffle,
        tree.MakeTuple: _make_tuple,
        tree.TupleItem: _tuple_item,
        tree.Extent: _extent,
        tree.Stride: _stride,
        tree.View: _view,
        tree.AllocateArray: _allocate_array,
        tree.Load: _load,
        Based: _based,
        ConstantArray: constant_array,
        Reshaped: _reshaped,
        Transposed: _transposed,
        RecordView: _record_view,
        tree.AddressOf: _address_of,
        tree.CallIntrinsic: _call_intrinsic,
        tree.Call: _call,
    }
)
