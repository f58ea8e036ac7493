"""Signatures on the command line: types of arguments, and constants, as text."""

from __future__ import annotations

from amdjit.diagnostics import LaunchError
from amdjit.language import vector_types
from amdjit.language.launch_numbers import PYTHON_FLOAT, PYTHON_INT
from amdjit.types import SCALARS, Scalar, Type, Vector

__all__ = ["parse_signature"]


def parse_signature(text: str) -> list[Type | int | float | bool | None]:
    """Parse types such as `f32,f32[:],f16[:, ::1],f32x4,int`, and constants for `Const`
    parameters."""
    return [_parse_argument(part.strip()) for part in _split(text) if part.strip()]


def _split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parse_argument(text: str) -> Type | int | float | bool | None:
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
    return _parse_type(text)


def _parse_type(text: str) -> Type:
    vectors = (value for value in vars(vector_types).values() if isinstance(value, Vector))
    types: dict[str, Type] = {str(type): type for type in (*SCALARS, *vectors)}
    name, bracket, axes = text.partition("[")
    element = types.get(name.strip())
    if element is None:
        scalars = ", ".join(map(str, SCALARS))
        raise LaunchError(
            f"{text!r} is not a type; there are {scalars}, vectors such as f16x8, arrays such as "
            "f32[:, ::1]"
        )
    if not bracket:
        return element
    parts = [axis.strip() for axis in axes.rstrip("] ").split(",")]
    if (
        any(part not in (":", "::1") for part in parts)
        or "::1" in parts[:-1]
        or not text.endswith("]")
    ):
        raise LaunchError(
            f"{text!r} is not an array type; write one `:` per axis, such as f32[:, ::1]"
        )
    if not isinstance(element, Scalar):
        raise LaunchError(
            f"{text!r} is not an array type: arrays hold scalars; a kernel reads vectors with "
            "`a.load(i, n)`"
        )
    return element[tuple(slice(None, None, 1 if part == "::1" else None) for part in parts)]
