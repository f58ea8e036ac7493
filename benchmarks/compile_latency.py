"""Measures how long a compilation takes, by stage: `python benchmarks/compile_latency.py [rounds]`.

Each round is a new process without a cache on disk: it imports NumPy and amdjit, compiles a small
kernel, a second one, the WMMA GEMM, and kernels over fragments: two with 32 of them, one of which
stores rows of another matrix element by element, and the tuned GEMMs of f16 and i8, which have two
steps in their loops. The first compilation also loads the compiler and LLVM. Processor time is that
of the process itself, without the linker's; other work on the machine affects it less.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measurement import run_fresh, save, summary, table, timed

# In the order of amdjit.compiler, which calls them by the module that is named first.
STAGES = {
    "compiler.type_kernel": "front end",
    "compiler.verify": "verify tree",
    "compiler.lower": "lower",
    "backend.optimise": "optimise",
    "backend.emit_object": "emit object",
    "backend.find_linker": "find linker",
    "backend.link": "link",
}
# The names of what is measured, with the aims in milliseconds.
MEASURED: dict[str, tuple[str, float | str]] = {
    "numpy": ("import numpy", ""),
    "import": ("import amdjit, NumPy with it", 150),
    "load": ("load the compiler and LLVM", ""),
    "first": ("first small kernel, with that", 80),
    "second": ("second small kernel", 35),
    "gemm": ("WMMA GEMM", 250),
    "fragments": ("32 fragments", 250),
    "rows": ("32 fragments, row by row", 250),
    "tuned": ("perf_hgemm", 250),
    "i8": ("i8_gemm", 250),
}
KERNELS = ("first", "second", "gemm", "fragments", "rows", "tuned", "i8")


class Clock:
    """Measures the seconds since it was made, as elapsed time and as processor time of this
    process."""

    def __init__(self) -> None:
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        return {
            "wall": time.perf_counter() - self.wall,
            "processor": time.process_time() - self.processor,
        }


def compilations() -> dict[str, Callable[[], Any]]:
    """Return functions that compile the kernels; nothing is compiled yet."""
    amdjit, kernels = importlib.import_module("amdjit"), importlib.import_module("kernels")
    names = ("saxpy", "vector_add", "wmma_gemm", "perf_hgemm", "i8_gemm")
    saxpy, add, gemm, hgemm, i8 = (
        importlib.import_module(f"amdjit.examples.{name}") for name in names
    )
    i32_alone = importlib.import_module("amdjit.types").Tuple((amdjit.i32,))
    f32, x = amdjit.f32, amdjit.f32[:]
    m, h, b = f32[:, :], amdjit.f16[:, :], amdjit.i8[:, :]
    return {
        "first": lambda: add.vector_add.compile(x, x, x, target="gfx1201"),
        "second": lambda: saxpy.saxpy.compile(f32, x, x, x, target="gfx1201"),
        "gemm": lambda: gemm.wmma_gemm.compile(h, h, m, target="gfx1201"),
        "fragments": lambda: kernels.many_fragments.compile(h, h, m, target="gfx1201"),
        "rows": lambda: kernels.many_fragments_by_rows.compile(h, h, m, target="gfx1201"),
        "tuned": lambda: hgemm.perf_hgemm.compile(h, h, h, h, f32, f32, target="gfx1201"),
        "i8": lambda: i8.i8_gemm.compile(b, b, b, b, i8.relu, i32_alone, target="gfx1201"),
    }


def child() -> None:
    """Measure in this process, and print the times as JSON."""
    times: dict[str, Any] = {}
    whole = Clock()
    importlib.import_module("numpy")
    times["numpy"] = whole.read()
    importlib.import_module("amdjit")
    times["import"] = whole.read()
    kernels = compilations()
    stages: dict[str, float] = {}
    loading = Clock()
    importlib.import_module("amdjit.backend.isolated")
    for stage in STAGES:
        owner, _, name = stage.partition(".")
        module = importlib.import_module(f"amdjit.{owner}")
        setattr(module, name, timed(getattr(module, name), partial(stages.__setitem__, stage)))
    times["load"] = loading.read()
    for name, compile_kernel in kernels.items():
        stages.clear()
        clock = Clock()
        compile_kernel()
        times[name] = clock.read()
        times[f"{name}_stages"] = dict(stages)
    times["first"] = {
        kind: times["first"][kind] + times["load"][kind] for kind in ("wall", "processor")
    }
    print(json.dumps(times))


def main(rounds: int = 7) -> None:
    """Measure, print and save."""
    script = Path(__file__)
    run_fresh(script, "--child", AMDJIT_CACHE_DIR="")  # writes the bytecode
    runs = [run_fresh(script, "--child", AMDJIT_CACHE_DIR="") for _ in range(rounds)]
    totals = {
        name: summary([run[name]["wall"] for run in runs])
        | {"processor_ms": summary([run[name]["processor"] for run in runs])["best_ms"]}
        for name in MEASURED
    }
    rows: list[tuple[object, ...]] = [
        (label, *totals[name].values(), aim) for name, (label, aim) in MEASURED.items()
    ]
    print(table(("milliseconds", "best", "median", "processor", "aim"), rows), end="\n\n")
    stages = {
        kernel: {
            stage: summary([run[f"{kernel}_stages"][stage] for run in runs]) for stage in STAGES
        }
        for kernel in KERNELS
    }
    rows = [
        (label, *(stages[kernel][stage]["best_ms"] for kernel in stages))
        for stage, label in STAGES.items()
    ]
    print(table(("best, milliseconds", *KERNELS), rows))
    save("compile_latency", {"rounds": rounds, "totals": totals, "stages": stages})


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        child()
    else:
        os.environ.pop("AMDJIT_TARGET", None)
        main(*map(int, sys.argv[1:]))
