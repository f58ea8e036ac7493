"""The atomic operations on an element of a buffer.

Each is a single relaxed instruction at its scope. Fences make the order (LLVM AMDGPU guide, "Memory
Model GFX12"): a release fence before the instruction, an acquire fence after it.

Sources: RDNA4 ISA, `buffer_atomic_*`; LLVM AMDGPU guide, "Memory Model GFX12", scopes of
instructions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics.atomics.on_arrays import (
    SYNC_SCOPES,
    LoadOrder,
    Order,
    Scope,
    StoreOrder,
)
from amdjit.intrinsics.buffers.resources import (
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
from amdjit.types import (
    VOID,
    Scalar,
    TypeVariable,
    bf16,
    f16,
    f32,
    f64,
    i32,
    i64,
    u32,
    u64,
    vector,
)

NUMBER = TypeVariable("N", (i32, u32, i64, u64, f32))
INTEGER = TypeVariable("I", (i32, u32, i64, u64))
UNSIGNED = TypeVariable("U", (u32, u64))
ELEMENT = TypeVariable("T", (i32, u32, i64, u64, f32, f64))
PAIR = TypeVariable("P", (vector(f16, 2), vector(bf16, 2)))
# SCOPE_CU, SCOPE_SE (the work-group processor), SCOPE_DEV and SCOPE_SYS, in bits 4:3.
_SCOPES = {"wavefront": 0 << 3, "workgroup": 1 << 3, "agent": 2 << 3, "system": 3 << 3}
_operation = partial(intrinsic, targets=GFX12, alternative="the same function on the array")


def _fence_before(context: EmitContext, order: str, scope: str) -> None:
    if order in ("release", "acq_rel", "seq_cst"):
        context.fence("seq_cst" if order == "seq_cst" else "release", SYNC_SCOPES[scope])


def _fence_after(context: EmitContext, order: str, scope: str) -> None:
    if order in ("acquire", "acq_rel", "seq_cst"):
        context.fence("acquire", SYNC_SCOPES[scope])


def _emit(context: EmitContext, name: str, values: list[Any], place: list[Any], *how: Any) -> Any:
    """Emit one atomic instruction between the fences of its order. place: resource, record, offset;
    how: order, scope, whether the resource has records."""
    order, scope, structured = how
    type = context.types[3]
    operands = [*values, *buffer_operands(context, place, structured, _SCOPES[scope])]
    _fence_before(context, order, scope)
    name = f"{family(structured)}.buffer.atomic.{name}.{suffix(type)}"
    result = context.call(name, context.llvm_type(type), operands)
    _fence_after(context, order, scope)
    return result


def _emit_update(
    context: EmitContext, *operands: Any, signed: str, unsigned: str, float: str
) -> Any:
    *place, value, order, scope, structured = operands
    type = context.types[3]
    is_float = not isinstance(type, Scalar) or type.is_float
    is_signed = isinstance(type, Scalar) and type.is_signed
    name = float if is_float else signed if is_signed else unsigned
    return _emit(context, name, [value], place, order, scope, structured)


def _update(signed: str, unsigned: str = "", float: str = "") -> Emit:
    return Emit(partial(_emit_update, signed=signed, unsigned=unsigned or signed, float=float))


def _emit_exchange_if(context: EmitContext, *operands: Any) -> Any:
    *place, expected, desired, order, scope, structured = operands
    return _emit(context, "cmpswap", [desired, expected], place, order, scope, structured)


def _emit_load(context: EmitContext, *operands: Any) -> Any:
    *place, _, order, scope, structured = operands
    type = context.result_type
    words = buffer_operands(context, place, structured, _SCOPES[scope])
    if order == "seq_cst":
        _fence_before(context, order, scope)
    name = f"{family(structured)}.atomic.buffer.load.{suffix(type)}"
    result = context.call(name, context.llvm_type(type), words)
    _fence_after(context, order, scope)
    return result


def _emit_store(context: EmitContext, *operands: Any) -> None:
    *place, value, order, scope, structured = operands
    words = [value, *buffer_operands(context, place, structured, _SCOPES[scope])]
    _fence_before(context, order, scope)
    name = f"{family(structured)}.buffer.store.{suffix(context.types[3])}"
    context.call(name, context.llvm_type(VOID), words)


@device_function
def update(operation, resource, index, value, order, scope):
    """Apply one of the operations below that take one value to a place in a buffer; return the old
    value."""
    record, offset = place_of(resource, index, value_bytes(value))
    return operation(resource, record, offset, value, order, scope, has_records(resource, index))


@_operation(_update("add", float="fadd"), isa="buffer_atomic_add_", name="atomic.add")
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


@_operation(_update("sub"), isa="buffer_atomic_sub_u", name="atomic.sub")
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


@_operation(_update("smin", "umin", "fmin"), isa="buffer_atomic_min_", name="atomic.min")
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


@_operation(_update("smax", "umax", "fmax"), isa="buffer_atomic_max_", name="atomic.max")
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


@_operation(_update("and"), isa="buffer_atomic_and_b", name="atomic.and_")
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


@_operation(_update("or"), isa="buffer_atomic_or_b", name="atomic.or_")
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


@_operation(_update("xor"), isa="buffer_atomic_xor_b", name="atomic.xor")
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


@_operation(_update("swap", float="swap"), isa="buffer_atomic_swap_b", name="atomic.exch")
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


@_operation(_update("inc"), isa="buffer_atomic_inc_u", name="atomic.inc")
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


@_operation(_update("dec"), isa="buffer_atomic_dec_u", name="atomic.dec")
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


@_operation(_update("sub.clamp.u32"), isa="buffer_atomic_sub_clamp_u32", name="atomic.sub_clamp")
def sub_clamp(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: u32,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> u32:
    """Subtract, but not below 0; return the old value (`buffer_atomic_sub_clamp_u32*`)."""


@_operation(_update("cond.sub.u32"), isa="buffer_atomic_cond_sub_u32", name="atomic.cond_sub")
def cond_sub(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: u32,
    order: Order,
    scope: Scope,
    structured: Flag,
) -> u32:
    """Subtract if the result is not below 0; return the old value
    (`buffer_atomic_cond_sub_u32*`)."""


@_operation(_update("", float="fadd"), isa="buffer_atomic_pk_add_", name="atomic.add_pair")
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


@_operation(Emit(_emit_exchange_if), isa="buffer_atomic_cmpswap", name="atomic.cas")
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
    """Write `desired` over `expected` at a place in a buffer; return the old value."""
    record, offset = place_of(resource, index, value_bytes(desired))
    return _cas(
        resource, record, offset, expected, desired, order, scope, has_records(resource, index)
    )


@_operation(Emit(_emit_load), isa="buffer_load_b", name="atomic.load")
def _load(
    resource: BUFFER,
    record: u32,
    offset: u32,
    like: ELEMENT,
    order: LoadOrder,
    scope: Scope,
    structured: Flag,
) -> ELEMENT:
    """Read in one piece, afresh each time."""


@device_function
def load(resource, index, dtype, order, scope):
    """Read a place in a buffer in one piece."""
    kind = element_type(dtype)
    record, offset = place_of(resource, index, kind.nbytes)
    return _load(resource, record, offset, kind(0), order, scope, has_records(resource, index))


@_operation(Emit(_emit_store), isa="buffer_store_b", name="atomic.store")
def _store(
    resource: BUFFER,
    record: u32,
    offset: u32,
    value: ELEMENT,
    order: StoreOrder,
    scope: Scope,
    structured: Flag,
) -> VOID:
    """Write in one piece."""


@device_function
def store(resource, index, value, order, scope):
    """Write a place in a buffer in one piece."""
    record, offset = place_of(resource, index, value_bytes(value))
    _store(resource, record, offset, value, order, scope, has_records(resource, index))
