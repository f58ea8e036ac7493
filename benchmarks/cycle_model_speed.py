"""How many wave instructions a second the cycle model simulates: `python
benchmarks/cycle_model_speed.py`.

`host code` is the simulation alone, `estimate` all from a recording to the result: samples, sums by
instruction and line, the timeline. Memory systems and LDS included. `Python` is the reference.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

os.environ.setdefault("AMDJIT_DEVICE", "emulator:gfx1201")

import numpy as np
from measurement import ROOT, best, save, table

sys.path.insert(0, str(ROOT / "tests" / "cycles" / "reference"))

from cycle_model import TRACES, replay_in_python
from cycle_ranks import run_perf, run_simple
from trace_files import read_trace
from traced_runs import Trace

import amdjit
from amdjit.code_object import CodeObject
from amdjit.cycles import simulation
from amdjit.cycles.model import Launch, estimate
from amdjit.profiling.launch_profile import LaunchProfile

TRACE = "r_32_32_16_2__gfx1201__7c52dc__00.json"
HEAD = ("launch", "wave instructions", "host code", "estimate")


def recorded(run: Callable[[int, int], None], extent: int) -> LaunchProfile:
    """Return a launch of a product with its recording."""
    with amdjit.profile(workgroups=2) as profile:
        run(extent, 512)
    return profile.launches[0]


def rates(launch: LaunchProfile) -> tuple[int, float, float]:
    """Return instructions, and millions a second of the host code and of the whole estimate."""
    assert launch.recording is not None
    code_object = CodeObject.read(launch.code_object)
    size = Launch(32 * 64, int(np.prod(launch.block)), launch.dynamic_lds, 1 << 18)
    calls: list[tuple[int, float]] = []
    engine = simulation.engine()

    def whole() -> None:
        assert launch.recording is not None
        estimate(code_object, launch.kernel, size, launch.recording)

    def run(address: int) -> int:
        count = [0]
        seconds = best(lambda: count.__setitem__(0, engine.run(address)), 1)
        calls.append((count[0], seconds))
        return count[0]

    seconds = best(whole, 3)
    simulation.engine = lambda: type("Timed", (), {"run": staticmethod(run)})()
    for _ in range(3):
        whole()
    simulation.engine = lambda: engine
    count = calls[0][0]
    return count, count / min(each for _, each in calls) / 1e6, count / seconds / 1e6


def python_rate(trace: Trace) -> float:
    """Return millions of wave instructions a second of the reference."""
    assert trace.given is not None
    count = sum(len(wave.path) for wave in (*trace.waves, *trace.neighbours))
    return count / best(lambda: replay_in_python(trace), 2) / 1e6


def main() -> None:
    """Measure, print and save."""
    rows, results = [], {}
    for name, run, extent in (("perf_hgemm", run_perf, 128), ("simple_hgemm", run_simple, 64)):
        count, alone, all_of_it = rates(recorded(run, extent))
        results[name] = {"instructions": count, "host_code": alone, "estimate": all_of_it}
        rows.append((name, f"{count:,}", f"{alone:.1f} M/s", f"{all_of_it:.1f} M/s"))
    print(table(HEAD, rows))
    python = python_rate(read_trace(TRACES / TRACE))
    print(f"\nPython: {python:.3f} M/s")
    save("cycle_model_speed", {"launches": results, "python": python})


if __name__ == "__main__":
    main()
