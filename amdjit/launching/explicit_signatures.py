"""Signatures that a kernel was decorated with: the only types of arguments that it takes.

A launch takes the signature that fits its arguments best; `language/conversion_ranks.py` has the
rule. Python's integers count as i64, its floats as f64, its complex numbers as complex128. Arrays
and tuples are not converted.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from amdjit import frontend
from amdjit.compiled_kernel import Argument, describe_argument
from amdjit.declarations import DeviceFunction, device_function
from amdjit.diagnostics import LaunchError
from amdjit.language.call_signatures import CallSignature
from amdjit.language.complex_types import COMPLEX64, COMPLEX128, ComplexElement
from amdjit.language.conversion_ranks import EXACT, LOSSY, SAFE, WIDER, conversion, cost
from amdjit.language.signature_texts import is_signature_text, parse_signature, parse_type
from amdjit.launching.array_facts import distinct_type
from amdjit.launching.record_arguments import type_of_record
from amdjit.options import OptionError
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import (
    VOID,
    Array,
    Known,
    Layout,
    Record,
    Scalar,
    ScalarKind,
    Tuple,
    Type,
    boolean,
    f64,
    from_dtype,
    i64,
)

__all__ = [
    "ExplicitSignatures",
    "SignatureError",
    "SpecialisedError",
    "device_function_of",
    "of_decorator",
    "parameter_type",
    "parameter_types",
    "type_list",
]


class SignatureError(LaunchError, TypeError):
    """No signature of a kernel fits, or several fit equally well: a TypeError, too, as for a wrong
    argument of any function."""


class SpecialisedError(LaunchError, RuntimeError):
    """A specialised kernel was to be specialised again: a RuntimeError, too, as in Numba."""


class ExplicitSignatures:
    """The signatures of one kernel. specialised: whether it was decorated with one, not a list.
    takes_bits: whether an integer of the other signedness is taken as the same bits, as in Numba:
    0xFFFFFFFF as the i32 -1. A specialised kernel takes arrays of such integers, too."""

    def __init__(
        self,
        kernel: str,
        signatures: Sequence[tuple[Argument, ...]],
        specialised: bool,
        takes_bits: bool = False,
    ) -> None:
        self.signatures = tuple(signatures)
        self.specialised = specialised
        self._takes_bits = takes_bits
        self._kernel = kernel

    def specialised_twice(self) -> SpecialisedError:
        """Return the error of `specialize` of a specialised kernel."""
        return SpecialisedError(
            f"{self._kernel} has a signature already, {type_list(self.signatures)}: Dispatcher "
            "already specialized; call specialize of the kernel without a signature"
        )

    def choose(self, values: Sequence[Any]) -> tuple[tuple[Argument, ...], tuple[Any, ...]]:
        """Return the signature that a launch uses, and its arguments converted to it.

        LaunchError if none fits, or several fit equally well.
        """
        ranked = self._ranked(values)
        if not ranked and self._takes_bits and self.specialised:
            values = list(map(_with_sign, self.signatures[0], values))
            ranked = self._ranked(values)
        if not ranked:
            raise SignatureError(
                f"No matching definition of {self._kernel} for arguments of types "
                f"{_given(values)}. Its signatures are {type_list(self.signatures)}"
            )
        least = min(each for each, _ in ranked)
        best = [signature for each, signature in ranked if each == least]
        if len(best) > 1:
            raise SignatureError(
                f"Ambiguous overloading of {self._kernel} for arguments of types "
                f"{_given(values)}: {type_list(best)} fit equally well. Convert the numbers, such "
                "as np.float32(x)"
            )
        if self._takes_bits:
            values = list(map(_with_bits, best[0], values))
        pairs = zip(best[0], values, strict=True)
        return best[0], tuple(_converted(self._kernel, *pair) for pair in pairs)

    def _ranked(
        self, values: Sequence[Any]
    ) -> list[tuple[tuple[int, int, int, int], tuple[Argument, ...]]]:
        """Return the signatures that fit, each with the cost of its conversions before it."""
        ranked = []
        for signature in self.signatures:
            ranks = [_rank(*pair) for pair in zip(signature, values, strict=True)]
            known = [rank for rank in ranks if rank is not None]
            if len(known) == len(ranks):
                ranked.append((cost(known), signature))
        return ranked


def of_decorator(
    kernel: str, parameters: Sequence[str], given: Any, takes_bits: bool = False
) -> ExplicitSignatures:
    """Return the signatures that a kernel was decorated with: one, or a list of them.

    OptionError for anything else, and for a signature with more or fewer types than the kernel has
    parameters.
    """
    listed = given if isinstance(given, list) else [given]
    if not listed:
        raise OptionError(f"{kernel}: an empty list of signatures; leave it out")
    signatures = [parameter_types(kernel, each) for each in listed]
    for signature in signatures:
        if len(signature) != len(parameters):
            raise OptionError(
                f"{kernel} takes ({', '.join(parameters)}), and the signature "
                f"{type_list([signature])} has {len(signature)} "
                f"type{'' if len(signature) == 1 else 's'}"
            )
    return ExplicitSignatures(kernel, signatures, not isinstance(given, list), takes_bits)


def device_function_of(
    function: types.FunctionType, options: Mapping[str, Any], given: Any
) -> DeviceFunction:
    """Return the device function of `@kernel(signatures, device=True, inline=...)`."""
    name = function.__name__
    inline = options.get("forceinline") or options.get("inline") not in (False,)
    for option, value in options.items():
        if option not in ("inline", "forceinline") and value:
            raise OptionError(
                f"{option}= of the device function {name}: a device function is compiled with "
                f"the options of its kernel; give {option}= there"
            )
    if given is None:
        return device_function(function, inline=inline)
    listed = given if isinstance(given, list) else [given]
    signatures = tuple(_device_signature(name, each) for each in listed)
    parameters = inspect.signature(function).parameters
    for signature in signatures:
        if len(signature.args) != len(parameters):
            raise OptionError(f"{name} takes ({', '.join(parameters)}), not {signature}")
    return replace(device_function(function, inline=inline), signatures=signatures)


def _device_signature(name: str, given: Any) -> CallSignature:
    signature = parse_signature(given) if is_signature_text(given) else frontend.of_numba(given)
    result = signature.return_type if isinstance(signature, CallSignature) else None
    if result is not None and result != VOID:
        result = parameter_type(name, result)
    return CallSignature(result, parameter_types(name, signature, is_kernel=False))


def parameter_types(kernel: str, signature: Any, is_kernel: bool = True) -> tuple[Any, ...]:
    """Return the types of a signature's parameters; OptionError if it is not a signature, or has a
    result."""
    if isinstance(signature, str):
        if not is_signature_text(signature):
            raise OptionError(
                f"{kernel}: {signature!r} is not a signature; write 'void(f32[:], i32)'"
            )
        signature = parse_signature(signature)
    signature = frontend.of_numba(signature)
    if isinstance(signature, CallSignature):
        if is_kernel and signature.return_type not in (None, VOID):
            raise OptionError(
                f"{kernel}: a kernel returns nothing, so its signature begins with void, not "
                f"{signature.return_type}; write device=True for a device function"
            )
        signature = signature.args
    if not isinstance(signature, tuple):
        raise OptionError(
            f"{kernel}: {signature!r} is not a signature; write 'void(f32[:], i32)', or the types "
            "in a tuple, (amdjit.f32[:], amdjit.i32)"
        )
    return tuple(parameter_type(kernel, each) for each in signature)


def parameter_type(kernel: str, given: Any) -> Type:
    """Return the type of a parameter in a signature; OptionError if it is not a type."""
    if isinstance(given, str):
        given = parse_type(given)
    given = frontend.of_numba(given)
    if isinstance(given, ComplexElement):
        return COMPLEX64 if given.nbytes == 8 else COMPLEX128
    if isinstance(given, Record):
        return Array(given, 0, Layout.CONTIGUOUS)  # as launches pass records
    if isinstance(given, tuple):
        return Tuple(tuple(parameter_type(kernel, each) for each in given))
    if isinstance(given, Type):
        return given
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        scalar = from_dtype(np.dtype(given))
        if scalar is not None:
            return scalar
    record = type_of_record(given)
    if record is None:
        raise OptionError(f"{kernel}: {given!r} in a signature is not a type of an argument")
    return record


def type_list(signatures: Iterable[tuple[Argument, ...]]) -> str:
    """Return signatures as text."""
    return ", ".join(
        f"({', '.join(map(describe_argument, signature))})" for signature in signatures
    )


def _rank(kind: Argument, value: Any) -> int | None:
    """Return which conversion an argument needs, None if it cannot be converted."""
    if isinstance(kind, Scalar):
        found = _number_type(value)
        return None if found is None else conversion(found, kind)
    if isinstance(kind, Array):
        return _array_rank(kind, value)
    if isinstance(kind, Tuple) and kind in (COMPLEX64, COMPLEX128):
        return _complex_rank(kind, value)
    if isinstance(kind, Tuple):
        return _tuple_rank(kind, value)
    return EXACT  # vectors and records, which the launch checks


def _number_type(value: Any) -> Scalar | None:
    if isinstance(value, (bool, np.bool_)):
        return boolean
    if isinstance(value, np.generic):
        return from_dtype(value.dtype)
    if isinstance(value, int):
        return i64
    return f64 if isinstance(value, float) else None


def _array_rank(kind: Array, value: Any) -> int | None:
    if isinstance(value, DeviceArray):
        found = distinct_type(value)
        if found is None or not frontend.array_matches(found, kind):
            return None
    elif isinstance(value, np.ndarray):
        element = frontend.element_of_dtype(value.dtype)
        if element != kind.element or value.ndim != kind.ndim:
            return None
        if kind.layout is Layout.CONTIGUOUS and not value.flags.c_contiguous:
            return None
    elif _number_type(value) is not None or isinstance(value, (str, tuple, list, complex)):
        return None
    # Another library's array is checked later, as a DeviceArray.
    return WIDER if kind.layout is Layout.ANY else EXACT


def _complex_rank(kind: Type, value: Any) -> int | None:
    if not isinstance(value, (complex, np.complexfloating)):
        return None if _number_type(value) is None else SAFE
    found = COMPLEX64 if isinstance(value, np.complex64) else COMPLEX128
    if found == kind:
        return EXACT
    return WIDER if kind == COMPLEX128 else LOSSY


def _tuple_rank(kind: Tuple, value: Any) -> int | None:
    if not isinstance(value, tuple):
        return None if kind.structure is None else EXACT
    if len(value) != len(kind.elements):
        return None
    ranks = [
        EXACT if isinstance(element, Known) else _rank(element, item)
        for element, item in zip(kind.elements, value, strict=True)
    ]
    return None if None in ranks else max((rank for rank in ranks if rank), default=EXACT)


def _with_bits(kind: Argument, value: Any) -> Any:
    """Return the integer whose bits, in a type of integers, are those of the given one, if it has
    no more bits than the type."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not isinstance(kind, Scalar) or not kind.is_integer or not is_integer:
        return value
    number, modulus = int(value), 1 << kind.bits
    if kind.minimum <= number <= kind.maximum or not -(modulus >> 1) <= number < modulus:
        return value
    return (number - kind.minimum) % modulus + kind.minimum


def _with_sign(kind: Argument, value: Any) -> Any:
    """Return an array of integers over the same memory, with the sign of the type's elements, if
    they are as wide."""
    if not isinstance(kind, Array) or not isinstance(kind.element, Scalar):
        return value
    if not isinstance(value, (np.ndarray, DeviceArray)) or value.dtype.kind not in "iu":
        return value
    array: Any = value
    is_other = kind.element.is_integer and array.dtype.itemsize == kind.element.nbytes
    return array.view(kind.element.dtype) if is_other else array


def _converted(kernel: str, kind: Argument, value: Any) -> Any:
    """Return an argument converted to its type in the signature. The launch converts Python's
    numbers."""
    if kind in (COMPLEX64, COMPLEX128):
        own = np.complex64 if kind == COMPLEX64 else np.complex128
        return value if isinstance(value, own) else own(value)
    if isinstance(kind, Tuple) and isinstance(value, tuple):
        if kind.structure is not None:
            return value
        return tuple(_converted(kernel, *pair) for pair in zip(kind.elements, value, strict=True))
    if not isinstance(kind, Scalar) or not isinstance(value, np.generic):
        return value
    if from_dtype(value.dtype) == kind:
        return value
    if kind.kind is not ScalarKind.FLOAT and not kind.minimum <= int(value) <= kind.maximum:
        raise LaunchError(f"{kernel}: {value} does not fit the {kind} of the signature")
    return kind.dtype.type(value)


def _given(values: Sequence[Any]) -> str:
    return f"({', '.join(map(_described, values))})"


def _described(value: Any) -> str:
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return "complex128"
    if isinstance(value, DeviceArray):
        return str(distinct_type(value) or f"array of {value.dtype}")
    if isinstance(value, np.ndarray):
        element = frontend.element_of_dtype(value.dtype) or value.dtype
        last = "::1" if value.flags.c_contiguous else ":"
        return f"{element}[{', '.join([':'] * (value.ndim - 1) + [last])}]"
    found = _number_type(value)
    return type(value).__name__ if found is None else str(found)
