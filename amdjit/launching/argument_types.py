"""The types of a launch's arguments, with the facts about arrays that code may rely on."""

from __future__ import annotations

import dataclasses
import reprlib
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np

from amdjit import frontend
from amdjit.compiled_kernel import Argument
from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import LaunchError, codes
from amdjit.diagnostics.errors import TypeCheckError
from amdjit.frontend import CompileTime
from amdjit.language.launch_numbers import (
    NO_WIDTHS,
    PYTHON_FLOAT,
    PYTHON_INT,
    PythonNumber,
    python_number,
)
from amdjit.launching.array_facts import distinct_type, sharing
from amdjit.launching.record_arguments import (
    Annotation,
    Leaves,
    is_const,
    type_of_record,
)
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import (
    AddressSpace,
    Array,
    Known,
    Scalar,
    Tuple,
    Type,
    Vector,
    boolean,
    from_dtype,
    i32,
    i64,
    u64,
)


def argument_types(
    kernel: str,
    leaves: Leaves,
    values: Sequence[Any],
    widths: Mapping[Type, Scalar] = NO_WIDTHS,
) -> tuple[Argument, ...]:
    """Return the type of each single value of a launch, or the value if it is compiled in.

    `Const` arguments, None and members of enums are compiled in. values: scalars, vectors as
    sequences, and DeviceArrays. TypeCheckError where an annotation does not fit, LaunchError for a
    value that no kernel can take. widths: the types of Python's numbers, if they have one. Members
    of an IntEnum are then compiled in, too: they have a type of their own. Else they are integers.
    """
    shared = sharing(values)
    types: list[Argument] = []
    parts = zip(leaves.names, leaves.annotations, values, leaves.inside, strict=True)
    for name, annotation, value, inside in parts:
        is_integer = isinstance(value, int) and not (widths and annotation is None)
        if isinstance(value, Enum) and not is_integer:
            types.append(CompileTime(value))
            continue
        type = _argument_type(kernel, name, annotation, value, inside)
        if isinstance(type, Array):
            if id(value) in shared:
                type = replace(type, distinct=False)
            elif not type.distinct:
                type = replace(type, distinct=True)
            if isinstance(annotation, Array) and annotation.distinct and not type.distinct:
                raise _mismatch(kernel, name, annotation, str(type))
        types.append(widths.get(type, type) if isinstance(type, Type) else type)
    return tuple(types)


# Values of these types are compiled in if they are items of a record.
_COMPILED_IN = (str, type, Type, np.dtype, types.FunctionType, DeviceFunction)


def _argument_type(
    kernel: str, name: str, annotation: Annotation, value: Any, inside: bool
) -> Argument:
    if is_const(annotation) or value is None or (inside and isinstance(value, _COMPILED_IN)):
        return CompileTime(value)
    if isinstance(value, DeviceArray):
        return _array_type(kernel, name, annotation, value)
    if isinstance(annotation, Scalar):
        return _annotated_scalar(kernel, name, annotation, value)
    if isinstance(annotation, Vector):
        return annotation
    found = _scalar_type(value)
    if found is None:
        if dataclasses.is_dataclass(value):
            raise LaunchError(
                f"argument {name} of {kernel} is a {type(value).__name__}, a dataclass that can "
                "change: "
                "write @dataclass(frozen=True)"
            )
        raise LaunchError(_not_passed(kernel, name, value))
    if annotation is not None:
        expected = (
            getattr(annotation.value, "__name__", "")
            if isinstance(annotation, CompileTime)
            else annotation
        )
        raise _mismatch(kernel, name, expected, str(found))
    return found


def _not_passed(kernel: str, name: str, value: object) -> str:
    what = f"argument {name} of {kernel} is a {type(value).__name__}"
    if isinstance(value, list):
        return (
            f"{what}: pass an array, `np.array({name})`, or a tuple, `tuple({name})`, which is "
            "passed item by item"
        )
    if isinstance(value, (dict, set, frozenset)):
        return f"{what}: pass its values as an array, a tuple or a frozen dataclass"
    return (
        f"{what}: pass numbers, NumPy scalars, NumPy arrays or DeviceArrays, tuples or frozen "
        f"dataclasses of them, or annotate the parameter `{name}: amdjit.Const` to compile the "
        "value in"
    )


def _scalar_type(value: Any) -> Scalar | PythonNumber | None:
    """Return the type of a number. A Python int that does not fit an i32 is an i64 or a u64."""
    if isinstance(value, (bool, np.bool_)):
        return boolean
    if isinstance(value, np.generic):
        return from_dtype(value.dtype)
    if isinstance(value, int):
        if i32.minimum <= value <= i32.maximum:
            return PYTHON_INT
        return next((t for t in (i64, u64) if t.minimum <= value <= t.maximum), None)
    return PYTHON_FLOAT if isinstance(value, float) else None


def _annotated_scalar(kernel: str, name: str, annotation: Scalar, value: Any) -> Scalar:
    """Return the annotated type, which Python's numbers take and NumPy's scalars must have."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, np.generic)
    if is_number and (annotation.is_float or isinstance(value, int)):
        if annotation.is_integer and not annotation.minimum <= value <= annotation.maximum:
            raise _mismatch(kernel, name, annotation, f"{value}, which does not fit")
        return annotation
    found = _scalar_type(value)
    if found != annotation:
        raise _mismatch(kernel, name, annotation, str(found or type(value).__name__))
    return annotation


def _array_type(kernel: str, name: str, annotation: Annotation, value: DeviceArray) -> Array:
    if frontend.element_of_dtype(value.dtype) is None:
        raise LaunchError(
            f"argument {name} of {kernel} is an array of {value.dtype}, for which the kernel "
            f"language has no type. Convert it {_conversion(value.dtype)}."
        )
    found = distinct_type(value)
    assert found is not None, "its element type and its axes were checked"
    if annotation is not None and not (
        isinstance(annotation, Array) and frontend.array_matches(found, annotation)
    ):
        raise _mismatch(kernel, name, annotation, str(found))
    return found


def _conversion(dtype: np.dtype[Any]) -> str:
    if dtype.isnative:
        return "first, for example with .astype(numpy.float32)"
    return f"to this machine's byte order, .astype({dtype.newbyteorder('=').str[1:]!r})"


def widened(kinds: Sequence[Argument]) -> tuple[Argument, ...] | None:
    """Return the types with i64 for Python's integers; None if there are no such integers."""
    wider = tuple(i64 if kind == PYTHON_INT else kind for kind in kinds)
    return wider if wider != tuple(kinds) else None


def given_type(kernel: str, name: str, annotation: Annotation, given: Any) -> Argument:
    """Return an argument of `Kernel.compile` in the form that specialisations use.

    None stands for the annotated type. TypeCheckError where the annotation does not fit,
    LaunchError for what is not the type of an argument.
    """
    if is_const(annotation):
        return CompileTime(given)
    if given is None and isinstance(annotation, Type):
        given = annotation
    if given is None and isinstance(annotation, CompileTime):
        given = annotation.value
    if given is None:
        return CompileTime(None)
    if not isinstance(given, Type):
        given = _numpy_type(given) or python_number(given) or type_of_record(given) or given
    if not isinstance(given, Type):
        raise LaunchError(
            f"{kernel}.compile takes a type for each parameter, such as amdjit.f32[:], or a "
            f'signature, "void(f32[:], i32)"; for {name} it was given {reprlib.repr(given)}'
        )
    _check_type(kernel, name, annotation, given)
    return given.resolved() if isinstance(given, Array) else given


def _numpy_type(given: Any) -> Type | None:
    """Return a type that was written as NumPy's; None for others."""
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        return from_dtype(np.dtype(given))
    return None


def _check_type(kernel: str, name: str, annotation: Annotation, given: Type) -> None:
    in_global_memory = (
        isinstance(given, Array)
        and given.address_space is AddressSpace.GLOBAL
        and given.shape is None
    )
    if isinstance(given, Tuple) and all(
        isinstance(e, Known) or _check_item(kernel, name, e) for e in given.elements
    ):
        python = given.structure.python if given.structure is not None else None
        if annotation not in (None, given) and not (
            isinstance(annotation, CompileTime) and annotation.value is python
        ):
            raise _mismatch(kernel, name, annotation, str(given))
        return
    if not isinstance(given, (Scalar, Vector, PythonNumber)) and not in_global_memory:
        raise LaunchError(
            f"argument {name} of {kernel} cannot be {given}: arguments are numbers, vectors and "
            "arrays"
        )
    if isinstance(annotation, Array) and isinstance(given, Array):
        fits = frontend.array_matches(given.resolved(), annotation)
    else:
        fits = annotation is None or given == annotation
    if not fits:
        raise _mismatch(kernel, name, annotation, str(given))


def _check_item(kernel: str, name: str, given: Type) -> bool:
    _check_type(kernel, name, None, given)
    return True


def _mismatch(kernel: str, name: str, annotation: Annotation | str, found: str) -> TypeCheckError:
    kind = codes.ARGUMENT_MISMATCH
    return TypeCheckError(
        kind.at(None, parameter=name, function=kernel, expected=annotation, found=found)
    )
