"""How long a compilation takes, by stage: `python benchmarks/compile_latency.py [rounds]`.

Each round is a new process without a cache on disk: it imports amdjit, compiles a small kernel, a second one, the WMMA
GEMM, and two kernels over fragments: one with 32 of them, and the tuned GEMM, which has two steps in its loop. The
import is also measured in processor time of its thread, which other work disturbs less.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measurement import run_fresh, save, summary, table

# amdjit.compiler calls these, in this order.
STAGES = {
    "type_kernel": "front end",
    "verify": "verify tree",
    "lower": "lower",
    "optimise": "optimise",
    "emit_object": "emit object",
    "find_linker": "find linker",
    "link": "link",
}
TARGETS_MS = {"import": 150, "first": 80, "second": 35, "gemm": 250, "fragments": 250, "tuned": 250}
NAMES = {
    "import": "import amdjit",
    "first": "first small kernel",
    "second": "second small kernel",
    "gemm": "WMMA GEMM",
    "fragments": "32 fragments",
    "tuned": "perf_hgemm",
}


def child() -> None:
    """Measure in this process, and print the times as JSON."""
    start, processor = time.perf_counter(), time.thread_time()
    amdjit = importlib.import_module("amdjit")  # this is what is measured
    times: dict[str, Any] = {"import": time.perf_counter() - start, "import_cpu": time.thread_time() - processor}
    names = ("examples.saxpy", "examples.vector_add", "examples.wmma_gemm", "examples.perf_hgemm", "compiler")
    saxpy, vector_add, wmma_gemm, perf_hgemm, compiler = (importlib.import_module(f"amdjit.{name}") for name in names)
    many_fragments = importlib.import_module("kernels").many_fragments
    f32 = amdjit.f32
    x, h = f32[:], amdjit.f16[:, :]
    kernels = {
        "first": lambda: vector_add.vector_add.compile(x, x, x, target="gfx1201"),
        "second": lambda: saxpy.saxpy.compile(f32, x, x, x, target="gfx1201"),
        "gemm": lambda: wmma_gemm.wmma_gemm.compile(h, h, f32[:, :], target="gfx1201"),
        "fragments": lambda: many_fragments.compile(h, h, f32[:, :], target="gfx1201"),
        "tuned": lambda: perf_hgemm.perf_hgemm.compile(h, h, h, h, f32, f32, target="gfx1201"),
    }
    stages: dict[str, float] = {}
    for name in STAGES:
        setattr(compiler, name, _timed(getattr(compiler, name), name, stages))
    for name, compile_kernel in kernels.items():
        stages.clear()
        start = time.perf_counter()
        compile_kernel()
        times[name] = time.perf_counter() - start
        times[f"{name}_stages"] = dict(stages)
    assert amdjit.__version__
    print(json.dumps(times))


def _timed(function: Callable[..., Any], name: str, stages: dict[str, float]) -> Callable[..., Any]:
    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            stages[name] = time.perf_counter() - start

    return timed


def main(rounds: int = 7) -> None:
    """Measure, print and save."""
    script = Path(__file__)
    run_fresh(script, "--child", AMDJIT_CACHE_DIR="")  # writes the bytecode
    runs = [run_fresh(script, "--child", AMDJIT_CACHE_DIR="") for _ in range(rounds)]
    totals = {name: summary([run[name] for run in runs]) for name in (*NAMES, "import_cpu")}
    rows: list[tuple[object, ...]] = [
        (label, totals[name]["best_ms"], totals[name]["median_ms"], TARGETS_MS[name]) for name, label in NAMES.items()
    ]
    rows.insert(1, ("  processor time", totals["import_cpu"]["best_ms"], totals["import_cpu"]["median_ms"], ""))
    print(table(("milliseconds", "best", "median", "aim"), rows), end="\n\n")
    stages = {
        kernel: {stage: summary([run[f"{kernel}_stages"][stage] for run in runs]) for stage in STAGES}
        for kernel in ("first", "second", "gemm", "fragments", "tuned")
    }
    rows = [(label, *(stages[kernel][stage]["best_ms"] for kernel in stages)) for stage, label in STAGES.items()]
    print(table(("best, milliseconds", *(NAMES[kernel] for kernel in stages)), rows))
    save("compile_latency", {"rounds": rounds, "totals": totals, "stages": stages})


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        child()
    else:
        os.environ.pop("AMDJIT_TARGET", None)
        main(*map(int, sys.argv[1:]))
