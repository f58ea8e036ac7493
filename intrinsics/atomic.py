"""Atomic operations on an element of an array in global memory or LDS, or of a buffer: reads,
writes, both at once.

`atomic.add(array, index, value, order="relaxed", scope="agent")` returns the old value. index: an
int, or a tuple with one int an axis. order: relaxed, acquire, release, acq_rel, seq_cst. scope:
system, agent (the whole device), workgroup, wavefront. Types: i32, u32, i64, u64, f32, f64, each
where the operation has a meaning; f64 additions and float subtractions become a compare-and-swap
loop on gfx12. `atomic.load` and `atomic.store` are for all numbers; what other waves write is seen
by a `load`, in loops that wait for it, too: a plain read may be made once before the loop.

For `array` a resource of `memory.buffer` or `memory.records` will do: its elements are then of the
value's type (of `dtype` for a load), and outside of it nothing happens; an old value is 0 there.
Buffers have what is one instruction.

Sources: LLVM AMDGPU guide, "Memory Model GFX12", "Memory Scopes"; RDNA4 ISA, `global_atomic_*` and
`ds_*_rtn_*`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import amdjit.intrinsics as modules
from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics.lds import address_of
from amdjit.intrinsics.sync import ORDERINGS, SYNC_SCOPES, LoadOrder, Order, Scope, StoreOrder
from amdjit.intrinsics.type_variables import GLOBAL_AND_LDS
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import (
    VOID,
    AddressSpace,
    Array,
    Pointer,
    PointerPattern,
    Scalar,
    TypeVariable,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    vector,
)

__all__ = [
    "add",
    "add_pair",
    "and_",
    "cas",
    "cond_sub",
    "dec",
    "exch",
    "inc",
    "load",
    "max",
    "min",
    "or_",
    "store",
    "sub",
    "sub_clamp",
    "xor",
]

# The instructions are of gfx12; LLVM makes loops for other processors.
_GFX12 = ("gfx1200", "gfx1201")

NUMBER = TypeVariable("N", (i32, u32, i64, u64, f32, f64))
INTEGER = TypeVariable("I", (i32, u32, i64, u64))
UNSIGNED = TypeVariable("U", (u32, u64))
NUMBER_POINTER = PointerPattern(NUMBER, GLOBAL_AND_LDS)
INTEGER_POINTER = PointerPattern(INTEGER, GLOBAL_AND_LDS)
F16_PAIR, BF16_PAIR = vector(f16, 2), vector(bf16, 2)
F16_POINTER, BF16_POINTER = (
    PointerPattern(f16, GLOBAL_AND_LDS),
    PointerPattern(bf16, GLOBAL_AND_LDS),
)
WORD_POINTER = PointerPattern(u32, GLOBAL_AND_LDS)
UNSIGNED_POINTER = PointerPattern(UNSIGNED, GLOBAL_AND_LDS)
ELEMENT = TypeVariable("T", (i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64))
ELEMENT_POINTER = PointerPattern(ELEMENT, GLOBAL_AND_LDS)


@compile_time
def _is_resource(compilation: Compilation, target: Any) -> bool:
    """Tell a buffer resource from an array. `modules` loads what is on buffers when a kernel first
    has one."""
    return isinstance(target, Pointer) and target.address_space is AddressSpace.BUFFER


@compile_time
def _is_updated_resource(compilation: Compilation, target: Any) -> bool:
    """Tell a buffer resource from an array; Refused for an array whose elements have no updates."""
    if isinstance(target, Array) and target.element not in NUMBER.constraints:
        is_half = target.element in (f16, bf16)
        raise Refused(
            f"no atomic update is of {target.element}",
            "atomic.add_pair adds to two of them; or collect in f32"
            if is_half
            else "use i32, u32, i64, u64, f32, f64",
        )
    return _is_resource.function(compilation, target)


def _emit_update(
    context: EmitContext,
    pointer: Any,
    value: Any,
    order: str,
    scope: str,
    *,
    signed: str,
    unsigned: str,
    float: str = "",
) -> Any:
    """Emit LLVM's `atomicrmw` under the name that it has for the value's kind of number."""
    type = context.types[1]
    if not isinstance(type, Scalar):
        raise TypeError(f"atomic operations are on scalars, not on {type}")
    operation = float if type.is_float else signed if type.is_signed else unsigned
    return context.atomic_update(operation, pointer, value, ORDERINGS[order], SYNC_SCOPES[scope])


def _update(signed: str, unsigned: str = "", float: str = "") -> Emit:
    return Emit(partial(_emit_update, signed=signed, unsigned=unsigned or signed, float=float))


def _emit_compare_exchange(
    context: EmitContext, pointer: Any, expected: Any, desired: Any, order: str, scope: str
) -> Any:
    type = context.types[1]
    assert isinstance(type, Scalar)
    if not type.is_float:
        return context.atomic_compare_exchange(
            pointer, expected, desired, ORDERINGS[order], SYNC_SCOPES[scope]
        )
    word = context.llvm_type(i32 if type.bits == 32 else i64)
    old_bits, new_bits = context.bitcast(expected, word), context.bitcast(desired, word)
    old = context.atomic_compare_exchange(
        pointer, old_bits, new_bits, ORDERINGS[order], SYNC_SCOPES[scope]
    )
    return context.bitcast(old, context.llvm_type(type))


def _emit_load(context: EmitContext, pointer: Any, order: str, scope: str) -> Any:
    return context.atomic_load(context.result_type, pointer, ORDERINGS[order], SYNC_SCOPES[scope])


def _emit_store(context: EmitContext, pointer: Any, value: Any, order: str, scope: str) -> None:
    context.atomic_store(context.types[1], pointer, value, ORDERINGS[order], SYNC_SCOPES[scope])


@intrinsic(Emit(_emit_load), isa="global_load", name="atomic.load")
def _load(pointer: ELEMENT_POINTER, order: LoadOrder, scope: Scope) -> ELEMENT:
    """Read an element at once, as other waves wrote it (LLVM `load atomic`)."""


@device_function
def load(array, index, order="relaxed", scope="agent", dtype=None):
    """Read an element at once, as other waves wrote it, anew in each round of a loop. dtype: of a
    buffer's elements."""
    if _is_resource(array):
        return modules.buffer_atomics.load(array, index, dtype, order, scope)
    return _load(address_of(array, index), order, scope)


@intrinsic(Emit(_emit_store), isa="global_store", name="atomic.store")
def _store(pointer: ELEMENT_POINTER, value: ELEMENT, order: StoreOrder, scope: Scope) -> VOID:
    """Write an element at once, for other waves to read (LLVM `store atomic`)."""


@device_function
def store(array, index, value, order="relaxed", scope="agent"):
    """Write an element at once, for other waves to read."""
    if _is_resource(array):
        modules.buffer_atomics.store(array, index, value, order, scope)
        return
    _store(address_of(array, index), value, order, scope)


@intrinsic(_update("add", float="fadd"), isa="global_atomic_add", name="atomic.add")
def _add(pointer: NUMBER_POINTER, value: NUMBER, order: Order, scope: Scope) -> NUMBER:
    """Add to an element; return the old value (LLVM `atomicrmw`)."""


@device_function
def add(array, index, value, order="relaxed", scope="agent"):
    """Add to an element; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.add, array, index, value, order, scope
        )
    return _add(address_of(array, index), value, order, scope)


def _emit_pair(context: EmitContext, pointer: Any, value: Any, order: str, scope: str) -> Any:
    return context.atomic_update("fadd", pointer, value, ORDERINGS[order], SYNC_SCOPES[scope])


@intrinsic(Emit(_emit_pair), isa="global_atomic_pk_add_f16", name="atomic.add_pair")
def _add_f16_pair(pointer: F16_POINTER, value: F16_PAIR, order: Order, scope: Scope) -> F16_PAIR:
    """Add to two neighbouring f16; return the old values (LLVM `atomicrmw fadd`)."""


@intrinsic(Emit(_emit_pair), isa="global_atomic_pk_add_bf16", name="atomic.add_pair")
def _add_bf16_pair(
    pointer: BF16_POINTER, value: BF16_PAIR, order: Order, scope: Scope
) -> BF16_PAIR:
    """Add to two neighbouring bf16; return the old values (LLVM `atomicrmw fadd`)."""


@device_function
def add_pair(array, index, value, order="relaxed", scope="agent"):
    """Add an f16x2 or bf16x2 to an element and its successor; return the old pair. The element's
    address: even.

    index: of the first of the two, a multiple of 2 in an array whose rows are.
    """
    if _is_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.add_pair, array, index, value, order, scope
        )
    if array.dtype == bf16:
        return _add_bf16_pair(address_of(array, index), value, order, scope)
    return _add_f16_pair(address_of(array, index), value, order, scope)


@intrinsic(_update("sub", float="fsub"), name="atomic.sub")
def _sub(pointer: NUMBER_POINTER, value: NUMBER, order: Order, scope: Scope) -> NUMBER:
    """Subtract from an element; return the old value (LLVM `atomicrmw`)."""


@device_function
def sub(array, index, value, order="relaxed", scope="agent"):
    """Subtract from an element; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.sub, array, index, value, order, scope
        )
    return _sub(address_of(array, index), value, order, scope)


@intrinsic(
    _update("usub_sat"),
    isa="global_atomic_sub_clamp",
    targets=_GFX12,
    alternative="atomic.cas in a loop",
    name="atomic.sub_clamp",
)
def _sub_clamp(pointer: WORD_POINTER, value: u32, order: Order, scope: Scope) -> u32:
    """Subtract, down to 0; return the old value (LLVM `atomicrmw usub_sat`)."""


@device_function
def sub_clamp(array, index, value, order="relaxed", scope="agent"):
    """Subtract a u32 from an element, which becomes 0 where it is less; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.sub_clamp, array, index, value, order, scope
        )
    return _sub_clamp(address_of(array, index), value, order, scope)


@intrinsic(
    _update("usub_cond"),
    isa="global_atomic_cond_sub",
    targets=_GFX12,
    alternative="atomic.cas in a loop",
    name="atomic.cond_sub",
)
def _cond_sub(pointer: WORD_POINTER, value: u32, order: Order, scope: Scope) -> u32:
    """Subtract where the element is at least the value; return the old value (LLVM `atomicrmw
    usub_cond`)."""


@device_function
def cond_sub(array, index, value, order="relaxed", scope="agent"):
    """Subtract a u32 from an element that is at least as large, else leave it; return the old
    value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.cond_sub, array, index, value, order, scope
        )
    return _cond_sub(address_of(array, index), value, order, scope)


@intrinsic(_update("min", "umin", "fmin"), isa="global_atomic_min", name="atomic.min")
def _min(pointer: NUMBER_POINTER, value: NUMBER, order: Order, scope: Scope) -> NUMBER:
    """Write the lesser of the element and the value; return the old value (LLVM `atomicrmw`)."""


@device_function
def min(array, index, value, order="relaxed", scope="agent"):
    """Write the lesser of the element and the value; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.min, array, index, value, order, scope
        )
    return _min(address_of(array, index), value, order, scope)


@intrinsic(_update("max", "umax", "fmax"), isa="global_atomic_max", name="atomic.max")
def _max(pointer: NUMBER_POINTER, value: NUMBER, order: Order, scope: Scope) -> NUMBER:
    """Write the greater of the element and the value; return the old value (LLVM `atomicrmw`)."""


@device_function
def max(array, index, value, order="relaxed", scope="agent"):
    """Write the greater of the element and the value; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.max, array, index, value, order, scope
        )
    return _max(address_of(array, index), value, order, scope)


@intrinsic(_update("and"), isa="global_atomic_and", name="atomic.and_")
def _and(pointer: INTEGER_POINTER, value: INTEGER, order: Order, scope: Scope) -> INTEGER:
    """Clear the element's bits that are 0 in the value; return the old value (LLVM `atomicrmw`)."""


@device_function
def and_(array, index, value, order="relaxed", scope="agent"):
    """Clear the element's bits that are 0 in the value; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.and_, array, index, value, order, scope
        )
    return _and(address_of(array, index), value, order, scope)


@intrinsic(_update("or"), isa="global_atomic_or", name="atomic.or_")
def _or(pointer: INTEGER_POINTER, value: INTEGER, order: Order, scope: Scope) -> INTEGER:
    """Set the element's bits that are 1 in the value; return the old value (LLVM `atomicrmw`)."""


@device_function
def or_(array, index, value, order="relaxed", scope="agent"):
    """Set the element's bits that are 1 in the value; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.or_, array, index, value, order, scope
        )
    return _or(address_of(array, index), value, order, scope)


@intrinsic(_update("xor"), isa="global_atomic_xor", name="atomic.xor")
def _xor(pointer: INTEGER_POINTER, value: INTEGER, order: Order, scope: Scope) -> INTEGER:
    """Flip the element's bits that are 1 in the value; return the old value (LLVM `atomicrmw`)."""


@device_function
def xor(array, index, value, order="relaxed", scope="agent"):
    """Flip the element's bits that are 1 in the value; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.xor, array, index, value, order, scope
        )
    return _xor(address_of(array, index), value, order, scope)


@intrinsic(_update("xchg", float="xchg"), isa="global_atomic_swap", name="atomic.exch")
def _exch(pointer: NUMBER_POINTER, value: NUMBER, order: Order, scope: Scope) -> NUMBER:
    """Write the value; return the old one (LLVM `atomicrmw`)."""


@device_function
def exch(array, index, value, order="relaxed", scope="agent"):
    """Write the value; return the old one."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.exch, array, index, value, order, scope
        )
    return _exch(address_of(array, index), value, order, scope)


@intrinsic(_update("uinc_wrap"), isa="global_atomic_inc", name="atomic.inc")
def _inc(pointer: UNSIGNED_POINTER, value: UNSIGNED, order: Order, scope: Scope) -> UNSIGNED:
    """Add 1, or write 0 if the element is at or above the value; return the old value (LLVM
    `atomicrmw`)."""


@device_function
def inc(array, index, value, order="relaxed", scope="agent"):
    """Add 1, or write 0 if the element is at or above the value; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.inc, array, index, value, order, scope
        )
    return _inc(address_of(array, index), value, order, scope)


@intrinsic(_update("udec_wrap"), isa="global_atomic_dec", name="atomic.dec")
def _dec(pointer: UNSIGNED_POINTER, value: UNSIGNED, order: Order, scope: Scope) -> UNSIGNED:
    """Subtract 1, or write the value if the element is 0 or above it; return the old value (LLVM
    `atomicrmw`)."""


@device_function
def dec(array, index, value, order="relaxed", scope="agent"):
    """Subtract 1, or write the value if the element is 0 or above it; return the old value."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.update(
            modules.buffer_atomics.dec, array, index, value, order, scope
        )
    return _dec(address_of(array, index), value, order, scope)


@intrinsic(Emit(_emit_compare_exchange), isa="global_atomic_cmpswap", name="atomic.cas")
def _cas(
    pointer: NUMBER_POINTER, expected: NUMBER, desired: NUMBER, order: Order, scope: Scope
) -> NUMBER:
    """Write `desired` if the element is `expected`; return the old value in any case (LLVM
    `cmpxchg`)."""


@device_function
def cas(array, index, expected, desired, order="relaxed", scope="agent"):
    """Write `desired` if the element is `expected`, floats: of the same bits; return the old value
    in any case."""
    if _is_updated_resource(array):
        return modules.buffer_atomics.cas(array, index, expected, desired, order, scope)
    return _cas(address_of(array, index), expected, desired, order, scope)
