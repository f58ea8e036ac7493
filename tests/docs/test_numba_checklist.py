"""Every row of the checklist for users of Numba is true."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import amdjit

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from generators import numba_checklist as checklist  # noqa: E402
from generators.numba_checklist import DIFFERENT, REFUSED, YES, Row  # noqa: E402

ROWS = [row for _, rows in checklist.SECTIONS for row in rows]


def rows(*kinds: str) -> list[Row]:
    return [row for row in ROWS if row.kind in kinds]


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    return checklist.names_of_rows()


def test_the_checklist_is_long_and_every_row_has_a_program() -> None:
    assert len(ROWS) > 90
    assert len({row.feature for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.kind in ("run", "lanes", "refused", "host"), row.feature
        assert row.program.strip(), row.feature
        assert row.outcome in (YES, DIFFERENT, REFUSED), row.feature
        assert row.kind == "host" or (row.kind == "refused") == (row.outcome == REFUSED), (
            row.feature
        )


def test_every_topic_leads_to_a_row() -> None:
    assert {feature for _, feature in checklist.TEST_TOPICS} <= {row.feature for row in ROWS}


@pytest.mark.sample(31)
@pytest.mark.parametrize("row", rows("run", "lanes"), ids=lambda row: row.feature)
def test_what_the_checklist_says_works_does(row: Row, names: dict[str, object]) -> None:
    check(row.program, tuple(map(float, row.facts)), names)


def check(body: str, expected: tuple[float, ...], names: dict[str, object]) -> None:
    function = checklist.kernel_of(body, names)
    out = np.zeros(8, np.float32)
    with amdjit.use("emulator:gfx1201"):
        amdjit.kernel(function)[1, 32 if expected else 1](out, *checklist.ARGUMENTS)
    wanted = (
        np.array(expected, np.float32)
        if expected
        else checklist.by_python(function, checklist.ARGUMENTS)
    )
    np.testing.assert_allclose(out[: len(wanted)], wanted, rtol=2e-6)


@pytest.mark.parametrize("row", rows("refused"), ids=lambda row: row.feature)
def test_what_the_checklist_says_is_refused_is(row: Row, names: dict[str, object]) -> None:
    assert checklist.refusals(checklist.kernel_of(row.program, names)) == row.facts


@pytest.mark.sample(27)
@pytest.mark.parametrize("row", rows("host"), ids=lambda row: row.feature)
def test_what_the_host_does(row: Row, names: dict[str, object]) -> None:
    with amdjit.use("emulator:gfx1201"):
        checklist.run_text(row.program, names)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("module", "functions"), checklist.MODULES)
def test_functions_of_modules_give_what_python_gives(
    module: str, functions: str, names: dict[str, object]
) -> None:
    works, refused = checklist.supported(module, functions)
    assert sorted(works + refused) == sorted(functions.split())
    calls = [checklist.call_of(module, name) for name in works]
    for first in range(0, len(calls), 8):
        body = "\n".join(f"out[{i}] = {call}" for i, call in enumerate(calls[first : first + 8]))
        check(body, (), names)


def test_the_names_to_change_to_exist() -> None:
    page = (ROOT / "docs/from_numba.md").read_text()
    paths = {path.rstrip(".") for path in re.findall(r"`amdjit\.([\w.]+)", page)}
    assert len(paths) > 20
    for path in paths:
        functools.reduce(getattr, path.split("."), amdjit)
    in_modules = re.findall(r"\| ((?:`\w+`, )+`\w+`) in `amdjit\.([\w.]+)`", page)
    assert in_modules
    for names, module in in_modules:
        for name in re.findall(r"\w+", names):
            assert hasattr(functools.reduce(getattr, module.split("."), amdjit), name)
