"""Accesses to global memory that say more than `a[i]`: bounds that hardware checks, cache policies, transposition.

`buffer(array)` is a buffer resource over an array that lies in one piece: loads beyond its end give 0, stores beyond
it do nothing, and neither costs an instruction. policy: what the caches are told of the access, "temporal" (it will be
used again), "non_temporal" (it will not), "high_temporal" (keep it longest), "last_use" (loads: this is the last).

Sources: LLVM AMDGPU guide, "Buffer Resources" and "Memory Model GFX12"; RDNA4 ISA, "Buffer Resource Descriptor",
11.6.2 (transposing loads), `s_prefetch_data`; LLVM language reference, "load" (nontemporal).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.builtin_table import row_of
from amdjit.intrinsics.lds import address_of
from amdjit.intrinsics.type_variables import LANE_VALUE
from amdjit.intrinsics.workitem import lane_id
from amdjit.types import (
    VOID,
    AddressSpace,
    Choice,
    Immediate,
    Pointer,
    PointerPattern,
    Scalar,
    TypeVariable,
    Vector,
    bf16,
    boolean,
    f16,
    f32,
    i16,
    i32,
    i64,
    u8,
    u32,
)

__all__ = [
    "buffer",
    "buffer_atomic_add",
    "buffer_load",
    "buffer_store",
    "load_nontemporal",
    "load_transposed",
    "prefetch",
    "store_nontemporal",
]

_GFX12 = ("gfx1200", "gfx1201")
# RDNA4 ISA, "Buffer Resource Descriptor", word 3: format 32_UINT, and OOB_SELECT 3, which compares byte offsets.
_RAW_BUFFER = 0x30014000
# LLVM AMDGPU guide, auxiliary bits 0..2 of gfx12: TH, the temporal hint.
_POLICIES: Mapping[str, int] = MappingProxyType({"temporal": 0, "non_temporal": 1, "high_temporal": 2, "last_use": 3})
LoadPolicy = Annotated[str, Choice(*_POLICIES)]
StorePolicy = Annotated[str, Choice("temporal", "non_temporal", "high_temporal")]
ANY_GLOBAL = PointerPattern(None, (AddressSpace.GLOBAL,))
BUFFER = PointerPattern(None, (AddressSpace.BUFFER,))
BUFFER_NUMBER = TypeVariable("N", (i32, u32, f32))
# What one buffer instruction moves: 8 to 128 bits.
BUFFER_VALUE = TypeVariable(
    "T", tuple(type for type in LANE_VALUE.constraints if type is not boolean and getattr(type, "bits", 0) <= 128)
)
SCALAR = TypeVariable("T", tuple(type for type in LANE_VALUE.constraints if isinstance(type, Scalar)))
SCALAR_POINTER = PointerPattern(SCALAR, (AddressSpace.GLOBAL,))


def _emit_buffer(context: EmitContext, pointer: Any, size: Any) -> Any:
    stride, flags = context.constant(i16, 0), context.constant(i32, _RAW_BUFFER)
    resource = context.llvm_type(Pointer(u8, AddressSpace.BUFFER))
    return context.call("llvm.amdgcn.make.buffer.rsrc.p8.p1", resource, [pointer, stride, size, flags])


def _words(context: EmitContext, type: Any) -> tuple[str, Any]:
    """Return the integers, and their name in LLVM, that a buffer instruction moves for a type."""
    bits = type.bits
    if bits < 32:
        return f"i{bits}", context.llvm_type(u8 if bits == 8 else i16)
    count = bits // 32
    return (f"v{count}i32", context.llvm_type(Vector(i32, count))) if count > 1 else ("i32", context.llvm_type(i32))


def _emit_load(context: EmitContext, resource: Any, offset: Any, like: Any, policy: str) -> Any:
    name, words = _words(context, context.result_type)
    operands = [resource, offset, context.constant(i32, 0), context.constant(i32, _POLICIES[policy])]
    loaded = context.call(f"llvm.amdgcn.raw.ptr.buffer.load.{name}", words, operands)
    return context.bitcast(loaded, context.llvm_type(context.result_type))


def _emit_store(context: EmitContext, resource: Any, offset: Any, value: Any, policy: str) -> None:
    name, words = _words(context, context.types[2])
    operands = [context.bitcast(value, words), resource, offset, context.constant(i32, 0)]
    hint = context.constant(i32, _POLICIES[policy])
    context.call(f"llvm.amdgcn.raw.ptr.buffer.store.{name}", context.llvm_type(VOID), [*operands, hint])


def _emit_atomic_add(context: EmitContext, resource: Any, offset: Any, value: Any) -> Any:
    type = context.types[2]
    is_float = isinstance(type, Scalar) and type.is_float
    zero = context.constant(i32, 0)
    name = "fadd.f32" if is_float else "add.i32"
    operands = [value, resource, offset, zero, zero]
    return context.call(f"llvm.amdgcn.raw.ptr.buffer.atomic.{name}", context.llvm_type(type), operands)


def _emit_prefetch(context: EmitContext, pointer: Any, lines: int) -> None:
    length = context.constant(i32, lines - 1)
    context.call("llvm.amdgcn.s.prefetch.data.p1", context.llvm_type(VOID), [pointer, length])


def _emit_nontemporal_load(context: EmitContext, pointer: Any) -> Any:
    return context.load(context.result_type, pointer, nontemporal=True)


def _emit_nontemporal_store(context: EmitContext, pointer: Any, value: Any) -> None:
    context.store(context.types[1], pointer, value, nontemporal=True)


@intrinsic(Emit(_emit_buffer), targets=_GFX12, alternative="amdgcn.make_buffer_rsrc")
def _buffer(pointer: ANY_GLOBAL, size: i64) -> Pointer(u8, AddressSpace.BUFFER):
    """Return a buffer resource of `size` bytes."""


@intrinsic(Emit(_emit_load), isa="buffer_load_b32", targets=_GFX12, alternative="amdgcn.raw_buffer_load_b32")
def _load(resource: BUFFER, offset: u32, like: BUFFER_VALUE, policy: LoadPolicy) -> BUFFER_VALUE:
    """Return what stands at a byte offset of a buffer."""


@intrinsic(Emit(_emit_store), isa="buffer_store_b32", targets=_GFX12, alternative="amdgcn.raw_buffer_store_b32")
def _store(resource: BUFFER, offset: u32, value: BUFFER_VALUE, policy: StorePolicy) -> VOID:
    """Write at a byte offset of a buffer."""


@intrinsic(Emit(_emit_atomic_add), isa="buffer_atomic_add", targets=_GFX12, alternative="atomic.add")
def _atomic_add(resource: BUFFER, offset: u32, value: BUFFER_NUMBER) -> BUFFER_NUMBER:
    """Add at a byte offset of a buffer; return the old value."""


@device_function
def buffer(array):
    """Return a buffer resource over an array that lies in one piece; array: less than 4 GiB, in global memory."""
    return _buffer(address_of(array, (0,) * array.ndim), i64(array.size) * array.dtype.nbytes)


@device_function
def buffer_load(resource, index, dtype, policy="temporal"):
    """Return element `index` of a buffer read as elements of a type of 8 to 128 bits; 0 if it is out of bounds."""
    return _load(resource, u32(index) * u32(dtype.nbytes), dtype(0), policy)


@device_function
def buffer_store(resource, index, value, policy="temporal"):
    """Write element `index` of a buffer read as elements of the value's type; nothing happens out of bounds."""
    _store(resource, u32(index) * u32(type(value).nbytes), value, policy)


@device_function
def buffer_atomic_add(resource, index, value):
    """Add an i32, u32 or f32 to element `index` of a buffer; return the old value, 0 if it is out of bounds."""
    return _atomic_add(resource, u32(index) * u32(4), value)


@intrinsic(Emit(_emit_prefetch), isa="s_prefetch_data", targets=row_of("s_prefetch_data").targets)
def _prefetch(pointer: ANY_GLOBAL, lines: Annotated[int, Immediate(1, 32)]) -> VOID:
    """Bring lines of 128 bytes from a uniform address on into the cache."""


@device_function
def prefetch(array, index, lines=1):
    """Bring 1 to 32 lines of 128 bytes, from an element on, into the cache; the index is the same in all lanes."""
    _prefetch(address_of(array, index), lines)


@intrinsic(Emit(_emit_nontemporal_load), isa="TH_LOAD_NT")
def _load_nontemporal(pointer: SCALAR_POINTER) -> SCALAR:
    """Load what will not be used again (LLVM `!nontemporal`)."""


@device_function
def load_nontemporal(array, index):
    """Return an element that will not be used again soon: it does not drive others out of the caches."""
    return _load_nontemporal(address_of(array, index))


@intrinsic(Emit(_emit_nontemporal_store), isa="TH_STORE_NT")
def _store_nontemporal(pointer: SCALAR_POINTER, value: SCALAR) -> VOID:
    """Store what will not be used again (LLVM `!nontemporal`)."""


@device_function
def store_nontemporal(array, index, value):
    """Write an element that will not be used again soon: it does not drive others out of the caches."""
    _store_nontemporal(address_of(array, index), array.dtype(value))


@device_function
def load_transposed(array, row, column):
    """Return the 16 by 16 tile at (row, column) of a row-major matrix as the fragment that wave32 WMMA takes for B.

    array: two axes, f16, bf16 or i16 (8 values a lane) or one-byte elements (i32x2), in global memory, rows a multiple
    of 16 (8) bytes apart. Lane l gets column l % 16, of rows 8 * (l // 16) on. All lanes must be active.
    """
    lane = lane_id()
    if array.dtype.nbytes == 1:
        place = address_of(array, (row + 4 * (lane // 8) + lane % 4, column + 8 * (lane // 4 % 2)))
        return amdgcn.global_load_tr_b64_v2i32(place)
    place = address_of(array, (row + 8 * (lane // 16) + lane % 8, column + 8 * (lane // 8 % 2)))
    if array.dtype == f16:
        return amdgcn.global_load_tr_b128_v8f16(place)
    if array.dtype == bf16:
        return amdgcn.global_load_tr_b128_v8bf16(place)
    return amdgcn.global_load_tr_b128_v8i16(place)
