"""Values from their JSON form, as `facts.json_text` writes it: what a type's fields say decides."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Mapping, Set
from functools import cache
from typing import Any

from amdjit.diagnostics import AmdjitError

__all__ = ["read_object", "record_of", "value_of"]


def read_object(text: str, schema: str) -> dict[str, Any]:
    """Return the object that JSON text holds; AmdjitError if it is none of this schema."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise AmdjitError(f"this is not JSON: {error}") from None
    there = found.get("schema") if isinstance(found, dict) else None
    if there != schema:
        raise AmdjitError(f"the JSON's schema is {there or 'not given'}, not {schema}")
    return dict(found)


def record_of(kind: type, form: Any) -> Any:
    """Return the record of a dataclass that a JSON object stands for. Fields that the object does
    not have keep their defaults; AmdjitError if it cannot be such a record."""
    try:
        hints = _hints(kind)
        return kind(**{name: value_of(hints[name], form[name]) for name in hints if name in form})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AmdjitError(f"the JSON has no sound {kind.__name__}: {error}") from None


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def value_of(hint: Any, form: Any) -> Any:
    """Return the value of a type that stands in JSON as `form`: the inverse of
    `facts.json_value`."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return record_of(hint, form)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (kind for kind in arguments if kind is not types.NoneType)
        return None if form is None else value_of(inner, form)
    if origin is tuple:
        return _tuple(arguments, form)
    if origin is not None and issubclass(origin, Mapping):
        return dict(_entries(arguments[0], arguments[1], form))
    if origin is not None and issubclass(origin, Set):
        return frozenset(form)
    return _plain(hint, form)


def _tuple(kinds: tuple[Any, ...], form: Any) -> tuple[Any, ...]:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(value_of(kinds[0], item) for item in form)
    return tuple(value_of(kind, item) for kind, item in zip(kinds, form, strict=True))


def _entries(key: Any, value: Any, form: Any) -> typing.Iterator[tuple[Any, Any]]:
    """Yield the entries of a mapping: an object, or an array of entries, or of records about the
    lines that are their keys."""
    if isinstance(form, dict):
        yield from ((name, value_of(value, item)) for name, item in form.items())
        return
    for item in form:
        if set(item) == {"key", "value"}:
            yield value_of(key, item["key"]), value_of(value, item["value"])
        else:
            yield (item["file"], item["line"]), value_of(value, item)


def _plain(kind: type, form: Any) -> Any:
    if kind is float:
        # Numbers that JSON does not have are null there.
        return math.nan if form is None else float(form)
    if type(form) is not kind:
        raise ValueError(f"{form!r} is no {kind.__name__}")
    return form
