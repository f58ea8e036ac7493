"""Python classes that are records in kernels: named tuples and frozen dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from amdjit.frontend.values.known import CompileTime
from amdjit.language.complex_types import (
    COMPLEX64,
    COMPLEX128,
    ComplexElement,
    complex64,
    complex128,
)
from amdjit.late import late
from amdjit.types import (
    Record,
    RecordField,
    Scalar,
    Structure,
    Tuple,
    Type,
    f32,
    from_dtype,
    u8,
    u32,
)

if TYPE_CHECKING:
    from amdjit.frontend.values.kinds import Value
    from amdjit.language import times
else:
    times = late("amdjit.language.times")


def structure_of(python: Any) -> Structure | None:
    """Return the structure of a class's instances, None if it is not a named tuple or frozen
    dataclass."""
    return _structure(python)


@lru_cache(maxsize=256)
def _structure(python: type) -> Structure | None:
    if issubclass(python, tuple) and hasattr(python, "_fields"):
        return Structure(python.__name__, python._fields, python)
    parameters = getattr(python, "__dataclass_params__", None)
    # amdjit's own frozen dataclasses, such as types and declarations, are not records of the
    # user's.
    if parameters is None or not parameters.frozen or _is_ours(python):
        return None
    return Structure(
        python.__name__, tuple(field.name for field in dataclasses.fields(python)), python
    )


# Modules of amdjit's own whose frozen dataclasses are records of kernels.
_RECORDS = ("amdjit.examples.", "amdjit.language.times")


def _is_ours(python: type) -> bool:
    return python.__module__.startswith("amdjit.") and not python.__module__.startswith(_RECORDS)


def is_own_value(value: object) -> bool:
    """Whether this is one of amdjit's own frozen values, which cannot change between two
    launches."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and parameters.frozen and _is_ours(type(value))


def record_class(value: Value | None) -> Structure | None:
    """Return the structure that an evaluated annotation names, None if it is not a record class."""
    known = value.value if isinstance(value, CompileTime) else None
    return structure_of(known) if isinstance(known, type) else None


@lru_cache(maxsize=256)
def field_types(python: type) -> Mapping[str, Type]:
    """Return the fields that are annotated with types of the kernel language."""
    found: dict[str, Type] = {}
    for base in reversed(python.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            type_ = _field_type(base, annotation)
            if type_ is not None:
                found[name] = type_
    return found


def _field_type(owner: type, annotation: object) -> Type | None:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        # Only annotations that can be evaluated in the module of the class count; others, such as
        # "list[int]", are ignored.
        try:
            annotation = eval(annotation, dict(vars(sys.modules[owner.__module__])))
        except Exception:
            return None
    if isinstance(annotation, ComplexElement):
        return COMPLEX64 if annotation.part == f32 else COMPLEX128
    if isinstance(annotation, Type):
        return annotation
    structure = structure_of(annotation) if isinstance(annotation, type) else None
    if structure is None or structure.python is None:
        return None
    inner = field_types(structure.python)
    if any(name not in inner for name in structure.fields):
        return None
    return Tuple(tuple(inner[name] for name in structure.fields), structure)


_COMPLEX: Mapping[np.dtype[Any], Record] = {
    complex64.dtype: complex64,
    complex128.dtype: complex128,
}


# The name of the only field of an element that is text.
TEXT = "characters"


def element_of_dtype(dtype: np.dtype[Any]) -> Scalar | Record | None:
    """Return the type of an array's elements, None if the kernel language has no such type."""
    if dtype in _COMPLEX:
        return _COMPLEX[dtype]
    if dtype.kind in "mM":
        return times.time_element(dtype)
    if dtype.kind in "SU" and dtype.itemsize and dtype.isnative:
        field = _field(TEXT, dtype, 0)
        return None if field is None else Record((field,), dtype.itemsize, dtype.alignment)
    if dtype.fields is None or dtype.names is None:
        return from_dtype(dtype)
    fields = []
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]
        field = _field(name, inner, offset)
        if field is None:
            return None
        fields.append(field)
    return Record(tuple(fields), dtype.itemsize, _alignment(dtype))


def _alignment(dtype: np.dtype[Any]) -> int:
    """Return what an element's address is a multiple of. NumPy says 1 for the aligned type of a
    record array."""
    if not dtype.isalignedstruct or dtype.fields is None:
        return dtype.alignment
    return max([dtype.alignment, *(_alignment(field[0].base) for field in dtype.fields.values())])


# Text as the numbers that it is in memory.
_STORED = {"S": u8, "V": u8, "U": u32}


def _field(name: str, dtype: np.dtype[Any], offset: int) -> RecordField | None:
    """Return a field of a structured type, None if the kernel language has no type for it."""
    shape = dtype.shape
    element = None if dtype.base.kind in "SU" else element_of_dtype(dtype.base)
    if element is None and dtype.base.kind in _STORED and dtype.base.isnative:
        element = _STORED[dtype.base.kind]
        shape = (*shape, dtype.base.itemsize // element.nbytes)
    return None if element is None else RecordField(name, element, offset, shape)
