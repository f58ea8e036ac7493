"""What docs/testing.md shows is true."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from amdjit import f32
from amdjit.examples.saxpy import saxpy
from amdjit.testing import Code, isa

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()


def test_the_test_that_the_page_shows_passes() -> None:
    names: dict[str, object] = {}
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "testing.md", "exec"), names)
    test = names["test_the_gemm_keeps_its_loop"]
    assert callable(test)
    test()


def test_the_failure_that_the_page_shows_is_that_of_saxpy() -> None:
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    compiled = saxpy.compile(f32, *[f32[:]] * 3, target="gfx1201")
    with pytest.raises(AssertionError) as failure:
        isa(compiled).absent("global_load_*")
    assert shown.strip() == str(failure.value).strip()


def test_the_page_names_all_that_can_be_asked_and_nothing_else() -> None:
    named = set(re.findall(r"\.(\w+)\(", PAGE.replace("wmma_gemm.compile(", "")))
    methods = {
        name
        for name, value in inspect.getmembers(Code)
        if not name.startswith("_") and inspect.isfunction(value)
    }
    assert named == methods
