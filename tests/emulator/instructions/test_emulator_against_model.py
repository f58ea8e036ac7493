"""Every opcode of the ALUs and of memory against the model in tests/emulator/model, in all forms.

A child process runs each batch: LLVM ends the process on some mistakes, and then the batch is
known.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from model.cases.catalogue import BATCHES, run_batch
from required_tools import needs_tools

pytestmark = needs_tools

# Lanes (waves for scalar instructions) of each case: a slice in every run, all of them in the
# exhaustive one.
_QUICK, _WHOLE = 256, 2048


# What the tiers' host code could compute differently.
_FLOATS = ("half", "single", "double", "conversions", "packed", "dual", "scalar", "division")


def run_in_child(batch: str, count: int, seed: int, tier: str = "") -> str:
    command = [sys.executable, __file__, batch, str(count), str(seed)]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "AMDJIT_EMULATOR_TIER": tier}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1200, check=False, env=paths
    )
    assert done.returncode == 0, f"{batch}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


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


if __name__ == "__main__":
    wrong, cases = run_batch(sys.argv[1], int(sys.argv[2]), np.random.default_rng(int(sys.argv[3])))
    print(cases, "cases")
    for text in wrong:
        print(text)
    sys.exit(bool(wrong))
