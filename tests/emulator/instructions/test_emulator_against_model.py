"""Every opcode of gfx12's ALUs and memory against the model in tests/emulator/model, in all
forms."""

from __future__ import annotations

import numpy as np
import pytest
from model.cases.catalogue import BATCHES, run_batch
from model.child import run_in_child
from required_tools import needs_tools

pytestmark = needs_tools

# Lanes (waves for scalar instructions) of each case: a slice in every run, all of them in the
# exhaustive one.
_QUICK, _WHOLE = 256, 2048


# What the tiers' host code could compute differently.
_FLOATS = ("half", "single", "double", "conversions", "packed", "dual", "scalar", "division")


@pytest.mark.parametrize(
    ("batch", "tier"),
    [
        (batch, tier)
        for batch in BATCHES
        for tier in (("quick", "full") if batch in _FLOATS else ("",))
    ],
)
def test_slice_agrees_with_the_model(batch: str, tier: str) -> None:
    assert int(run_in_child(batch, _QUICK, 1, tier).split()[0]) >= 10


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


@pytest.mark.parametrize("batch", ["division", "lanes", "shared", "control"])
def test_other_inputs_than_the_model_has_are_found(batch: str) -> None:
    """The judges can fail, and most do: nearly all results depend on the lowest bit of some
    input."""
    wrong, cases = run_batch(f"misled {batch}", 64, np.random.default_rng(3))
    assert len(wrong) > cases // 3, wrong
