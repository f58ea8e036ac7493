"""The kernarg segment: how a kernel's explicit arguments become bytes.

scalar   its value, naturally aligned; a boolean is one byte
vector   its elements, aligned to its size rounded up to a power of two, as LLVM does
array    the address, then an extent for each axis, then a stride in elements for each axis of a
         strided array; extents and strides have the array type's `index_type`

Their order in the segment is that of `amdjit.abi.kernarg`.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amdjit.abi.kernarg import kernarg_order
from amdjit.diagnostics.errors import InternalError, LaunchError
from amdjit.late_methods import dataclass
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import Array, Scalar, Type, Vector, bf16

Flatten = Callable[[Any], Sequence[Any]]

_CODES = {
    "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d", "boolean": "?",
    "bf16": "H", "fp8": "B", "bf8": "B", "fp8_fnuz": "B", "bf8_fnuz": "B",
}  # fmt: skip
_ADDRESS = "Q"
# The errors that `struct` raises for a value that has the wrong type, is out of range, or is not a
# number.
_PACK_ERRORS = (struct.error, OverflowError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True, slots=True)
class KernargField:
    """One machine value: its offset in the kernarg segment, in bytes, and its code for `struct`."""

    offset: int
    code: str

    @property
    def nbytes(self) -> int:
        """The bytes of the value."""
        return struct.calcsize("<" + self.code)


@dataclass(frozen=True, slots=True)
class _Piece:
    code: str
    size: int
    alignment: int


def kernarg_fields(types: Sequence[Type]) -> tuple[tuple[KernargField, ...], ...]:
    """Return the fields of each argument. LLVM AMDGPU guide, "Kernel Argument": each value at its
    ABI alignment."""
    pieces = [_pieces(type) for type in types]
    flat = [piece for part in pieces for piece in part]
    fields: list[KernargField | None] = [None] * len(flat)
    offset = 0
    for position in kernarg_order(types):
        piece = flat[position]
        offset = -(-offset // piece.alignment) * piece.alignment
        fields[position] = KernargField(offset, piece.code)
        offset += piece.size
    remaining = iter(field for field in fields if field is not None)
    return tuple(tuple(itertools.islice(remaining, len(part))) for part in pieces)


def _pieces(type: Type) -> list[_Piece]:
    if isinstance(type, Scalar):
        return [_Piece(_CODES[type.name], type.nbytes, type.nbytes)]
    if isinstance(type, Vector):
        # In LLVM, a vector's allocation size and ABI alignment are its size rounded up to a power
        # of two.
        rounded = 1 << (type.nbytes - 1).bit_length()
        return [_Piece(f"{type.nbytes}s", rounded, rounded)]
    if isinstance(type, Array):
        index = _Piece(_CODES[type.index_type.name], type.index_type.nbytes, type.index_type.nbytes)
        numbers = type.ndim * (2 if type.layout.has_strides else 1)
        return [_Piece(_ADDRESS, 8, 8), *[index] * numbers]
    raise InternalError(f"{type} is not passed to a kernel at run time")


class ArgumentPacker:
    """Packs the arguments of one specialisation of a kernel.

    nbytes: size of the explicit part of the kernarg segment. fields: the machine values of each
    argument. order: these values in the order of the segment, each by its number. pack_words:
    writes the values in that order to a buffer from an offset on.
    """

    def __init__(self, names: Sequence[str], types: Sequence[Type]) -> None:
        self.names = tuple(names)
        self.types = tuple(types)
        self.fields = kernarg_fields(types)
        self.order = kernarg_order(types)
        in_arguments = [field for fields in self.fields for field in fields]
        flat = [in_arguments[position] for position in self.order]
        self._struct = struct.Struct(_struct_format(flat))
        self.pack_words = self._struct.pack_into
        self._flatten = tuple(flatten_of(type) for type in types)
        self.nbytes = self._struct.size

    def pack(self, values: Sequence[Any]) -> bytearray:
        """Return the explicit kernarg bytes; arrays are given as DeviceArrays. LaunchError as for
        `pack_into`."""
        kernarg = bytearray(self.nbytes)
        self.pack_into(kernarg, values)
        return kernarg

    def pack_into(self, kernarg: bytearray, values: Sequence[Any]) -> None:
        """Write the arguments into the first `nbytes` of `kernarg`; bytes between them become 0.

        LaunchError names the argument that does not fit its type.
        """
        if len(values) != len(self._flatten):
            raise LaunchError(_wrong_count(self.names, len(values)))
        flat: list[Any] = []
        try:
            for flatten, value in zip(self._flatten, values, strict=True):
                flat += flatten(value)
            self._struct.pack_into(kernarg, 0, *[flat[position] for position in self.order])
        except _PACK_ERRORS as error:
            self._blame(values)
            raise InternalError(f"arguments could not be packed: {error}") from error

    def _blame(self, values: Sequence[Any]) -> None:
        """Find the argument that does not fit and raise its LaunchError."""
        for name, type, fields, flatten, value in zip(
            self.names, self.types, self.fields, self._flatten, values, strict=True
        ):
            try:
                struct.pack("<" + "".join(field.code for field in fields), *flatten(value))
            except _PACK_ERRORS as error:
                raise LaunchError(_does_not_fit(name, type, value, error)) from error


def _struct_format(fields: Sequence[KernargField]) -> str:
    text, end = ["<"], 0
    for field in fields:
        text.append(f"{field.offset - end}x{field.code}")
        end = field.offset + field.nbytes
    return "".join(text)


def flatten_of(type: Type) -> Flatten:
    """Return the function that takes an argument of a type apart into its machine values."""
    if isinstance(type, Array):
        return _flatten_strided if type.layout.has_strides else _flatten_contiguous
    if isinstance(type, Vector):
        return _vector_flattener(type)
    if isinstance(type, Scalar) and (type is bf16 or type.storage_only):
        return _bits_flattener(type)
    return _flatten_scalar


def _flatten_scalar(value: Any) -> Sequence[Any]:
    return (value,)


def _flatten_contiguous(array: DeviceArray) -> Sequence[Any]:
    return (array.address, *array.shape)


def _flatten_strided(array: DeviceArray) -> Sequence[Any]:
    itemsize = array.dtype.itemsize
    strides = array.strides
    if any(stride % itemsize for stride in strides):
        raise ValueError(f"its strides {strides} are not multiples of its item size {itemsize}")
    return (array.address, *array.shape, *(stride // itemsize for stride in strides))


def _vector_flattener(type: Vector) -> Flatten:
    def flatten(value: Any) -> Sequence[Any]:
        elements = np.asarray(value, type.element.dtype)
        if elements.shape != (type.length,):
            raise ValueError(f"it has shape {elements.shape}, not ({type.length},)")
        return (elements.tobytes(),)

    return flatten


def _bits_flattener(type: Scalar) -> Flatten:
    """Return a function that passes the bits of floats that the `struct` module does not know."""
    bits = np.dtype(f"u{type.nbytes}")

    def flatten(value: Any) -> Sequence[Any]:
        return (int(np.asarray(value, type.dtype).reshape(()).view(bits)),)

    return flatten


def _wrong_count(names: Sequence[str], given: int) -> str:
    return f"the kernel takes {len(names)} arguments ({', '.join(names)}), {given} were given"


def _does_not_fit(name: str, type: Type, value: Any, error: Exception) -> str:
    if isinstance(type, Scalar) and type.is_integer:
        remedy = (
            f"Give an integer from {type.minimum} to {type.maximum}, or annotate {name} with "
            "a wider type."
        )
    elif isinstance(type, Scalar):
        remedy = f"Give a number that {type} can hold."
    elif isinstance(type, Vector):
        remedy = f"Give {type.length} numbers, such as amdjit.{type}(...)."
    else:
        remedy = (
            "Pass a NumPy array or a DeviceArray of that type; a copy of it is contiguous "
            "and aligned."
        )
    return f"argument {name} is {_shown(value)}, which does not fit {type}: {error}. {remedy}"


def _shown(value: Any) -> str:
    text = f"{value!r}"
    return f"{text if len(text) < 60 else text[:57] + '...'} ({value.__class__.__name__})"
