"""The check for undefined values finds each seeded bug at its line, and where the value came
from."""

from __future__ import annotations

import pytest
from init_bugs import CASES
from seeded import Case, found_lines, reports_of, text_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seeded_bugs_are_found_at_their_lines(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "init")
    assert found_lines(reports) == case.marks(), text_of(reports)
    for line in case.others():
        assert {report.other.line for report in reports if report.other} == {line}, text_of(reports)
