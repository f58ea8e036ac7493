"""What `help(...)` and a notebook's `?` show of intrinsics, device functions, forms and types.

Each has the class of its declaration, whose text says nothing about it. So these classes compute
the docstring and the signature of an instance from the one declaration: how it is called, what it
does, what it becomes, and an example.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

__all__ = ["call_text", "document", "documented", "public_name", "type_text"]

_Class = TypeVar("_Class", bound=type)
_EXAMPLE_VALUES = {"array": "a", "index": "i", "indices": "i"}


class _Documentation:
    """The `__doc__` of a class, and another one of each of its instances."""

    def __init__(self, of_class: str | None, of_instance: Callable[[Any], str]) -> None:
        self._of_class, self._of_instance = of_class, of_instance

    def __get__(self, instance: object, owner: type) -> str | None:
        return self._of_class if instance is None else self._of_instance(instance)


class _Signature:
    """The `__signature__` of instances; classes have the usual one."""

    def __init__(self, of_instance: Callable[[Any], inspect.Signature]) -> None:
        self._of_instance = of_instance

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return self._of_instance(instance)


def documented(
    text: Callable[[Any], str], signature: Callable[[Any], inspect.Signature] | None = None
) -> Callable[[_Class], _Class]:
    """Give instances of a class docstrings, and signatures, of their own."""

    def decorate(cls: _Class) -> _Class:
        type.__setattr__(cls, "__doc__", _Documentation(cls.__doc__, text))
        if signature is not None:
            type.__setattr__(cls, "__signature__", _Signature(signature))
        return cls

    return decorate


def public_name(value: object, fallback: str) -> str:
    """Return the name under which users reach a value: `amdjit.grid`, `wave.shuffle`."""
    for name in _public_modules():
        for variable, held in vars(sys.modules[name]).items():
            if held is value and not variable.startswith("_"):
                return f"{name.rpartition('.')[2]}.{variable}"
    return fallback


def _public_modules() -> Iterable[str]:
    """The package, then the namespaces of intrinsics."""
    root = __name__.partition(".")[0]
    namespaces = f"{root}.intrinsics"
    found = [name for name in sys.modules if name.rpartition(".")[0] == namespaces]
    found += [name for name in (root, namespaces) if name in sys.modules]
    return sorted(found, key=lambda name: (name.count("."), name))


def document(call: str, meaning: str, notes: Iterable[str] = (), example: str | None = None) -> str:
    """Return a docstring: the call, its meaning, notes and an example in a kernel."""
    parts = [call, meaning.strip(), " ".join(notes)]
    if example and "Example" not in meaning:
        parts.append(f"Example, in a kernel:\n\n    {example}")
    return "\n\n".join(part for part in parts if part)


def call_text(name: str, meaning: str, arguments: Iterable[tuple[str, Any]]) -> str:
    """Return a call as an example.

    arguments: those without default values, each with a compile-time value that it may have, or
    None.
    """
    given = ", ".join(
        _EXAMPLE_VALUES.get(argument, argument) if value is None else repr(value)
        for argument, value in arguments
    )
    result = "result = " if "eturn" in meaning.partition("\n\n")[0] else ""
    return f"{result}{name}({given})"


def type_text(type: Any) -> str:
    """Return the docstring of a scalar or vector type."""
    name = str(type)
    length = getattr(type, "length", None)
    if length is None:
        what = "boolean" if type.bits == 1 else f"{type.kind.value} of {type.bits} bits"
        meaning = f"The type of a {what}. Called in a kernel, it converts: `{name}(x)`."
        limits = "It is for storage: convert to f32 to compute." if type.storage_only else ""
        return document(name, meaning, [limits], f"def kernel(x: {name}[:], y: {name}): ...")
    meaning = f"The type of {length} {type.element} in registers, computed with element by element."
    return document(name, meaning, (), f"v = x.load(i, {length})")
