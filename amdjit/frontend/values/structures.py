"""Python classes that are records in kernels: named tuples and frozen dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.language.complex_types import (
    COMPLEX64,
    COMPLEX128,
    ComplexElement,
    complex64,
    complex128,
)
from amdjit.types import Record, RecordField, Scalar, Structure, Tuple, Type, f32, from_dtype


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


def _is_ours(python: type) -> bool:
    return python.__module__.startswith("amdjit.") and not python.__module__.startswith(
        "amdjit.examples."
    )


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


def element_of_dtype(dtype: np.dtype[Any]) -> Scalar | Record | None:
    """Return the type of an array's elements, None if the kernel language has no such type."""
    if dtype in _COMPLEX:
        return _COMPLEX[dtype]
    if dtype.fields is None or dtype.names is None:
        return from_dtype(dtype)
    fields = []
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]
        element = element_of_dtype(inner.base)
        if element is None:
            return None
        fields.append(RecordField(name, element, offset, inner.shape))
    return Record(tuple(fields), dtype.itemsize, dtype.alignment)
