"""Atomic operations on buffer resources, as `atomic` uses them: single instructions, in some scope
and order.

The instruction itself is relaxed, at its scope; fences around it make the orders (LLVM AMDGPU
guide, "Memory Model GFX12": a release fence before, an acquire fence behind).

Sources: RDNA4 ISA, `buffer_atomic_*`; LLVM AMDGPU guide, "Memory Model GFX12", scopes of
instructions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics.buffers import (
    BUFFER,
    GFX12,
    Flag,
    buffer_operands,
    element_type,
    family,
    has_records,
    place_of,
    suffix,
    value_bytes,
)
from amdjit.intrinsics.sync import ORDERINGS, SYNC_SCOPES, LoadOrder, Order, Scope, StoreOrder
from amdjit.types import VOID, Scalar, TypeVariable, bf16, f16, f32, f64, i32, i64, u32, u64, vector

NUMBER = TypeVariable("N", (i32, u32, i64, u64, f32))
INTEGER = TypeVariable("I", (i32, u32, i64, u64))
UNSIGNED = TypeVariable("U", (u32, u64))
ELEMENT = TypeVariable("T", (i32, u32, i64, u64, f32, f64))
PAIR = TypeVariable("P", (vector(f16, 2), vector(bf16, 2)))
# SCOPE_CU, SCOPE_SE (the work-group processor), SCOPE_DEV and SCOPE_SYS, in bits 4:3.
_SCOPES = {"wavefront": 0 << 3, "workgroup": 1 << 3, "agent": 2 << 3, "system": 3 << 3}
_ELSEWHERE = "the same function on the array"


def _ordered(context: EmitContext, order: str, scope: str, is_before: bool) -> None:
    if is_before and order in ("release", "acq_rel", "seq_cst"):
        context.fence("seq_cst" if order == "seq_cst" else "release", SYNC_SCOPES[scope])
    if not is_before and order in ("acquire", "acq_rel", "seq_cst"):
        context.fence("acquire", SYNC_SCOPES[scope])


def _emit(
    context: EmitContext,
    name: str,
    values: list[Any],
    place: tuple[Any, Any, Any],
    order: str,
    scope: str,
    structured: bool,
) -> Any:
    assert order in ORDERINGS
    type = context.types[3]
    operands = [*values, *buffer_operands(context, place, structured, _SCOPES[scope])]
    _ordered(context, order, scope, True)
    result = context.call(
        f"{family(structured)}.buffer.atomic.{name}.{suffix(type)}",
        context.llvm_type(type),
        operands,
    )
    _ordered(context, order, scope, False)
    return result


def _emit_update(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    value: Any,
    order: str,
    scope: str,
    structured: bool,
    *,
    signed: str,
    unsigned: str,
    float: str,
) -> Any:
    type = context.types[3]
    is_float = not isinstance(type, Scalar) or type.is_float
    is_signed = isinstance(type, Scalar) and type.is_signed
    name = float if is_float else signed if is_signed else unsigned
    return _emit(context, name, [value], (resource, record, offset), order, scope, structured)


def _update(signed: str, unsigned: str = "", float: str = "") -> Emit:
    return Emit(partial(_emit_update, signed=signed, unsigned=unsigned or signed, float=float))


def _emit_exchange_if(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    expected: Any,
    desired: Any,
    order: str,
    scope: str,
    structured: bool,
) -> Any:
    return _emit(
        context,
        "cmpswap",
        [desired, expected],
        (resource, record, offset),
        order,
        scope,
        structured,
    )


def _emit_load(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    like: Any,
    order: str,
    scope: str,
    structured: bool,
) -> Any:
    type = context.result_type
    operands = buffer_operands(context, (resource, record, offset), structured, _SCOPES[scope])
    _ordered(context, "seq_cst" if order == "seq_cst" else "relaxed", scope, True)
    name = f"{family(structured)}.atomic.buffer.load.{suffix(type)}"
    result = context.call(name, context.llvm_type(type), operands)
    _ordered(context, order, scope, False)
    return result


def _emit_store(
    context: EmitContext,
    resource: Any,
    record: Any,
    offset: Any,
    value: Any,
    order: str,
    scope: str,
    structured: bool,
) -> None:
    operands = [
        value,
        *buffer_operands(context, (resource, record, offset), structured, _SCOPES[scope]),
    ]
    _ordered(context, order, scope, True)
    name = f"{family(structured)}.buffer.store.{suffix(context.types[3])}"
    context.call(name, context.llvm_type(VOID), operands)


@device_function
def update(operation, resource, index, value, order, scope):
    """Do one of the operations below that take one value at a place of a buffer; return the old
    value."""
    record, offset = place_of(resource, index, value_bytes(value))
    return operation(resource, record, offset, value, order, scope, has_records(resource, index))


@intrinsic(
    _update("add", float="fadd"),
    isa="buffer_atomic_add_",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.add",
)
def add(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: NUMBER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> NUMBER:
    """Add; return the old value (`buffer_atomic_add*`)."""


@intrinsic(
    _update("sub"),
    isa="buffer_atomic_sub_u",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.sub",
)
def sub(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: INTEGER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> INTEGER:
    """Subtract; return the old value (`buffer_atomic_sub_u*`)."""


@intrinsic(
    _update("smin", "umin", "fmin"),
    isa="buffer_atomic_min_",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.min",
)
def min(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: NUMBER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> NUMBER:
    """Write the lesser; return the old value (`buffer_atomic_min*`)."""


@intrinsic(
    _update("smax", "umax", "fmax"),
    isa="buffer_atomic_max_",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.max",
)
def max(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: NUMBER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> NUMBER:
    """Write the greater; return the old value (`buffer_atomic_max*`)."""


@intrinsic(
    _update("and"),
    isa="buffer_atomic_and_b",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.and_",
)
def and_(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: INTEGER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> INTEGER:
    """Clear bits; return the old value (`buffer_atomic_and_b*`)."""


@intrinsic(
    _update("or"),
    isa="buffer_atomic_or_b",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.or_",
)
def or_(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: INTEGER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> INTEGER:
    """Set bits; return the old value (`buffer_atomic_or_b*`)."""


@intrinsic(
    _update("xor"),
    isa="buffer_atomic_xor_b",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.xor",
)
def xor(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: INTEGER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> INTEGER:
    """Flip bits; return the old value (`buffer_atomic_xor_b*`)."""


@intrinsic(
    _update("swap", float="swap"),
    isa="buffer_atomic_swap_b",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.exch",
)
def exch(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: NUMBER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> NUMBER:
    """Write; return the old value (`buffer_atomic_swap_b*`)."""


@intrinsic(
    _update("inc"),
    isa="buffer_atomic_inc_u",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.inc",
)
def inc(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: UNSIGNED,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> UNSIGNED:
    """Add 1, or write 0 at or above the value; return the old value (`buffer_atomic_inc_u*`)."""


@intrinsic(
    _update("dec"),
    isa="buffer_atomic_dec_u",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.dec",
)
def dec(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: UNSIGNED,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> UNSIGNED:
    """Subtract 1, or write the value at 0 or above it; return the old value
    (`buffer_atomic_dec_u*`)."""


@intrinsic(
    _update("sub.clamp.u32"),
    isa="buffer_atomic_sub_clamp_u32",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.sub_clamp",
)
def sub_clamp(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: u32,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> u32:
    """Subtract, to 0 at least; return the old value (`buffer_atomic_sub_clamp_u32*`)."""


@intrinsic(
    _update("cond.sub.u32"),
    isa="buffer_atomic_cond_sub_u32",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.cond_sub",
)
def cond_sub(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: u32,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> u32:
    """Subtract where that is not below 0; return the old value (`buffer_atomic_cond_sub_u32*`)."""


@intrinsic(
    _update("", float="fadd"),
    isa="buffer_atomic_pk_add_",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.add_pair",
)
def add_pair(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: PAIR,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> PAIR:
    """Add two halves; return the old value (`buffer_atomic_pk_add*`)."""


@intrinsic(
    Emit(_emit_exchange_if),
    isa="buffer_atomic_cmpswap",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.cas",
)
def _cas(
    resource: BUFFER,
    record: u32,
    offset: u32,
    expected: INTEGER,
    desired: INTEGER,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> INTEGER:
    """Write `desired` over `expected`; return the old value (`buffer_atomic_cmpswap_b*`)."""


@device_function
def cas(resource, index, expected, desired, order, scope):
    """Write `desired` over `expected` at a place of a buffer; return the old value."""
    record, offset = place_of(resource, index, value_bytes(desired))
    return _cas(
        resource, record, offset, expected, desired, order, scope, has_records(resource, index)
    )


@intrinsic(
    Emit(_emit_load), isa="buffer_load_b", targets=GFX12, alternative=_ELSEWHERE, name="atomic.load"
)
def _load(
    resource: BUFFER,
    record: u32,
    offset: u32,
    like: ELEMENT,
    order: LoadOrder,
    scope: Scope,
    structured: Flag,
) -> ELEMENT:
    """Read at once, anew each time."""


@device_function
def load(resource, index, dtype, order, scope):
    """Read a place of a buffer at once."""
    kind = element_type(dtype)
    record, offset = place_of(resource, index, kind.nbytes)
    return _load(resource, record, offset, kind(0), order, scope, has_records(resource, index))


@intrinsic(
    Emit(_emit_store),
    isa="buffer_store_b",
    targets=GFX12,
    alternative=_ELSEWHERE,
    name="atomic.store",
)
def _store(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: ELEMENT,
    order: StoreOrder,
    scope: Scope,
    structured: Flag,
) -> VOID:
    """Write at once."""


@device_function
def store(resource, index, value, order, scope):
    """Write a place of a buffer at once."""
    record, offset = place_of(resource, index, value_bytes(value))
    _store(resource, record, offset, value, order, scope, has_records(resource, index))
