"""What a kernel took is given back once it is dropped: its host code and that of its own
operations."""

from __future__ import annotations

import os
import subprocess
import sys

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
for j in range(170):
    make(j)[1, 32](x.copy())
    if j in (80, 169):
        points.append(resident())
print((points[1] - points[0]) / 89)
"""


def test_kernels_that_are_dropped_leave_little() -> None:
    own = {"AMDJIT_CACHE_DIR": "", "AMDJIT_EMULATOR_TIER": "quick"}
    environment = {**os.environ, **own, "AMDJIT_DEVICE": "emulator:gfx1201"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment
    )
    assert float(run.stdout) < 20, run.stdout + run.stderr  # kilobytes for each kernel
