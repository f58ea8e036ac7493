"""Arrays in memory: addresses, loads, stores, and the allocation of LDS and private arrays.

before: a load of `a[i, j]` from `a: f32[:, ::1]` with 32-bit offsets
after:  `zext` of (i * extent1 + j) << 2, `getelementptr inbounds nuw i8`, `load float`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.abi import ArrayValue, unflatten
from amdjit.lowering.builder import Builder
from amdjit.lowering.conversions import from_memory, resize, to_memory
from amdjit.lowering.types import (
    I8,
    I32,
    I64,
    Literal,
    literal,
    llvm_type,
    mangled,
    memory_type,
    pointer_to,
)
from amdjit.types import AddressSpace, Array, Element, Layout, Record, Scalar, Vector, i32

__all__ = [
    "allocate",
    "allocate_dynamic",
    "base_address",
    "element_address",
    "load",
    "record_view",
    "store",
    "stride_of",
    "view",
]

Index = tuple[Any, Scalar]

# The widest access of one instruction (RDNA4 ISA, "Vector Memory Instructions": 128 bits), which is
# also the alignment of LDS and private arrays.
_MAX_ALIGNMENT = 16
# Flags of sums and products that stay in the signed range, and of those that are also not negative.
_SIGNED = ("nsw",)
_UNSIGNED = ("nuw", "nsw")
_DYNAMIC_LDS = "amdjit.dynamic_lds"


def element_address(
    builder: Builder,
    array: ArrayValue,
    indices: Sequence[Index],
    constant: int = 0,
    keeps_apart: bool = False,
) -> Any:
    """Return the address of the element `constant` after the indices; each index comes with its
    type.

    No index is negative; the last one may be, but not its sum with the constant. A strided array
    without rows takes no constant. keeps_apart: whether LLVM must not mix the array's address with
    the indices.

    If offsets fit 32 bits, the byte offset is an unsigned 32-bit number added to the array's
    address: the form that LLVM selects as `global_load v, v_offset, s[base:base+1]`, without 64-bit
    arithmetic. Otherwise the offset counts elements, so that LLVM's SeparateConstOffsetFromGEP
    finds constants in it, which become the instruction's offset. Strides may be negative except
    those of rows, so arrays without rows have signed offsets.
    """
    if not indices:
        return array.pointer
    kind = array.type
    short_pointer = kind.address_space in (AddressSpace.LDS, AddressSpace.PRIVATE)
    narrow = short_pointer or kind.offset_bits == 32
    width = I32 if narrow else I64
    # A 64-bit index of an array with 32-bit offsets fits 32 bits, as every valid index does.
    resized = [resize(builder, value, scalar, width) for value, scalar in indices]
    signed = kind.layout is Layout.STRIDED
    unit: Any = memory_type(kind.element) if isinstance(kind.element, Scalar) else I8
    if (narrow and not short_pointer) or kind.pitch or not isinstance(kind.element, Scalar):
        offset, unit = _byte_offset(builder, array, resized, constant), I8
    else:
        offset = _flat_offset(builder, array, resized, constant != 0)
        offset = _combine(builder, "add", offset, literal(offset.type, constant), _SIGNED)
    if keeps_apart and not short_pointer and offset.type == I32 and not isinstance(offset, Literal):
        offset = _kept_apart(builder, offset)
    if narrow and not short_pointer:
        offset = _extend(builder, offset, signed)
    if isinstance(offset, Literal) and offset.text == "0":
        return array.pointer
    return builder.offset(array.pointer, offset, unit, "inbounds" if signed else "inbounds nuw")


def base_address(builder: Builder, array: ArrayValue, starts: Sequence[Index]) -> Any:
    """Return the address of an element that LLVM does not mix with offsets that are added to it
    (`keeps_apart`).

    LLVM's loop passes would first add what does not change in a loop, the part that differs between
    lanes, and then each base with 64-bit vector additions. LLVM language reference,
    "llvm.strip.invariant.group": the result is another name of the same address.
    """
    pointer = element_address(builder, array, starts)
    if array.type.address_space is not AddressSpace.GLOBAL:
        return pointer
    return builder.invoke_name(
        f"llvm.strip.invariant.group.{mangled(pointer.type)}", pointer.type, [pointer]
    )


def _kept_apart(builder: Builder, offset: Any) -> Any:
    """Return an offset that LLVM's passes treat as a new value at each use, up to instruction
    selection.

    They would extend an offset that a loop does not change before the loop, where instruction
    selection cannot see that it has 32 bits. LLVM language reference, "llvm.annotation": the call
    returns its first operand.
    """
    nothing = Literal(pointer_to(AddressSpace.GLOBAL), "null")
    return builder.invoke_name(
        "llvm.annotation.i32.p1", I32, [offset, nothing, nothing, literal(I32, 0)]
    )


def stride_of(builder: Builder, array: ArrayValue, axis: int) -> Any:
    """Return the distance between neighbours along an axis, in elements."""
    if array.strides is not None:
        return array.strides[axis]
    stride = literal(array.extents[axis].type, 1)
    for extent in reversed(array.extents[axis + 1 :]):
        stride = _combine(builder, "mul", stride, extent)
    return stride


def view(
    builder: Builder,
    array: ArrayValue,
    type: Array,
    starts: Sequence[Index],
    extents: Sequence[Any | None],
    steps: Sequence[Any],
) -> ArrayValue:
    """Return a part of an array; axes without an extent are dropped.

    A stride may wrap if the extent is 1 or 0, since only its multiple 0 is used then.
    """
    pointer = element_address(builder, array, starts)
    kept = tuple(extent for extent in extents if extent is not None)
    if not type.layout.has_strides:
        return ArrayValue(type, pointer, kept, None)
    strides = []
    for axis, (extent, step) in enumerate(zip(extents, steps, strict=True)):
        if extent is not None:
            stride = stride_of(builder, array, axis)
            factor = literal(stride.type, step) if isinstance(step, int) else step
            strides.append(_combine(builder, "mul", stride, factor, ()))
    return ArrayValue(type, pointer, kept, tuple(strides))


def load(
    builder: Builder, array: ArrayValue, address: Any, width: int = 0, alignment: int = 0
) -> Any:
    """Return the element at an address, or `width` > 0 of them as a vector."""
    element = array.type.element
    if width == 0:
        value = builder.read(memory_type(element), address, _element_alignment(array.type))
        return from_memory(builder, value, element)
    wide = _wide_type(element, width)
    return builder.read(llvm_type(wide), address, alignment or _wide_alignment(array.type, wide))


def store(
    builder: Builder,
    array: ArrayValue,
    address: Any,
    value: Any,
    width: int = 0,
    alignment: int = 0,
) -> None:
    """Write an element at an address, or a vector of `width` > 0 elements."""
    element = array.type.element
    if width == 0:
        builder.write(address, to_memory(builder, value, element), _element_alignment(array.type))
    else:
        builder.write(
            address, value, alignment or _wide_alignment(array.type, _wide_type(element, width))
        )


def record_view(
    builder: Builder, array: ArrayValue, address: Any, offset: int, type: Array
) -> ArrayValue:
    """Return the view at `offset` bytes from an address: a field of the array's elements, or one
    element."""
    if offset:
        address = builder.offset(address, literal(I32, offset), I8, "inbounds nuw")
    if type.ndim == 0 or type.shape is not None:
        return unflatten(type, [address])  # type: ignore[no-any-return]
    return ArrayValue(type, address, array.extents, array.strides)


def allocate(builder: Builder, name: str, type: Array, alignment: int = 0) -> ArrayValue:
    """Reserve an array of known shape: in the workgroup's LDS, or in the lane's private memory."""
    alignment = max(alignment, _MAX_ALIGNMENT)
    if isinstance(type.element, Record):
        storage = ir.ArrayType(I8, type.size * type.element.nbytes)
    else:
        storage = ir.ArrayType(memory_type(type.element), type.size)
    if isinstance(type.element, Vector):
        # LLVM pads vectors of 3; the kernel language packs them.
        storage = ir.ArrayType(memory_type(type.element.element), type.size * type.element.length)
    if type.address_space is AddressSpace.PRIVATE:
        return unflatten(type, [builder.allocate(storage, alignment)])  # type: ignore[no-any-return]
    if type.address_space is not AddressSpace.LDS:
        raise InternalError(f"{type} cannot be allocated in a kernel")
    # The optimiser calls the elements of `name` name.0, name.1, ...: see `amdjit.backend.lds`.
    taken = sum(variable.startswith(name) for variable in builder.module.globals)
    unique_name = builder.module.get_unique_name(f"{name}.n{taken}" if taken else name)
    variable = ir.GlobalVariable(builder.module, storage, unique_name, AddressSpace.LDS.value)
    variable.linkage = "internal"
    variable.align = alignment
    return unflatten(type, [_address(variable)])  # type: ignore[no-any-return]


def allocate_dynamic(builder: Builder, type: Array, launch_bytes: Any, offset: Any) -> ArrayValue:
    """Return an array `offset` bytes into the dynamic LDS, which has `launch_bytes` and follows all
    static LDS.

    LLVM places every zero-sized external LDS variable there (LLVM AMDGPU guide, "Module LDS").
    """
    variable = builder.module.globals.get(_DYNAMIC_LDS)
    if variable is None:
        variable = ir.GlobalVariable(
            builder.module, ir.ArrayType(I8, 0), _DYNAMIC_LDS, AddressSpace.LDS.value
        )
        variable.align = _MAX_ALIGNMENT
    start = _address(variable)
    if not (isinstance(offset, Literal) and offset.text == "0"):
        start = builder.offset(start, offset, I8)
        launch_bytes = builder.intrinsic("llvm.usub.sat", launch_bytes, offset)
    if type.shape is not None:
        return unflatten(type, [start])  # type: ignore[no-any-return]
    extent = builder.udiv(launch_bytes, literal(I32, type.element.nbytes))
    extent = resize(builder, extent, type.index_type, llvm_type(type.index_type))
    return unflatten(type, [start, extent])  # type: ignore[no-any-return]


def _address(variable: Any) -> Any:
    return Literal(pointer_to(AddressSpace.LDS), variable.get_reference())


def _flat_offset(
    builder: Builder, array: ArrayValue, indices: list[Any], last_is_signed: bool
) -> Any:
    """Return sum(index * stride); every partial sum is an offset inside the array, so nothing
    wraps.

    last_is_signed: whether a constant will be added, so that the last index may be negative and
    only signed sums do not wrap.
    """
    if array.strides is None:
        offset = indices[0]
        for axis, index in enumerate(indices[1:], 1):
            row = _combine(builder, "mul", offset, _fit(builder, array.extents[axis], index))
            signed = last_is_signed and axis == len(indices) - 1
            offset = _combine(builder, "add", row, index, _SIGNED if signed else _UNSIGNED)
        return offset
    flags = _SIGNED if array.type.layout is Layout.STRIDED else _UNSIGNED
    pairs = list(zip(indices, array.strides, strict=True))
    terms = [
        _combine(builder, "mul", index, _fit(builder, stride, index), flags)
        for index, stride in pairs[:-1]
    ]
    last = _SIGNED if last_is_signed else flags
    terms.append(
        _combine(builder, "mul", pairs[-1][0], _fit(builder, pairs[-1][1], pairs[-1][0]), last)
    )
    offset = terms[0]
    for number, term in enumerate(terms[1:], 1):
        offset = _combine(builder, "add", offset, term, last if number == len(terms) - 1 else flags)
    return offset


def _byte_offset(builder: Builder, array: ArrayValue, indices: list[Any], constant: int) -> Any:
    """Return the offset in bytes. The constant comes last, where LLVM finds it even if other
    accesses share the rest."""
    nbytes = array.type.pitch or array.type.element.nbytes
    offset = _flat_offset(builder, array, indices, constant != 0)
    if constant * nbytes > i32.maximum:
        offset = _combine(builder, "add", offset, literal(offset.type, constant), _SIGNED)
        constant = 0
    offset = _in_bytes(
        builder, offset, nbytes, array.type.layout is Layout.STRIDED or constant != 0
    )
    return _combine(builder, "add", offset, literal(offset.type, constant * nbytes), _SIGNED)


def _in_bytes(builder: Builder, offset: Any, nbytes: int, signed: bool) -> Any:
    if isinstance(offset, Literal):
        return literal(offset.type, int(offset.text) * nbytes)
    flags = _SIGNED if signed else _UNSIGNED
    if nbytes & (nbytes - 1):
        return builder.operation("mul", offset, literal(offset.type, nbytes), flags)
    shift = nbytes.bit_length() - 1
    return builder.operation("shl", offset, literal(offset.type, shift), flags) if shift else offset


def _extend(builder: Builder, offset: Any, signed: bool) -> Any:
    if isinstance(offset, Literal):
        return literal(I64, int(offset.text))
    return builder.sext(offset, I64) if signed else builder.zext(offset, I64)


def _fit(builder: Builder, size: Any, index: Any) -> Any:
    """Convert an extent or stride to the width of the index."""
    if size.type == index.type:
        return size
    if isinstance(size, Literal):
        return literal(index.type, int(size.text))
    return (
        builder.trunc(size, index.type)
        if size.type.width > index.type.width
        else builder.sext(size, index.type)
    )


def _combine(
    builder: Builder, name: str, left: Any, right: Any, flags: tuple[str, ...] = _UNSIGNED
) -> Any:
    """Add or multiply offsets; constants are folded so that the IR stays small."""
    if isinstance(left, Literal) and isinstance(right, Literal):
        a, b = int(left.text), int(right.text)
        return literal(left.type, a + b if name == "add" else a * b)
    if name == "mul" and any(
        isinstance(side, Literal) and side.text == "0" for side in (left, right)
    ):
        return literal(left.type, 0)
    neutral = "0" if name == "add" else "1"
    if isinstance(left, Literal) and left.text == neutral:
        return right
    if isinstance(right, Literal) and right.text == neutral:
        return left
    return builder.operation(name, left, right, flags)


def _wide_type(element: Element, width: int) -> Vector:
    if not isinstance(element, Scalar) or element.bits == 1:
        raise InternalError(f"no vector access to elements of type {element}")
    return Vector(element, width)


def _wide_alignment(type: Array, wide: Vector) -> int:
    """Return the alignment of a wide access.

    In global and constant memory, arrays and their parts begin at any element, and gfx12 reads 128
    bits from there. A larger alignment would let LLVM select a scalar load, which ignores the
    lowest bits of the address (RDNA4 ISA, "Scalar Memory Instructions").
    """
    from_any_element = type.address_space in (AddressSpace.GLOBAL, AddressSpace.CONSTANT)
    return _element_alignment(type) if from_any_element else _power_of_two(wide.nbytes)


def _element_alignment(type: Array) -> int:
    """Return the alignment of every element, in bytes; arrays start at a multiple of it."""
    return type.packing or _power_of_two(type.element.nbytes)


def _power_of_two(nbytes: int) -> int:
    return min(nbytes & -nbytes, _MAX_ALIGNMENT)
