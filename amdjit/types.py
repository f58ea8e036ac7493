"""The types of the kernel language: frozen values that know nothing of LLVM.

`f32`, `i32`, ... are both types and, in a kernel, conversions: `f16(x)`. `f32[:]` is an array type.
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np

from amdjit.language.call_signatures import CallSignature
from amdjit.language.documentation import documented, type_text
from amdjit.language.type_base import (
    AddressSpace,
    Const,
    Layout,
    PointerPattern,
    Type,
    TypeVariable,
)
from amdjit.late_methods import dataclass

__all__ = [
    "MAX_VECTOR_LENGTH",
    "SCALARS",
    "VOID",
    "AddressSpace",
    "Array",
    "Choice",
    "Const",
    "Element",
    "Immediate",
    "Known",
    "Layout",
    "Pointer",
    "PointerPattern",
    "Record",
    "RecordField",
    "Scalar",
    "ScalarKind",
    "Structure",
    "Tuple",
    "Type",
    "TypeVariable",
    "Vector",
    "Void",
    "bf8",
    "bf8_fnuz",
    "bf16",
    "boolean",
    "dtype_of_element",
    "f16",
    "f32",
    "f64",
    "fp8",
    "fp8_fnuz",
    "from_dtype",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "vector",
]


class ScalarKind(Enum):
    """How a scalar's bits are read."""

    BOOLEAN = "boolean"
    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"
    FLOAT = "float"


@documented(type_text)
@dataclass(frozen=True, slots=True, repr=False)
class Scalar(Type):
    """A number or a boolean. `storage_only` types convert but have no arithmetic."""

    name: str
    kind: ScalarKind
    bits: int
    storage_only: bool = False

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"amdjit.{self.name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle as a name: there is one object for each scalar type."""
        if globals().get(self.name) is self:
            return str(self.name)
        return Scalar, (self.name, self.kind, self.bits, self.storage_only)

    def __getitem__(self, axes: Any) -> Array:
        """Return an array type: one `:` per axis; `::1` as the last one means C-contiguous only.

        `f32[()]` has no axes: one element, `a[()]`.
        """
        axes = axes if isinstance(axes, tuple) else (axes,)
        if not axes:
            return Array(self, 0, Layout.CONTIGUOUS)
        for axis in axes:
            if not isinstance(axis, slice) or axis.start is not None or axis.stop is not None:
                raise TypeError(
                    f"write {self.name}[:] or {self.name}[:, ::1], with one `:` per axis"
                )
            if axis.step not in (None, 1):
                raise TypeError("the only step in an array type is ::1, for a contiguous last axis")
        contiguous = axes[-1].step == 1
        return Array(self, len(axes), Layout.CONTIGUOUS if contiguous else Layout.ANY)

    def __call__(self, value: Any = 0, *more: Any) -> Any:
        """Convert a value: in a kernel to this type, on the host to the NumPy scalar of it.

        With types it is the signature of a device function: `i32(i32, i32)`.
        """
        if isinstance(value, Type):
            return CallSignature(self, (value, *more))
        return self.dtype.type(value, *more)

    @property
    def bitwidth(self) -> int:
        """The bits, by Numba's name."""
        return self.bits

    @property
    def is_float(self) -> bool:
        """Whether this is a floating-point type."""
        return self.kind is ScalarKind.FLOAT

    @property
    def is_integer(self) -> bool:
        """Whether this is a signed or unsigned integer type (a boolean is not)."""
        return self.kind in (ScalarKind.SIGNED, ScalarKind.UNSIGNED)

    @property
    def is_signed(self) -> bool:
        """Whether this is a signed integer type."""
        return self.kind is ScalarKind.SIGNED

    @property
    def nbytes(self) -> int:
        """Bytes in memory; a boolean takes one."""
        return max(1, self.bits // 8)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy (or ml_dtypes) type of the same layout."""
        return _DTYPES[self.name]

    @property
    def minimum(self) -> int:
        """The least integer of an integer type."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def maximum(self) -> int:
        """The greatest integer of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self.is_signed else (1 << self.bits) - 1


def _integers() -> list[Scalar]:
    kinds = (("i", ScalarKind.SIGNED), ("u", ScalarKind.UNSIGNED))
    return [
        Scalar(f"{letter}{bits}", kind, bits) for letter, kind in kinds for bits in (8, 16, 32, 64)
    ]


i8, i16, i32, i64, u8, u16, u32, u64 = _integers()
f16 = Scalar("f16", ScalarKind.FLOAT, 16)
bf16 = Scalar("bf16", ScalarKind.FLOAT, 16)
f32 = Scalar("f32", ScalarKind.FLOAT, 32)
f64 = Scalar("f64", ScalarKind.FLOAT, 64)
fp8 = Scalar("fp8", ScalarKind.FLOAT, 8, storage_only=True)
bf8 = Scalar("bf8", ScalarKind.FLOAT, 8, storage_only=True)
# gfx942's: without infinities and without -0, whose code is the only NaN; the bias is one greater.
fp8_fnuz = Scalar("fp8_fnuz", ScalarKind.FLOAT, 8, storage_only=True)
bf8_fnuz = Scalar("bf8_fnuz", ScalarKind.FLOAT, 8, storage_only=True)
boolean = Scalar("boolean", ScalarKind.BOOLEAN, 1)

SCALARS: tuple[Scalar, ...] = (
    i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, fp8, bf8, fp8_fnuz, bf8_fnuz,
    boolean,
)  # fmt: skip

_DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(scalar)
    for name, scalar in {
        "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
        "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
        "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
        "fp8_fnuz": ml_dtypes.float8_e4m3fnuz, "bf8_fnuz": ml_dtypes.float8_e5m2fnuz,
        "boolean": np.bool_,
    }.items()
}  # fmt: skip
_BY_DTYPE: dict[np.dtype[Any], Scalar] = {_DTYPES[scalar.name]: scalar for scalar in SCALARS}


def from_dtype(dtype: np.dtype[Any]) -> Scalar | None:
    """Return the scalar type of a NumPy or ml_dtypes type, None if there is no such type."""
    return _BY_DTYPE.get(dtype)


@documented(type_text)
@dataclass(frozen=True, slots=True, repr=False)
class Vector(Type):
    """`length` elements of one scalar type, held in registers."""

    element: Scalar
    length: int

    def __str__(self) -> str:
        return f"{self.element}x{self.length}"

    def __call__(self, *values: Any) -> Any:
        """Make a vector: `f32x4()` of zeros, `f32x4(x)` of x in every element, `f32x4(a, b, c,
        d)`."""
        if len(values) not in (0, 1, self.length):
            raise TypeError(
                f"{self} takes no value, one, or {self.length}; {len(values)} were given"
            )
        dtype = self.element.dtype
        return (
            np.full(self.length, values[0] if values else 0, dtype)
            if len(values) < 2
            else np.array(values, dtype)
        )

    @property
    def bits(self) -> int:
        """Bits of all elements together."""
        return self.element.bits * self.length

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.element.nbytes * self.length


MAX_VECTOR_LENGTH = 64


def vector(element: Scalar, length: int) -> Vector:
    """Return the type of a vector of 2 to 64 elements."""
    if not isinstance(element, Scalar):
        raise TypeError(f"a vector's elements are scalars such as f16, not {element!r}")
    if element is boolean or not 2 <= length <= MAX_VECTOR_LENGTH:
        raise TypeError(
            f"a vector has 2 to {MAX_VECTOR_LENGTH} numbers; {element} x {length} is not one"
        )
    return Vector(element, length)


@dataclass(frozen=True, slots=True)
class RecordField:
    """One field of a record. offset: bytes from the record's start. shape: of a field that is an
    array."""

    name: str
    type: Scalar | Record
    offset: int
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Record(Type):
    """A NumPy structured type: fields in memory.

    nbytes: with padding. alignment: the address is a multiple of it. title: the name of a type that
    is not a structured type of the user, such as complex64.
    """

    fields: tuple[RecordField, ...]
    nbytes: int
    alignment: int
    title: str = ""

    def __str__(self) -> str:
        if self.title:
            return self.title
        fields = ", ".join(
            f"{f.name}: {f.type}{list(f.shape) if f.shape else ''}" for f in self.fields
        )
        return f"record({fields})"

    def __getitem__(self, axes: Any) -> Array:
        """Return an array type, with one `:` per axis as in `f32[:]`."""
        named = Scalar(self.title or "record", ScalarKind.FLOAT, 8 * self.nbytes)
        return replace(named[axes], element=self)

    def field(self, name: object) -> RecordField | None:
        """Return the field of this name, None if the record has no such field."""
        return next((field for field in self.fields if field.name == name), None)


Element = Scalar | Vector | Record
Fact = bool | None


@dataclass(frozen=True, slots=True, repr=False)
class Array(Type):
    """An n-dimensional array in memory."""

    element: Element
    ndim: int
    layout: Layout = Layout.ANY
    address_space: AddressSpace = AddressSpace.GLOBAL
    shape: tuple[int, ...] | None = None
    """The extents if they are known when compiling (LDS and private arrays), else None."""
    offset_bits: int = 32
    """32 if the array spans less than 2 GiB, so that extents and byte offsets fit an i32, else
    64."""
    alignment: int = 0
    """Bytes that the first element's address is a multiple of, if that is more than the element's
    own alignment; else 0."""
    pitch: int = 0
    """Bytes from one element to the next, if these are a field of records; else 0."""
    packing: int = 0
    """Bytes that all elements' addresses are multiples of, if records decide that; else 0."""
    distinct: bool | None = None
    """Whether no other argument of the launch shares memory with the array; None if that is not
    known."""

    def __str__(self) -> str:
        if self.ndim == 0:
            return f"{self.element}{'' if isinstance(self.element, Record) else '[()]'}"
        if self.shape is not None:
            strided = {Layout.STRIDED: "strided ", Layout.ROWS: "rows of "}.get(self.layout, "")
            return (
                f"{strided}{self.element}[{', '.join(map(str, self.shape))}] in "
                f"{self.address_space.name}"
            )
        axes = ", ".join(
            [":"] * (self.ndim - 1) + ["::1" if self.layout is Layout.CONTIGUOUS else ":"]
        )
        rows = " in rows" if self.layout is Layout.ROWS else ""
        large = " over 2 GiB" if self.offset_bits == 64 else ""
        return f"{self.element}[{axes}]{rows}{large}" + (
            " overlapping" if self.distinct is False else ""
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of the elements."""
        return dtype_of_element(self.element)

    @property
    def index_type(self) -> Scalar:
        """The type of extents and strides (both count elements)."""
        return i32 if self.offset_bits == 32 else i64

    @property
    def size(self) -> int:
        """The number of elements of an array whose shape is known."""
        if self.shape is None:
            raise ValueError(f"the size of {self} is known only when it runs")
        return math.prod(self.shape)

    def with_facts(
        self,
        *,
        contiguous: Fact = None,
        rows: bool = False,
        over_2gib: Fact = None,
        distinct: Fact = None,
    ) -> Array:
        """Return this type with facts that a launch finds about its argument; None changes nothing.

        contiguous: in C order. rows: `Layout.ROWS`. over_2gib: spans 2 GiB or more. distinct:
        shares no memory with another argument.
        """
        layouts = {None: self.layout, True: Layout.CONTIGUOUS, False: Layout.STRIDED}
        layout = Layout.ROWS if rows else layouts[contiguous]
        offset_bits = {None: self.offset_bits, True: 64, False: 32}[over_2gib]
        distinct = self.distinct if distinct is None else distinct
        return replace(self, layout=layout, offset_bits=offset_bits, distinct=distinct)

    def resolved(self) -> Array:
        """Return this type with the usual facts where none are given: C-contiguous, distinct."""
        layout = Layout.CONTIGUOUS if self.layout is Layout.ANY else self.layout
        distinct = True if self.distinct is None else self.distinct
        return replace(self, layout=layout, distinct=distinct)

    def without_promises(self) -> Array:
        """Return this type without its distinctness, on which no expression's type depends."""
        return replace(self, distinct=None)


@dataclass(frozen=True, slots=True, repr=False)
class Pointer(Type):
    """The address of an element, which `amdjit.address_of(array, index)` passes to intrinsics."""

    element: Element
    address_space: AddressSpace

    def __str__(self) -> str:
        return f"pointer to {self.element} in {self.address_space.name}"


# What declarations write for the compile-time parameters of an intrinsic.


@dataclass(frozen=True, slots=True)
class Immediate:
    """Marks a parameter as a compile-time integer in lo..hi: `Annotated[int, Immediate(0, 7)]`.

    only: the allowed values, if these are not all in lo..hi. elsewhere: processors with other
    values, and these.
    """

    lo: int
    hi: int
    only: tuple[int, ...] | None = None
    elsewhere: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = ()

    def on(self, target: str) -> Immediate:
        """Return the values that are allowed on a processor."""
        for processors, values in self.elsewhere:
            if target in processors:
                return Immediate(min(values), max(values), values)
        return self

    def __contains__(self, value: object) -> bool:
        inside = isinstance(value, int) and self.lo <= value <= self.hi
        return inside and (self.only is None or value in self.only)

    def __str__(self) -> str:
        if self.only is not None:
            return "one of the constants " + ", ".join(_runs(self.only))
        return f"a constant in {self.lo}..{self.hi}"


def _runs(values: tuple[int, ...]) -> list[str]:
    """Return ascending numbers as texts, four or more neighbours as `first..last`."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    texts = [
        [f"{run[0]}..{run[-1]}"] if len(run) >= 4 else [str(value) for value in run] for run in runs
    ]
    return [text for run in texts for text in run]


@dataclass(frozen=True, slots=True)
class Choice:
    """Marks a parameter as one of these compile-time strings: `Annotated[str, Choice("a",
    "b")]`."""

    values: tuple[str, ...] = field()

    def __init__(self, *values: str) -> None:
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(value) for value in self.values)


# Types of values that take several registers or none: tuples and their known items, nothing.


@dataclass(frozen=True, slots=True)
class Structure:
    """The names of a tuple's items.

    python: the named tuple or frozen dataclass whose methods the tuple has.
    """

    name: str
    fields: tuple[str, ...]
    python: type | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Tuple(Type):
    """Several values of any types, which have names if there is a structure."""

    elements: tuple[Type, ...]
    structure: Structure | None = None

    def __str__(self) -> str:
        if self.structure is None:
            return f"({', '.join(map(str, self.elements))})"
        if self.structure.fields == ("real", "imag") and self.structure.python is None:
            return self.structure.name
        pairs = zip(self.structure.fields, self.elements, strict=True)
        return f"{self.structure.name}({', '.join(f'{name}: {type}' for name, type in pairs)})"

    def __call__(self, *parameters: Any) -> CallSignature:
        """Return the signature of a device function that returns such a tuple."""
        return CallSignature(self, parameters)


@dataclass(frozen=True, slots=True, repr=False)
class Known(Type):
    """An item of a tuple that is known when compiling, such as None. It takes no register."""

    value: object

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True, repr=False)
class Void(Type):
    """The type of the result of a function that returns nothing."""

    def __str__(self) -> str:
        return "None"

    def __call__(self, *parameters: Any) -> CallSignature:
        """Return the signature of a kernel: `void(f32[:], i32)`."""
        return CallSignature(self, parameters)


VOID = Void()


# NumPy's types of arrays' elements.


def dtype_of_element(element: Any) -> np.dtype[Any]:
    """Return the NumPy type with the layout of a scalar, vector or record."""
    if hasattr(element, "fields"):
        return np.dtype(element.title) if element.title else _dtype_of_record(element)
    if hasattr(element, "length"):
        return np.dtype((element.element.dtype, (element.length,)))
    dtype: np.dtype[Any] = element.dtype
    return dtype


def _dtype_of_record(record: Any) -> np.dtype[Any]:
    parts = {
        "names": [field.name for field in record.fields],
        "formats": [(dtype_of_element(field.type), field.shape) for field in record.fields],
        "offsets": [field.offset for field in record.fields],
        "itemsize": record.nbytes,
    }
    return np.dtype(parts, align=record.alignment > 1)  # type: ignore[call-overload,no-any-return]
