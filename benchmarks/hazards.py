"""Measures how long `amdjit.hazards` takes: `python benchmarks/hazards.py [instructions ...]`.

Kernels of straight code and kernels of loops and branches, as of `inspection.py`, are compiled for
processors with different hazards; reading them is timed in this process, as the best of several
rounds, with the part of each search. The aim is one second for 2,000 instructions.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from inspection import SHAPES, compiled
from measurement import best, save, table, timed

import amdjit
from amdjit.emulator.checks.waits import code_object
from amdjit.inspection import hazards

SIZES = (500, 2000, 5000)
TARGETS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
ROUNDS = 3
PARTS: tuple[tuple[Any, str], ...] = (
    (hazards, "read_machine_code"),
    (hazards, "find_waits"),
    (hazards, "find_wait_states"),
    (code_object, "early_uses"),
)


def measure(shape: str, size: int, target: str, folder: Path) -> dict[str, Any]:
    """Return the instructions of a kernel, what is found, and the seconds that it takes."""
    code = compiled(shape, size, folder, target)
    found = amdjit.hazards(code)
    return {
        "shape": shape,
        "target": target,
        "instructions": len(amdjit.inspect_object(code).instructions),
        "missing": len(found.missing),
        "spare": len(found.spare),
        "seconds": best(partial(amdjit.hazards, code), ROUNDS),
        "parts": {name: _seconds_of(owner, name, code) for owner, name in PARTS},
    }


def _seconds_of(owner: Any, name: str, code: bytes) -> float:
    times: list[float] = []
    function = getattr(owner, name)
    setattr(owner, name, timed(function, times.append))
    try:
        amdjit.hazards(code)
    finally:
        setattr(owner, name, function)
    return sum(times)


def main() -> None:
    """Measure, print and save."""
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    with tempfile.TemporaryDirectory() as folder:
        results = [
            measure(shape, size, target, Path(folder))
            for target in TARGETS
            for shape in SHAPES
            for size in sizes
        ]
    head = ("processor", "code", "instructions", "missing", "spare", "ms")
    rows = [
        (
            result["target"],
            result["shape"],
            result["instructions"],
            result["missing"],
            result["spare"],
            round(result["seconds"] * 1e3),
            *(round(seconds * 1e3) for seconds in result["parts"].values()),
        )
        for result in results
    ]
    print(table((*head, *(name for _, name in PARTS)), rows))
    save("hazards", {"hazards": results})


if __name__ == "__main__":
    main()
