"""Programs in Triton run by `amdjit run`, unmodified."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

import numpy as np
import triton
import triton.language as tl


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2)


n = int(sys.argv[1])
x, out = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
double[(1,)](x, out, n, BLOCK=64)
assert (out == 2 * x).all()
print(triton.runtime.driver.active.get_current_target().arch)
"""
ROOT = Path(__file__).parents[2]


def run(folder: Path, program: str, *arguments: str) -> tuple[int, str, list[dict[str, object]]]:
    file, report = folder / "program.py", folder / "report.json"
    file.write_text(program)
    command = [sys.executable, "-m", "amdjit", "run", "--device", "emulator:gfx942"]
    command += ["--check", "memory,race", "--report", str(report), "--"]
    done = subprocess.run(
        [*command, sys.executable, str(file), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.exists(), done.stderr
    return done.returncode, done.stdout, json.loads(report.read_text())["reports"]


def test_a_program_in_triton_runs_on_the_emulator(tmp_path: Path) -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    assert run(tmp_path, PROGRAM, "64") == (0, "gfx942\n", [])
    code, out, (report,) = run(tmp_path, PROGRAM, "60")
    assert (code, out) == (1, "")
    assert (report["kind"], report["line"]) == ("out-of-bounds", 12)


def test_the_environments_own_start_follows(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('own')\n")
    program = "import sys; print('amdjit' in sys.modules, 'triton' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-m", "amdjit", "run", "--", sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    # The command's own start comes first.
    assert (done.returncode, done.stdout) == (0, "own\nown\nFalse False\n"), done.stderr
