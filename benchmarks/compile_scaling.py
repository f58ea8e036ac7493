"""Measures how compile time grows with a kernel's length: `python benchmarks/compile_scaling.py
[lines ...]`.

Kernels of 50 to 5,000 lines of straight and branching code are written to files and compiled in
this process without a cache on disk; each stage is timed. If the growth is linear, the microseconds
per line are constant.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from measurement import save, table, timed

from amdjit import backend, compiler, f32
from amdjit.examples import vector_add

LENGTHS = (50, 150, 500, 1500, 5000)
FRONT_END = ("type_kernel", "verify")
STAGES = (*FRONT_END, "lower", "optimise", "emit_object", "link")

# A block of five lines: arithmetic, an element, a branch with an assignment, a helper call.
_BLOCK = """
    x{n} = a[i + {n}] * {f} + x{p}
    if x{n} > y:
        y = helper(x{n}, y) + {f}
    k = (k * 5 + {n}) % 1021
    out[i + k] = y - x{n}
"""


def source(lines: int) -> str:
    """Return a module with a kernel `long` of about that many lines."""
    head = (
        "import amdjit\n\n\ndef helper(p, q):\n    return p * q + 1.0\n\n\n@amdjit.kernel\ndef "
        "long(a, out):\n"
    )
    body = "    i = amdjit.grid(1)\n    y = 0.5\n    k = 1\n    x0 = a[i]\n"
    blocks = "".join(
        _BLOCK.format(n=n, p=n - 1, f=n * 0.25).lstrip("\n") for n in range(1, lines // 5 + 1)
    )
    return head + body + blocks


def measure(lines: int, folder: Path) -> dict[str, float]:
    """Return the seconds of each stage of one compilation."""
    file = folder / f"long_{lines}.py"
    file.write_text(source(lines))
    specification = importlib.util.spec_from_file_location(file.stem, file)
    if specification is None or specification.loader is None:
        raise RuntimeError(f"cannot import {file}")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    times: dict[str, float] = {}
    owners = {name: compiler if hasattr(compiler, name) else backend for name in STAGES}
    originals = {name: getattr(owner, name) for name, owner in owners.items()}
    for name, function in originals.items():
        setattr(owners[name], name, timed(function, partial(times.__setitem__, name)))
    try:
        start = time.perf_counter()
        module.long.compile(f32[:], f32[:], target="gfx1201")
        times["total"] = time.perf_counter() - start
    finally:
        for name, function in originals.items():
            setattr(owners[name], name, function)
    return times


def main(*lengths: int) -> None:
    """Measure, print and save."""
    vector_add.vector_add.compile(
        f32[:], f32[:], f32[:], target="gfx1201"
    )  # LLVM's start does not count for these kernels
    with tempfile.TemporaryDirectory() as folder:
        times = {lines: measure(lines, Path(folder)) for lines in lengths or LENGTHS}
    rows = []
    for lines, row in times.items():
        front = sum(row[name] for name in FRONT_END)
        own = front + row["lower"]
        cells = [round(row[name] * 1e6 / lines) for name in (*STAGES, "total")]
        rows.append(
            (
                lines,
                round(row["total"], 3),
                *cells,
                round(100 * front / row["total"]),
                round(own * 1e6 / lines),
            )
        )
    print(
        table(
            (
                "lines",
                "seconds",
                *(f"{n} us/line" for n in STAGES),
                "total us/line",
                "front end %",
                "ours us/line",
            ),
            rows,
        )
    )
    save("compile_scaling", {"seconds": {str(lines): row for lines, row in times.items()}})


if __name__ == "__main__":
    os.environ["AMDJIT_CACHE_DIR"] = ""
    main(*map(int, sys.argv[1:]))
