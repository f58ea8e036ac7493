"""A configuration: values by name, and the text that identifies it in files."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

__all__ = ["Configuration", "Namespace", "text_of", "value_text"]


class Namespace(Mapping[str, Any]):
    """Values by name, read as attributes or as items; `read` collects which names were read."""

    __slots__ = ("_values", "read")

    def __init__(self, values: Mapping[str, Any], read: set[str] | None = None) -> None:
        self._values = dict(values)
        self.read: set[str] = set() if read is None else read

    def __getitem__(self, name: str) -> Any:
        value = self._values[name]
        self.read.add(name)
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._values:
            known = ", ".join(self._values)
            raise AttributeError(f"there is no {name!r} here; there are: {known or 'no names'}")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Configuration(Mapping[str, Any]):
    """One value for each name of a space: `c.BM`, `c["BM"]`. Two are equal if their texts are
    equal."""

    __slots__ = ("_text", "_values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._text = ", ".join(f"{name}={value_text(value)}" for name, value in values.items())

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(
                f"the configuration has no {name!r}; it has {', '.join(self._values)}"
            )
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Configuration):
            return self._text == other._text
        return NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return Configuration, (self._values,)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<configuration {self._text}>"


def text_of(values: Mapping[str, Any]) -> str:
    """Return the text of a configuration that is a dictionary."""
    return str(Configuration(values))


def value_text(value: Any) -> str:
    """Return a text for a value that is the same in every process."""
    if isinstance(value, (tuple, list)):
        inner = ", ".join(map(value_text, value))
        last = "," * (len(value) == 1)
        return f"({inner}{last})" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    function = getattr(value, "function", value)
    if isinstance(function, (types.FunctionType, type)):
        return f"{function.__module__}.{function.__qualname__}"
    kind = type(value)
    if kind.__module__.partition(".")[0] == "amdjit":
        return str(value)
    return repr(value)
