"""Python's debugger in simulated kernels, driven through standard input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import numpy as np
import amdjit

@amdjit.device_function
def doubled(value):
    return value * 2

@amdjit.kernel
def scale(x, out):
    tile = amdjit.shared.array(8, amdjit.f32)
    t = amdjit.threadIdx.x
    tile[t] = doubled(x[amdjit.grid(1)])
    amdjit.syncthreads()
    total = tile[t] + tile[7 - t]
    if t == 3:
        breakpoint()
    out[amdjit.grid(1)] = total
    written = True

x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
scale[1, 8](x, out)
print(out)
"""
NUMBAS = """\
from numba import cuda
import numpy as np

@cuda.jit
def ids(out):
    i = cuda.grid(1)
    if i == 5:
        breakpoint()
    out[i] = cuda.threadIdx.x / 2
    written = True

out = np.zeros(8)
ids[2, 4](out)
print(out)
"""


def run(folder: Path, program: str, commands: str, *launcher: str) -> str:
    """Run a program with the debugger's commands; return what it prints."""
    file = folder / "program.py"
    file.write_text(program)
    done = subprocess.run(
        [sys.executable, *launcher, str(file)],
        input=commands,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "AMDJIT_SIMULATE": "1"},
    )
    return done.stdout + done.stderr


def test_pdb_stops_in_a_work_item_and_goes_through_its_lines(tmp_path: Path) -> None:
    commands = "p total\np t, tile[0:2]\np amdjit.threadIdx.x + 1\np total * 2\nn\nq\n"
    said = run(tmp_path, PROGRAM, commands)
    lines = [line.removeprefix("(Pdb) ") for line in said.splitlines()]
    assert lines[2:6] == [
        "f32(14.0)",
        "(i32(3), array([0., 2.], dtype=float32))",
        "i32(4)",
        "f32(28.0)",
    ]
    shown = [line for line in lines if line.startswith("-> ")]
    # From Python 3.13 on, pdb stops at the call itself, not behind it.
    passed = ["-> breakpoint()", "-> out[amdjit.grid(1)] = total", "-> written = True"]
    assert shown == (passed[:2] if sys.version_info >= (3, 13) else passed[1:])
    assert lines[-1] == "bdb.BdbQuit"


def test_programs_of_numba_run_with_the_debugger(tmp_path: Path) -> None:
    said = run(tmp_path, NUMBAS, "p i, out[3:5]\nc\n", "-m", "amdjit", "run", "--")
    assert "(i32(5), array([1.5, 0. ]))" in said
    assert "[0.  0.5 1.  1.5 0.  0.5 1.  1.5]" in said
