"""The programs of docs/numba_cuda.md run, in a process of their own: `install()` is for good."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_programs_of_the_page_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "numba_cuda.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(programs) == 7
    file = tmp_path / "programs.py"
    file.write_text("\n".join(programs))
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "AMDJIT_DEVICE": "emulator:gfx1201", "PYTHONPATH": paths}
    command = [sys.executable, "-W", "ignore:f64 arithmetic", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
