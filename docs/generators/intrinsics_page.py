"""The page of intrinsics: what each declaration says of itself."""

from __future__ import annotations

import dataclasses
import inspect
from types import ModuleType
from typing import Any

from amdjit.declarations import (
    Coordinates,
    DeviceFunction,
    Intrinsic,
    Parameter,
    Property,
    SpecialForm,
)
from amdjit.target import TARGETS
from amdjit.types import PointerPattern, Type, TypeVariable, Vector
from generators.intrinsic_modules import MODULES
from generators.page_form import page, table


def intrinsics() -> str:
    """Return the page of intrinsics and device functions."""
    introduction = (
        "Functions that kernels can call beyond Python's own operators and functions. A capital "
        "letter stands for one of the types named beside it, the same wherever it occurs. A "
        "constant must be known when compiling. An intrinsic becomes the instruction beside it; a "
        "device function is written in terms of intrinsics and is inlined.\n\n"
        "Python's `abs`, `min`, `max`, `round`, `len`, `range`, `zip`, `enumerate` and "
        "`reversed`, and the functions of `math` and NumPy that have a counterpart in "
        "`amdjit.intrinsics.math`, are called by their own names."
    )
    parts, seen = [], set()
    for module, place in MODULES:
        described = (inspect.getdoc(module) or "").split("\n\n")[0]
        declared = [(name, value) for name, value in _declared(module) if id(value) not in seen]
        seen |= {id(value) for _, value in declared}
        rows = [_row(name, value) for name, value in declared]
        parts.append(
            f"## {module.__name__.rpartition('.')[2]}\n\nIn `{place}`. "
            f"{' '.join(described.split())}"
        )
        parts.append(table(("name", "instruction", "meaning"), rows))
    return page("Intrinsics", "the declarations in intrinsics/", introduction, parts)


_DOCUMENTED = (Intrinsic, DeviceFunction, SpecialForm, Property, Coordinates)


def _declared(module: ModuleType) -> list[tuple[str, Any]]:
    """Return a module's public declarations, in order; `shared.array` for members of a
    namespace."""
    found = []
    for name, value in vars(module).items():
        if name.startswith("_") or _is_imported(module, value):
            continue
        if isinstance(value, _DOCUMENTED):
            found.append((name, value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            members = (
                (f"{name}.{field.name}", getattr(value, field.name))
                for field in dataclasses.fields(value)
            )
            found += [(path, member) for path, member in members if isinstance(member, SpecialForm)]
    return found


def _is_imported(module: ModuleType, value: Any) -> bool:
    function = getattr(value, "reference", None) or getattr(value, "function", None)
    return inspect.isfunction(function) and function.__module__ != module.__name__


def _row(name: str, value: Any) -> tuple[str, str, str]:
    if isinstance(value, Intrinsic):
        parameters = ", ".join(map(_parameter, value.parameters))
        signature = f"`{name}({parameters})` -> `{_type(value.result)}`"
        return (
            signature,
            f"`{value.isa}`" if value.isa else "",
            _meaning(value.documentation) + _variables(value) + _where(value),
        )
    if isinstance(value, DeviceFunction):
        return (
            f"`{name}{inspect.signature(value.function)}`",
            "",
            _meaning(inspect.getdoc(value.function) or ""),
        )
    if isinstance(value, SpecialForm):
        return f"`{name}`", "", _meaning(value.documentation)
    if isinstance(value, Coordinates):
        return f"`{name}.x`, `.y`, `.z`", "", _meaning(_getter(value.x).documentation)
    return f"`{name}`", "", _meaning(_getter(value).documentation)


def _getter(value: Property) -> Intrinsic:
    assert isinstance(value.getter, Intrinsic)
    return value.getter


def _parameter(parameter: Parameter) -> str:
    if parameter.is_boolean_immediate:
        return f"{parameter.name}: True or False"
    return f"{parameter.name}: {parameter.immediate or _type(parameter.type)}"


def _type(type: Type | None) -> str:
    """Return a type as signatures show it: type variables by their letter."""
    if isinstance(type, PointerPattern):
        return f"pointer to {_type(type.element)}"
    return type.name if isinstance(type, TypeVariable) else str(type)


def _variables(value: Intrinsic) -> str:
    """Return the types that the letters of a signature stand for."""
    types = [*(parameter.type for parameter in value.parameters), value.result]
    elements = [type.element if isinstance(type, PointerPattern) else type for type in types]
    variables = {type.name: type for type in elements if isinstance(type, TypeVariable)}
    return "".join(f" {name}: {', '.join(_types(type))}." for name, type in variables.items())


def _types(variable: TypeVariable) -> list[str]:
    """Return a variable's types as text, with all vectors of an element in one word:
    `f16x2/4/8`."""
    vectors: dict[str, list[int]] = {}
    for type in variable.constraints:
        if isinstance(type, Vector):
            vectors.setdefault(str(type.element), []).append(type.length)
    joined = [f"{element}x{'/'.join(map(str, lengths))}" for element, lengths in vectors.items()]
    return [str(type) for type in variable.constraints if not isinstance(type, Vector)] + joined


def _meaning(documentation: str) -> str:
    return " ".join(documentation.split("\n\n")[0].split())


def _where(value: Intrinsic) -> str:
    notes = []
    if value.targets is not None:
        notes.append("on " + ", ".join(value.targets))
    if value.features:
        names = sorted(target.name for target in TARGETS if value.features <= target.features)
        notes.append(
            "needs "
            + ", ".join(f.value for f in value.features)
            + (f": {', '.join(names)}" if names else "")
        )
    if value.wave_sizes != (32, 64):
        notes.append("wave" + ", wave".join(map(str, value.wave_sizes)))
    return f" ({'; '.join(notes)})" if notes else ""
