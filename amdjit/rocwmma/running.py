"""One case: compiled, run on a device, checked by rocWMMA's rule, counted and timed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import amdjit
from amdjit.inspection.inspection import Inspection
from amdjit.rocwmma.cases import ALPHA, BETA, Case, side_of, why_skipped
from amdjit.rocwmma.data import largest_error, problem_of, tolerance, unwritten
from amdjit.rocwmma.kernels import product_kernel
from amdjit.runtime.device import Device

__all__ = ["Outcome", "Result", "run"]

# As rocWMMA: launches that nobody times, and those of which the mean counts.
_WARM_UPS, _TIMED = 2, 5


class Outcome(Enum):
    """What a row of the report ends with."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True)
class Result:
    """What came of a case.

    wave_size: lanes of a wave. side: rows and columns of its blocks. reason: why it was skipped, or
    what failed. error: rocWMMA's relative error. milliseconds: of a launch on a GPU, None on an
    emulator. vgprs, sgprs, lds_bytes, waves_per_simd: of the code; mix: its instructions by unit.
    executed: instructions that the launch's waves executed, by unit; None on a GPU. cycles,
    seconds, wmma_share: the cycle model's estimate, where it knows the processor.
    """

    case: Case
    target: str
    wave_size: int
    side: int
    outcome: Outcome
    reason: str = ""
    error: float | None = None
    milliseconds: float | None = None
    vgprs: int | None = None
    sgprs: int | None = None
    lds_bytes: int | None = None
    waves_per_simd: int | None = None
    mix: Mapping[str, int] | None = None
    executed: Mapping[str, int] | None = None
    cycles: int | None = None
    seconds: float | None = None
    wmma_share: float | None = None


def run(case: Case, device: Device) -> Result:
    """Run a case on a device. Cases that its processor does not have are skipped, with the
    reason."""
    target = device.target
    reason, side = why_skipped(case, target), side_of(case, target)
    if reason is not None:
        return Result(case, target.name, target.wave_size, side, Outcome.SKIPPED, reason)
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
        target.wave_size,
        side,
        Outcome.PASSED if passed else Outcome.FAILED,
        "" if passed else f"relative error {error:g}, allowed {tolerance(case):g}",
        error,
        **_static(compiled.inspect()),
        **measured,
    )


def _on_a_gpu(launch: Any) -> dict[str, Any]:
    """Launch on a GPU; return the mean time of a launch."""
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
