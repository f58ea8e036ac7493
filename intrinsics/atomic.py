"""Atomic operations on an element of an array in global memory or LDS, or of a buffer: loads,
stores and read-modify-write operations.

`atomic.add(array, index, value, order="relaxed", scope="agent")` returns the old value. index: an
int, or a tuple with one int per axis. order: relaxed, acquire, release, acq_rel, seq_cst. scope:
system, agent (the whole device), workgroup, wavefront. Types: i32, u32, i64, u64, f32, f64, each
where the operation has a meaning; on gfx12, f64 additions and float subtractions become a
compare-and-swap loop. `atomic.load` and `atomic.store` take all numbers. A loop that waits for
another wave's write must read with `load`: a plain read may be hoisted out of the loop.

`array` may also be a resource made by `memory.buffer` or `memory.records`. Its elements then have
the value's type (`dtype` for a load). Operations outside the buffer do nothing and return 0.
Buffers have the operations that are a single instruction.

Sources: LLVM AMDGPU guide, "Memory Model GFX12", "Memory Scopes"; RDNA4 ISA, `global_atomic_*` and
`ds_*_rtn_*`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amdjit.declarations import DeviceFunction, Form, SpecialForm, device_function
from amdjit.intrinsics import atomics
from amdjit.intrinsics.atomics import on_arrays
from amdjit.intrinsics.lds import address_of
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import AddressSpace, Array, Pointer, bf16, f16, f32, f64, i32, i64

_bitcast = SpecialForm(Form.BITCAST, "the same bits read as another type")


@compile_time
def _is_resource(compilation: Compilation, target: Any) -> bool:
    """Return whether the target is a buffer resource rather than an array."""
    return isinstance(target, Pointer) and target.address_space is AddressSpace.BUFFER


@compile_time
def _is_updated_resource(compilation: Compilation, target: Any) -> bool:
    """Return whether the target is a buffer resource. Refused for an array whose elements have no
    atomic updates."""
    if isinstance(target, Array) and target.element not in on_arrays.NUMBER.constraints:
        is_half = target.element in (f16, bf16)
        raise Refused(
            f"{target.element} has no atomic updates",
            "use atomic.add_pair, which adds to two of them, or collect in f32"
            if is_half
            else "use i32, u32, i64, u64, f32, f64",
        )
    return _is_resource.function(compilation, target)


@compile_time
def _word_of_skipped(compilation: Compilation, array: Array) -> Any:
    """Return the integer with the bits of an element if the processor's minimum and maximum of it
    leave out what LLVM's `atomicrmw` does; None if they do not, or if LLVM makes a loop of them.

    Before gfx12 the instructions compare: they leave a NaN in memory alone, and one zero where the
    other is written (CDNA3 ISA, "Data share instructions", `DS_MAX_RTN_F32`; RDNA3 ISA,
    `GLOBAL_ATOMIC_MAX_F32`).
    """
    major = compilation.target.isa[0]
    if not isinstance(array, Array) or array.element not in (f32, f64) or major >= 12:
        return None
    # gfx9 has them from gfx90a on.
    has_own = array.element is f32 if major == 11 else compilation.target.isa >= (9, 0, 10)
    has_own &= major == 11 or array.element is f64
    if array.address_space is not AddressSpace.LDS and not has_own:
        return None
    return i32 if array.element is f32 else i64


@device_function
def _is_skipped(old, value, word, is_maximum):
    """Whether an instruction that found `old` should have written the value but has not."""
    if old == value:
        before, after = _bitcast(old, word), _bitcast(value, word)
        return before < after if is_maximum else before > after
    return old != old and value == value


@device_function
def load(array, index, order="relaxed", scope="agent", dtype=None):
    """Read an element in one piece, as other waves wrote it, afresh in every iteration of a loop.
    dtype: the type of a buffer's elements."""
    if _is_resource(array):
        return atomics.on_buffers.load(array, index, dtype, order, scope)
    return on_arrays.load(address_of(array, index), order, scope)


@device_function
def store(array, index, value, order="relaxed", scope="agent"):
    """Write an element in one piece, for other waves to read."""
    if _is_resource(array):
        atomics.on_buffers.store(array, index, value, order, scope)
        return
    on_arrays.store(address_of(array, index), value, order, scope)


@device_function
def add_pair(array, index, value, order="relaxed", scope="agent"):
    """Add an f16x2 or bf16x2 to an element and its successor; return the old pair.

    index: of the first element, whose address must be a multiple of the pair's size.
    """
    if _is_resource(array):
        return atomics.on_buffers.update("add_pair", array, index, value, order, scope)
    if array.dtype == bf16:
        return on_arrays.add_bf16_pair(address_of(array, index), value, order, scope)
    return on_arrays.add_f16_pair(address_of(array, index), value, order, scope)


@device_function
def cas(array, index, expected, desired, order="relaxed", scope="agent"):
    """Write `desired` if the element equals `expected` (floats: has the same bits); return the old
    value in either case."""
    if _is_updated_resource(array):
        return atomics.on_buffers.cas(array, index, expected, desired, order, scope)
    return on_arrays.cas(address_of(array, index), expected, desired, order, scope)


def _update(name: str) -> Callable[..., Any]:
    on_array = on_arrays.UPDATES[name]

    def function(array, index, value, order="relaxed", scope="agent"):
        if _is_updated_resource(array):
            return atomics.on_buffers.update(name, array, index, value, order, scope)
        return on_array(address_of(array, index), value, order, scope)

    return function


def _extreme(name: str) -> Callable[..., Any]:
    on_array, is_maximum = on_arrays.UPDATES[name], name == "max"

    def function(array, index, value, order="relaxed", scope="agent"):
        if _is_updated_resource(array):
            return atomics.on_buffers.update(name, array, index, value, order, scope)
        # The address in no variable: an array whose address only atomic operations take has one
        # name.
        old = on_array(address_of(array, index), value, order, scope)
        word = _word_of_skipped(array)
        while word is not None and _is_skipped(old, array.dtype(value), word, is_maximum):
            found = on_arrays.cas(address_of(array, index), old, value, order, scope)
            if _bitcast(found, word) == _bitcast(old, word):
                break
            old = on_array(address_of(array, index), value, order, scope)
        return old

    return function


def _declared(name: str, text: str) -> DeviceFunction:
    function = _extreme(name) if name in ("min", "max") else _update(name)
    function.__name__, function.__qualname__, function.__doc__ = name, name, text
    return device_function(function)


_UPDATES = {
    "add": "Add to an element; return the old value.",
    "sub": "Subtract from an element; return the old value.",
    "sub_clamp": "Subtract a u32 from an element, which becomes 0 if it is less; return the old "
    "value.",
    "cond_sub": "Subtract a u32 from an element that is at least as large, otherwise leave it; "
    "return the old\nvalue.",
    "min": "Write the lesser of the element and the value, of which -0.0 is less than 0.0 "
    "and a NaN\ncounts as missing; return the old value.",
    "max": "Write the greater of the element and the value, of which 0.0 is greater than "
    "-0.0 and a NaN\ncounts as missing; return the old value.",
    "and_": "Clear the element's bits that are 0 in the value; return the old value.",
    "or_": "Set the element's bits that are 1 in the value; return the old value.",
    "xor": "Flip the element's bits that are 1 in the value; return the old value.",
    "exch": "Write the value; return the old one.",
    "inc": "Add 1, or write 0 if the element is at or above the value; return the old value.",
    "dec": "Subtract 1, or write the value if the element is 0 or above it; return the old value.",
}
globals().update({name: _declared(name, text) for name, text in _UPDATES.items()})

__all__ = sorted([*_UPDATES, "add_pair", "cas", "load", "store"])
