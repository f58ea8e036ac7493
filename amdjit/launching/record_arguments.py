"""Tuples and records among a launch's arguments, flattened into the single values to pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amdjit import frontend
from amdjit.diagnostics import LaunchError, codes
from amdjit.diagnostics.errors import TypeCheckError
from amdjit.frontend import CompileTime
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.language.launch_numbers import python_number
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.types import Array, Const, Known, Record, Structure, Tuple, Type, Vector

if TYPE_CHECKING:
    from amdjit.language import times
else:
    times = late("amdjit.language.times")

_TIMES = (np.datetime64, np.timedelta64)
Annotation = Type | CompileTime | None
Argument = Type | CompileTime


@dataclass(frozen=True, slots=True)
class Shape:
    """How an argument was flattened."""

    structure: Structure | None
    """The structure that names the parts, if there is one."""
    parts: tuple[Shape | None, ...]
    """The shape of each part; None for a single value."""


@dataclass(slots=True)
class Leaves:
    """The single values of a launch's arguments, in order."""

    names: list[str] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)
    """For each value, whether it comes from a record, which may also hold objects that are known
    when compiling."""
    shapes: list[Shape | None] = field(default_factory=list)
    """The shape of each argument; None for a single value."""

    @property
    def by_value(self) -> set[int]:
        """The positions of values that stay NumPy arrays: vectors and `Const` values."""
        kinds = enumerate(self.annotations)
        return {i for i, kind in kinds if is_const(kind) or isinstance(kind, Vector)}


def leaves_of(
    kernel: str, names: Sequence[str], annotations: Sequence[Annotation], values: Sequence[Any]
) -> Leaves:
    """Flatten the arguments of a launch; TypeCheckError for a record of another class than
    annotated."""
    if not any(map(_is_record, values)):
        return Leaves(
            list(names),
            list(annotations),
            list(values),
            [False] * len(values),
            [None] * len(values),
        )
    leaves = Leaves()
    for name, annotation, value in zip(names, annotations, values, strict=True):
        leaves.shapes.append(
            _take_apart(leaves, kernel, name=name, annotation=annotation, value=value, inside=False)
        )
    return leaves


def _is_record(value: Any) -> bool:
    return (
        isinstance(value, (tuple, np.void, complex, np.complexfloating, *_TIMES))
        or frontend.structure_of(type(value)) is not None
    )


def is_const(annotation: Annotation) -> bool:
    """Whether a parameter is annotated `amdjit.Const`."""
    return isinstance(annotation, CompileTime) and annotation.value is Const


def is_record_annotation(annotation: Annotation) -> bool:
    """Whether a parameter is annotated with a class of records."""
    return isinstance(annotation, CompileTime) and annotation.value is not Const


def _take_apart(
    leaves: Leaves, kernel: str, name: str, annotation: Annotation, value: Any, inside: bool
) -> Shape | None:
    is_single = isinstance(annotation, (Vector, CompileTime)) and not is_record_annotation(
        annotation
    )
    if isinstance(value, np.void):
        value, is_single = _numpy_record(kernel, name, value), True
    if is_single or not _is_record(value):
        leaves.names.append(name)
        leaves.annotations.append(annotation)
        leaves.values.append(value)
        leaves.inside.append(inside)
        return None
    structure, items = _items(value, annotation)
    _check_class(kernel, name, annotation, structure, value)
    known = (
        frontend.field_types(structure.python)
        if structure is not None and structure.python is not None
        else {}
    )
    fields = structure.fields if structure is not None else [str(i) for i in range(len(items))]
    parts = []
    if isinstance(annotation, Tuple) and annotation.structure is None:
        known = {str(i): element for i, element in enumerate(annotation.elements)}
    for part, item in zip(fields, items, strict=True):
        expected = known.get(part)
        is_complex = expected in (COMPLEX64, COMPLEX128)
        inner = None if isinstance(expected, Tuple) and not is_complex else expected
        parts.append(
            _take_apart(
                leaves, kernel, name=f"{name}.{part}", annotation=inner, value=item, inside=True
            )
        )
    return Shape(structure, tuple(parts))


def _check_class(
    kernel: str, name: str, annotation: Annotation, structure: Structure | None, value: Any
) -> None:
    if annotation is None or (
        isinstance(annotation, Tuple) and _has_shape(value, structure, annotation)
    ):
        return
    expected = annotation.value if isinstance(annotation, CompileTime) else annotation
    if not (isinstance(expected, type) and isinstance(value, expected)):
        shown = expected.__name__ if isinstance(expected, type) else expected
        found = structure.name if structure is not None else "a tuple"
        raise TypeCheckError(
            codes.ARGUMENT_MISMATCH.at(
                None, parameter=name, function=kernel, expected=shown, found=found
            )
        )


def _has_shape(value: Any, structure: Structure | None, annotation: Tuple) -> bool:
    """Whether a value is the complex number, or a tuple of the length, that is annotated."""
    if annotation.structure is not None or structure is not None:
        return structure == annotation.structure
    return isinstance(value, tuple) and len(value) == len(annotation.elements)


def _items(value: Any, annotation: Annotation = None) -> tuple[Structure | None, Sequence[Any]]:
    """Return the structure that names a record's items, and the items.

    Python's complex numbers take the annotated width.
    """
    structure = frontend.structure_of(type(value))
    if isinstance(value, _TIMES):
        unit = times.time_unit(value.dtype)
        if unit is None:
            raise LaunchError(
                f"{value!r} has no unit: give it that of the arrays, such as np.datetime64(x, 'D')"
            )
        return times.time_structure(value.dtype), (value.view(np.int64), unit)
    if isinstance(value, (complex, np.complexfloating)):
        if isinstance(value, complex) and not isinstance(value, np.generic) and annotation is None:
            # Python's floats take the width of the other operand; without one they make a
            # complex64.
            return COMPLEX64.structure, (value.real, value.imag)
        is_wide = isinstance(value, np.complex128) or (
            not isinstance(value, np.generic) and annotation == COMPLEX128
        )
        part = np.float64 if is_wide else np.float32
        return (COMPLEX128 if is_wide else COMPLEX64).structure, (
            part(value.real),
            part(value.imag),
        )
    if structure is None or isinstance(value, tuple):
        return structure, value
    return structure, [getattr(value, name) for name in structure.fields]


def _numpy_record(kernel: str, name: str, value: np.void) -> NDArray[Any]:
    """Return a NumPy record as an array without dimensions in the record's own memory.

    The kernel then writes to the record, as it writes to an array.
    """
    if value.dtype.names is None:
        raise LaunchError(
            f"argument {name} of {kernel} is a NumPy {value.dtype} scalar without fields, which "
            "cannot be passed to a kernel"
        )
    array = np.asarray(value)
    if not value.flags.writeable:
        array.flags.writeable = False
    return array


def assembled(shapes: Sequence[Shape | None], kinds: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return the type or compile-time value of each argument from those of its single values."""
    remaining = iter(kinds)
    return tuple(
        next(remaining) if shape is None else _tuple_type(shape, remaining) for shape in shapes
    )


def _tuple_type(shape: Shape, remaining: Iterator[Argument]) -> Tuple:
    elements: list[Type] = []
    for part in shape.parts:
        kind = next(remaining) if part is None else _tuple_type(part, remaining)
        elements.append(Known(kind.value) if isinstance(kind, CompileTime) else kind)
    return Tuple(tuple(elements), shape.structure)


def single_kinds(arguments: Sequence[Argument]) -> Iterator[Argument]:
    """Yield the types of the single values of a specialisation's arguments, in order."""
    for argument in arguments:
        if isinstance(argument, Tuple):
            yield from single_kinds(argument.elements)
        elif isinstance(argument, Known):
            yield CompileTime(argument.value)
        else:
            yield argument


def type_of_record(value: Any) -> Type | None:
    """Return the type that `Kernel.compile` means by a record of types; None for other values.

    value: a tuple, named tuple or frozen dataclass whose items are types, a class whose fields are
    all annotated, or a structured NumPy type.
    """
    if isinstance(value, type):
        structure = frontend.structure_of(value)
        known = frontend.field_types(value) if structure is not None else {}
        if structure is None or any(name not in known for name in structure.fields):
            return None
        return Tuple(tuple(_resolved(known[name]) for name in structure.fields), structure)
    if isinstance(value, np.dtype):
        element = frontend.element_of_dtype(value)
        return Array(element, 0).resolved() if isinstance(element, Record) else None
    if not _is_record(value) or isinstance(value, np.void):
        return None
    structure, items = _items(value)
    return Tuple(tuple(_type_of_item(item) for item in items), structure)


def _type_of_item(item: Any) -> Type:
    if isinstance(item, Type):
        return _resolved(item)
    return python_number(item) or type_of_record(item) or Known(item)


def _resolved(kind: Type) -> Type:
    return kind.resolved() if isinstance(kind, Array) else kind
