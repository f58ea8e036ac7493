"""Which packages there are, and what running one of them by `amdjit run` shows.

`python -m tests.numba_packages.packages [PACKAGE ...]` runs those that are installed, or some, and
writes their lines into the table of docs/numba_cuda.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "numba_cuda.md"
BEGIN, END = "<!-- packages: generated -->\n", "<!-- end of packages -->\n"
HEAD = (
    "| package | functions | compared with | right | reports of memory and race |\n"
    "|---|---|---|---|---|\n"
)
SECONDS = 600
CLOSE = 1e-4
"""How far a result may be from the expected one, relative to the largest number: kernels in f32 add
in another order."""

# By the name of the function in `programs`, which is the module's, the name on PyPI; what the
# results are compared with.
PACKAGES = {
    "aquagrid": ("aquagrid", "its CPU backend"),
    "cuda_friendly_vincenty": ("cuda-friendly-vincenty", "itself on the CPU"),
    "datashader": ("datashader", "NumPy; kernels with NumPy arrays in place of CuPy's"),
    "disimpy": ("disimpy", "its own tests of these functions"),
    "frbb": ("frbb", "its CPU mode"),
    "gamdpy": ("gamdpy", "NumPy, and conservation of energy"),
    "geofast": ("geofast", "NumPy"),
    "gpu_pairwise": ("gpu-pairwise", "SciPy"),
    "hepaccelerate": (
        "hepaccelerate",
        "its CPU backend; kernels with NumPy arrays in place of CuPy's",
    ),
    "locate_pixelcolor_numbacuda": ("locate-pixelcolor-numbacuda", "NumPy"),
    "numba_timer": ("numba-timer", "itself"),
    "pysdtw": ("pysdtw", "its CPU version; the kernel with NumPy arrays"),
    "stumpy": ("stumpy", "its CPU functions"),
    "warprnnt_numba": ("warprnnt-numba", "its NumPy version; tensors on the CPU"),
    "xrspatial": ("xarray-spatial", "its CPU functions; kernels with NumPy arrays"),
    "your": ("your", "NumPy"),
}


@dataclass(frozen=True)
class Outcome:
    """What a run of one package showed. distances: by function. errors: by function, of those that
    failed. reports: of the checks, counted by kind. status: the program's exit status."""

    distances: dict[str, float]
    errors: dict[str, str]
    reports: Counter[str]
    status: int
    output: str


def installed(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(PACKAGES[package][0])
    except PackageNotFoundError:
        return None


def run(package: str, checks: str = "") -> Outcome | None:
    """Run the program of a package; None if it takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "amdjit", "run", "--report", str(report)]
        command += ["--check", checks] if checks else []
        command += ["--", sys.executable, "-m", "tests.numba_packages.programs", package]
        try:
            done = subprocess.run(
                command,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return None
        reports = json.loads(report.read_text())["reports"] if report.exists() else []
    lines = [
        json.loads(line.removeprefix("RESULT "))
        for line in done.stdout.splitlines()
        if line.startswith("RESULT ")
    ]
    return Outcome(
        {line["function"]: line["distance"] for line in lines if "distance" in line},
        {line["function"]: line["error"] for line in lines if "error" in line},
        Counter(f"{each['check']} ({each['kind']})" for each in reports),
        done.returncode,
        done.stdout + done.stderr,
    )


def row(package: str) -> str:
    """Return the line of a package in the table."""
    plain, checked = run(package), run(package, "memory,race")
    assert plain is not None, f"{package} has taken too long"
    right = {name: each for name, each in plain.distances.items() if each <= CLOSE}
    total = len(plain.distances) + len(plain.errors)
    functions = ", ".join(f"`{name}`" for name in (*plain.distances, *plain.errors))
    worst = max(right.values(), default=0.0)
    kinds = sorted(checked.reports.items()) if checked is not None else []
    reports = ", ".join(f"{count} {kind}" for kind, count in kinds)
    cells: list[Any] = [
        f"{PACKAGES[package][0]} {installed(package)}",
        functions,
        PACKAGES[package][1],
        f"{len(right)} of {total}" + (f", to {worst:.0e}" if worst else ", exactly"),
        f"not done in {SECONDS} s" if checked is None else reports or "none",
    ]
    return f"| {' | '.join(map(str, cells))} |\n"


def main(names: list[str]) -> None:
    """Run some packages, or all that are installed, and put their lines into the table."""
    with ThreadPoolExecutor(2) as pool:
        chosen = [name for name in names or PACKAGES if installed(name)]
        for made in as_completed(pool.submit(row, name) for name in chosen):
            _write(made.result())


def _write(line: str) -> None:
    """Put a line into the table, in the place of the package's last one."""
    before, rest = PAGE.read_text().split(BEGIN)
    table, after = rest.split(END)
    lines = {_package(each): f"{each}\n" for each in table.splitlines() if each.startswith("|")}
    lines |= {_package(line): line}
    heads = HEAD.splitlines(keepends=True)
    rows = sorted(each for each in lines.values() if each not in heads)
    PAGE.write_text(f"{before}{BEGIN}\n{HEAD}{''.join(rows)}\n{END}{after}")


def _package(line: str) -> str:
    return line.split("|")[1].split()[0]


if __name__ == "__main__":
    main(sys.argv[1:])
