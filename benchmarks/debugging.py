"""What the debugger and recorded launches cost: `python benchmarks/debugging.py [rounds]`.

A launch of 10 million wave-instructions, or of fewer rounds: stepping through it, steps back from
its end and its middle, the search for a write; and a launch with and without `amdjit.record`, next
to a copy of its memory.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from measurement import best, save, table

import amdjit

BLOCKS, THREADS = 16, 256
# Rounds of the kernel's loop: about 10 million wave-instructions.
ROUNDS = 2000


@amdjit.kernel
def walk(x, rounds):
    i = amdjit.grid(1)
    v = x[i]
    for k in range(rounds):
        v = v * 1.0001 + x[(i + k) % x.shape[0]]
        x[i] = v


def seconds(action: Any) -> float:
    """Return how long an action takes."""
    start = perf_counter()
    action()
    return perf_counter() - start


def stepping(rounds: int) -> dict[str, Any]:
    """Return milliseconds of movements of the debugger, and the instructions of the launch."""
    x = np.zeros(BLOCKS * THREADS, np.float32)
    with amdjit.debug(walk[BLOCKS, THREADS], x, rounds, opt_level=None) as debugger:
        forward = seconds(lambda: debugger.go_to(1 << 60))
        end = debugger.time
        found = {"first run to the end": forward}
        for name, time in (("end", end - 1), ("middle", end * 5 // 9)):
            debugger.go_to(time)
            found[f"step back at the {name}, instruction"] = seconds(
                lambda: debugger.back(instructions=True)
            )
            found[f"step back at the {name}, line"] = seconds(debugger.back)
            found[f"who_wrote at the {name}"] = seconds(lambda: debugger.who_wrote("x", 7))
        return {"instructions": end, "ms": {name: 1e3 * each for name, each in found.items()}}


def recording(megabytes: int = 64) -> dict[str, float]:
    """Return milliseconds of a launch, of one that is recorded, and of a copy of its memory."""
    x = amdjit.asarray(np.random.default_rng(1).random(megabytes << 18, np.float32))
    launch = walk[BLOCKS, THREADS]

    def recorded() -> None:
        with tempfile.TemporaryDirectory() as folder, amdjit.record(folder):
            launch(x, 1)

    launch(x, 1)
    host = np.empty(x.shape, x.dtype)
    return {
        "launch": 1e3 * best(lambda: launch(x, 1), 3),
        "recorded launch": 1e3 * best(recorded, 3),
        f"copy of its {megabytes} MiB": 1e3 * best(lambda: x.copy_to_host(host), 3),
        "size of a record, bytes": float(size_of_record(launch, x)),
    }


def size_of_record(launch: Any, x: Any) -> int:
    """Return the bytes of a record."""
    with tempfile.TemporaryDirectory() as folder, amdjit.record(folder) as record:
        launch(x, 1)
        return Path(record.files[0]).stat().st_size


def main(rounds: int = ROUNDS, megabytes: int = 64) -> None:
    """Measure, print and save."""
    found = stepping(rounds)
    print(f"{found['instructions']:,} wave-instructions")
    print(table(("movement", "ms"), [(name, round(ms, 1)) for name, ms in found["ms"].items()]))
    records = recording(megabytes)
    print(table(("record", "ms"), [(name, round(ms, 1)) for name, ms in records.items()]))
    save("debugging", {"stepping": found, "recording": records})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
