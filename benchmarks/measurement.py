"""Functions that the benchmarks share: fresh processes, tables, and results as JSON in
benchmarks/results."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
RESULTS = HERE / "results"


def run_fresh(script: Path, *arguments: str, **variables: str) -> Any:
    """Run a script in a new process and return the JSON that it prints. Bytecode is stored, as in
    an installation."""
    environment = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    }
    environment |= {
        "PYTHONPYCACHEPREFIX": str(_bytecode()),
        "PYTHONPATH": str(ROOT),
        "AMDJIT_DEVICE": "emulator:gfx1201",
    }
    environment |= variables
    done = subprocess.run(
        [sys.executable, str(script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{script.name} {' '.join(arguments)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def _bytecode() -> Path:
    return Path(tempfile.gettempdir()) / f"amdjit-benchmark-bytecode-{os.getpid()}"


def best(action: Callable[[], object], rounds: int) -> float:
    """Return the shortest time of some rounds, in seconds, because other work of the machine
    affects it least."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return min(times)


def timed(
    function: Callable[..., Any],
    note: Callable[[float], None],
    clock: Callable[[], float] = perf_counter,
) -> Callable[..., Any]:
    """Return a function that does the same, and passes the seconds of each call to `note`."""

    def measured(*arguments: Any, **keywords: Any) -> Any:
        start = clock()
        try:
            return function(*arguments, **keywords)
        finally:
            note(clock() - start)

    return measured


def summary(values: Sequence[float]) -> dict[str, float]:
    """Return the least and the median of some times, in milliseconds."""
    return {
        "best_ms": round(min(values) * 1e3, 2),
        "median_ms": round(statistics.median(values) * 1e3, 2),
    }


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text, with numbers aligned to the right."""
    body = list(rows)
    lines = [[str(cell) for cell in line] for line in (head, *body)]
    columns = range(len(head))
    widths = [max(len(line[column]) for line in lines) for column in columns]
    texts = [
        any(isinstance(line[column], str) and line[column] for line in body) for column in columns
    ]

    def cell(line: list[str], column: int) -> str:
        return (
            line[column].ljust(widths[column])
            if texts[column]
            else line[column].rjust(widths[column])
        )

    text = ["  ".join(cell(line, column) for column in columns).rstrip() for line in lines]
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text)


def save(name: str, results: dict[str, Any]) -> None:
    """Write results, with the machine on which they were measured, to benchmarks/results."""
    RESULTS.mkdir(exist_ok=True)
    machine = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
    }
    file = RESULTS / f"{name}.json"
    file.write_text(json.dumps({"machine": machine, **results}, indent=2) + "\n")
    print(f"\nwritten to {file}")
