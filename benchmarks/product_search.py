"""Makes one search over configurations of `examples/tuned_gemm.py`, in this process and its
workers: `python benchmarks/product_search.py FILE --count 500 --workers 2`.

The product is of `SIZE` by `SIZE` by `DEPTH` 8-bit floats; workers run one of `SMALL` by `SMALL` by
`DEPTH`, which represents it. The results go to FILE; a second search continues where the first one
ended. The result is printed as JSON. `benchmarks/tuning.py` starts this.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import amdjit
from amdjit.examples.tuned_gemm import (
    DTYPES,
    SPACE,
    Configuration,
    fits,
    panels,
    tuned_gemm,
)

SIZE, SMALL, DEPTH = 4096, 256, 1024


def space(kind: str) -> list[dict[str, Any]]:
    """Return the configurations that fit, with the workgroup for which each is compiled."""
    nbytes = np.dtype(DTYPES[kind]).itemsize
    every = (Configuration(*values) for values in itertools.product(*SPACE.values()))
    return [{**vars(c), "block": (32 * c.waves, 1, 1)} for c in every if fits(c, nbytes)]


def arguments(kind: str, size: int, in_panels: bool) -> dict[str, Any]:
    """Return matrices whose product is exact in any type."""
    random = np.random.default_rng(size)
    result = np.zeros((size, size), np.int32 if kind == "i8" else np.float32)
    a, b = (random.integers(-2, 3, (size, DEPTH)).astype(DTYPES[kind]) for _ in range(2))
    if in_panels:
        a, b = panels(a), panels(b)
    return {"a": a, "b": b, "d": result}


def grid(c: Any) -> tuple[int, int]:
    """Return the grid of a configuration."""
    rows, columns = c.d.shape
    return columns // c.BN, rows // c.BM


def search(options: argparse.Namespace) -> dict[str, Any]:
    """Search, and return the result as JSON."""
    kind, in_panels = options.kind, options.order == "panels"
    kernel = amdjit.autotune(space=space(kind), key=[lambda call: call.d.shape])(tuned_gemm)
    whole = arguments(kind, SIZE, in_panels)
    found = kernel.tune(
        grid,
        max_configs=options.count,
        workers=options.workers,
        ranking=options.ranking,
        top=None if options.ranking == "model" else options.top,
        small=lambda _: arguments(kind, SMALL, in_panels),
        progress=False,
        cache=options.file,
    )(**whole)
    return {
        "space": kernel.space.size,
        "seconds": found.seconds,
        "best": str(found.best_config),
        "states": dict(Counter(each.state.value for each in found.candidates)),
        "reasons": dict(Counter(reason_of(each) for each in found.candidates)),
        "workers": sorted({each.worker for each in found.candidates if each.worker}),
        "candidates": {
            str(each.configuration): {
                "form": each.configuration.form,
                "state": each.state.value,
                "score": each.score,
                "seconds": each.seconds,
            }
            for each in found.candidates
        },
    }


def reason_of(candidate: Any) -> str:
    """Return why a candidate is out, without the candidate's own numbers."""
    words = candidate.reason.partition("(")[0].split()
    return " ".join(word for word in words if not word.isdigit()) or candidate.state.value


def main() -> None:
    """Search and print."""
    os.environ.setdefault("AMDJIT_DEVICE", "emulator:gfx1201")
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--kind", default="fp8", choices=DTYPES)
    parser.add_argument("--order", default="rows", choices=("rows", "panels"))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ranking", default="static", choices=("static", "model"))
    parser.add_argument("--top", type=int, default=8)
    print(json.dumps(search(parser.parse_args())))


if __name__ == "__main__":
    main()
