"""Loads from and stores to a buffer, and its prefetch.

Source: RDNA4 ISA, 9.4 to 9.6; LLVM AMDGPU guide, "Memory Model GFX12".
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any

from amdjit.abi.buffer_formats import BUFFER_FORMATS, BufferFormat, format_named
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
    suffix,
)
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import (
    VOID,
    Immediate,
    Type,
    TypeVariable,
    Vector,
    f16,
    f32,
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


# Loads and stores that convert to or from a buffer format, and what a kernel may ask of a format.
#
# Source: RDNA4 ISA, 10.7, "Buffer formats".


# Channels of a format, in 32 bits or, as f16, in 16.
TEXEL = TypeVariable(
    "T",
    tuple(
        _type
        for one in (f32, i32, u32, f16)
        for _type in (one, *(Vector(one, n) for n in (2, 3, 4)))
    ),
)


FORMAT_NAMES = tuple(name.removeprefix("BUF_FMT_") for name in list(BUFFER_FORMATS.values())[1:])


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
    """Return the type of a format's elements in registers: a scalar or a vector."""
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
            f"no document says how a store rounds to {name}",
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
