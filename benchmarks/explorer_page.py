"""Measures how long writing the explorer's page takes, and how large the page is: `python
benchmarks/explorer_page.py`.

Kernels of straight code and of loops, and perf_hgemm with its LLVM IR and sources. The aim is a
second and 2 MB for 2,000 instructions.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from inspection import SHAPES, compiled
from measurement import best, save, table

import amdjit
from amdjit import f16, f32
from amdjit.examples.perf_hgemm import perf_hgemm
from amdjit.explorer.page import inspection_page

SIZES = (500, 2000, 5000)
ROUNDS = 5


def measure(name: str, facts: amdjit.Inspection) -> dict[str, Any]:
    """Return the seconds and the bytes of a kernel's page."""
    return {
        "code": name,
        "instructions": len(facts.instructions),
        "seconds": best(partial(inspection_page, facts), ROUNDS),
        "bytes": len(inspection_page(facts).encode()),
    }


def main() -> None:
    """Measure, print and save."""
    os.environ.setdefault("AMDJIT_DEVICE", "emulator:gfx1201")
    results = [
        measure("perf_hgemm", perf_hgemm.compile(*[f16[:, :]] * 4, f32, f32).inspect()),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            for size in SIZES:
                code = compiled(shape, size, Path(folder))
                results.append(measure(shape, amdjit.inspect_object(code)))
    rows = [
        (
            result["code"],
            result["instructions"],
            f"{result['seconds'] * 1e3:.0f}",
            f"{result['bytes'] / 1e6:.2f}",
        )
        for result in results
    ]
    print(table(("code", "instructions", "ms", "MB"), rows))
    save("explorer_page", {"pages": results})


if __name__ == "__main__":
    main()
