"""The estimate of a launch's cycles: a sample of its workgroups on one workgroup processor, and from
that the whole chip.

    recording                       what workgroups did (`emulator.counting`)
      -> placement, sample          which of them a workgroup processor runs, and where
      -> simulation                 when each wave issues each instruction
      -> results                    by instruction, by line, by cause, as a timeline
      -> Cycles                     for all workgroups of the launch
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amdjit.code_object import CodeObject
from amdjit.cycles.chip import Chip, chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.estimate import Cycles
from amdjit.cycles.placement import Placement, place
from amdjit.cycles.results import SimulatedWave, by_instruction, by_line, stalls_of, timeline
from amdjit.cycles.sample import footprint_of, sample_of
from amdjit.emulator.counting.recording import Recording
from amdjit.target import find_target

__all__ = ["Launch", "estimate"]

# Wave instructions that an estimate simulates at most, as far as two rounds of resident workgroups
# allow: half a second.
_BUDGET = 2_000_000


@dataclass(frozen=True, slots=True)
class Launch:
    """The size of a launch. workgroups: of the grid. workgroup_size: work-items. dynamic_lds:
    bytes. lines: different cache lines that the launch touched, None if nobody counted them."""

    workgroups: int
    workgroup_size: int
    dynamic_lds: int = 0
    lines: int | None = None


def estimate(
    code_object: CodeObject, kernel: str, launch: Launch, recording: Recording
) -> Cycles:
    """Return the estimated cycles of a launch on the chip of its code object's processor.

    NoEstimate for processors that the model does not know, for kernels of which no workgroup fits,
    and for recordings that end before their waves do. KeyError if there is no such kernel.
    """
    target = find_target(code_object.target_name)
    assert target is not None
    chip = chip_of(target)
    entry = code_object.kernels[kernel]
    placement = place(entry, target, launch.workgroup_size, launch.dynamic_lds)
    ...


def rounds_of(placement: Placement, wanted: int, recording: Recording) -> int:
    """Return how many workgroups to simulate of those that a workgroup processor runs: all, or
    whole rounds of resident ones, at least two."""
    steps = sum(len(wave.path) for group in recording.workgroups for wave in group.waves)
    mean = max(1.0, steps / max(1, len(recording.workgroups)))
    affordable = int(_BUDGET / (mean * placement.resident))
    return min(wanted, max(2, affordable) * placement.resident)


def whole(waves: Sequence[SimulatedWave], simulated: int, wanted: int, resident: int) -> int:
    """Return the cycles of all workgroups of a workgroup processor, from those of the first ones:
    the rest takes as long as the last simulated round."""
    end = max(wave.end for wave in waves)
    if wanted <= simulated:
        return end
    ends = np.zeros(simulated, np.int64)
    for wave in waves:
        ends[wave.workgroup] = max(ends[wave.workgroup], wave.end)
    ends.sort()
    last, before = ends[-resident:].mean(), ends[-2 * resident : -resident].mean()
    return round(end + (wanted - simulated) / resident * (last - before))
