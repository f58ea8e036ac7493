"""Numba's classes of types. They make types, `Array(float32, 2, "C")`, and can be used with
`isinstance`.

They make amdjit's own types, which signatures and `dtype` arguments accept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from amdjit import frontend
from amdjit import types as own
from amdjit.language.complex_types import (
    COMPLEX64,
    COMPLEX128,
    ComplexElement,
    complex64,
    complex128,
)
from amdjit.language.type_classes import TypeClass
from amdjit.numba_cuda.functions.memories import carray as carray
from amdjit.numba_cuda.functions.memories import farray as farray
from amdjit.numba_cuda.signatures import type_of
from amdjit.types import dtype_of_element

__all__ = [
    "Array",
    "BaseTuple",
    "Boolean",
    "CPointer",
    "Complex",
    "Float",
    "Integer",
    "NPDatetime",
    "NPTimedelta",
    "Number",
    "Record",
    "Tuple",
    "Type",
    "UniTuple",
    "as_dtype",
    "complex_domain",
    "from_dtype",
    "integer_domain",
    "number_domain",
    "real_domain",
    "signed_domain",
    "typeof",
    "unsigned_domain",
]

numpy_version = tuple(map(int, np.__version__.split(".")[:2]))
"""NumPy's version, two numbers."""

_COMPLEX = {COMPLEX64: complex64, COMPLEX128: complex128}


def from_dtype(dtype: Any) -> Any:
    """Return the type for a NumPy type; NotImplementedError if kernels have none."""
    known = np.dtype(dtype)
    found = frontend.element_of_dtype(known)
    if found is None:
        raise NotImplementedError(f"kernels have no type for {known!r}")
    return found


def as_dtype(type: Any) -> np.dtype[Any]:
    """Return the NumPy type of a number, or of a record's or array's elements; NotImplementedError
    for types that NumPy lacks."""
    kind = _one(type)
    if isinstance(kind, own.Array):
        return kind.dtype
    if isinstance(kind, (own.Scalar, own.Vector, own.Record)):
        return dtype_of_element(kind)
    raise NotImplementedError(f"NumPy has no type for {type}")


def typeof(value: Any) -> Any:
    """Return the type that Numba gives a number, an array, a record, or a tuple of these;
    ValueError for other values."""
    if value is None:
        return own.VOID
    if isinstance(value, tuple):
        return Tuple(map(typeof, value))
    if isinstance(value, np.void):
        return from_dtype(value.dtype)
    if type(value) is int and not own.i64.minimum <= value <= own.i64.maximum:
        found: Any = own.u64 if 0 < value <= own.u64.maximum else None
    else:
        found = type_of(value)
    if found is not None:
        return _one(found)
    raise ValueError(f"Cannot determine Numba type of {type(value)}")


def _one(given: Any) -> Any:
    """Return amdjit's type for a type: NumPy's types have counterparts, and a complex number in
    registers becomes the one in memory."""
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        return frontend.element_of_dtype(np.dtype(given))
    found = frontend.of_numba(given)
    if found is not given and isinstance(found, tuple):
        return Tuple(found)
    return _COMPLEX.get(found, found) if isinstance(found, own.Tuple) else found


def _scalar(given: Any) -> own.Scalar | None:
    found = _one(given)
    return found if isinstance(found, own.Scalar) else None


class Type(metaclass=TypeClass):
    """Any type."""

    @staticmethod
    def holds(given: Any) -> bool:
        return isinstance(_one(given), own.Type)


class Integer(metaclass=TypeClass):
    """Types of integers, without booleans."""

    @staticmethod
    def holds(given: Any) -> bool:
        scalar = _scalar(given)
        return scalar is not None and scalar.is_integer


class Float(metaclass=TypeClass):
    """Types of real floats."""

    @staticmethod
    def holds(given: Any) -> bool:
        scalar = _scalar(given)
        return scalar is not None and scalar.is_float


class Complex(metaclass=TypeClass):
    """complex64 and complex128."""

    @staticmethod
    def holds(given: Any) -> bool:
        return isinstance(_one(given), ComplexElement)


class Number(metaclass=TypeClass):
    """Types of integers, floats and complex numbers."""

    @staticmethod
    def holds(given: Any) -> bool:
        return Integer.holds(given) or Float.holds(given) or Complex.holds(given)


class Boolean(metaclass=TypeClass):
    """The type of booleans."""

    @staticmethod
    def holds(given: Any) -> bool:
        return _scalar(given) is own.boolean


class Array(metaclass=TypeClass):
    """Array types: `Array(float32, 2, "C")` is `float32[:, ::1]`.

    layout: "C" for contiguous arrays; "A" and "F" take arrays of any strides.
    """

    def __new__(
        cls, dtype: Any, ndim: int, layout: str, readonly: bool = False, aligned: bool = True
    ) -> Any:
        """Return the type. TypeError for elements that arrays cannot have, ValueError for an
        unknown layout."""
        if layout not in ("C", "F", "A"):
            raise ValueError(f"an array's layout is 'C', 'F' or 'A', not {layout!r}")
        element = _one(dtype)
        if not isinstance(element, (own.Scalar, own.Vector, own.Record)):
            raise TypeError(f"an array has no elements of {dtype!r}")
        known = own.Layout.CONTIGUOUS if layout == "C" or not ndim else own.Layout.ANY
        return own.Array(element, ndim, known)

    @staticmethod
    def holds(given: Any) -> bool:
        return isinstance(given, own.Array)


class BaseTuple(metaclass=TypeClass):
    """Types of tuples."""

    @staticmethod
    def holds(given: Any) -> bool:
        return isinstance(_one(given), own.Tuple)


class Tuple(metaclass=TypeClass):
    """Types of tuples: `Tuple((int32, float64))`."""

    def __new__(cls, types: Iterable[Any]) -> Any:
        """Return the type."""
        return own.Tuple(tuple(_in_registers(each) for each in types))

    @staticmethod
    def holds(given: Any) -> bool:
        return BaseTuple.holds(given) and not UniTuple.holds(given)


class UniTuple(metaclass=TypeClass):
    """Types of tuples of equal types: `UniTuple(float32, 3)`."""

    def __new__(cls, dtype: Any, count: int) -> Any:
        """Return the type."""
        return own.Tuple((_in_registers(dtype),) * count)

    @staticmethod
    def holds(given: Any) -> bool:
        found = _one(given)
        return isinstance(found, own.Tuple) and len(set(found.elements)) == 1


def _in_registers(given: Any) -> Any:
    """Return the type of an item of a tuple, in which complex numbers are pairs."""
    found = _one(given)
    if isinstance(found, ComplexElement):
        return COMPLEX64 if found == complex64 else COMPLEX128
    if not isinstance(found, own.Type):
        raise TypeError(f"a tuple has no items of {given!r}")
    return found


class NPDatetime(metaclass=TypeClass):
    """NumPy's dates: `NPDatetime("D")` counts days."""

    _name = "datetime64"

    def __new__(cls, unit: str) -> Any:
        """Return the type; TypeError for a unit that NumPy lacks."""
        return from_dtype(np.dtype(f"{cls._name}[{unit}]"))

    @classmethod
    def holds(cls, given: Any) -> bool:
        found = _one(given)
        return isinstance(found, own.Record) and np.dtype(found.title or "i1").kind == "M"


class NPTimedelta(metaclass=TypeClass):
    """NumPy's durations: `NPTimedelta("s")` counts seconds."""

    def __new__(cls, unit: str) -> Any:
        """Return the type; TypeError for a unit that NumPy lacks."""
        return from_dtype(np.dtype(f"timedelta64[{unit}]"))

    @staticmethod
    def holds(given: Any) -> bool:
        found = _one(given)
        return isinstance(found, own.Record) and np.dtype(found.title or "i1").kind == "m"


class CPointer(metaclass=TypeClass):
    """Types of addresses: `CPointer(float32)`."""

    def __new__(cls, dtype: Any) -> Any:
        """Return the type of the address of an element in global memory."""
        return own.Pointer(_one(dtype), own.AddressSpace.GLOBAL)

    @staticmethod
    def holds(given: Any) -> bool:
        return isinstance(given, own.Pointer)


class Record(metaclass=TypeClass):
    """Types of records; `Record.make_c_struct([("x", float32), ("n", int8)])` makes one."""

    def __new__(cls, *arguments: Any) -> Any:
        """Raise TypeError: records are made from NumPy's types."""
        raise TypeError("write from_dtype(numpy.dtype(...)), or Record.make_c_struct(fields)")

    @staticmethod
    def make_c_struct(fields: Iterable[tuple[Any, ...]]) -> Any:
        """Return a record from fields, each a name and a type, with C's padding."""
        return from_dtype(np.dtype([(str(n), as_dtype(each)) for n, each in fields], align=True))

    @staticmethod
    def holds(given: Any) -> bool:
        found = _one(given)
        return isinstance(found, own.Record) and not found.title


class _Domain(frozenset[Any]):
    """A set of types, in which NumPy's types count as amdjit's."""

    def __contains__(self, given: object) -> bool:
        return super().__contains__(_one(given))


signed_domain = _Domain({own.i8, own.i16, own.i32, own.i64})
unsigned_domain = _Domain({own.u8, own.u16, own.u32, own.u64})
integer_domain = _Domain(signed_domain | unsigned_domain)
real_domain = _Domain({own.f32, own.f64})
complex_domain = _Domain({complex64, complex128})
number_domain = _Domain(integer_domain | real_domain | complex_domain)
