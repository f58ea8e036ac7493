"""Runs of `amdjit probe` in a process of its own, with the stand-in as its GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from amdjit.probe import record as records
from amdjit.probe.outcome import Record

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "runtime" / "standin_hip"))

import standin  # noqa: E402  (its folder is on the path from here on)

needs_standin = pytest.mark.skipif(bool(standin.why_not()), reason=standin.why_not() or "-")


@dataclass(frozen=True)
class Probed:
    """A run: its file's record, the report, the lines of progress, the exit code."""

    record: Record
    report: str
    progress: str
    code: int
    path: Path


def probe(
    folder: Path, *options: str, alter: str = "", target: str = "gfx1201", **variables: str
) -> Probed:
    """Run the probe on a stand-in of a processor, which may be altered."""
    path = folder / "run.probe"
    command = [sys.executable, str(HERE / "altered_device.py"), "--target", target]
    command += ["--alter", alter] if alter else []
    ended = subprocess.run(
        [*command, "-o", str(path), "--jobs", "2", *options],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        cwd=folder,
        timeout=1800,
    )
    assert path.exists(), ended.stderr
    return Probed(records.read(path), ended.stdout, ended.stderr, ended.returncode, path)
