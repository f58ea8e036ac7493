"""Run batches of the model's cases in a process of their own: LLVM ends the process on some
mistakes, and then the batch is known."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.emulator.building import CPU, using
from tests.emulator.model.cases.catalogue import run_batch


def run_in_child(batches: str, count: int, seed: int, tier: str = "", cpu: str = CPU) -> str:
    """Return what the child printed, a line with the number of cases for each batch.

    batches: names with commas between them. count: lanes (waves for scalar instructions) of each
    case. Raises AssertionError with what is wrong.
    """
    command = [sys.executable, __file__, batches, str(count), str(seed), cpu]
    paths = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, "AMDJIT_EMULATOR_TIER": tier},
    )
    assert done.returncode == 0, f"{batches}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def _main(batches: str, count: int, seed: int, cpu: str) -> int:
    wrong = []
    with using(cpu=cpu):
        for batch in batches.split(","):
            found, cases = run_batch(batch, count, np.random.default_rng(seed))
            print(cases, "cases of", batch)
            wrong += found
    for text in wrong:
        print(text)
    return int(bool(wrong))


if __name__ == "__main__":
    # The folder of a script would hide modules of the same names.
    sys.path.remove(str(Path(__file__).parent))
    sys.exit(_main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
