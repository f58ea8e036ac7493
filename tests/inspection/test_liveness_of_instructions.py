"""Every instruction of the emulator's model, with garbage in the registers that are dead before and
after it: its results stay those of the model."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.model.cases.catalogue import BATCHES, run_batch
from tests.emulator.required_tools import needs_tools
from tests.inspection.garbage import garbage_in_dead_registers

pytestmark = needs_tools

# The others take longer: they are for the exhaustive run.
QUICK = ("lanes",)


@pytest.mark.parametrize(
    "batch",
    [pytest.param(b, marks=() if b in QUICK else pytest.mark.exhaustive) for b in BATCHES],
)
def test_instructions_agree_with_the_model_with_garbage_in_dead_registers(batch: str) -> None:
    with garbage_in_dead_registers() as launches:
        wrong, cases = run_batch(batch, 64, np.random.default_rng(5))
    assert not wrong
    assert cases >= 10
    assert launches.kernels
