"""Runs one case: compiles it, runs it on a device, checks it by rocWMMA's rule, counts and times
it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

import amdjit
from amdjit.inspection.inspection import Inspection
from amdjit.rocwmma.cases import ALPHA, BETA, Case, Layout, side_of, why_skipped
from amdjit.rocwmma.kernels import product_kernel
from amdjit.runtime.device import Device
from amdjit.types import Scalar

__all__ = ["Outcome", "Result", "largest_error", "problem_of", "run", "tolerance", "unwritten"]

# As in rocWMMA: the launches before timing, and the launches whose mean time is taken.
_WARM_UPS, _TIMED = 2, 5


class Outcome(Enum):
    """The result in words with which a row of the report ends."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True)
class Result:
    """The outcome of a case."""

    case: Case
    target: str
    wave_size: int
    """Lanes of a wave."""
    side: int
    """The rows and columns of its blocks."""
    outcome: Outcome
    reason: str = ""
    """Why it was skipped, or what failed."""
    error: float | None = None
    """rocWMMA's relative error."""
    milliseconds: float | None = None
    """The time of a launch on a GPU; None on an emulator."""
    vgprs: int | None = None
    """VGPRs of a wave."""
    sgprs: int | None = None
    """SGPRs of a wave."""
    lds_bytes: int | None = None
    """LDS of a workgroup."""
    waves_per_simd: int | None = None
    """Waves that a SIMD holds."""
    mix: Mapping[str, int] | None = None
    """The kernel's instructions by unit."""
    executed: Mapping[str, int] | None = None
    """The instructions that the waves of the launch executed, by unit; None on a GPU."""
    cycles: int | None = None
    """The cycle model's estimate; None if it does not know the processor."""
    seconds: float | None = None
    """The same in seconds."""
    wmma_share: float | None = None
    """The share of the peak rate of matrix products, by the estimate."""


def run(case: Case, device: Device) -> Result:
    """Run a case on a device. Cases that its processor does not support are skipped, with the
    reason."""
    target = device.target
    reason, side = why_skipped(case, target), side_of(case, target)
    if reason is not None:
        return Result(
            case,
            target.name,
            wave_size=target.wave_size,
            side=side,
            outcome=Outcome.SKIPPED,
            reason=reason,
        )
    problem = problem_of(case)
    with amdjit.use(device.name):
        arrays = [amdjit.to_device(each) for each in (problem.a, problem.b, problem.c)]
        d = amdjit.to_device(unwritten(case))
        waves = case.waves[0] * case.waves[1]
        kernel = product_kernel(case, target.wave_size)
        launch = kernel[case.grid, waves * target.wave_size].bind(
            *arrays, d, case.size[2], problem.ld_a, problem.ld_b, problem.ld_c,
            float(ALPHA), float(BETA),
        )  # fmt: skip
        measured = _on_a_gpu(launch) if device.name.startswith("hip") else _emulated(launch)
        compiled = next(iter(kernel.overloads.values()))
        error = largest_error(case, problem, d.copy_to_host())
    passed = error <= tolerance(case)
    return Result(
        case,
        target.name,
        wave_size=target.wave_size,
        side=side,
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
        reason="" if passed else f"relative error {error:g}, allowed {tolerance(case):g}",
        error=error,
        **_static(compiled.inspect()),
        **measured,
    )


def _on_a_gpu(launch: Any) -> dict[str, Any]:
    """Launch on a GPU; return the mean time of one launch."""
    for _ in range(_WARM_UPS):
        launch()
    start, end = amdjit.Event(), amdjit.Event()
    start.record()
    for _ in range(_TIMED):
        launch()
    end.record()
    end.synchronize()
    return {"milliseconds": start.elapsed_milliseconds(end) / _TIMED}


def _emulated(launch: Any) -> dict[str, Any]:
    """Launch on an emulator; return what was counted, and the cycle model's estimate."""
    with amdjit.profile() as profile:
        launch()
    (counted,) = profile.launches
    found: dict[str, Any] = {"executed": counted.totals.units}
    cycles = counted.cycles
    if cycles is not None:
        found |= {
            "cycles": cycles.kernel,
            "seconds": cycles.seconds,
            "wmma_share": cycles.wmma_share,
        }
    return found


def _static(inspection: Inspection) -> dict[str, Any]:
    mix: dict[str, int] = {}
    for instruction in inspection.instructions:
        mix[instruction.unit] = mix.get(instruction.unit, 0) + 1
    return {
        "vgprs": inspection.vgprs,
        "sgprs": inspection.sgprs,
        "lds_bytes": inspection.lds_bytes,
        "waves_per_simd": inspection.occupancy.waves_per_simd,
        "mix": mix,
    }


# rocWMMA's matrices, and its rule for how much a result may differ from the reference.

Matrix = np.ndarray[Any, Any]
# The machine epsilons of the types of results.
_EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
# Bits that no result has: a signalling NaN, or bytes that do not occur in the data.
_UNWRITTEN = {
    "f16": 0x7D01, "bf16": 0x7F81, "f32": 0x7F800001, "f64": 0x7FF0000000000001,
    "i8": 0x5A, "i32": 0x5A5A5A5A,
}  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """The matrices of a case as flat memory, with their leading dimensions."""

    a: Matrix
    b: Matrix
    c: Matrix
    ld_a: int
    ld_b: int
    ld_c: int
    expected: Matrix
    """D as a matrix of float64."""


def problem_of(case: Case) -> Problem:
    """Return rocWMMA's data for a case, and its reference: the sums of the exact product, converted
    to the type of the sums and then to that of the result."""
    m, n, k = case.size
    a, b, c = _pattern(m, k), _pattern(k, n), _pattern(m, n)
    of_sums, of_result = case.types.compute.dtype, case.types.output.dtype
    total = (a @ b).astype(of_sums)
    scaled = of_sums.type(ALPHA) * total + of_sums.type(BETA) * c.astype(of_sums)
    expected = scaled.astype(of_sums).astype(of_result).astype(np.float64)
    of_a, of_b, of_c = case.layouts
    return Problem(
        _flat(a, of_a, case.types.stored),
        _flat(b, of_b, case.types.stored),
        c=_flat(c, of_c, case.types.output),
        ld_a=k if of_a is Layout.ROWS else m,
        ld_b=n if of_b is Layout.ROWS else k,
        ld_c=n if of_c is Layout.ROWS else m,
        expected=expected,
    )


def _pattern(rows: int, columns: int) -> Matrix:
    """Return v = t % 5 for the element number t, negated if v % 3 != 0: 0, -1, -2, 3, -4. Products
    of such matrices are exact in float64."""
    v = np.arange(rows * columns, dtype=np.float64) % 5
    return np.where(v % 3 != 0, -v, v).reshape(rows, columns)


def _flat(values: Matrix, layout: Layout, dtype: Scalar) -> Matrix:
    lying = values if layout is Layout.ROWS else values.T
    return np.ascontiguousarray(lying).astype(dtype.dtype).reshape(-1)


def unwritten(case: Case) -> Matrix:
    """Return memory for D with contents that no kernel writes."""
    m, n, _ = case.size
    dtype = case.types.output
    return np.full(m * n, _UNWRITTEN[dtype.name], f"u{dtype.nbytes}").view(dtype.dtype)


def largest_error(case: Case, problem: Problem, found: Matrix) -> float:
    """Return rocWMMA's error: the largest |a - b| / (|a| + |b| + 1), or infinity if something is
    not a number. found: the flat memory of D."""
    m, n, _ = case.size
    d = found.reshape(m, n) if case.layouts[2] is Layout.ROWS else found.reshape(n, m).T
    with np.errstate(invalid="ignore"):  # signalling NaN where nothing was written
        values = d.astype(np.float64)
    if not np.isfinite(values).all():
        return float("inf")
    difference = np.abs(values - problem.expected)
    return float((difference / (np.abs(values) + np.abs(problem.expected) + 1)).max())


def tolerance(case: Case) -> float:
    """Return how large the error may be: 10 epsilon of the result's type, 100 epsilon if the sums
    have 16 bits, 0 for integers."""
    output, compute = case.types.output, case.types.compute
    if not output.is_float:
        return 0.0
    return _EPSILON[output.name] * (100 if compute.bits < 32 else 10)
