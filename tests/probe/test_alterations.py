"""Chips that differ from the emulator in one thing: the probe finds it, and names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from probe_on_standin import needs_standin, probe

from amdjit.probe.outcome import CaseStatus, Record
from amdjit.probe.subjects import subjects_of

pytestmark = needs_standin
_SLOW = pytest.mark.exhaustive


@dataclass(frozen=True)
class Expected:
    """What a run must say. only: batches that are run; subject: what is named; words: in which way
    it differs; others: parts of names of subjects that may differ, too, because they are made of
    the same."""

    only: tuple[str, ...]
    subject: str
    words: str
    others: tuple[str, ...] = ()


EXPECTED: Mapping[str, Expected] = {
    "add_f32 toward zero": Expected(("examples/basics",), "saxpy", "1 ulp toward zero"),
}


def judge(record: Record, expected: Expected) -> None:
    """Check that a run names what is expected, and nothing that is not."""
    assert record.is_complete
    different = {each.name: each for each in subjects_of(record.cases()) if each.different}
    assert expected.subject in different, (expected.subject, sorted(different))
    assert expected.words in different[expected.subject].summary()
    for name in different:
        is_other = any(part in name for part in expected.others)
        assert name == expected.subject or is_other, (name, different[name].summary())
    agreeing = [case for case in record.cases() if case.status is CaseStatus.AGREES]
    assert agreeing, "a difference everywhere tells nothing"


@pytest.mark.parametrize(
    "alteration",
    [
        pytest.param(name, marks=() if expected.only == ("examples/basics",) else _SLOW)
        for name, expected in EXPECTED.items()
    ],
)
def test_an_alteration_is_found_and_named(tmp_path: Path, alteration: str) -> None:
    expected = EXPECTED[alteration]
    run = probe(tmp_path, "--only", *expected.only, alter=alteration)
    judge(run.record, expected)
    assert expected.subject in run.report
    assert expected.words in run.report
