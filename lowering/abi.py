"""How values are passed to kernels and device functions, and what an array consists of.

before: a parameter `a: f32[:, ::1]` with 32-bit offsets
after:  `ptr addrspace(1) %a, i32 %a.extent0, i32 %a.extent1`

A scalar, vector or pointer is one LLVM value. An array is a pointer to its first element, then its
extents, then its strides if the layout has them, both in elements and of the array's index type; a
known shape needs no extents. A tuple is its items, one after another. A kernel's arguments are in
the order of `amdjit.abi.kernarg`; a boolean argument of a kernel is one byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from llvmlite import ir

from amdjit.late_methods import dataclass
from amdjit.lowering.types import I1, I8, VOID, literal, llvm_type, pointer_to
from amdjit.types import Array, Known, Layout, Tuple, Type, Void

__all__ = [
    "ArrayValue",
    "components",
    "flatten",
    "kernel_argument_types",
    "result_type",
    "unflatten",
]


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """An array in registers. strides is None if they follow from the extents (C-contiguous)."""

    type: Array
    pointer: Any
    extents: tuple[Any, ...]
    strides: tuple[Any, ...] | None


def components(type: Type) -> list[Any]:
    """Return the LLVM types of the values that a value of this type consists of, in order."""
    if isinstance(type, Array):
        return [pointer_to(type.address_space)] + [llvm_type(type.index_type)] * _sizes(type)
    if isinstance(type, Tuple):
        return [component for element in type.elements for component in components(element)]
    return [] if isinstance(type, (Void, Known)) else [llvm_type(type)]


def kernel_argument_types(type: Type) -> list[Any]:
    """Return the LLVM types of a kernel's arguments for one parameter; a boolean is a byte."""
    return [I8 if component == I1 else component for component in components(type)]


def flatten(value: Any) -> Iterator[Any]:
    """Yield the LLVM values that a value consists of, in the order of `components`."""
    if isinstance(value, ArrayValue):
        yield value.pointer
        if value.type.shape is None:
            yield from value.extents
        yield from value.strides or ()
    elif isinstance(value, tuple):
        for item in value:
            yield from flatten(item)
    elif value is not None:
        yield value


def unflatten(type: Type, values: Iterable[Any]) -> Any:
    """Build a value of this type from its LLVM values."""
    return _take(type, iter(values))


def result_type(type: Type) -> Any:
    """Return the LLVM type that a function with this result returns."""
    parts = components(type)
    if not parts:
        return VOID
    return parts[0] if len(parts) == 1 else ir.LiteralStructType(parts)


def _take(type: Type, values: Iterator[Any]) -> Any:
    if isinstance(type, Array):
        return _take_array(type, values)
    if isinstance(type, Tuple):
        return tuple(_take(element, values) for element in type.elements)
    return None if isinstance(type, (Void, Known)) else next(values)


def _take_array(type: Array, values: Iterator[Any]) -> ArrayValue:
    pointer = next(values)
    if type.shape is not None:
        index = llvm_type(type.index_type)
        extents = tuple(literal(index, extent) for extent in type.shape)
    else:
        extents = tuple(next(values) for _ in range(type.ndim))
    strides = tuple(next(values) for _ in range(type.ndim)) if type.layout.has_strides else None
    if strides is not None and type.layout is Layout.ROWS:
        strides = (*strides[:-1], literal(llvm_type(type.index_type), 1))
    return ArrayValue(type, pointer, extents, strides)


def _sizes(type: Array) -> int:
    """Count the extents and strides that are passed along."""
    kinds = (type.shape is None) + type.layout.has_strides
    return type.ndim * kinds
