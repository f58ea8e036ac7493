"""Expressions to values, with one short function for each kind of node.

before: `f32(x) if c else f32(0)`
after:  a branch on `c` to two blocks, then `phi float` of their values
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from llvmlite import ir

from amdjit.abi.code_marks import INDEX_BITS, OUTSIDE
from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.abi import ArrayValue, components, flatten, unflatten
from amdjit.lowering.arithmetic import binary, compare, unary
from amdjit.lowering.builder import Builder
from amdjit.lowering.conversions import bitcast, convert, resize
from amdjit.lowering.emit_context import implicit_argument
from amdjit.lowering.intrinsics import Argument, call_intrinsic
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
from amdjit.lowering.types import (
    I1,
    I8,
    I32,
    I64,
    PRIVATE_SPACE,
    Literal,
    constant,
    constant_value,
    literal,
    llvm_type,
    pointer_to,
    undefined,
)
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Based, ConstantArray, RecordView, Reshaped, Transposed
from amdjit.types import AddressSpace, Array, Known, Layout, Scalar, Type, Void

__all__ = ["address", "evaluate"]


# Arrays whose content is part of the code, in constant memory.
#
# before: `TABLE[i]`, where `TABLE` is a NumPy array of the kernel's module
# after:  `@TABLE = internal addrspace(4) constant [16 x i8] c"..."`, and a load from it
#
# The address space is that of memory that never changes (LLVM AMDGPU guide, "Address Spaces"): LLVM
# reads it through scalar loads where all lanes read the same element, and folds constant indices.

# LLVM may read all 4 bytes around a byte, and 16 is the alignment of the widest load.
_ALIGNMENT = 16
_NO_NAME = re.compile(r"[^\w.]+")


def constant_array(state: FunctionState, node: ConstantArray) -> Any:
    """Return the array; arrays of the same content share their memory."""
    constants = state.module.constants
    if node.content not in constants:
        padded = node.content + bytes(-len(node.content) % _ALIGNMENT or _ALIGNMENT)
        storage = ir.ArrayType(I8, len(padded))
        module = state.module.module
        name = module.get_unique_name(_NO_NAME.sub("_", node.name))
        variable = ir.GlobalVariable(module, storage, name, AddressSpace.CONSTANT.value)
        variable.linkage = "internal"
        variable.global_constant = True
        variable.unnamed_addr = True
        variable.align = _ALIGNMENT
        variable.initializer = ir.Constant(storage, bytearray(padded))
        constants[node.content] = Literal(
            pointer_to(AddressSpace.CONSTANT), variable.get_reference()
        )
    return unflatten(node.type, [constants[node.content]])


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
    return binary(
        state.builder,
        node.type,
        operator=node.operator,
        left=left,
        right=right,
        no_wrap=node.no_wrap,
    )


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
        type=node.type,  # type: ignore[arg-type]
        starts=[_index(state, start) for start in node.starts],
        extents=[None if extent is None else evaluate(state, extent) for extent in node.extents],
        steps=[evaluate(state, s) if isinstance(s, tree.Expression) else s for s in node.steps],
    )


def _reshaped(state: FunctionState, node: Reshaped) -> Any:
    if not isinstance(node.type, Array):
        raise InternalError(f"a shape of {node.type}")
    extents = [evaluate(state, extent) for extent in node.extents]
    return reshaped(evaluate(state, node.array), node.type, extents)


def _transposed(state: FunctionState, node: Transposed) -> Any:
    if not isinstance(node.type, Array):
        raise InternalError(f"axes of {node.type}")
    array = evaluate(state, node.array)
    return transposed(state.builder, array, node.type, node.axes)


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


# Arrays in the same memory with other axes.
#
# before: a 6-element contiguous array as a matrix of 2 rows
# after:  the same address, with the extents 2 and 3


def reshaped(array: ArrayValue, type: Array, extents: Sequence[Any]) -> ArrayValue:
    """Return a contiguous array's memory as an array with these extents."""
    if type.shape is not None:
        return unflatten(type, [array.pointer])  # type: ignore[no-any-return]
    return ArrayValue(type, array.pointer, tuple(extents), None)


def transposed(builder: Builder, array: ArrayValue, type: Array, axes: Sequence[int]) -> ArrayValue:
    """Return an array with its axes in another order."""
    strides = tuple(stride_of(builder, array, axis) for axis in axes)
    return ArrayValue(type, array.pointer, tuple(array.extents[axis] for axis in axes), strides)


# Indices of local arrays and vectors that are outside, with the option `local_checks`.
#
# LLVM keeps small local arrays in registers, where an index outside reads or writes another
# register, or nothing: no access shows it. So the index is compared, and the emulator told
# (`abi/code_marks.py`).
#
# before: `a[i]` of 4 elements
# after:  unless `i < 4` (unsigned): load a byte at `OUTSIDE + i`; then `a[i < 4 ? i : 0]`

_Index = tuple[Any, Scalar]
# LLVM language reference, "branch_weights": an index outside is rare.
_RARE = (2000, 1)


def guarded_indices(
    state: FunctionState, array: ArrayValue, indices: Sequence[_Index], width: int
) -> list[_Index]:
    """Return the indices of an element of a local array, 0 where they are outside. width: of how
    many elements the last index is the first."""
    found = []
    for axis, (value, scalar) in enumerate(indices):
        last = axis == len(indices) - 1
        extent = resize(state.builder, array.extents[axis], array.type.index_type, I64)
        more = max(width, 1) - 1 if last else 0
        if more:
            extent = state.builder.intrinsic("llvm.usub.sat", extent, literal(I64, more))
        found.append((_guarded(state, value, scalar, extent), scalar))
    return found


def guarded_position(state: FunctionState, value: Any, scalar: Type, count: int) -> Any:
    """Return the index of a vector's element, 0 where it is outside."""
    assert isinstance(scalar, Scalar)
    if not state.module.options.local_checks:
        return value
    return _guarded(state, value, scalar, literal(I64, count))


def _guarded(state: FunctionState, value: Any, scalar: Scalar, extent: Any) -> Any:
    builder = state.builder
    index = resize(builder, value, scalar, I64)
    known, size = constant_value(index), constant_value(extent)
    if known is not None and size is not None and 0 <= known < size:
        return value
    inside = builder.icmp_unsigned("<", index, extent)
    told, after = builder.append_basic_block("outside"), builder.append_basic_block("inside")
    builder.cbranch(inside, after, told).set_weights(_RARE)
    builder.position_at_end(told)
    most = literal(I64, (1 << INDEX_BITS) - 1)
    least = literal(I64, 1 - (1 << INDEX_BITS))
    bounded = builder.intrinsic("llvm.smax", builder.intrinsic("llvm.smin", index, most), least)
    address = builder.add(builder.trunc(bounded, I32), literal(I32, OUTSIDE))
    builder.read(I8, builder.inttoptr(address, PRIVATE_SPACE), 1, volatile=True)
    builder.branch(after)
    builder.position_at_end(after)
    return builder.choose(inside, value, literal(value.type, 0))


# Subscripts with their constants last, so that LLVM merges neighbouring accesses.
#
# before: `m * (a + 1) + b`
# after:  `m * a + b` and the constant `m`, which is added last

# Sums of more terms keep their order, since moving the constant could make their partial sums wrap.
_MAX_TERMS = 2


def split_constant(index: tree.Expression) -> tuple[tree.Expression, int]:
    """Split an index such as `m * (a + constant) + b` into `m * a + b` and a constant, 0 if there
    is none.

    Neighbouring accesses then differ only in the last addition. The index is in 0..maximum and the
    constant is positive, so the rest, the index minus the constant, is in the type's range. A sum
    of two terms does not wrap in between either. A product that lost a constant might wrap, which
    is harmless but rules out the no-wrap flag.
    """
    if (
        not isinstance(index.type, Scalar)
        or not index.type.is_signed
        or not _is(index, tree.BinaryOperator.ADD)
    ):
        return index, 0
    parts = _Parts()
    parts.collect(index)
    total = sum(parts.constants)
    if not 0 < len(parts.terms) <= _MAX_TERMS or not 0 < total <= index.type.maximum:
        return index, 0
    if len(parts.terms) == 1:
        return parts.terms[0], total
    left, right = parts.terms
    rest = tree.Binary(
        index.span, index.type, tree.BinaryOperator.ADD, left, right, no_wrap=not parts.has_reduced
    )
    return rest, total


class _Parts:
    """The terms and constants of a sum. has_reduced: whether a constant was moved out of a
    product."""

    def __init__(self) -> None:
        self.terms: list[tree.Expression] = []
        self.constants: list[int] = []
        self.has_reduced = False

    def collect(self, node: tree.Expression) -> None:
        """Collect the terms and constants of a sum."""
        if isinstance(node, tree.Constant):
            self.constants.append(int(node.value))
        elif isinstance(node, tree.Binary) and _is(node, tree.BinaryOperator.ADD):
            self.collect(node.left)
            self.collect(node.right)
        elif isinstance(node, tree.Binary) and _is(node, tree.BinaryOperator.MULTIPLY):
            self._collect_product(node)
        else:
            self.terms.append(node)

    def _collect_product(self, node: tree.Binary) -> None:
        factor, other = (
            (node.left, node.right)
            if isinstance(node.left, tree.Constant)
            else (node.right, node.left)
        )
        inner = _Parts()
        if isinstance(factor, tree.Constant) and _is(other, tree.BinaryOperator.ADD):
            inner.collect(other)
        if not isinstance(factor, tree.Constant) or not inner.constants or len(inner.terms) != 1:
            self.terms.append(node)
            return
        self.has_reduced = True
        self.constants.append(int(factor.value) * sum(inner.constants))
        self.terms.append(tree.Binary(node.span, node.type, node.operator, inner.terms[0], factor))


def _is(node: tree.Expression, operator: tree.BinaryOperator) -> bool:
    return isinstance(node, tree.Binary) and node.operator is operator and node.no_wrap
