"""Loads and stores that convert to or from a buffer format, and what a kernel may ask of a format.

Source: RDNA4 ISA, 10.7, "Buffer formats".
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any

from amdjit.abi.buffer_formats import BUFFER_FORMATS, BufferFormat, format_named
from amdjit.declarations import Emit, EmitContext, intrinsic
from amdjit.intrinsics.buffers.resources import (
    BUFFER,
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
    i32,
    u32,
)

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
