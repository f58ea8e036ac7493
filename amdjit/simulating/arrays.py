"""Arrays of a simulated kernel: NumPy's, whose elements are the kernel's numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from amdjit.simulating.numbers import Conversion, KnownNumber, Number, convert, number_of, of_numpy
from amdjit.simulating.vectors import VectorValue, made_vector
from amdjit.types import AddressSpace, Array, Layout, Scalar, Vector, boolean, from_dtype, i32

__all__ = [
    "ArrayRules",
    "ElementPointer",
    "KernelArray",
    "RecordElement",
    "VectorArray",
    "as_kernel_array",
]

_REDUCTIONS = ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var")


@dataclass(frozen=True)
class ArrayRules:
    """What the arrays of a function follow."""

    kind: type[Number]
    """The class of their elements."""
    wraps: bool
    """Whether indices that are negative at run time count from the end."""
    function: Callable[[Callable[..., Any]], Callable[..., Any]]
    """Returns what a function of NumPy's is in the kernel: the reductions among the methods."""


class KernelArray(np.ndarray[Any, Any]):
    """An array as a kernel sees it: a view of memory that is NumPy's own otherwise."""

    rules: ArrayRules
    space: AddressSpace = AddressSpace.GLOBAL

    def __array_finalize__(self, parent: Any) -> None:
        self.rules = getattr(parent, "rules", None)  # type: ignore[assignment]
        self.space = getattr(parent, "space", AddressSpace.GLOBAL)

    def __getitem__(self, index: Any) -> Any:
        found = np.ndarray.__getitem__(self, self.key(index))
        return found if isinstance(found, np.ndarray) and found.ndim else self._element(found)

    def __getattr__(self, name: str) -> Any:
        names = np.ndarray.dtype.__get__(self).names
        if names is None or name not in names:
            raise AttributeError(f"arrays have no attribute {name!r}")
        return np.ndarray.__getitem__(self, name)

    def _element(self, found: Any) -> Any:
        found = found[()] if isinstance(found, np.ndarray) else found
        if isinstance(found, np.void):
            return RecordElement(found, self.rules)
        return of_numpy(self.rules.kind, found)

    def __setitem__(self, index: Any, value: Any) -> None:
        np.ndarray.__setitem__(self, self.key(index), self.stored(value))

    def key(self, index: Any) -> Any:
        """Return an index as NumPy takes it; IndexError for one that is negative at run time,
        unless those count from the end."""
        if isinstance(index, tuple):
            return tuple(map(self._part, index))
        return self._part(index)

    def _part(self, part: Any) -> Any:
        if isinstance(part, Number):
            place = operator.index(part)
            if place < 0 and not (self.rules.wraps or isinstance(part, KnownNumber)):
                raise IndexError(
                    f"index {place} is negative: only constant ones count from the end"
                )
            return place
        if isinstance(part, slice):
            bounds = (part.start, part.stop, part.step)
            return slice(*(None if each is None else operator.index(each) for each in bounds))
        return part

    def stored(self, value: Any) -> Any:
        """Return a value as the elements hold it; TypeError where the language converts nothing."""
        target = from_dtype(np.ndarray.dtype.__get__(self))
        if target is None or isinstance(value, (np.ndarray, RecordElement)):
            return value.record if isinstance(value, RecordElement) else value
        rules = self.rules.kind.rules
        own = value.type if isinstance(value, Number) else rules.default_type(value)
        if own is not None and not rules.assignable(own, target) and isinstance(value, Number):
            raise TypeError(f"{own} is not stored to {target} by itself: write {target}(...)")
        made = convert(self.rules.kind, target, value)
        return made.value if isinstance(made, Number) else made

    @property
    def kernel_type(self) -> Array:
        """The type that compile-time functions get for the array."""
        element: Any = from_dtype(np.ndarray.dtype.__get__(self))
        extents = None if self.space is AddressSpace.GLOBAL else np.ndarray.shape.__get__(self)
        return Array(element, self.ndim, Layout.CONTIGUOUS, self.space, extents)

    @property
    def dtype(self) -> Any:
        """The type of the elements, which converts when it is called."""
        own = np.ndarray.dtype.__get__(self)
        found = from_dtype(own)
        return own if found is None else Conversion(self.rules.kind, found)

    @property  # type: ignore[misc]
    def shape(self) -> Any:
        """The extents: typed, as an argument's are; known ones of arrays that a kernel made."""
        own = np.ndarray.shape.__get__(self)
        if self.space is not AddressSpace.GLOBAL or self.rules is None:
            return own
        return tuple(number_of(self.rules.kind, i32, extent) for extent in own)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return number_of(self.rules.kind, i32, np.ndarray.size.__get__(self))

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __str__(self) -> str:
        return str(np.ndarray.view(self, np.ndarray))

    def view(self, *arguments: Any) -> Any:  # type: ignore[override]
        """Return a view, of elements of another type if one is given."""
        return np.ndarray.view(self, *(_numpy_type(each) for each in arguments))

    def astype(self, dtype: Any, **keywords: Any) -> Any:  # type: ignore[override]
        """Return a converted copy."""
        return np.ndarray.astype(self, _numpy_type(dtype), **keywords)

    def load(self, index: Any, width: Any, alignment: Any = None, base: Any = None) -> Any:
        """Return adjacent elements as a vector, or one."""
        key, width = self._start(index, base), operator.index(width)
        if width == 1:
            return self[key]
        row = self._row(key, width)
        element: Any = from_dtype(np.ndarray.dtype.__get__(self))
        return made_vector(self.rules.kind, Vector(element, width), list(row))

    def store(self, index: Any, vector: Any, alignment: Any = None, base: Any = None) -> None:
        """Write the elements of a vector to adjacent places, or one number."""
        key = self._start(index, base)
        if not isinstance(vector, VectorValue):
            self[key] = vector
            return
        row = self._row(key, len(vector))
        row[...] = np.array([self.stored(each) for each in vector], np.ndarray.dtype.__get__(self))

    def _row(self, key: tuple[int, ...], width: int) -> Any:
        place: Any = (*key[:-1], slice(key[-1], key[-1] + width))
        row = np.ndarray.__getitem__(self, place)
        if len(row) != width:
            raise IndexError(f"{width} elements from {key} on are not in an array of {self.shape}")
        return row

    def _start(self, index: Any, base: Any) -> tuple[int, ...]:
        places = [operator.index(each) for each in _parts(index)]
        if base is not None:
            starts = map(operator.index, _parts(base))
            places = [a + b for a, b in zip(places, starts, strict=True)]
        if min(places, default=0) < 0:
            raise IndexError(f"index {places} is negative")
        return tuple(places)


def _reduction(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: KernelArray, *arguments: Any, **keywords: Any) -> Any:
        return self.rules.function(function)(self, *arguments, **keywords)

    method.__doc__ = f"Compute `np.{name}` of all elements, as the kernel's function does."
    return method


for _name in _REDUCTIONS:
    setattr(KernelArray, _name, _reduction(_name))


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _numpy_type(given: Any) -> Any:
    if isinstance(given, Conversion):
        return given.type.dtype
    return given.dtype if isinstance(given, Scalar) else given


class RecordElement:
    """An element of an array of records, whose fields are in the array's memory."""

    __slots__ = ("record", "rules")

    def __init__(self, record: np.void, rules: ArrayRules) -> None:
        object.__setattr__(self, "record", record)
        object.__setattr__(self, "rules", rules)

    def __repr__(self) -> str:
        return repr(self.record)

    def __getitem__(self, name: Any) -> Any:
        found = self.record[name]
        if isinstance(found, np.void):
            return RecordElement(found, self.rules)
        if isinstance(found, np.ndarray):
            return as_kernel_array(found, self.rules)
        return of_numpy(self.rules.kind, found)

    def __setitem__(self, name: Any, value: Any) -> None:
        if isinstance(value, RecordElement):
            self.record[name] = value.record
        else:
            field = as_kernel_array(np.asarray(self.record)[name], self.rules)
            field[...] = value

    def __getattr__(self, name: str) -> Any:
        if self.record.dtype.names is None or name not in self.record.dtype.names:
            raise AttributeError(f"the record has no field {name!r}")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class VectorArray:
    """An array that a kernel made, whose elements are vectors."""

    def __init__(self, memory: np.ndarray[Any, Any], element: Vector, rules: ArrayRules) -> None:
        """memory: with one more axis than the array, for the elements of the vectors."""
        self._numbers = as_kernel_array(memory, rules, AddressSpace.LDS)
        self._element, self.shape = element, memory.shape[:-1]
        self.ndim, self.size = len(self.shape), int(np.prod(self.shape))

    def __repr__(self) -> str:
        return repr(self._numbers)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, index: Any) -> VectorValue:
        return made_vector(self._numbers.rules.kind, self._element, list(self._row(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        values = value if isinstance(value, VectorValue) else [value] * self._element.length
        row = self._row(index)
        for place, each in enumerate(values):
            row[place] = each

    def _row(self, index: Any) -> KernelArray:
        parts = _parts(index)
        if len(parts) != self.ndim:
            raise IndexError(f"an array of {self.ndim} axes takes as many indices, not {parts}")
        row: KernelArray = self._numbers[parts]
        return row


class ElementPointer(NamedTuple):
    """The address of an element of an array."""

    array: KernelArray
    key: tuple[Any, ...]

    def read(self) -> Any:
        """Return the element."""
        return self.array[self.key]

    def write(self, value: Any) -> None:
        """Write the element."""
        self.array[self.key] = value


def as_kernel_array(
    array: np.ndarray[Any, Any], rules: ArrayRules, space: AddressSpace = AddressSpace.GLOBAL
) -> KernelArray:
    """Return a view of NumPy's array for a kernel."""
    made = array.view(KernelArray)
    made.rules, made.space = rules, space
    return made


def dtype_of(element: Any) -> tuple[np.dtype[Any], Vector | None]:
    """Return NumPy's type for what `dtype` names in `shared.array(shape, dtype)`, and the vector
    type if the elements are vectors."""
    if isinstance(element, Vector):
        return element.element.dtype, element
    if isinstance(element, Scalar):
        return element.dtype, None
    if element is bool:
        return boolean.dtype, None
    return np.dtype(element), None
