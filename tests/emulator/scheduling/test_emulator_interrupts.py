"""Ctrl-C stops a kernel that would never end, and the next launch works."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import signal
import numpy as np
import amdjit

# A job in the background is born with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

@amdjit.kernel
def endless(x):
    while True:
        x[0] = 1.0

@amdjit.kernel
def fill(x):
    x[amdjit.threadIdx.x] = 2.0

x = np.zeros(32, np.float32)
fill[1, 32](x)
print("ready", flush=True)
try:
    endless[GROUPS, 32](x)
except KeyboardInterrupt:
    print("interrupted", flush=True)
x[:] = 0
fill[1, 32](x)
print(int(x.sum()), flush=True)
"""


@pytest.mark.sample(1)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child process")
@pytest.mark.parametrize(("signals", "groups"), [(1, 1), (2, 4), (5, 1)])
def test_interrupts_stop_an_endless_kernel(tmp_path: Path, signals: int, groups: int) -> None:
    """One workgroup runs in the main thread alone, four with another one's help."""
    script = tmp_path / "endless.py"
    script.write_text(SCRIPT.replace("GROUPS", str(groups)))
    root = Path(__file__).parents[3]
    environment = {
        "PYTHONPATH": str(root),
        "AMDJIT_DEVICE": "emulator:gfx1201",
        "AMDJIT_CACHE_DIR": "",
    }
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(
            1.0
        )  # translation of the endless kernel; a signal before is Python's own business
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert output == "interrupted\n64\n", errors
