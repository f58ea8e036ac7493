"""The special forms in a simulated kernel: arrays that it makes, addresses, bits, loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from amdjit.declarations import Form
from amdjit.simulating.arrays import (
    ArrayRules,
    ElementPointer,
    KernelArray,
    VectorArray,
    as_kernel_array,
    dtype_of,
)
from amdjit.simulating.not_simulated import NotSimulatedError
from amdjit.simulating.operations import Operations, unwrapped
from amdjit.simulating.python_functions import StaticItems
from amdjit.simulating.vectors import VectorValue, bits_as
from amdjit.types import AddressSpace, Vector

__all__ = ["FORMS", "Forms"]


class Forms:
    """The special forms of a launch. rules: those of the function that uses the form."""

    def __init__(self, operations: Operations, dynamic_lds: int) -> None:
        """dynamic_lds: bytes."""
        self._operations, self._dynamic_lds = operations, dynamic_lds

    def shared_array(self, rules: ArrayRules, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """Return the array of the workgroup that this call makes, one for each call."""
        shared = self._operations.item.shared
        key = self._operations.places.path()
        if key not in shared:
            shared[key] = _memory(shape, dtype)
        memory, vector = shared[key]
        return _placed(memory, vector, rules, AddressSpace.LDS)

    def dynamic_array(
        self, rules: ArrayRules, dtype: Any, offset: Any = 0, shape: Any = None
    ) -> Any:
        """Return the LDS that the launch adds, as an array."""
        shared = self._operations.item.shared
        if None not in shared:
            shared[None] = np.zeros(self._dynamic_lds, np.uint8)
        element, vector = dtype_of(unwrapped(dtype))
        content = shared[None][int(offset or 0) :]
        rest = () if vector is None else (vector.length,)
        extents = (-1,) if shape is None else _extents(shape)
        row = element.itemsize * int(np.prod(rest))
        size = content.nbytes // row * row if shape is None else row * int(np.prod(extents))
        if size > content.nbytes:
            raise IndexError(f"{size} bytes are not in the {content.nbytes} of dynamic LDS")
        found = content[:size].view(element).reshape(*extents, *rest)
        return _placed(found, vector, rules, AddressSpace.LDS)

    def local_array(self, rules: ArrayRules, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """Return a new array of the work-item."""
        memory, vector = _memory(shape, dtype)
        return _placed(memory, vector, rules, AddressSpace.PRIVATE)

    def array_like(self, rules: ArrayRules, array: Any) -> Any:
        """Return the array itself: those from outside are constants already."""
        return array

    def address_of(self, rules: ArrayRules, array: Any, index: Any) -> Any:
        """Return the address of an element; IndexError for one that is not there."""
        if not isinstance(array, KernelArray):
            raise NotSimulatedError(f"the address of an element of {array!r}")
        parts = index if isinstance(index, tuple) else (index,)
        key = tuple(operator.index(array.key(part)) for part in parts)
        array[key]
        return ElementPointer(as_kernel_array(array, rules, array.space), key)

    def bitcast(self, rules: ArrayRules, value: Any, type: Any) -> Any:
        """Return the same bits as another type."""
        return bits_as(value, unwrapped(type))

    def shuffle(self, rules: ArrayRules, v: Any, w: Any, indices: Any) -> Any:
        """Return elements of two vectors."""
        both = (*v.elements, *w.elements)
        return VectorValue(Vector(v.type.element, len(indices)), [both[i] for i in indices])

    def static_range(self, rules: ArrayRules, *bounds: Any) -> StaticItems:
        """Return numbers that are known when compiling."""
        return StaticItems(range(*map(operator.index, bounds)))

    def unroll(self, rules: ArrayRules, items: Any, rounds: Any = None) -> Any:
        """Return what to loop over."""
        return items


FORMS: Mapping[Form, Callable[..., Any]] = {
    Form.SHARED_ARRAY: Forms.shared_array,
    Form.SHARED_DYNAMIC: Forms.dynamic_array,
    Form.LOCAL_ARRAY: Forms.local_array,
    Form.CONST_ARRAY_LIKE: Forms.array_like,
    Form.ADDRESS_OF: Forms.address_of,
    Form.STATIC_RANGE: Forms.static_range,
    Form.UNROLL: Forms.unroll,
    Form.BITCAST: Forms.bitcast,
    Form.SHUFFLE: Forms.shuffle,
}


def _placed(
    memory: np.ndarray[Any, Any], vector: Vector | None, rules: ArrayRules, space: AddressSpace
) -> Any:
    if vector is not None:
        return VectorArray(memory, vector, rules)
    return as_kernel_array(memory, rules, space)


def _extents(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape)) if isinstance(shape, tuple) else (int(shape),)


def _memory(shape: Any, dtype: Any) -> tuple[np.ndarray[Any, Any], Vector | None]:
    """Return the memory of an array that a kernel makes. Nothing has written it: it holds 0."""
    element, vector = dtype_of(unwrapped(dtype))
    extents = _extents(shape) + (() if vector is None else (vector.length,))
    return np.zeros(extents, element), vector
