"""Which values stand for the elements of a NumPy type in kernels, and back."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from amdjit.frontend import element_of_dtype, structure_of
from amdjit.language.complex_types import COMPLEX64, COMPLEX128, complex64, complex128
from amdjit.types import Array, Layout, Record, Scalar, Tuple, Type, from_dtype

__all__ = ["Kind", "array_type", "dtype_of", "kind_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """The values of an array's elements.

    constructor: what makes such a value in a kernel: a scalar type, complex64, complex128, or a
    named tuple of a record's fields. type: the value's type.
    """

    dtype: np.dtype[Any]
    constructor: Any
    type: Type

    @property
    def is_record(self) -> bool:
        """Whether the elements have fields."""
        return isinstance(self.constructor, type)

    @property
    def is_exact(self) -> bool:
        """Whether the elements consist of integers and booleans."""
        parts = self.type.elements if isinstance(self.type, Tuple) else (self.type,)
        return all(isinstance(part, Scalar) and not part.is_float for part in parts)


@functools.lru_cache(maxsize=256)
def kind_of(dtype: np.dtype[Any]) -> Kind:
    """Return the values of a NumPy type. TypeError for types that the kernel language lacks."""
    scalar = from_dtype(dtype)
    if scalar is not None:
        return Kind(dtype, scalar, scalar)
    if dtype == np.complex64:
        return Kind(dtype, complex64, COMPLEX64)
    if dtype == np.complex128:
        return Kind(dtype, complex128, COMPLEX128)
    if dtype.names is None or element_of_dtype(dtype) is None:
        raise _no_type(dtype)
    return _record_kind(dtype)


def _no_type(dtype: np.dtype[Any]) -> TypeError:
    if not dtype.isnative:
        remedy = f"convert them, .astype({dtype.newbyteorder('=').str[1:]!r})"
    elif dtype.kind in "mM":
        remedy = "take their numbers, .view(numpy.int64)"
    else:
        remedy = "convert them, for example with .astype(numpy.float32)"
    return TypeError(f"the kernel language has no type for elements of {dtype}: {remedy}")


def _record_kind(dtype: np.dtype[Any]) -> Kind:
    types = []
    for name in dtype.names or ():
        scalar = from_dtype(dtype[name])
        if scalar is None:
            raise TypeError(
                f"field {name} of {dtype} is not a number: records whose fields are records, "
                "arrays or complex numbers cannot be combined; take the parts apart"
            )
        types.append((name, scalar))
    try:
        record = NamedTuple("Record", types)  # type: ignore[misc]
    except ValueError as error:
        raise TypeError(f"the fields of {dtype} need names that Python takes: {error}") from None
    return Kind(dtype, record, Tuple(tuple(kind for _, kind in types), structure_of(record)))


def array_type(dtype: np.dtype[Any]) -> Array:
    """Return the type of an array of such elements."""
    element = element_of_dtype(dtype)
    if element is None or dtype.kind in "SU":  # text is for kernels alone
        raise _no_type(dtype)
    return Array(element, 1, Layout.CONTIGUOUS)


def dtype_of(found: Any, is_complex: bool) -> np.dtype[Any] | None:
    """Return the NumPy type that holds a result of this type, or this known result; else None.

    found: also the NumPy type itself. is_complex: `found` is a part of a complex number.
    """
    if isinstance(found, np.dtype):
        return found
    if isinstance(found, Array) and found.ndim == 0 and isinstance(found.element, Record):
        return _record_dtype(found.element)
    if isinstance(found, Scalar):
        dtype = found.dtype
    elif isinstance(found, (bool, int, float, np.generic)):
        dtype = _literal_dtype(found)
    else:
        return None
    return np.result_type(dtype, np.complex64) if is_complex else dtype


def _literal_dtype(value: Any) -> np.dtype[Any]:
    """Return the type that a literal has alone: i32 or wider, f32."""
    if isinstance(value, (bool, np.generic)):
        return np.asarray(value).dtype
    if isinstance(value, int):
        return np.result_type(np.int32, np.min_scalar_type(value))
    return np.dtype(np.float32)


def _record_dtype(record: Record) -> np.dtype[Any]:
    if record.title:
        return np.dtype(record.title)
    formats: list[Any] = []
    for field in record.fields:
        inner = field.type.dtype if isinstance(field.type, Scalar) else _record_dtype(field.type)
        formats.append((inner, field.shape))
    layout: Any = {
        "names": [field.name for field in record.fields],
        "formats": formats,
        "offsets": [field.offset for field in record.fields],
        "itemsize": record.nbytes,
    }
    found: np.dtype[Any] = np.dtype(layout)
    return found
