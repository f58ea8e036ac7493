"""The memory check finds each seeded bug at its line, and says what it is."""

from __future__ import annotations

import inspect

import pytest
from memory_bugs import CASES, after_free, freed
from seeded import DEVICE, Case, found_lines, reports_of, text_of

import amdjit


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seeded_bugs_are_found_at_their_lines(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "memory")
    assert found_lines(reports) == case.marks(), text_of(reports)


def test_a_report_of_freed_memory_says_where_it_was_made_and_freed() -> None:
    (report,) = reports_of(lambda: after_free[1, 64](freed()), "memory")
    freed_at = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    assert report.other is not None
    assert report.other.what == "freed"
    assert (report.other.file, report.other.line) == (__file__, freed_at)
    assert any("made at" in note and "memory_bugs.py" in note for note in report.notes)
    assert report.count == 64


def test_freed_memory_is_out_of_bounds_where_nothing_checks() -> None:
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault) as caught:
        after_free[1, 64](freed())
    assert caught.value.kind == "out-of-bounds"
    assert not isinstance(caught.value, amdjit.SanitizerError)
