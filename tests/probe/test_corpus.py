"""The corpus fits its time, and has one name for each thing."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from amdjit.probe.case import Batch
from amdjit.probe.corpus import batches, corpus_version
from amdjit.target import EMULATED, Target, find_target

TARGETS = [target for name in ("gfx1201", "gfx1100", "gfx942") if (target := find_target(name))]


@pytest.mark.parametrize("target", EMULATED, ids=str)
def test_a_run_fits_ten_minutes_and_a_quick_one_a_minute(target: Target) -> None:
    found = batches(target)
    assert 0 < sum(batch.expected for batch in found) <= 600
    assert 0 < sum(batch.expected for batch in found if batch.is_quick) <= 60
    assert all(batch.seconds >= 4 * batch.expected for batch in found)


@pytest.mark.parametrize("target", EMULATED, ids=str)
def test_batches_have_names_of_their_own_and_one_kind_of_results(target: Target) -> None:
    found = batches(target)
    counts = Counter(batch.name for batch in found)
    assert set(counts.values()) == {1}
    for batch in found:
        assert re.fullmatch(rf"{batch.group.value}/[\w .,+-]+", batch.name), batch.name
        assert (batch.cases is None) is not (batch.measurements is None)


def test_the_version_says_which_sources_made_the_corpus() -> None:
    assert re.fullmatch(r"\d+-[0-9a-f]{8}", corpus_version())


def cases_of(target: Target) -> list[Batch]:
    return [batch for batch in batches(target) if batch.cases is not None]


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_cases_have_names_of_their_own_in_every_run(target: Target) -> None:
    for batch in cases_of(target):
        assert batch.cases is not None
        names = [case.name for case in batch.cases(target)]
        assert len(set(names)) == len(names) > 0, batch.name
        assert names == [case.name for case in batch.cases(target)]
