"""The signatures of functions of arrays, and which of them a call uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from amdjit import frontend
from amdjit.language.call_signatures import CallSignature
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.language.signature_texts import NUMBA_SHORT_NAMES, parse_signature
from amdjit.launching.array_facts import distinct_type
from amdjit.launching.kernel_options import UnknownOptionError, known_names
from amdjit.numba_cuda.arrays import as_cuda_array
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import (
    Array,
    Layout,
    Record,
    Type,
    boolean,
    dtype_of_element,
    f64,
    from_dtype,
    i64,
)


def listed(given: Any) -> list[CallSignature]:
    """Return a list of signatures from one or several that were given as text or as types."""
    return [_signature(each) for each in (given if isinstance(given, list) else [given])]


def _signature(given: Any) -> CallSignature:
    if isinstance(given, str):
        return parse_signature(given, NUMBA_SHORT_NAMES)
    given = frontend.of_numba(given)
    if isinstance(given, CallSignature):
        return given
    return CallSignature(None, tuple(map(frontend.of_numba, given)))


class UnrecognizedOptionError(UnknownOptionError, KeyError):
    """`vectorize` has no option of this name: also a KeyError, as in Numba."""

    __str__ = UnknownOptionError.__str__


def unknown_options(options: Mapping[str, Any]) -> str:
    """Return the names of options that kernels have not; empty if there are none."""
    names = known_names()
    return ", ".join(repr(name) for name in options if name not in names)


def kernel_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for kernels among those of `vectorize` and `guvectorize`;
    UnknownOptionError for nopython=False, since amdjit has no object mode."""
    if not options.get("nopython", True):
        raise UnknownOptionError("nopython flag must be True")
    return {name: value for name, value in options.items() if name not in ("nopython", "cache")}


def python_function(function: Any) -> Any:
    """Return the Python function of a kernel or device function."""
    return getattr(function, "function", function)


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the type of a number's or an array's elements."""
    return np.dtype(value.dtype) if hasattr(value, "dtype") else np.asarray(value).dtype


def dtype_of_type(kind: Any) -> np.dtype[Any]:
    """Return NumPy's type of a number, or of an array's elements; TypeError if it has none."""
    element: Any = kind.element if isinstance(kind, Array) else kind
    if element in (COMPLEX64, COMPLEX128):
        return np.dtype(np.complex64 if element == COMPLEX64 else np.complex128)
    if isinstance(element, Record):
        return dtype_of_element(element)
    dtype: np.dtype[Any] = np.dtype(getattr(element, "dtype", element))
    return dtype


def has_records(signature: CallSignature) -> bool:
    """Whether a signature has records or dates, to which no value is converted."""
    return any(dtype_of_type(each).kind in "VMm" for each in signature.args)


def on_device(value: Any) -> Any:
    """Return an argument, as an amdjit array if it is another library's array on the device."""
    if isinstance(value, DeviceArray) or not hasattr(value, "__cuda_array_interface__"):
        return value
    return as_cuda_array(value)


_OWN: dict[Any, Type] = {bool: boolean, int: i64, float: f64, complex: COMPLEX128}
_OWN |= {np.complex64: COMPLEX64, np.complex128: COMPLEX128}


def type_of(value: Any) -> Type | None:
    """Return the type of an argument by Numba's rules; None for anything but numbers and arrays. A
    type is returned as it is."""
    value = frontend.of_numba(value)
    if isinstance(value, Type):
        return value
    if isinstance(value, DeviceArray):
        found = distinct_type(value)
        return None if found is None else found.without_promises()
    if isinstance(value, np.ndarray):
        element = frontend.element_of_dtype(value.dtype)
        layout = Layout.CONTIGUOUS if value.flags.c_contiguous else Layout.ANY
        return None if element is None else Array(element, value.ndim, layout)
    if isinstance(value, np.generic) and not isinstance(value, np.complexfloating):
        return from_dtype(value.dtype)
    return _OWN.get(type(value))


def chosen(
    name: str,
    signatures: Sequence[Sequence[Any]],
    given: Sequence[np.dtype[Any]],
    casts: bool = False,
) -> int:
    """Return the number of the signature with exactly these types, else of the first one to which
    they convert safely, as NumPy's ufuncs choose their loops; TypeError if there is none. casts: if
    there is only one signature, choose it in any case."""
    known = [[dtype_of_type(each) for each in types[: len(given)]] for types in signatures]
    if list(given) in known:
        return known.index(list(given))
    for number, dtypes in enumerate(known):
        if all(np.can_cast(a, b, "safe") for a, b in zip(given, dtypes, strict=True)):
            return number
    if casts and len(signatures) == 1:
        return 0
    kinds = ", ".join(map(str, given))
    raise TypeError(f"{name} has no signature for arguments of the types ({kinds})")
