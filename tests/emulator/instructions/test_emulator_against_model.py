"""Every opcode of gfx12's ALUs and memory against the model in tests/emulator/model, in all
forms."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.model.cases.catalogue import BATCHES, run_batch
from tests.emulator.model.child import run_in_child
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

# Lanes (waves for scalar instructions) of each case: a slice in every run, all of them in the
# exhaustive one.
_QUICK, _WHOLE = 64, 2048


# What the tiers' host code could compute differently.
_FLOATS = ("half", "single", "double", "conversions", "packed", "dual", "scalar", "division")


_OTHERS = tuple(batch for batch in BATCHES if batch not in _FLOATS)


@pytest.mark.parametrize(
    ("batches", "tier"),
    [
        *(
            pytest.param(
                _FLOATS[part::2],
                tier,
                # Each in one tier: test_emulator_tier_fuzz.py has both compute the same.
                marks=() if part == (tier == "full") else pytest.mark.exhaustive,
            )
            for tier in ("quick", "full")
            for part in (0, 1)
        ),
        *((_OTHERS[part::3], "") for part in (0, 1, 2)),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else value,
)
def test_slices_agree_with_the_model(batches: tuple[str, ...], tier: str) -> None:
    lines = run_in_child(",".join(batches), _QUICK, 1, tier).splitlines()
    assert len(lines) == len(batches)
    assert all(int(line.split()[0]) >= 10 for line in lines)


@pytest.mark.exhaustive
@pytest.mark.parametrize("batch", BATCHES)
def test_every_form_agrees_with_the_model(batch: str) -> None:
    assert int(run_in_child(batch, _WHOLE, 2).split()[0]) >= 10


def test_a_wrong_result_is_found() -> None:
    """The judges can fail: a table with a wrong line makes the batch fail with that instruction's
    name."""
    with pytest.raises(AssertionError, match="v_add_nc_u32"):
        run_in_child("wrong", _QUICK, 1)
    with pytest.raises(AssertionError, match="ds_add_u32"):
        run_in_child("wrong memory", _QUICK, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("batch", ["division", "lanes", "shared", "control"])
def test_other_inputs_than_the_model_has_are_found(batch: str) -> None:
    """The judges can fail, and most do: nearly all results depend on the lowest bit of some
    input."""
    wrong, cases = run_batch(f"misled {batch}", 64, np.random.default_rng(3))
    assert len(wrong) > cases // 3, wrong
