"""Buffer resources: where a buffer lies, what it holds, and how an index names a place in it.

A place is a record and a byte offset within it; a raw buffer is a single record. Loads outside the
buffer return 0, stores and atomic operations outside do nothing.

Sources: LLVM AMDGPU guide, "Buffer Resources" and "Memory Model GFX12"; RDNA4 ISA, 9.4 to 9.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics.type_variables import LANE_VALUE
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.target import with_builtins_of
from amdjit.types import (
    AddressSpace,
    Array,
    Choice,
    Immediate,
    Layout,
    Pointer,
    PointerPattern,
    Scalar,
    Type,
    TypeVariable,
    Vector,
    boolean,
    from_dtype,
    i8,
    i16,
    i32,
    i64,
    u8,
    u32,
)

GFX12 = with_builtins_of("gfx1200", "gfx1201")
# The type that a resource points to tells its kind; it is not the type of the elements.
RAW, RECORDS = Pointer(u8, AddressSpace.BUFFER), Pointer(i8, AddressSpace.BUFFER)
# RDNA4 ISA, "Buffer Resource Descriptor", word 3: format 32_UINT, and OOB_SELECT: 3 compares byte
# offsets, 0 the record's number and the offset within it.
_RAW_WORD, _RECORDS_WORD = 0x30014000, 0x00014000
MOST_RECORD_BYTES = (1 << 14) - 1
# LLVM AMDGPU guide, auxiliary bits 0..2 of gfx12: TH, the temporal hint; 3..4: the scope.
POLICIES: Mapping[str, int] = MappingProxyType(
    {"temporal": 0, "non_temporal": 1, "high_temporal": 2, "last_use": 3}
)
LoadPolicy = Annotated[str, Choice(*POLICIES)]
StorePolicy = Annotated[str, Choice("temporal", "non_temporal", "high_temporal")]
Flag = Annotated[bool, Immediate(0, 1)]
ANY_GLOBAL = PointerPattern(None, (AddressSpace.GLOBAL,))
BUFFER = PointerPattern(None, (AddressSpace.BUFFER,))
# What one buffer instruction moves: 8 to 128 bits.
BUFFER_VALUE = TypeVariable(
    "T",
    tuple(
        type
        for type in LANE_VALUE.constraints
        if type is not boolean and getattr(type, "bits", 0) <= 128
    ),
)


def buffer_operands(
    context: EmitContext, operands: Sequence[Any], structured: bool, auxiliary: int
) -> list[Any]:
    """Return the operands after the value: resource, record if the resource has records, offset,
    scalar offset, policy."""
    resource, record, offset = operands
    place = [record, offset] if structured else [offset]
    return [resource, *place, context.constant(i32, 0), context.constant(i32, auxiliary)]


def family(structured: bool) -> str:
    """Return the prefix of LLVM's function names."""
    return "llvm.amdgcn.struct.ptr" if structured else "llvm.amdgcn.raw.ptr"


def suffix(type: Type) -> str:
    """Return a type's suffix in LLVM's overloaded names."""
    if isinstance(type, Vector):
        return f"v{type.length}{suffix(type.element)}"
    assert isinstance(type, Scalar)
    return ("bf" if type.name == "bf16" else "f" if type.is_float else "i") + str(type.bits)


def _emit_raw(context: EmitContext, pointer: Any, size: Any) -> Any:
    operands = [pointer, context.constant(i16, 0), size, context.constant(i32, _RAW_WORD)]
    return context.call("llvm.amdgcn.make.buffer.rsrc.p8.p1", context.llvm_type(RAW), operands)


def _emit_records(context: EmitContext, pointer: Any, count: Any, stride: int) -> Any:
    operands = [pointer, context.constant(i16, stride), count, context.constant(i32, _RECORDS_WORD)]
    return context.call("llvm.amdgcn.make.buffer.rsrc.p8.p1", context.llvm_type(RECORDS), operands)


@intrinsic(Emit(_emit_raw), targets=GFX12, alternative="amdgcn.make_buffer_rsrc")
def make_buffer(pointer: ANY_GLOBAL, size: i64) -> RAW:
    """Return a raw buffer resource of `size` bytes."""


@intrinsic(Emit(_emit_records), targets=GFX12, alternative="amdgcn.make_buffer_rsrc")
def make_records(
    pointer: ANY_GLOBAL, count: i64, stride: Annotated[int, Immediate(1, MOST_RECORD_BYTES)]
) -> RECORDS:
    """Return a resource of `count` records of `stride` bytes."""


@compile_time
def has_records(compilation: Compilation, resource: Any, index: Any) -> bool:
    """Return whether a resource has records. Refused if the index does not fit."""
    is_pair = isinstance(index, tuple)
    if resource not in (RAW, RECORDS):
        raise Refused(
            "this is not a buffer resource",
            "make one of an array: memory.buffer(array), memory.records(array, n)",
        )
    if is_pair and (resource == RAW or len(index) != 2):
        raise Refused(
            "a raw buffer has one index",
            "index it by an int, or make records of it: memory.records(array, n)",
        )
    if resource == RECORDS and not is_pair:
        raise Refused("a buffer of records has two indices", "write (record, element)")
    return is_pair


@compile_time
def is_one_piece(compilation: Compilation, array: Any) -> bool:
    """Return True. Refused unless the array lies in global memory in one piece: a resource is a
    start and a size."""
    if not isinstance(array, Array) or array.address_space is not AddressSpace.GLOBAL:
        raise Refused(
            f"a buffer needs an array in global memory, not {array}",
            "pass a kernel's array argument",
        )
    if array.layout is not Layout.CONTIGUOUS and not (
        array.layout is Layout.ROWS and array.ndim == 1
    ):
        raise Refused(
            f"{array} need not be contiguous, as a buffer must be",
            "give it a C-contiguous array (np.ascontiguousarray), or index it as an array",
        )
    return True


@compile_time
def element_type(compilation: Compilation, dtype: Any) -> Any:
    """Return the type of a buffer's elements, of 8 to 128 bits. Refused if it is not one."""
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        dtype = from_dtype(np.dtype(dtype))
    if dtype not in BUFFER_VALUE.constraints:
        raise Refused(
            f"{dtype!r} cannot be the type of a buffer's elements",
            "write f32, u32, f32x4, amdjit.vector(f16, 8)",
        )
    return dtype


@compile_time
def value_bytes(compilation: Compilation, value: Any) -> int:
    """Return the bytes of a value that goes into a buffer. Refused for a plain number, which has no
    size of its own."""
    if not isinstance(value, (Scalar, Vector)):
        raise Refused(
            "a buffer's elements have the value's type, and a plain number has no type",
            "write u32(1), f32(0.5)",
        )
    return value.bits // 8


@compile_time
def record_bytes(compilation: Compilation, array: Any, count: Any) -> int:
    """Return the bytes of records of `count` elements. Refused if no resource can have them."""
    size = (
        count * array.element.nbytes if isinstance(count, int) and hasattr(array, "element") else 0
    )
    if not 1 <= size <= MOST_RECORD_BYTES:
        raise Refused(
            f"records have 1 to {MOST_RECORD_BYTES} bytes, known when the kernel is compiled",
            "write memory.records(array, 16), or pass the number as an amdjit.Const",
        )
    return size


@device_function
def place_of(resource, index, size):
    """Return the record and the byte offset of element `index`, of `size` bytes each."""
    if has_records(resource, index):
        return u32(index[0]), u32(index[1]) * u32(size)
    return u32(0), u32(index) * u32(size)
