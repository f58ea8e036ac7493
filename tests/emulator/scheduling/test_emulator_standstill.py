"""A cooperative launch stops if no workgroup can go on, and only then, however early threads
vote."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import KernelFault
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.launch import workspace
from amdjit.emulator.scheduling.standstill import Patience
from amdjit.intrinsics import sync
from amdjit.options import read_environment
from amdjit.target import find_target


@amdjit.kernel(wave_size=32)
def reverses(x, scratch, rounds, early):
    if amdjit.blockIdx.x == early:
        return
    i = amdjit.grid(1)
    for _ in range(rounds):
        scratch[i] = x[i] + 1
        sync.grid()
        x[i] = scratch[x.shape[0] - 1 - i]
        sync.grid()


@pytest.mark.sample(1)
@pytest.mark.parametrize("threads", [2, 3])
def test_a_standstill_is_no_matter_of_patience(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(workspace, "PATIENCE", Patience(sweeps=1, looks=1))
    environment = read_environment({"AMDJIT_EMULATOR_TIER": "full"})
    target = find_target("gfx1201")
    assert target is not None
    n = 38 * 3
    with amdjit.use(EmulatorDevice(target, threads, 20.0, environment)):
        for _ in range(40):
            x = np.arange(n, dtype=np.int32)
            reverses[38, 3](x, np.zeros_like(x), 3, -1)
            np.testing.assert_array_equal(x, np.arange(n)[::-1] + 3)
        with pytest.raises(KernelFault, match="none can go on"):
            reverses[38, 3](x, np.zeros_like(x), 3, 5)
