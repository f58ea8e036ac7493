"""The programs of docs/triton.md run and print what the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_programs_of_the_page() -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    script, page = ROOT / "tests/docs/run_snippets.py", ROOT / "docs/triton.md"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script), str(page)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "left out" not in done.stdout
