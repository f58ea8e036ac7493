"""Buffer instructions, as `memory` and `atomic` use them: a resource says where a buffer lies and
what is inside.

A place in a buffer is a record and a byte offset in it; raw buffers are one record. Loads outside
give 0, stores and atomics outside do nothing.

Sources: LLVM AMDGPU guide, "Buffer Resources" and "Memory Model GFX12"; RDNA4 ISA, 9.4 to 9.6.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from amdjit.abi.buffer_formats import BUFFER_FORMATS, BufferFormat, format_named
from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics.type_variables import LANE_VALUE
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import (
    VOID,
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
    f16,
    f32,
    from_dtype,
    i8,
    i16,
    i32,
    i64,
    u8,
    u32,
)

GFX12 = ("gfx1200", "gfx1201")
# What a resource points to tells its kind: nothing has the type of what it holds.
RAW, RECORDS = Pointer(u8, AddressSpace.BUFFER), Pointer(i8, AddressSpace.BUFFER)
# RDNA4 ISA, "Buffer Resource Descriptor", word 3: format 32_UINT, and OOB_SELECT: 3 compares byte
# offsets, 0 the record's number and the offset in it.
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
# Channels of a format, in 32 bits or, as halves, in 16.
TEXEL = TypeVariable(
    "T",
    tuple(
        _type
        for one in (f32, i32, u32, f16)
        for _type in (one, *(Vector(one, n) for n in (2, 3, 4)))
    ),
)
FORMAT_NAMES = tuple(name.removeprefix("BUF_FMT_") for name in list(BUFFER_FORMATS.values())[1:])


def buffer_operands(
    context: EmitContext, operands: tuple[Any, Any, Any], structured: bool, auxiliary: int
) -> list[Any]:
    """Return the operands behind the value: resource, record if there are some, offset, scalar
    offset, policy."""
    resource, record, offset = operands
    place = [record, offset] if structured else [offset]
    return [resource, *place, context.constant(i32, 0), context.constant(i32, auxiliary)]


def family(structured: bool) -> str:
    """Return the start of the names of LLVM's functions."""
    return "llvm.amdgcn.struct.ptr" if structured else "llvm.amdgcn.raw.ptr"


def suffix(type: Type) -> str:
    """Return how LLVM's overloaded names call a type."""
    if isinstance(type, Vector):
        return f"v{type.length}{suffix(type.element)}"
    assert isinstance(type, Scalar)
    return ("bf" if type.name == "bf16" else "f" if type.is_float else "i") + str(type.bits)


def _words(context: EmitContext, type: Any) -> tuple[str, Any]:
    """Return the integers, and their name in LLVM, that a buffer instruction moves for a type."""
    bits = type.bits
    if bits < 32:
        return f"i{bits}", context.llvm_type(u8 if bits == 8 else i16)
    count = bits // 32
    return (
        (f"v{count}i32", context.llvm_type(Vector(i32, count)))
        if count > 1
        else ("i32", context.llvm_type(i32))
    )


def _emit_raw(context: EmitContext, pointer: Any, size: Any) -> Any:
    operands = [pointer, context.constant(i16, 0), size, context.constant(i32, _RAW_WORD)]
    return context.call("llvm.amdgcn.make.buffer.rsrc.p8.p1", context.llvm_type(RAW), operands)


def _emit_records(context: EmitContext, pointer: Any, count: Any, stride: int) -> Any:
    operands = [pointer, context.constant(i16, stride), count, context.constant(i32, _RECORDS_WORD)]
    return context.call("llvm.amdgcn.make.buffer.rsrc.p8.p1", context.llvm_type(RECORDS), operands)


def _emit_load(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    like: Any,
    policy: str,
    structured: bool,
) -> Any:
    name, words = _words(context, context.result_type)
    operands = buffer_operands(context, (resource, record, offset), structured, POLICIES[policy])
    loaded = context.call(f"{family(structured)}.buffer.load.{name}", words, operands)
    return context.bitcast(loaded, context.llvm_type(context.result_type))


def _emit_store(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    value: Any,
    policy: str,
    structured: bool,
) -> None:
    name, words = _words(context, context.types[3])
    operands = buffer_operands(context, (resource, record, offset), structured, POLICIES[policy])
    stored = [context.bitcast(value, words), *operands]
    context.call(f"{family(structured)}.buffer.store.{name}", context.llvm_type(VOID), stored)


def _with_format(context: EmitContext, operands: list[Any], number: int) -> list[Any]:
    return [*operands[:-1], context.constant(i32, number), operands[-1]]


def _emit_load_texel(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    like: Any,
    number: int,
    policy: str,
    structured: bool,
) -> Any:
    type = context.result_type
    operands = buffer_operands(context, (resource, record, offset), structured, POLICIES[policy])
    name = f"{family(structured)}.tbuffer.load.{suffix(type)}"
    return context.call(name, context.llvm_type(type), _with_format(context, operands, number))


def _emit_store_texel(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    value: Any,
    number: int,
    policy: str,
    structured: bool,
) -> None:
    operands = buffer_operands(context, (resource, record, offset), structured, POLICIES[policy])
    name = f"{family(structured)}.tbuffer.store.{suffix(context.types[3])}"
    context.call(name, context.llvm_type(VOID), [value, *_with_format(context, operands, number)])


def _emit_prefetch(context: EmitContext, resource: Any, offset: int, lines: int) -> None:
    operands = [resource, context.constant(i32, offset), context.constant(i32, lines - 1)]
    context.call("llvm.amdgcn.s.buffer.prefetch.data", context.llvm_type(VOID), operands)


@intrinsic(Emit(_emit_raw), targets=GFX12, alternative="amdgcn.make_buffer_rsrc")
def make_buffer(pointer: ANY_GLOBAL, size: i64) -> RAW:
    """Return a raw buffer resource of `size` bytes."""


@intrinsic(Emit(_emit_records), targets=GFX12, alternative="amdgcn.make_buffer_rsrc")
def make_records(
    pointer: ANY_GLOBAL, count: i64, stride: Annotated[int, Immediate(1, MOST_RECORD_BYTES)]
) -> RECORDS:
    """Return a resource of `count` records of `stride` bytes."""


@intrinsic(
    Emit(_emit_load), isa="buffer_load_b32", targets=GFX12, alternative="amdgcn.raw_buffer_load_b32"
)
def load(
    resource: BUFFER,
    record: u32,
    offset: u32,
    like: BUFFER_VALUE,
    policy: LoadPolicy,
    structured: Flag,
) -> BUFFER_VALUE:
    """Return what stands at a byte offset of a record."""


@intrinsic(
    Emit(_emit_store),
    isa="buffer_store_b32",
    targets=GFX12,
    alternative="amdgcn.raw_buffer_store_b32",
)
def store(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: BUFFER_VALUE,
    policy: StorePolicy,
    structured: Flag,
) -> VOID:
    """Write at a byte offset of a record."""


@intrinsic(
    Emit(_emit_load_texel),
    isa="tbuffer_load",
    targets=GFX12,
    alternative="amdgcn.raw_buffer_load_b32",
)
def load_texel(
    resource: BUFFER,
    record: u32,
    offset: u32,
    like: TEXEL,
    number: Annotated[int, Immediate(1, 63)],
    policy: LoadPolicy,
    structured: Flag,
) -> TEXEL:
    """Return an element of a format, converted (`tbuffer_load_format_*`)."""


@intrinsic(
    Emit(_emit_store_texel),
    isa="tbuffer_store",
    targets=GFX12,
    alternative="amdgcn.raw_buffer_store_b32",
)
def store_texel(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: TEXEL,
    number: Annotated[int, Immediate(1, 63)],
    policy: StorePolicy,
    structured: Flag,
) -> VOID:
    """Convert to a format and write (`tbuffer_store_format_*`)."""


@intrinsic(
    Emit(_emit_prefetch), isa="s_buffer_prefetch_data", targets=GFX12, alternative="memory.prefetch"
)
def prefetch(
    resource: BUFFER,
    offset: Annotated[int, Immediate(0, (1 << 23) - 1)],
    lines: Annotated[int, Immediate(1, 32)],
) -> VOID:
    """Bring lines of 128 bytes from a byte offset on into the cache."""


@compile_time
def has_records(compilation: Compilation, resource: Any, index: Any) -> bool:
    """Tell whether a resource is of records; Refused where the index does not fit."""
    is_pair = isinstance(index, tuple)
    if resource not in (RAW, RECORDS):
        raise Refused(
            "this is no buffer resource",
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
    """Return True; Refused for what is no array in global memory in one piece: a resource is a
    start and a size."""
    if not isinstance(array, Array) or array.address_space is not AddressSpace.GLOBAL:
        raise Refused(
            f"a buffer lies in an array in global memory, not in {array}",
            "pass a kernel's array argument",
        )
    if array.layout is not Layout.CONTIGUOUS and not (
        array.layout is Layout.ROWS and array.ndim == 1
    ):
        raise Refused(
            f"{array} need not lie in one piece, as a buffer does",
            "give it a C-contiguous array (np.ascontiguousarray), or index it as an array",
        )
    return True


@compile_time
def element_type(compilation: Compilation, dtype: Any) -> Any:
    """Return the type of a buffer's elements, of 8 to 128 bits; Refused if it is none."""
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        dtype = from_dtype(np.dtype(dtype))
    if dtype not in BUFFER_VALUE.constraints:
        raise Refused(
            f"{dtype!r} is no type of a buffer's elements",
            "write f32, u32, f32x4, amdjit.vector(f16, 8)",
        )
    return dtype


@compile_time
def value_bytes(compilation: Compilation, value: Any) -> int:
    """Return the bytes of a value that goes into a buffer; Refused for a plain number, which may be
    of any size."""
    if not isinstance(value, (Scalar, Vector)):
        raise Refused(
            "a buffer has elements of the value's type, and a plain number has none",
            "write u32(1), f32(0.5)",
        )
    return value.bits // 8


@compile_time
def record_bytes(compilation: Compilation, array: Any, count: Any) -> int:
    """Return the bytes of records of `count` elements; Refused if no resource has them."""
    size = (
        count * array.element.nbytes if isinstance(count, int) and hasattr(array, "element") else 0
    )
    if not 1 <= size <= MOST_RECORD_BYTES:
        raise Refused(
            f"records have 1 to {MOST_RECORD_BYTES} bytes, known when the kernel is compiled",
            "write memory.records(array, 16), or pass the number as an amdjit.Const",
        )
    return size


@compile_time
def format_number(compilation: Compilation, name: Any) -> int:
    """Return a format's number."""
    return _format(name).number


@compile_time
def format_bytes(compilation: Compilation, name: Any) -> int:
    """Return the bytes of a format's elements."""
    return _format(name).size


@compile_time
def format_type(compilation: Compilation, name: Any, narrow: Any) -> Type:
    """Return what registers hold of a format's elements: a number or a vector."""
    texel = _format(name)
    if narrow and texel.is_integer:
        raise Refused("integers have no narrow form", "leave narrow=True out")
    element = (
        f16 if narrow else i32 if texel.kind == "SINT" else u32 if texel.kind == "UINT" else f32
    )
    return element if len(texel.widths) == 1 else Vector(element, len(texel.widths))


@compile_time
def check_stored(compilation: Compilation, name: Any, value: Any) -> bool:
    """Refuse a value that is not what a format's elements are stored from."""
    texel = _format(name)
    if texel.kind.endswith("SCALED"):
        raise Refused(
            f"nothing says how a store rounds to {name}",
            "convert to an integer and store it as UINT or SINT",
        )
    element = (i32,) if texel.kind == "SINT" else (u32,) if texel.kind == "UINT" else (f32, f16)
    count = len(texel.widths)
    wanted = [one if count == 1 else Vector(one, count) for one in element]
    if value not in wanted:
        raise Refused(
            f"{name} is stored from {' or '.join(map(str, wanted))}, not from {value}",
            "convert the value",
        )
    return True


def _format(name: Any) -> BufferFormat:
    found = format_named(name) if isinstance(name, str) else None
    if found is None:
        near = difflib.get_close_matches(str(name), FORMAT_NAMES, 3)
        remedy = (
            f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(FORMAT_NAMES)}"
        )
        raise Refused(f"buffers have no format {name!r}", remedy)
    return found


@device_function
def place_of(resource, index, size):
    """Return the record and the byte offset of element `index`, of `size` bytes each."""
    if has_records(resource, index):
        return u32(index[0]), u32(index[1]) * u32(size)
    return u32(0), u32(index) * u32(size)
