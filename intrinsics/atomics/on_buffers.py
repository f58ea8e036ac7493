"""The atomic operations on an element of a buffer.

Each is a single relaxed instruction at its scope. Fences make the order (LLVM AMDGPU guide, "Memory
Model GFX12"): a release fence before the instruction, an acquire fence after it.

Sources: RDNA4 ISA, `buffer_atomic_*`; LLVM AMDGPU guide, "Memory Model GFX12", scopes of
instructions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from amdjit.declarations import Emit, EmitContext, Intrinsic, device_function, intrinsic
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
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import (
    VOID,
    Scalar,
    Type,
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


@compile_time
def _update_named(compilation: Compilation, name: str) -> Intrinsic:
    return UPDATES[name]


@device_function
def update(name, resource, index, value, order, scope):
    """Apply one of the operations below that take one value to a place in a buffer; return the old
    value."""
    record, offset = place_of(resource, index, value_bytes(value))
    return _update_named(name)(
        resource, record, offset, value, order, scope, has_records(resource, index)
    )


def _declared(name: str, how: Emit, type: Type, mnemonic: str, text: str) -> Intrinsic:
    """Return an operation that takes one value: with what it becomes, and what it does."""

    def function(resource, record, offset, value, order, scope, structured):
        """Have no model on the host."""

    function.__module__, function.__name__, function.__qualname__ = __name__, name, name
    function.__doc__ = f"{text}; return the old value (`{mnemonic.rstrip('_')}*`)."
    function.__annotations__ = {**_PLACE, "value": type, **_HOW, "return": type}
    return _operation(how, isa=mnemonic, name=f"atomic.{name}")(function)


_PLACE = {"resource": BUFFER, "record": u32, "offset": u32}
_HOW = {"order": Order, "scope": Scope, "structured": Flag}
_ROWS: tuple[tuple[str, Emit, Type, str, str], ...] = (
    ("add", _update("add", float="fadd"), NUMBER, "add_", "Add"),
    ("sub", _update("sub"), INTEGER, "sub_u", "Subtract"),
    ("min", _update("smin", "umin", "fmin"), NUMBER, "min_", "Write the lesser"),
    ("max", _update("smax", "umax", "fmax"), NUMBER, "max_", "Write the greater"),
    ("and_", _update("and"), INTEGER, "and_b", "Clear bits"),
    ("or_", _update("or"), INTEGER, "or_b", "Set bits"),
    ("xor", _update("xor"), INTEGER, "xor_b", "Flip bits"),
    ("exch", _update("swap", float="swap"), NUMBER, "swap_b", "Write"),
    ("inc", _update("inc"), UNSIGNED, "inc_u", "Add 1, or write 0 at or above the value"),
    (
        "dec",
        _update("dec"),
        UNSIGNED,
        "dec_u",
        "Subtract 1, or write the value at 0 or above it",
    ),
    ("sub_clamp", _update("sub.clamp.u32"), u32, "sub_clamp_u32", "Subtract, but not below 0"),
    (
        "cond_sub",
        _update("cond.sub.u32"),
        u32,
        "cond_sub_u32",
        "Subtract if the result is not below 0",
    ),
    ("add_pair", _update("", float="fadd"), PAIR, "pk_add_", "Add two halves"),
)
UPDATES = {
    name: _declared(name, how, type, f"buffer_atomic_{mnemonic}", text)
    for name, how, type, mnemonic, text in _ROWS
}
globals().update(UPDATES)


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
