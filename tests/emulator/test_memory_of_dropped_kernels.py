"""What a kernel took is given back once it is dropped: its host code and that of its own
operations."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import gc
import numpy as np, amdjit

def make(c):
    @amdjit.kernel(warnings=False)
    def kernel(x):
        i = amdjit.grid(1)
        x[i] = x[i] * c + i
    return kernel

def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4

x = np.arange(32, dtype=np.int32)
points = []
for j in range(240):
    make(j)[1, 32](x.copy())
    if j in (110, 239):
        points.append(resident())
print((points[1] - points[0]) / 129)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize("tier", ["quick", "full"])
def test_kernels_that_are_dropped_leave_little(tier: str) -> None:
    own = {"AMDJIT_CACHE_DIR": "", "AMDJIT_EMULATOR_TIER": tier}
    environment = {**os.environ, **own, "AMDJIT_DEVICE": "emulator:gfx1201"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment
    )
    assert float(run.stdout) < 20, run.stdout + run.stderr  # kilobytes for each kernel
