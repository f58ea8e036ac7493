"""Measures work on whole arrays on the emulator: time, launches, instructions and accesses to
global memory for each element.

For comparison, the table says how rocPRIM does the same on gfx1201: the tuned configurations that
it publishes (ROCm/rocPRIM, rocprim/include/rocprim/device/detail/config/device_*.hpp at 0bc0c0c5
and 2a5de0a0) and the memory passes that follow from its algorithms (device_scan_lookback.hpp,
device_radix_sort.hpp, device_partition.hpp).

    python benchmarks/algorithms.py [elements]
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from measurement import best, save, table

import amdjit

ROCPRIM = {
    "axpy": "transform: 1 launch, each array once",
    "reduce add f32": "2 launches, 256 x 16 items, warp reduce; 1 read",
    "reduce user": "as above",
    "scan add f32": "look-back, 256 x 6 items, warp scan; 1 read, 1 write",
    "scan add i32": "look-back, 256 x 6 items, reduce-then-scan in a block; 1 read, 1 write",
    "sort f32": "onesweep, 8 bits a pass, ranks by match; 1 read, then 1 read, 1 write a pass",
    "argsort f32": "as above, with values",
    "compact": "partition by look-back; 1 read, 1 write of what is chosen",
    "unique": "sort, then partition by look-back",
    "histogram 100": "counts in LDS, then global atomics; 1 read",
    "bincount 1000": "as above",
}


@amdjit.vectorize
def axpy(x, y):
    return 2 * x + y


def added(a, b):
    return a + b


def positive(value):
    return value > 0


def cases(n: int) -> dict[str, Callable[[], object]]:
    """Return the cases to measure, on `n` random elements that are on the device."""
    random = np.random.default_rng(1)
    x = amdjit.to_device(random.standard_normal(n).astype(np.float32))
    whole = amdjit.to_device(random.integers(0, 1000, n).astype(np.int32))
    return {
        "axpy": lambda: axpy(x, x),
        "reduce add f32": lambda: amdjit.reduce(operator.add, x),
        "reduce user": lambda: amdjit.reduce(added, x),
        "scan add f32": lambda: amdjit.inclusive_scan(operator.add, x),
        "scan add i32": lambda: amdjit.inclusive_scan(operator.add, whole),
        "sort f32": lambda: amdjit.sort(x),
        "argsort f32": lambda: amdjit.argsort(x),
        "compact": lambda: amdjit.compact(x, positive),
        "unique": lambda: amdjit.unique(whole),
        "histogram 100": lambda: amdjit.histogram(x, 100, (-3, 3)),
        "bincount 1000": lambda: amdjit.histogram(whole, 1000, (0, 1000)),
    }


def counted(action: Callable[[], object], n: int) -> dict[str, Any]:
    """Return counts of the launches of an action, per element and per wave of 32 elements."""
    with amdjit.profile() as profile:
        action()
    instructions, asked, lines = 0, 0, 0
    for launch in profile.launches:
        for each in launch.instructions:
            instructions += each.executions
            if each.text.startswith("global_"):
                asked += each.bytes
                lines += each.cache_lines
    return {
        "launches": len(profile.launches),
        "instructions_per_32": round(instructions * 32 / n, 1),
        "bytes_per_element": round(asked / n, 2),
        "line_bytes_per_element": round(lines * 128 / n, 1),
    }


def main(n: int, names: Collection[str] = tuple(ROCPRIM)) -> None:
    """Measure and print the cases with these names."""
    results: dict[str, Any] = {}
    with amdjit.use("emulator:gfx1201"):
        for name, action in cases(n).items():
            if name not in names:
                continue
            action()  # now it is compiled, and in the full tier of the emulator
            action()
            seconds = best(action, 3)
            results[name] = {
                "ms": round(seconds * 1e3, 2),
                "million_per_s": round(n / seconds / 1e6, 1),
            }
            results[name] |= counted(action, n) | {"rocPRIM": ROCPRIM[name]}
    head = ["", *next(iter(results.values()))]
    print(table(head, [[name, *result.values()] for name, result in results.items()]))
    save("algorithms", {"elements": n, "cases": results})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 20)
