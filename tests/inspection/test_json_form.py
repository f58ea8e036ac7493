"""The JSON form of facts, for each kind of value that they have."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest

from amdjit.inspection.facts import json_text, json_value
from amdjit.inspection.liveness import register_set


class Colour(Enum):
    RED = 1


@dataclass(frozen=True)
class Point:
    x: int
    y: int


@dataclass(frozen=True)
class OfLine:
    file: str
    line: int


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (None, None),
        (True, True),
        (7, 7),
        ("text", "text"),
        (0.5, 0.5),
        (float("inf"), None),
        (float("nan"), None),
        (Colour.RED, "RED"),
        ((1, (2, 3)), [1, [2, 3]]),
        (frozenset({3, 1, 2}), [1, 2, 3]),
        (register_set([9, 4]), [4, 9]),
        (Point(1, 2), {"x": 1, "y": 2}),
        ({"a": Point(1, 2)}, {"a": {"x": 1, "y": 2}}),
        ({("a.py", 3): OfLine("a.py", 3)}, [{"file": "a.py", "line": 3}]),
        (
            {("a.py", 4): OfLine("a.py", 3)},
            [{"key": ["a.py", 4], "value": {"file": "a.py", "line": 3}}],
        ),
        ({(1, 2): Point(1, 2)}, [{"key": [1, 2], "value": {"x": 1, "y": 2}}]),
        ({16: "sixteen"}, [{"key": 16, "value": "sixteen"}]),
        ({}, {}),
    ],
)
def test_each_kind_of_value_has_its_form(value: Any, form: Any) -> None:
    assert json_value(value) == form
    json.dumps(json_value(value), allow_nan=False)


def test_what_has_no_form_is_refused() -> None:
    for value in (np.int64(3), b"bytes", object()):
        with pytest.raises(TypeError, match="has no JSON form"):
            json_value(value)


def test_a_record_is_written_with_its_schema_and_without_what_is_left_out() -> None:
    text = json_text("points/1", Point(3, 4), without=frozenset({"y"}))
    assert json.loads(text) == {"schema": "points/1", "x": 3}
