"""Signatures on the command line: types of arguments, and constants, as text.

whole    = argument {"," argument} | "void" "(" argument {"," argument} ")"
argument = constant | "int" | "float" | tuple | element [ axes {fact} ]
tuple    = "(" argument {"," argument} [","] ")"
element  = a scalar or vector type, or a name of the kernel's file: a type, a class, a NumPy type,
           and for a `Const` parameter any value, such as a function
axes     = "[" axis {"," axis} "]", an axis is ":" or "::1"; "[()]" for an array without axes
fact     = "strided" | "in rows" | "over 2 GiB" | "overlapping"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from amdjit.diagnostics import LaunchError
from amdjit.frontend import element_of_dtype
from amdjit.language import vector_types
from amdjit.language.complex_types import COMPLEX64, COMPLEX128, complex64, complex128
from amdjit.language.launch_numbers import PYTHON_FLOAT, PYTHON_INT
from amdjit.language.signature_texts import TYPE_NAMES
from amdjit.types import SCALARS, Array, Record, Scalar, Type, Vector

__all__ = ["parse_signature"]

_NO_NAMES: Mapping[str, object] = {}
# What one complex number is, beside the element of an array.
_VALUES: Mapping[Record, Type] = {complex64: COMPLEX64, complex128: COMPLEX128}
_FACTS: Mapping[str, dict[str, bool]] = {
    "strided": {"contiguous": False},
    "in rows": {"rows": True},
    "over 2 GiB": {"over_2gib": True},
    "overlapping": {"distinct": False},
}


def parse_signature(text: str, names: Mapping[str, object] = _NO_NAMES) -> list[Any]:
    """Parse types such as `f32,f32[:],f16[:, ::1] overlapping,f32x4,int,(i32, f32[:])`, and
    constants for `Const` parameters. They may stand in a signature, `void(f32[:], i32)`.

    names: those of the kernel's file, where classes of records and NumPy's types are looked up.
    LaunchError for what is no type.
    """
    whole = re.fullmatch(r"\s*(?:void|none)\s*\((.*)\)\s*", text, re.DOTALL)
    return [_parse_argument(part, names) for part in _split(whole[1] if whole else text)]


def _split(text: str) -> list[str]:
    """Split at commas outside brackets; a comma at the end adds nothing."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _parse_argument(text: str, names: Mapping[str, object]) -> Any:
    constants = {"None": None, "True": True, "False": False}
    if text in constants:
        return constants[text]
    if text in ("int", "float"):
        return PYTHON_INT if text == "int" else PYTHON_FLOAT
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    if text.startswith("(") and text.endswith(")"):
        return tuple(_parse_argument(part, names) for part in _split(text[1:-1]))
    return _parse_type(text, names)


def _parse_type(text: str, names: Mapping[str, object]) -> Any:
    name, bracket, rest = (part.strip() for part in text.partition("["))
    element = _element(name, names, text)
    if not bracket:
        return _VALUES.get(element, element) if isinstance(element, Record) else element
    axes, closed, facts = rest.partition("]")
    parts = [axis.strip() for axis in axes.split(",")]
    is_sound = all(part in (":", "::1") for part in parts) and "::1" not in parts[:-1]
    if not closed or not (is_sound or parts == ["()"]):
        raise LaunchError(
            f"{text!r} is not an array type; write one `:` per axis, such as f32[:, ::1]"
        )
    if isinstance(element, np.dtype):
        element = element_of_dtype(element)
    if not isinstance(element, (Scalar, Record)):
        raise LaunchError(
            f"{text!r} is not an array type: arrays hold scalars; a kernel reads vectors with "
            "`a.load(i, n)`"
        )
    slices = [slice(None, None, 1 if part == "::1" else None) for part in parts]
    array = element[() if parts == ["()"] else tuple(slices)]
    return _with_facts(array, facts, text)


def _element(name: str, names: Mapping[str, object], text: str) -> Any:
    vectors = (value for value in vars(vector_types).values() if isinstance(value, Vector))
    own = (*SCALARS, *vectors, complex64, complex128)
    types: dict[str, Type] = {str(type): type for type in own}
    if name in types:
        return types[name]
    if name in names:
        return names[name]
    if name in TYPE_NAMES:  # Numba's long ones
        return TYPE_NAMES[name]
    scalars = ", ".join(map(str, SCALARS))
    raise LaunchError(
        f"{text!r} is not a type; there are {scalars}, vectors such as f16x8, arrays such as "
        "f32[:, ::1], and what the kernel's file names"
    )


def _with_facts(array: Array, text: str, whole: str) -> Array:
    """Return an array type with the facts that are written behind it."""
    rest = text.strip()
    while rest:
        fact = next((each for each in _FACTS if rest.startswith(each)), None)
        if fact is None:
            raise LaunchError(
                f"{whole!r} is not an array type: behind it may stand {', '.join(_FACTS)}"
            )
        array = array.with_facts(**_FACTS[fact])
        rest = rest[len(fact) :].strip()
    return array
