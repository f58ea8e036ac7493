"""The benchmark of searches, in small: what it says of forms, and what kills leave of a search."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import measurement
import product_forms
import product_search
import tuning

from amdjit.examples.tuned_gemm import DTYPES, FORMS, Configuration, fits

pytestmark = pytest.mark.filterwarnings("ignore::amdjit.PerformanceWarning")


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(measurement, "RESULTS", tmp_path / "results")
    return tmp_path / "results" / "tuning.json"


@pytest.mark.exhaustive
def test_one_buffer_is_before_two_because_more_workgroups_fit() -> None:
    one, two = Configuration(BK=64), Configuration(BK=64, form="two buffers")
    first, second = (product_forms.estimated("fp8", c, 4096, True) for c in (one, two))
    crowded = product_forms.estimated("fp8", one, 4096, True, extra_lds=first.lds)
    assert second.lds == 2 * first.lds
    lead = first.middle - second.middle
    assert lead > 0.05 * second.middle
    assert crowded.middle - second.middle < lead / 2


@pytest.mark.exhaustive
def test_operands_by_rows_hold_up_the_form_without_lds() -> None:
    straight = Configuration(BK=32, form="registers", pad=0)
    by_rows, in_panels = (
        product_forms.estimated("fp8", straight, 4096, order) for order in (False, True)
    )
    assert by_rows.middle < in_panels.middle / 2
    assert by_rows.stall == "wait loadcnt"


def test_every_type_and_form_has_sensible_configurations() -> None:
    for kind, dtype in DTYPES.items():
        for form in FORMS:
            nbytes = np.dtype(dtype).itemsize
            chosen = list(product_forms.sensible(kind, form))
            assert len(chosen) == len(product_forms.SHAPES)
            assert all(fits(c, nbytes) and c.form == form for c in chosen)


def test_a_space_of_more_than_500_configurations_is_compiled_for_their_workgroups() -> None:
    for kind in DTYPES:
        found = product_search.space(kind)
        assert len(found) > 500
        assert all(c["block"] == (32 * c["rows"] * c["columns"], 1, 1) for c in found)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="finds workers in /proc")
def test_a_search_goes_on_after_it_was_killed(
    tmp_path: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["tuning.py", "--parts", "killed", "--count", "5", "--kills", "1"]
    )
    tuning.main()
    found = json.loads(results.read_text())["killed"]
    parent, workers = found["parent"], found["workers"]
    assert parent["differences"] == []
    assert parent["done"] >= 2
    assert parent["done_again"] == 0
    assert parent["left"] == 0
    assert workers["lost"] <= 1
    assert len(workers["candidates"]) == 5
