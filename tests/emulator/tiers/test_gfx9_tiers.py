"""The tiers agree on every bit of what gfx9's vector instructions leave, NaNs and what no document
settles included."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.building import using
from tests.emulator.model.cases.catalogue import register_cases
from tests.emulator.model.cases.programs import Case, rows_of
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
_FLOATS = ("half", "single", "double", "conversions", "packed", "wide")
_AT_ONCE = 40


def differing(cases: list[Case], inputs: np.ndarray) -> list[str]:
    """Return the cases of which the tiers leave different rows."""
    rows = {}
    for tier in ("quick", "full"):
        with using(tier=tier):
            rows[tier] = rows_of(cases, inputs)
    wrong, first = [], 0
    for case in cases:
        mine = slice(first, first + len(case.outputs))
        first += len(case.outputs)
        if (rows["quick"][mine] != rows["full"][mine]).any():
            wrong.append(case.name)
    return wrong


def check(batch: str, cpu: str, lanes: int, seed: int) -> None:
    with using(cpu=cpu):
        cases, inputs = register_cases(batch, lanes, np.random.default_rng(seed))
        assert len(cases) >= 5
        for size, data in inputs.items():
            chosen = [case for element, case in cases if element == size]
            for start in range(0, len(chosen), _AT_ONCE):
                assert not differing(chosen[start : start + _AT_ONCE], data)


@pytest.mark.sample(1)
@pytest.mark.parametrize("batch", ["single", "wide"])
def test_the_tiers_agree_on_every_bit_of_gfx942(batch: str) -> None:
    check(batch, "gfx942", 64, 21)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("batch", [*_FLOATS, "integers", "comparisons"])
@pytest.mark.parametrize("cpu", ["gfx90a", "gfx942"])
def test_the_tiers_agree_on_every_bit_of_gfx9(cpu: str, batch: str, seed: int) -> None:
    check(batch, cpu, 512, seed)
