"""The race check finds each seeded race at its line, and names the other access."""

from __future__ import annotations

import pytest
from race_bugs import CASES
from seeded import Case, found_lines, reports_of, text_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seeded_races_are_found_at_their_lines(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "race")
    assert found_lines(reports) == case.marks(), text_of(reports)
    others = {report.other.line for report in reports if report.other is not None}
    assert others == case.others() or not case.others(), text_of(reports)
