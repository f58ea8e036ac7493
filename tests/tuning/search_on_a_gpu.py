"""Searches on the GPU that the stand-in offers; prints what the test compares, as JSON."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import amdjit

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.tuning import tuned_kernels

N = 256


def main(folder: Path) -> None:
    """Search in several ways and print the outcomes."""
    x, out = np.arange(N, dtype=np.float32), np.full(N, 7, np.float32)
    found: dict[str, Any] = {}
    with ThreadPoolExecutor(1) as threads:

        def tuned(kernel: Any, **settings: Any) -> Any:
            given: dict[str, Any] = {"space": {"per": [1, 4, 2]}, "key": ["n"], "samples": 5}
            given |= {"executor": threads, "cache": folder / "results.jsonl", **settings}
            return amdjit.autotune(**given)(kernel)

        kernel = tuned(tuned_kernels.mistaken)
        found["checked"] = states(kernel.tune(tuned_kernels.grid, launch=False)(x, out, N))
        found["untouched"] = bool((out == 7).all())
        kernel = tuned(tuned_kernels.double, top=2)
        found["top"] = states(kernel.tune(tuned_kernels.grid, launch=False)(x, out, N))
        device = [amdjit.to_device(x), amdjit.to_device(out)]
        kernel = tuned(tuned_kernels.accumulate, restore="total", reference=added)
        # The first launch searches; then it is launched once.
        kernel[tuned_kernels.grid](*device, N)
        found["launched"] = device[1].copy_to_host()[:3].tolist()
        kernel = tuned(
            tuned_kernels.accumulate, reset_to_zero="total", reference=lambda a: {"total": a.x}
        )
        again = kernel.tune(tuned_kernels.grid, fresh=True, launch=False)
        found["zeroed"] = states(again(*device, N))
        found["after"] = device[1].copy_to_host()[:3].tolist()
    timing = amdjit.bench(kernel.configured(per=1)[tuned_kernels.grid], *device, N, samples=7)
    found["bench"] = [timing.by, len(timing.samples), timing.low <= timing.median <= timing.high]
    print(json.dumps(found))


def added(a: Any) -> dict[str, Any]:
    """Return what one launch leaves."""
    return {"total": a.total + a.x}


def states(tuning: Any) -> dict[str, Any]:
    """Return the state, what the time is by, and the number of samples of each candidate."""
    return {
        str(each.configuration): [each.state.value, each.by, len(each.samples)]
        for each in tuning.candidates
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
