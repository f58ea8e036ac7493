"""The page of JSON forms describes what the JSON of inspections and profiles has."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32
from amdjit.command_line import main

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from generators.json_page import RECORDS, documented_fields  # noqa: E402

PAGE = (ROOT / "docs/reference/inspection_json.md").read_text()


def tables() -> dict[str, dict[str, str]]:
    """Return the records of the page: for each field what it is."""
    sections = re.split(r"^### (\w+)$", PAGE, flags=re.MULTILINE)[1:]
    return {
        name: dict(re.findall(r"^\| `(\w+)` \| (.*?) \| \S.*\|$", text, re.MULTILINE))
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }


@amdjit.kernel
def sums(x, n: amdjit.Const):
    total = f32(0)
    for i in range(x.shape[0]):
        if i * n < x.shape[0]:
            total += x[i * n]
    x[0] = total


def test_every_field_has_a_row_with_a_meaning() -> None:
    page = tables()
    for records in RECORDS.values():
        for record in records:
            assert set(page[record.__name__]) == set(documented_fields(record)), record


def check(value: Any, kind: str, page: dict[str, dict[str, str]]) -> None:
    """Check a JSON value against what the page says that it is."""
    if kind.endswith(" or null"):
        if value is not None:
            check(value, kind.removesuffix(" or null"), page)
    elif kind.startswith(("array of ", "object of ")):
        collection, _, element = kind.partition(" of ")
        assert isinstance(value, list if collection == "array" else dict)
        items = list(value.values() if isinstance(value, dict) else value)
        if element.startswith("entries of "):
            assert all(set(item) == {"key", "value"} for item in items)
            items, element = [item["value"] for item in items], element.removeprefix("entries of ")
        for item in items:
            check(item, element, page)
    elif kind.startswith("["):
        fields = page[kind[1 : kind.index("]")]]
        assert set(value) == set(fields), kind
        for name, field in fields.items():
            check(value[name], field, page)
    else:
        words = {"number": (int, float), "text": str, "true or false": bool}
        assert isinstance(value, words[kind]), (kind, value)  # type: ignore[arg-type]


def test_the_json_of_a_comparison_is_what_the_page_says() -> None:
    first, second = (sums.compile(f32[:], n, target="gfx1201").inspect() for n in (3, 5))
    form = json.loads(first.compare(second).to_json())
    assert form.pop("schema") == "amdjit.comparison/1"
    check(form, "[Comparison]", tables())


def test_the_json_of_a_profile_is_what_the_page_says() -> None:
    x = np.ones(64, np.float32)
    with amdjit.use("emulator:gfx1201"), amdjit.profile() as p:
        sums[1, 32](x, 2)
    form = json.loads(p.to_json())
    assert form.pop("schema") == "amdjit.profile/1"
    assert set(form) == {"launches", "stopped"}
    (launch,) = form["launches"]
    check(launch, "[LaunchProfile]", tables())


def test_the_json_of_an_inspection_is_what_the_page_says() -> None:
    inspection = sums.compile(f32[:], 3, target="gfx1201").inspect()
    form = json.loads(inspection.to_json())
    assert form.pop("schema") == "amdjit.inspection/1"
    assert len(form["instructions"]) > 10
    check(form, "[Inspection]", tables())


def test_the_json_of_a_gate_is_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["gate", str(ROOT / "tests/foreign/objects/iree_sum.co"), "vgprs<=1, spills==0"]
    assert main([*command, "--json"]) == 1
    form = json.loads(capsys.readouterr().out)
    assert form.pop("schema") == "amdjit.gate/1"
    assert len(form["outcomes"]) == 2
    check(form, "[GateRecord]", tables())


def test_the_json_of_a_difference_is_what_the_page_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    objects = [
        str(ROOT / f"tests/foreign/objects/{name}.co") for name in ("iree_sum", "iree_softmax")
    ]
    assert main(["diff", *objects, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form.pop("schema") == "amdjit.difference/1"
    assert len(form["changed"][0]["figures"]) > 3
    check(form, "[Differences]", tables())
