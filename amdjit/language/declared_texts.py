"""The docstrings of declared intrinsics, device functions and special forms.

They are computed when they are asked for, from the one declaration of each.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from amdjit.language.documentation import call_text, document, public_name
from amdjit.language.type_patterns import PointerPattern, TypeVariable

if TYPE_CHECKING:
    from amdjit.declarations import (
        Coordinates,
        DeviceFunction,
        Intrinsic,
        Parameter,
        Property,
        SpecialForm,
    )

__all__ = [
    "coordinates_text",
    "form_text",
    "function_signature",
    "function_text",
    "intrinsic_signature",
    "intrinsic_text",
    "property_text",
]


def intrinsic_text(intrinsic: Intrinsic) -> str:
    """Return the docstring of an intrinsic."""
    name = public_name(intrinsic, intrinsic.name)
    parameters = ", ".join(map(_parameter_text, intrinsic.parameters))
    required = [each for each in intrinsic.parameters if not each.has_default]
    example = call_text(
        name,
        "" if str(intrinsic.result) == "None" else "Return",
        [(each.name, _possible(each)) for each in required],
    )
    call = f"{name}({parameters}) -> {_type_text(intrinsic.result)}"
    return document(call, intrinsic.documentation, _notes(intrinsic), example)


def _notes(intrinsic: Intrinsic) -> list[str]:
    notes = []
    if intrinsic.isa:
        notes.append(f"Becomes `{intrinsic.isa}`.")
    if intrinsic.targets is not None:
        notes.append(f"Exists on {', '.join(intrinsic.targets)}.")
    if len(intrinsic.wave_sizes) == 1:
        notes.append(f"For waves of {intrinsic.wave_sizes[0]} lanes.")
    return notes


def _parameter_text(parameter: Parameter) -> str:
    if parameter.is_boolean_immediate:
        kind = "True or False"
    else:
        kind = str(parameter.immediate) if parameter.immediate else _type_text(parameter.type)
    default = f" = {parameter.default!r}" if parameter.has_default else ""
    return f"{parameter.name}: {kind}{default}"


def _type_text(type: Any) -> str:
    if isinstance(type, PointerPattern):
        return f"pointer to {_type_text(type.element)}"
    return type.name if isinstance(type, TypeVariable) else str(type)


def _possible(parameter: Parameter) -> Any:
    """Return a compile-time value that a parameter takes, None if it is no such parameter."""
    immediate = parameter.immediate
    if immediate is None:
        return None
    if parameter.is_boolean_immediate:
        return True
    values = getattr(immediate, "values", None) or getattr(immediate, "only", None)
    return values[0] if values else getattr(immediate, "lo", 0)


def intrinsic_signature(intrinsic: Intrinsic) -> inspect.Signature:
    """Return the names and default values of an intrinsic's parameters."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(each.name, kind, default=each.default) for each in intrinsic.parameters]
    )


def function_text(function: DeviceFunction) -> str:
    """Return the docstring of a device function."""
    python = function.function
    name = public_name(function, getattr(python, "__qualname__", str(python)))
    signature = inspect.signature(python)
    meaning = inspect.getdoc(python) or ""
    required = [
        (each.name, None) for each in signature.parameters.values() if each.default is each.empty
    ]
    is_own = (getattr(python, "__module__", None) or "").startswith("amdjit.")
    example = call_text(name, meaning, required) if is_own else None
    return document(f"{name}{_without_quotes(signature)}", meaning, (), example)


def _without_quotes(signature: inspect.Signature) -> str:
    """Return a signature with its annotations as they are written."""
    parameters = [
        each.replace(annotation=_written(each.annotation)) for each in signature.parameters.values()
    ]
    result = _written(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=result))


class _Written:
    """An annotation that signatures show as this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _written(annotation: Any) -> Any:
    empty = inspect.Parameter.empty
    if annotation is empty or annotation in (Any, "Any"):
        return empty
    if isinstance(annotation, str):
        return _Written(annotation)
    return _Written(getattr(annotation, "__name__", None) or str(annotation))


def function_signature(function: DeviceFunction) -> inspect.Signature:
    """Return the signature of a device function's Python function."""
    return inspect.signature(function.function)


def form_text(form: SpecialForm) -> str:
    """Return the docstring of a special form, whose documentation begins with its call."""
    call, _, meaning = form.documentation.partition(": ")
    return document(call.strip("`"), meaning[:1].upper() + meaning[1:], (), form.example)


def property_text(value: Property) -> str:
    """Return the docstring of a name that reads like a value."""
    getter = value.getter
    name = public_name(value, getattr(getter, "name", ""))
    meaning = getattr(getter, "documentation", "") or inspect.getdoc(getter) or ""
    return document(name, meaning, (), f"n = {name}")


def coordinates_text(value: Coordinates) -> str:
    """Return the docstring of three coordinates."""
    name = public_name(value, "coordinates")
    meaning = getattr(value.x.getter, "documentation", "")
    call = ", ".join(f"{name}.{axis}" for axis in "xyz")
    return document(call, meaning, ("Each is an i32.",), f"i = {name}.x")
