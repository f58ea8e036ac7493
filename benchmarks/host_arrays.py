"""Measures what arrays cost on the host: `python benchmarks/host_arrays.py [rounds]`.

First, launches with NumPy arguments on the stand-in for HIP (tests/runtime/standin_hip): processor
time in Python and in the stand-in, and HIP's calls for each launch, with temporary memory from a
pool and without a pool. The stand-in's hipMalloc is the host's malloc; a driver takes longer, and
its hipFree waits for the device. Second, zeros and fills on the emulator: processor time and memory
of the host.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measurement import ROOT, run_fresh, save, table

import amdjit

sys.path.insert(0, str(ROOT / "tests" / "runtime" / "standin_hip"))

import standin

HERE = Path(__file__)
ELEMENTS = 256
BATCH = 200
SOURCES = {"hip": "a pool of HIP's", "lists": "free lists", "none": "hipMalloc each time"}
CALLS = (
    "hipMalloc", "hipFree", "hipMallocFromPoolAsync", "hipFreeAsync", "hipMemcpy",
    "hipMemcpyAsync", "hipStreamSynchronize", "hipDeviceSynchronize", "hipModuleLaunchKernel",
)  # fmt: skip
GIB = 1 << 30


@amdjit.kernel(warnings=False)
def add(x, y, out):
    """Add two arrays."""
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]


def main(rounds: int = 20) -> None:
    """Measure, print and save."""
    launches = {
        source: run_fresh(
            HERE,
            "launches",
            source,
            str(rounds),
            **_standin_variables(POOLS=str(int(source == "hip"))),
        )
        for source in SOURCES
    }
    rows = [
        (SOURCES[source], f"{found['us']:.1f}", _text(found["calls"]))
        for source, found in launches.items()
    ]
    print("a launch with three NumPy arrays of 1 KiB, default stream\n")
    print(table(("temporaries", "us", "calls of HIP"), rows))
    fills = {name: run_fresh(HERE, "fill", name) for name in FILLS}
    rows = [(n, f"{f['seconds']:.3f}", f"{f['host_mib']:.0f}") for n, f in fills.items()]
    print("\n1 GiB on the emulator\n")
    print(table(("made by", "seconds", "MiB of the host"), rows))
    save("host_arrays", {"launches": launches, "fills": fills})


def _standin_variables(**settings: str) -> dict[str, str]:
    found = standin.environment()
    chosen = {name: found[name] for name in ("ROCM_PATH", "LD_LIBRARY_PATH")}
    named = {f"STANDIN_HIP_{name}": value for name, value in settings.items()}
    return chosen | named | {"AMDJIT_DEVICE": "hip:0"}


def _text(calls: dict[str, float]) -> str:
    return ", ".join(f"{count:g} {name}" for name, count in calls.items())


def measure_launches(source: str, rounds: int) -> dict[str, Any]:
    """Return microseconds and HIP's calls of a launch with NumPy arguments."""
    device: Any = amdjit.current_device()
    if source == "none":
        device.__dict__["temporaries"] = None
    arrays = [np.ones(ELEMENTS, np.float32) for _ in range(3)]
    run = add[1, ELEMENTS]

    def batch() -> None:
        for _ in range(BATCH):
            run(*arrays)

    batch()
    microseconds = min(_processor_seconds(batch) for _ in range(rounds)) / BATCH * 1e6
    counts: Counter[str] = Counter()
    for name in CALLS:
        setattr(device.hip, name, _counted(getattr(device.hip, name), counts, name))
    batch()
    return {
        "us": microseconds,
        "calls": {name: counts[name] / BATCH for name in CALLS if counts[name]},
    }


def _processor_seconds(action: Callable[[], None]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def _counted(function: Any, counts: Counter[str], name: str) -> Any:
    def call(*arguments: Any) -> Any:
        counts[name] += 1
        return function(*arguments)

    return call


FILLS = {
    "zeros": lambda: amdjit.zeros(GIB, np.uint8),
    "ones, float32": lambda: amdjit.ones(GIB // 4, np.float32),
    "full, float64": lambda: amdjit.full(GIB // 8, 2.5),
    "from the host": lambda: amdjit.to_device(np.zeros(GIB, np.uint8) + np.uint8(1)),
}


def measure_fill(name: str) -> dict[str, float]:
    """Return the seconds of a fill, and by how much the process grew at most."""
    amdjit.zeros(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    FILLS[name]()
    seconds = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"seconds": seconds, "host_mib": grown / 1024}


if __name__ == "__main__":
    if sys.argv[1:2] == ["launches"]:
        print(json.dumps(measure_launches(sys.argv[2], int(sys.argv[3]))))
    elif sys.argv[1:2] == ["fill"]:
        print(json.dumps(measure_fill(sys.argv[2])))
    else:
        main(*map(int, sys.argv[1:]))
