"""Loads from and stores to a buffer, and its prefetch.

Source: RDNA4 ISA, 9.4 to 9.6; LLVM AMDGPU guide, "Memory Model GFX12".
"""

from __future__ import annotations

from typing import Annotated, Any

from amdjit.declarations import Emit, EmitContext, intrinsic
from amdjit.intrinsics.buffers.resources import (
    BUFFER,
    BUFFER_VALUE,
    GFX12,
    POLICIES,
    Flag,
    LoadPolicy,
    StorePolicy,
    buffer_operands,
    family,
)
from amdjit.types import (
    VOID,
    Immediate,
    Vector,
    i16,
    i32,
    u8,
    u32,
)


def _words(context: EmitContext, type: Any) -> tuple[str, Any]:
    """Return the name and the LLVM type of the words that a buffer instruction moves for a type."""
    bits = type.bits
    if bits < 32:
        return f"i{bits}", context.llvm_type(u8 if bits == 8 else i16)
    count = bits // 32
    return (
        (f"v{count}i32", context.llvm_type(Vector(i32, count)))
        if count > 1
        else ("i32", context.llvm_type(i32))
    )


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


def _emit_prefetch(context: EmitContext, resource: Any, offset: int, lines: int) -> None:
    operands = [resource, context.constant(i32, offset), context.constant(i32, lines - 1)]
    context.call("llvm.amdgcn.s.buffer.prefetch.data", context.llvm_type(VOID), operands)


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
    """Return the value at a byte offset in a record."""


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
    """Write at a byte offset in a record."""


@intrinsic(
    Emit(_emit_prefetch), isa="s_buffer_prefetch_data", targets=GFX12, alternative="memory.prefetch"
)
def prefetch(
    resource: BUFFER,
    offset: Annotated[int, Immediate(0, (1 << 23) - 1)],
    lines: Annotated[int, Immediate(1, 32)],
) -> VOID:
    """Bring lines of 128 bytes into the cache, starting at a byte offset."""
