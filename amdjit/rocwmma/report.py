"""The report: first rocWMMA's columns, for programs that read its files, then amdjit's own; and its
plot."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from amdjit.diagnostics.errors import LaunchError
from amdjit.intrinsics.matrix.operands.parameters import Rounded
from amdjit.profiling.peaks import PEAKS
from amdjit.rocwmma.cases import ALPHA, BETA, Layout
from amdjit.rocwmma.running import Outcome, Result

__all__ = ["draw", "header", "lines_of", "plotter", "row", "tflops"]


_MISSING = "n/a"


def tflops(result: Result) -> float | None:
    """Return 10^12 operations per second, measured or else estimated; None if neither is known."""
    seconds = result.seconds if result.milliseconds is None else result.milliseconds / 1000
    return None if not seconds else result.case.operations / seconds / 1e12


def efficiency(result: Result) -> float | None:
    """Return the measured share of the peak in percent; None if one of them is not known."""
    peaks = PEAKS.get(result.target)
    if peaks is None or result.milliseconds is None:
        return None
    types = result.case.types
    name = types.input.value if isinstance(types.input, Rounded) else types.stored.name
    # Products of bf8 are as fast as those of fp8, and of gfx942's formats as those of others.
    name = name.replace("bf8", "fp8").removesuffix("_fnuz")
    speed = result.case.operations / (result.milliseconds / 1000)
    return 100 * speed / peaks.operations[f"{name} matrix"]


def leading_dimension(result: Result, which: int) -> int:
    """Return the leading dimension of A (0), B (1), or C and D (2)."""
    m, n, k = result.case.size
    in_rows, in_columns = ((k, m), (n, k), (n, m))[which]
    return in_rows if result.case.layouts[which] is Layout.ROWS else in_columns


def _measured(result: Result) -> float | None:
    return None if result.milliseconds is None else tflops(result)


def _estimated(result: Result) -> float | None:
    return None if result.seconds is None else result.case.operations / result.seconds / 1e12


def _counts(counts: Mapping[str, int] | None) -> str | None:
    return None if counts is None else " ".join(f"{unit}={count}" for unit, count in counts.items())


def _layouts(result: Result) -> str:
    a, b, c = result.case.layouts
    return "_".join(each.value for each in (a, b, c, c))


# rocWMMA's columns: test/gemm, printHeader and printKernel of its kernels of several blocks.
_THEIRS: Mapping[str, Callable[[Result], object]] = MappingProxyType(
    {
        "TBlkX": lambda r: r.case.waves[0] * r.wave_size,
        "TBlkY": lambda r: r.case.waves[1],
        "BlksX": lambda r: r.case.rows // r.side,
        "BlksY": lambda r: r.case.columns // r.side,
        "BlkM": lambda r: r.side,
        "BlkN": lambda r: r.side,
        "BlkK": lambda r: r.case.depth,
        "MatM": lambda r: r.case.size[0],
        "MatN": lambda r: r.case.size[1],
        "MatK": lambda r: r.case.size[2],
        "alpha": lambda r: ALPHA,
        "lda": lambda r: leading_dimension(r, 0),
        "ldb": lambda r: leading_dimension(r, 1),
        "beta": lambda r: BETA,
        "ldc": lambda r: leading_dimension(r, 2),
        "ldd": lambda r: leading_dimension(r, 2),
        "LytA_LytB_LytC_LytD": _layouts,
        "Ti_To_Tc": lambda r: r.case.types,
        "elapsedMs": lambda r: r.milliseconds,
        "Problem Size(GFlops)": lambda r: r.case.operations / 1e9,
        "TFlops/s": _measured,
        "Efficiency(%)": efficiency,
        "Result": lambda r: r.outcome.value,
    }
)
_OURS: Mapping[str, Callable[[Result], object]] = MappingProxyType(
    {
        "target": lambda r: r.target,
        "program": lambda r: r.case.program.value,
        "error": lambda r: r.error,
        "VGPRs": lambda r: r.vgprs,
        "SGPRs": lambda r: r.sgprs,
        "LDS bytes": lambda r: r.lds_bytes,
        "waves per SIMD": lambda r: r.waves_per_simd,
        "instructions": lambda r: _counts(r.mix),
        "executed": lambda r: _counts(r.executed),
        "estimated cycles": lambda r: r.cycles,
        "estimated TFlops/s": _estimated,
        "estimated WMMA share": lambda r: r.wmma_share,
        "reason": lambda r: r.reason,
    }
)


def header() -> str:
    """Return the names of the columns."""
    return ", ".join((*_THEIRS, *_OURS))


def row(result: Result) -> str:
    """Return the row of a result. Everything unknown is n/a, and so is the work of a skipped
    case."""
    texts = [_text(cell(result)) for cell in _THEIRS.values()]
    if result.outcome is Outcome.SKIPPED:
        place = list(_THEIRS).index("Problem Size(GFlops)")
        texts[place] = _MISSING  # rocWMMA writes it so
    return ", ".join((*texts, *(_text(cell(result)) for cell in _OURS.values())))


def _text(value: object) -> str:
    if value is None:
        return _MISSING
    return f"{value:.6g}" if isinstance(value, float) else str(value).replace(",", ";")


# The plot of a run, as in rocWMMA's reports: speed by size, with one line for each configuration.


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
