"""Accesses to global memory that say more than `a[i]`: bounds checked by hardware, cache policies,
formats, prefetch.

`buffer(array)` is a resource over an array that lies in one piece: loads beyond its end return 0,
stores beyond it do nothing, and neither costs an instruction. `records(array, n)` is a resource
over records of n elements, where places beyond a record's end are outside too. policy: what the
caches are told about the access: "temporal" (the data will be used again), "non_temporal" (it will
not), "high_temporal" (keep it longest), "last_use" (for loads: this is the last).

Sources: LLVM AMDGPU guide, "Buffer Resources" and "Memory Model GFX12"; RDNA4 ISA, 9.3 to 9.6
(buffers), 10.7 (formats), 11.6.2 (transposing loads), `s_prefetch_data`; LLVM language reference,
"load" (nontemporal).
"""

from __future__ import annotations

from typing import Annotated, Any

from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics import atomic
from amdjit.intrinsics.asm import instruction
from amdjit.intrinsics.buffers import access
from amdjit.intrinsics.buffers.access import (
    check_stored,
    format_bytes,
    format_number,
    format_type,
    load_texel,
    store_texel,
)
from amdjit.intrinsics.buffers.resources import (
    ANY_GLOBAL,
    GFX12,
    element_type,
    has_records,
    is_one_piece,
    make_buffer,
    make_records,
    place_of,
    record_bytes,
    value_bytes,
)
from amdjit.intrinsics.builtins.table import from_table, row_of
from amdjit.intrinsics.lds import address_of
from amdjit.intrinsics.type_variables import LANE_VALUE
from amdjit.intrinsics.workitem import lane_id
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import (
    VOID,
    AddressSpace,
    Choice,
    Immediate,
    PointerPattern,
    Scalar,
    TypeVariable,
    Vector,
    bf16,
    f16,
    i32,
    i64,
)

__all__ = [
    "buffer",
    "buffer_atomic_add",
    "buffer_load",
    "buffer_load_format",
    "buffer_prefetch",
    "buffer_store",
    "buffer_store_format",
    "load",
    "load_nontemporal",
    "load_transposed",
    "prefetch",
    "prefetch_code",
    "records",
    "store",
    "store_nontemporal",
]

# LLVM can mark plain accesses with these policies only; buffers take all of them.
_PLAIN_LOADS, _PLAIN_STORES = ("temporal", "non_temporal", "last_use"), ("temporal", "non_temporal")
PlainLoad, PlainStore = (
    Annotated[str, Choice(*_PLAIN_LOADS)],
    Annotated[str, Choice(*_PLAIN_STORES)],
)
SCALAR = TypeVariable(
    "T", tuple(type for type in LANE_VALUE.constraints if isinstance(type, Scalar))
)
WIDE = TypeVariable(
    "T",
    tuple(
        type
        for type in LANE_VALUE.constraints
        if isinstance(type, Vector) and type.bits in (32, 64, 128)
    ),
)
SCALAR_POINTER = PointerPattern(SCALAR, (AddressSpace.GLOBAL,))
Lines = Annotated[int, Immediate(1, 32)]


def _emit_prefetch(context: EmitContext, pointer: Any, lines: int) -> None:
    length = context.constant(i32, lines - 1)
    context.call("llvm.amdgcn.s.prefetch.data.p1", context.llvm_type(VOID), [pointer, length])


def _emit_load(context: EmitContext, pointer: Any, policy: str) -> Any:
    return context.load(context.result_type, pointer, policy=policy)


def _emit_wide_load(context: EmitContext, pointer: Any, like: Any, policy: str) -> Any:
    return context.load(context.result_type, pointer, policy=policy)


def _emit_store(context: EmitContext, pointer: Any, value: Any, policy: str) -> None:
    context.store(context.types[1], pointer, value, policy=policy)


@device_function
def buffer(array):
    """Return a buffer resource over an array that lies in one piece in global memory, of less than
    4 GiB.

    Byte offsets into it are unsigned 32-bit integers, and wrap.
    """
    if is_one_piece(array):
        return make_buffer(
            address_of(array, (0,) * array.ndim), i64(array.size) * array.dtype.nbytes
        )


@device_function
def records(array, count):
    """Return a buffer resource over records of `count` elements of an array that lies in one piece.

    count: known when the kernel is compiled, at most 16383 bytes. Elements left over at the end are
    outside. Indices are (record, element); both are checked, so that no access reaches into the
    next record.
    """
    if is_one_piece(array):
        size = record_bytes(array, count)
        return make_records(address_of(array, (0,) * array.ndim), i64(array.size) // count, size)


@device_function
def buffer_load(resource, index, dtype, policy="temporal"):
    """Return element `index` of a buffer, read as elements of a type of 8 to 128 bits; 0 if it is
    out of bounds.

    If an element is partly out of bounds, its words that are inside are loaded. index: an int;
    (record, element) for records.
    """
    kind = element_type(dtype)
    record, offset = place_of(resource, index, kind.nbytes)
    return access.load(resource, record, offset, kind(0), policy, has_records(resource, index))


@device_function
def buffer_store(resource, index, value, policy="temporal"):
    """Write element `index` of a buffer, seen as elements of the value's type; out of bounds
    nothing happens."""
    record, offset = place_of(resource, index, value_bytes(value))
    access.store(resource, record, offset, value, policy, has_records(resource, index))


@device_function
def buffer_atomic_add(resource, index, value):
    """Add an i32, u32 or f32 to element `index` of a buffer; return the old value, 0 if it is out
    of bounds."""
    return atomic.add(resource, index, value)


@device_function
def buffer_load_format(resource, index, format, narrow=False, policy="temporal"):
    """Return element `index` of a buffer in a format such as "8_8_8_8_UNORM", as f32, or for
    integers as u32 or i32.

    A format of several components yields a vector that starts with X, the component in the lowest
    bits (the last in the name). narrow: f16 instead of f32. UNORM and SNORM are numbers in 0..1 and
    -1..1. The address must be a multiple of the element's size, up to 4. Out of bounds the whole
    element is 0.
    """
    record, offset = place_of(resource, index, format_bytes(format))
    like = format_type(format, narrow)(0)
    structured = has_records(resource, index)
    return load_texel(resource, record, offset, like, format_number(format), policy, structured)


@device_function
def buffer_store_format(resource, index, value, format, policy="temporal"):
    """Write element `index` of a buffer in a format from f32, f16, u32 or i32, or a vector of
    these: see `buffer_load_format`.

    UNORM and SNORM clamp and round to the nearest. Other values must be representable: no document
    says how they are rounded.
    """
    check_stored(format, value)
    record, offset = place_of(resource, index, format_bytes(format))
    structured = has_records(resource, index)
    store_texel(resource, record, offset, value, format_number(format), policy, structured)


@device_function
def buffer_prefetch(resource, offset, lines=1):
    """Bring 1 to 32 lines of 128 bytes into the cache, starting at a constant byte offset of a
    buffer."""
    access.prefetch(resource, offset, lines)


@intrinsic(Emit(_emit_prefetch), isa="s_prefetch_data", targets=row_of("s_prefetch_data").targets)
def _prefetch(pointer: ANY_GLOBAL, lines: Lines) -> VOID:
    """Bring lines of 128 bytes into the cache, starting at a uniform address."""


@device_function
def prefetch(array, index, lines=1):
    """Bring 1 to 32 lines of 128 bytes into the cache, starting at an element; the index is the
    same in all lanes."""
    _prefetch(address_of(array, index), lines)


@instruction("s_prefetch_inst_pc_rel {offset}, null, {last}", side_effects=True, targets=GFX12)
def _prefetch_code(
    offset: Annotated[int, Immediate(0, (1 << 23) - 1)], last: Annotated[int, Immediate(0, 31)]
) -> VOID:
    """Bring lines of the program into the instruction cache, starting at a byte offset after this
    instruction."""


@device_function
def prefetch_code(lines, offset=0):
    """Bring 1 to 32 lines of 128 bytes of the kernel's own code into the instruction cache.

    offset: bytes from here on; both are constants.
    """
    _prefetch_code(offset, lines - 1)


@intrinsic(Emit(_emit_load), isa="global_load")
def _load(pointer: SCALAR_POINTER, policy: PlainLoad) -> SCALAR:
    """Load with a hint (LLVM `!nontemporal`, `!amdgpu.last.use`)."""


@intrinsic(Emit(_emit_wide_load), isa="global_load")
def _load_wide(pointer: ANY_GLOBAL, like: WIDE, policy: PlainLoad) -> WIDE:
    """Load a vector with a hint; the address is a multiple of its size."""


@compile_time
def _vector_type(compilation: Compilation, array: Any, count: Any) -> Any:
    """Return the vector of `count` elements. Refused if no access has its size."""
    element = getattr(array, "element", None)
    if (
        not isinstance(element, Scalar)
        or not isinstance(count, int)
        or element.bits * count not in (32, 64, 128)
    ):
        raise Refused(
            f"{count} elements are not a wide access",
            "4 to 16 bytes: 2 or 4 of 32 bits, 2, 4 or 8 of 16 bits",
        )
    return Vector(element, count)


@compile_time
def _is_wide(compilation: Compilation, array: Any, value: Any) -> bool:
    """Return whether a vector is stored. Refused if its elements are not of the array's type."""
    if isinstance(value, Vector) and value.element != getattr(array, "element", None):
        raise Refused(f"{value} cannot be stored in {array}", "convert its elements first")
    return isinstance(value, Vector)


@device_function
def load(array, index, policy="temporal", count=1):
    """Return an element of an array in global memory; policy: "temporal", "non_temporal" or
    "last_use".

    count: how many neighbours along the last axis to return, as a vector of 4, 8 or 16 bytes whose
    address is a multiple of its size.
    """
    if count == 1:
        return _load(address_of(array, index), policy)
    return _load_wide(address_of(array, index), _vector_type(array, count)(0), policy)


@device_function
def load_nontemporal(array, index):
    """Return an element that will not be used again soon, without evicting others from the
    caches."""
    return _load(address_of(array, index), "non_temporal")


@intrinsic(Emit(_emit_store), isa="global_store")
def _store(pointer: SCALAR_POINTER, value: SCALAR, policy: PlainStore) -> VOID:
    """Store with a hint (LLVM `!nontemporal`)."""


@intrinsic(Emit(_emit_store), isa="global_store")
def _store_wide(pointer: ANY_GLOBAL, value: WIDE, policy: PlainStore) -> VOID:
    """Store a vector with a hint; the address is a multiple of its size."""


@device_function
def store(array, index, value, policy="temporal"):
    """Write an element of an array in global memory; policy: "temporal" or "non_temporal".

    value: may also be a vector for neighbours along the last axis, of 4, 8 or 16 bytes, whose
    address is a multiple of its size.
    """
    if _is_wide(array, value):
        _store_wide(address_of(array, index), value, policy)
    else:
        _store(address_of(array, index), array.dtype(value), policy)


@device_function
def store_nontemporal(array, index, value):
    """Write an element that will not be used again soon, without evicting others from the
    caches."""
    _store(address_of(array, index), array.dtype(value), "non_temporal")


@compile_time
def _in_wave64(compilation: Compilation) -> bool:
    return compilation.wave_size == 64


# Of `amdgcn`, whose matrix builtins take as long to load as all of this room.
_tr_b64_v2i32 = from_table("global_load_tr_b64_v2i32")
_tr_b128_v8f16 = from_table("global_load_tr_b128_v8f16")
_tr_b128_v8bf16 = from_table("global_load_tr_b128_v8bf16")
_tr_b128_v8i16 = from_table("global_load_tr_b128_v8i16")
_tr_b64_i32 = from_table("global_load_tr_b64_i32")
_tr_b128_v4f16 = from_table("global_load_tr_b128_v4f16")
_tr_b128_v4bf16 = from_table("global_load_tr_b128_v4bf16")
_tr_b128_v4i16 = from_table("global_load_tr_b128_v4i16")


@device_function
def load_transposed(array, row, column):
    """Return the 16 by 16 tile at (row, column) of a row-major matrix in the layout that WMMA takes
    for B.

    array: in global memory, with two axes and elements of f16, bf16 or i16 (8 values per lane) or
    of one byte (i32x2); rows are a multiple of 16 (one-byte elements: 8) bytes apart. Lane l gets
    column l % 16, from row 8 * (l // 16) on. All lanes must be active.

    In waves of 64 lanes each lane gets half as many: 4 values from row 4 * (l // 16) on; or, of
    one-byte elements, an i32 from row 8 * (l // 16 % 2) + 4 * (l // 32) on.
    """
    if _in_wave64():
        return _load_transposed_wave64(array, row, column, lane_id() % 32)
    lane = lane_id()
    if array.dtype.nbytes == 1:
        place = address_of(array, (row + 4 * (lane // 8) + lane % 4, column + 8 * (lane // 4 % 2)))
        return _tr_b64_v2i32(place)
    place = address_of(array, (row + 8 * (lane // 16) + lane % 8, column + 8 * (lane // 8 % 2)))
    if array.dtype == f16:
        return _tr_b128_v8f16(place)
    if array.dtype == bf16:
        return _tr_b128_v8bf16(place)
    return _tr_b128_v8i16(place)


@device_function
def _load_transposed_wave64(array, row, column, lane):
    """The hardware takes the addresses of lanes 0 to 31 only (RDNA4 ISA, 11.6.2)."""
    if array.dtype.nbytes == 1:
        place = address_of(array, (row + 4 * (lane // 8) + lane % 4, column + 8 * (lane // 4 % 2)))
        return _tr_b64_i32(place)
    first = 4 * (lane // 16) + 8 * (lane // 4 % 2)
    place = address_of(array, (row + first + lane % 4, column + 8 * (lane // 8 % 2)))
    if array.dtype == f16:
        return _tr_b128_v4f16(place)
    if array.dtype == bf16:
        return _tr_b128_v4bf16(place)
    return _tr_b128_v4i16(place)
