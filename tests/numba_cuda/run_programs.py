"""Runs programs of `program_writer.py` with a module `cuda` and stores the arrays that they return.

`python run_programs.py PROGRAMS RESULTS [MODULE] [PROCESSES] [SECONDS]`: the folder with `p0.py`,
`p1.py`, ..., and the folder that gets `results.npz`, with the arrays `NUMBER_NAME`, and
`errors.json`, with what programs raised. MODULE is "numba.cuda", or "amdjit.numba_cuda".
"""

from __future__ import annotations

import importlib
import json
import linecache
import multiprocessing
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def load_cuda(module: str) -> Any:
    """Import a module; Numba's asks for functions that NumPy 2.4 has dropped."""
    replaced = {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}
    if module == "numba.cuda":
        for old, new in replaced.items():
            if not hasattr(np, old):
                setattr(np, old, getattr(np, new))
    return importlib.import_module(module)


def run_program(name: str, source: str, cuda: Any) -> dict[str, Any]:
    """Return the arrays of a program."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec"), scope)
    found: dict[str, Any] = scope["run"](cuda)
    return found


def run_part(paths: list[str], module: str, ends: float) -> tuple[dict[str, Any], dict[str, str]]:
    """Run programs one after the other until the time is over."""
    warnings.simplefilter("ignore")
    arrays: dict[str, Any] = {}
    errors: dict[str, str] = {}
    cuda = load_cuda(module)
    for path in paths:
        number = Path(path).stem[1:]
        if time.time() > ends:
            errors[number] = "time is over"
            continue
        try:
            found = run_program(path, Path(path).read_text(), cuda)
        except Exception as problem:
            errors[number] = f"{type(problem).__name__}: {str(problem)[:600]}"
        else:
            arrays |= {f"{number}_{name}": np.asarray(array) for name, array in found.items()}
    return arrays, errors


def main(
    programs: str, results: str, module: str = "numba.cuda", processes: str = "8", most: str = "420"
) -> None:
    """Run all programs in several processes."""
    ends = time.time() + float(most)
    paths = sorted(map(str, Path(programs).glob("p*.py")))
    size = int(processes)
    jobs = [(paths[k::size], module, ends) for k in range(size)]
    arrays: dict[str, Any] = {}
    errors: dict[str, str] = {}
    with multiprocessing.get_context("spawn").Pool(size) as pool:
        for found, failed in pool.starmap(run_part, jobs, chunksize=1):
            arrays |= found
            errors |= failed
    Path(results).mkdir(parents=True, exist_ok=True)
    np.savez_compressed(Path(results) / "results.npz", **arrays)
    (Path(results) / "errors.json").write_text(json.dumps(errors, indent=1))
    print(f"{len(arrays)} arrays, {len(errors)} of {len(paths)} programs failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
