"""The JSON form of facts: how the values of this room, of profiles and of estimates are written.

A record is an object with its fields by name; tuples and sets are arrays, sets sorted; members of
an enumeration their names. A mapping is an object if its keys are texts; else it is an array of
objects with "key" and "value", or of records if these are about the line that is their key. Numbers
that JSON does not have (infinities, NaN) are null.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Set
from enum import Enum

__all__ = ["json_text", "json_value"]


def json_text(schema: str, record: object, without: Set[str] = frozenset()) -> str:
    """Return a record as JSON text, with the name of its form as "schema".

    without: fields to leave out.
    """
    assert dataclasses.is_dataclass(record)
    names = (field.name for field in dataclasses.fields(record) if field.name not in without)
    form = {name: json_value(getattr(record, name)) for name in names}
    return json.dumps({"schema": schema, **form}, ensure_ascii=False)


def json_value(value: object) -> object:
    """Return what stands for a value in JSON: objects as dictionaries, arrays as lists.

    TypeError for values that have no form.
    """
    if value is None or (isinstance(value, (str, bool, int)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, Set)):
        fields = dataclasses.fields(value)
        return {field.name: json_value(getattr(value, field.name)) for field in fields}
    return _collection(value)


def _collection(value: object) -> object:
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, (tuple, list)):
        return [json_value(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _mapping(value: Mapping[object, object]) -> object:
    if all(isinstance(key, str) for key in value):
        return {key: json_value(item) for key, item in value.items()}
    return [_entry(key, item) for key, item in value.items()]


def _entry(key: object, item: object) -> object:
    form = json_value(item)
    if isinstance(form, dict) and "line" in form and key == (form.get("file"), form["line"]):
        return form
    return {"key": json_value(key), "value": form}
