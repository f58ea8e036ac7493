"""The plot of a run, as in rocWMMA's reports: speed by size, with one line for each
configuration."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amdjit.diagnostics.errors import LaunchError
from amdjit.rocwmma.report import tflops
from amdjit.rocwmma.running import Result

__all__ = ["draw", "lines_of", "plotter"]


def plotter() -> Any:
    """Return matplotlib's figures. LaunchError with the remedy if it is not installed."""
    try:
        return importlib.import_module("matplotlib.figure")
    except ImportError:
        raise LaunchError(
            "plots need matplotlib, which is not installed: `pip install matplotlib`, or leave out "
            "--plot"
        ) from None


def lines_of(results: Sequence[Result]) -> dict[str, list[tuple[int, float]]]:
    """Return the points of each element type: m, and the best speed of its cases in 10^12
    operations per second. Cases without a speed have no point."""
    best: dict[tuple[str, int], float] = {}
    for result in results:
        speed = tflops(result)
        if speed is not None:
            key = str(result.case.types), result.case.size[0]
            best[key] = max(speed, best.get(key, 0.0))
    lines: dict[str, list[tuple[int, float]]] = {}
    for (name, m), speed in sorted(best.items()):
        lines.setdefault(name, []).append((m, speed))
    return lines


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw the best case of each element type by m, into a file whose ending names its format.
    LaunchError if no case has a speed, or if matplotlib is not installed."""
    lines = lines_of(results)
    if not lines:
        raise LaunchError(
            "no case has a speed to plot: it is measured on a GPU, and estimated for gfx1200 and "
            "gfx1201"
        )
    measured = any(result.milliseconds is not None for result in results)
    figure = plotter().Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for name, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set_xlabel("m")
    axes.set_ylabel("TFLOPS, " + ("measured" if measured else "estimated by the cycle model"))
    axes.set_title(f"GEMM on {results[0].target}: best configuration of each type")
    axes.legend(title="A, B _ C, D _ sums")
    axes.grid(True, alpha=0.3)
    figure.savefig(path)
