"""Programs in Numba's CUDA dialect and what numba-cuda 0.30.4 returned for them on an H200.

`data/programs.json.xz` has the sources by name, `data/results.npz` the arrays `NAME/ARRAY`, of
arrays of 256 elements every fourth. `python results_of_numba.py PROGRAMS RESULTS PREFIX COUNT` adds
programs of `program_writer.py` and the results of `run_programs.py`.
"""

from __future__ import annotations

import json
import lzma
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"
PROGRAMS, RESULTS = DATA / "programs.json.xz", DATA / "results.npz"
_STEP = 4


@cache
def programs() -> dict[str, str]:
    """Return the sources by name."""
    found: dict[str, str] = json.loads(lzma.decompress(PROGRAMS.read_bytes()))
    return found


@cache
def results() -> dict[str, dict[str, Any]]:
    """Return the arrays of each program."""
    found: dict[str, dict[str, Any]] = {}
    with np.load(RESULTS) as stored:
        for key in stored.files:
            name, array = key.split("/")
            found.setdefault(name, {})[array] = stored[key]
    return found


def kept(array: Any) -> Any:
    """Return the elements of an array that are stored."""
    return array[::_STEP] if array.size == 256 else array


def difference(found: Any, wanted: Any) -> str:
    """Return where arrays differ: integers are equal, floats to 1e-5 or 1e-12 of themselves, or to
    the last bit of the largest, since NVIDIA's compiler fuses products and sums."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind in "iub":
        wrong = found != wanted
    else:
        is_wide = wanted.dtype.itemsize == 8
        largest = np.abs(wanted, where=np.isfinite(wanted), out=np.zeros_like(wanted)).max()
        close = np.isclose(
            found,
            wanted,
            rtol=1e-12 if is_wide else 1e-5,
            atol=float(largest) * (2e-16 if is_wide else 1e-7),
            equal_nan=True,
        )
        wrong = ~close
    if not wrong.any():
        return ""
    place = int(np.flatnonzero(wrong)[0])
    return f"{wrong.sum()} elements, at {place} {found[place]!r} instead of {wanted[place]!r}"


def add(folder: str, results_file: str, prefix: str, count: str) -> None:
    """Add the first programs of a folder, with the results of a real GPU."""
    sources = programs() if PROGRAMS.exists() else {}
    arrays: dict[str, Any] = {}
    if RESULTS.exists():
        with np.load(RESULTS) as stored:
            arrays = dict(stored)
    with np.load(results_file) as found:
        for number in range(int(count)):
            name = f"{prefix}{number}"
            sources[name] = (Path(folder) / f"p{number}.py").read_text()
            for key in found.files:
                program, array = key.split("_", 1)
                if program == str(number):
                    arrays[f"{name}/{array}"] = kept(found[key])
    DATA.mkdir(exist_ok=True)
    PROGRAMS.write_bytes(lzma.compress(json.dumps(sources, indent=0).encode(), preset=9))
    np.savez_compressed(RESULTS, **arrays)


if __name__ == "__main__":
    add(*sys.argv[1:])
