"""Signatures as text: `void(float32[:], int32)`, with amdjit's names of types or Numba's.

signature = [result] "(" [type {"," type}] ")"
type      = name [ "[" axis {"," axis} "]" ] | "UniTuple" "(" type "," count ")"
          | "Tuple" "(" tuple ")" | tuple | "CPointer" "(" name ")"
tuple     = "(" type {"," type} [","] ")" | "[" type {"," type} "]"
axis      = ":" | "::1"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from amdjit.language import vector_types
from amdjit.language.call_signatures import CallSignature
from amdjit.language.complex_types import complex64, complex128
from amdjit.options import OptionError
from amdjit.types import (
    SCALARS,
    VOID,
    AddressSpace,
    Array,
    Pointer,
    Type,
    Vector,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)

__all__ = [
    "NUMBA_SHORT_NAMES",
    "TYPE_NAMES",
    "is_signature_text",
    "numba_name",
    "other_name",
    "parse_signature",
    "parse_type",
]

_TOKEN = re.compile(r"\s*(::1|[A-Za-z_]\w*|\d+|[()\[\],:])")

_NUMBA_NAMES: dict[str, Type] = {
    "int8": i8, "int16": i16, "int32": i32, "int64": i64,
    "uint8": u8, "uint16": u16, "uint32": u32, "uint64": u64,
    "float16": f16, "float32": f32, "float64": f64,
    "intc": i32, "uintc": u32, "intp": i64, "uintp": u64, "int_": i64, "uint": u64,
    "long_": i64, "ulong": u64, "short": i16, "ushort": u16, "byte": u8, "char": i8, "uchar": u8,
    "longlong": i64, "ulonglong": u64, "size_t": u64, "ssize_t": i64,
    "float_": f64, "double": f64, "bool": boolean, "bool_": boolean,
    "void": VOID, "none": VOID,
}  # fmt: skip

TYPE_NAMES: Mapping[str, Type] = MappingProxyType(
    _NUMBA_NAMES
    | {str(scalar): scalar for scalar in SCALARS}
    | {"complex64": complex64, "complex128": complex128}
    | {str(value): value for value in vars(vector_types).values() if isinstance(value, Vector)}
)
"""The names of types in signatures: amdjit's, and Numba's long ones."""

NUMBA_SHORT_NAMES: Mapping[str, Type] = MappingProxyType(
    {
        "b1": boolean, "i1": i8, "i2": i16, "i4": i32, "i8": i64,
        "u1": u8, "u2": u16, "u4": u32, "u8": u64,
        "f2": f16, "f4": f32, "f8": f64, "c8": complex64, "c16": complex128,
    }
)  # fmt: skip
"""Numba's names that count bytes. `i8` and `u8` mean other types there than in amdjit."""


_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "cuda": "Numba's names are in `from amdjit import numba_cuda as cuda`",
        "numba": "Numba's names are in `from amdjit import numba_cuda as cuda`",
        "njit": "write `@amdjit.kernel`, or `@amdjit.device_function` for what kernels call",
        "function": "write `@amdjit.device_function`",
        "device_jit": "write `@amdjit.device_function`",
        "prange": "a kernel is the body of the loop: `i = amdjit.grid(1)`",
        "program_id": "write `amdjit.blockIdx.x`",
        "array": "write `amdjit.to_device(...)` or `amdjit.asarray(...)`; in kernels "
        "`amdjit.local.array(shape, type)`",
        "device": "`amdjit.devices()` lists devices, `with amdjit.use(name):` chooses one",
        "set_device": "write `with amdjit.use(name):`",
        "select_device": "write `with amdjit.use(name):`",
        "stream": "write `amdjit.Stream()`",
        "event": "write `amdjit.Event()`",
        "device_array": "write `amdjit.empty(shape, dtype)`",
        "pinned_array": "write `amdjit.pinned_empty(shape, dtype)`",
        "thread_id": "write `amdjit.threadIdx.x`",
        "barrier": "write `amdjit.syncthreads()`",
    }
)


def other_name(name: str) -> str | None:
    """Say what amdjit has for a name of Numba's or another library's; None for an unknown one."""
    kind = _NUMBA_NAMES.get(name)
    if kind is not None and kind != VOID:
        return f"amdjit's types are named by their bits: write `amdjit.{kind}`"
    return _OTHER_NAMES.get(name)


def numba_name(kind: object) -> str:
    """Return Numba's name of a type of numbers; other types as amdjit writes them."""
    names = (name for name, known in _NUMBA_NAMES.items() if known == kind)
    return next(names, str(kind))


def is_signature_text(text: object) -> bool:
    """Whether a value is text that looks like a signature."""
    return isinstance(text, str) and text.rstrip().endswith(")") and "(" in text


def parse_signature(
    text: str, more: Mapping[str, Type] | None = None, pointers: bool = False
) -> CallSignature:
    """Return the signature that a text says. OptionError for text that is none.

    more: names of types that come before amdjit's own. pointers: whether a parameter may be the
    address of an element in global memory.
    """
    names = TYPE_NAMES if more is None else {**TYPE_NAMES, **more}
    return _Reader(text, names, pointers).signature()


def parse_type(text: str, more: Mapping[str, Type] | None = None) -> Any:
    """Return the type of one parameter that a text says, such as "f32[:]". OptionError for text
    that is none. more: as in `parse_signature`."""
    names = TYPE_NAMES if more is None else {**TYPE_NAMES, **more}
    return _Reader(text, names).alone()


class _Reader:
    """Reads a signature token by token."""

    def __init__(self, text: str, names: Mapping[str, Type], pointers: bool = False) -> None:
        self._text, self._names, self._pointers = text, names, pointers
        self._tokens = self._split()
        self._position = 0

    def signature(self) -> CallSignature:
        """Read the whole text."""
        result = None if self._peek() == "(" else self._type()
        parameters = tuple(self._listed("(", ")"))
        if self._peek():
            raise self._error(f"`{self._peek()}` after the last parenthesis")
        if VOID in parameters:
            raise self._error("`void` is no type of a parameter")
        return CallSignature(result, parameters)

    def alone(self) -> Any:
        """Read the whole text as one type."""
        found = self._type()
        if self._peek():
            raise self._error(f"`{self._peek()}` after the type")
        return found

    def _type(self) -> Any:
        if self._peek() == "(":
            return tuple(self._listed("(", ")"))
        name = self._next()
        if name in ("UniTuple", "Tuple"):
            return self._tuple(name)
        if name == "CPointer" and self._pointers:
            return self._pointer()
        element = self._names.get(name)
        if element is None:
            raise self._error(self._unknown(name))
        return self._array(element) if self._peek() == "[" else element

    def _pointer(self) -> Pointer:
        self._expect("(")
        element = self._type()
        self._expect(")")
        if element == VOID or isinstance(element, (tuple, Array, Pointer)):
            raise self._error("CPointer takes the type of a number")
        return Pointer(element, AddressSpace.GLOBAL)

    def _tuple(self, name: str) -> Any:
        self._expect("(")
        if name == "Tuple":
            items = self._listed("[", "]") if self._peek() == "[" else self._listed("(", ")")
        else:
            item = self._type()
            self._expect(",")
            count = self._next()
            if not count.isdecimal():
                raise self._error(f"UniTuple takes a number of items, not `{count}`")
            items = [item] * int(count)
        self._expect(")")
        return tuple(items)

    def _array(self, element: Any) -> Type:
        self._expect("[")
        axes = []
        while True:
            axis = self._next()
            if axis not in (":", "::1"):
                raise self._error(f"`{axis}` is no axis; write `:` for each, `::1` for contiguous")
            axes.append(slice(None, None, 1 if axis == "::1" else None))
            if self._peek() != ",":
                break
            self._next()
        self._expect("]")
        if not hasattr(element, "__getitem__"):
            raise self._error(f"there are no arrays of {element}")
        array: Type = element[tuple(axes)]
        return array

    def _listed(self, opening: str, closing: str) -> list[Any]:
        self._expect(opening)
        items: list[Any] = []
        while self._peek() != closing:
            items.append(self._type())
            if self._peek() != ",":
                break
            self._next()
        self._expect(closing)
        return items

    def _unknown(self, name: str) -> str:
        if name in NUMBA_SHORT_NAMES:
            meant = NUMBA_SHORT_NAMES[name]
            return (
                f"write `{meant}` for `{name}`: amdjit's names count bits, so that its `i8` has 8"
            )
        if name == "CPointer":
            return "pass an array, such as `f32[:]`, in place of a pointer"
        return f"`{name}` is no type" if name else "it ends too soon"

    def _split(self) -> list[str]:
        tokens, position = [], 0
        text = self._text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error(f"`{text[position:].strip()[:1]}` is not expected")
            tokens.append(match[1])
            position = match.end()
        return tokens

    def _peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._position += 1
        return token

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise self._error(f"`{token}` is expected, not `{found}`" if found else "it ends early")

    def _error(self, problem: str) -> OptionError:
        return OptionError(
            f"{self._text!r} is not a signature: {problem}. Write the types of the parameters, "
            "such as 'void(f32[:], i32)'"
        )
