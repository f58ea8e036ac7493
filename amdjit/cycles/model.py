"""The estimate of a launch's cycles: a sample of its workgroups on one workgroup processor, and from
that the whole chip.

    recording                       what workgroups did (`emulator.counting`)
      -> placement, sample          which of them a workgroup processor runs, and where
      -> simulation                 when each wave issues each instruction
      -> results                    by instruction, by line, by cause, as a timeline
      -> Cycles                     for all workgroups of the launch
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from amdjit.code_object import CodeObject
from amdjit.cycles.assumptions import sentences
from amdjit.cycles.chip import Chip, chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.estimate import Cycles
from amdjit.cycles.memory import NativeMemory, memory_of
from amdjit.cycles.parameters import VALUES
from amdjit.cycles.placement import Placement, place
from amdjit.cycles.program import Kind, ProgramTable, Step, program_table
from amdjit.cycles.results import SimulatedWave, by_instruction, by_line, stalls_of, timeline
from amdjit.cycles.sample import Footprint, footprint_of, sample_of
from amdjit.cycles.simulation import Simulation, simulate
from amdjit.emulator.counting.recording import Recording
from amdjit.emulator.decoder import decode
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
    code_object: CodeObject,
    kernel: str,
    launch: Launch,
    recording: Recording,
    values: Mapping[str, float] = VALUES,
) -> Cycles:
    """Return the estimated cycles of a launch on the chip of its code object's processor.

    values: of the model's parameters, by name. NoEstimate for processors that the model does not
    know, for kernels of which no workgroup fits, and for recordings that end before their waves do.
    KeyError if there is no such kernel.
    """
    target = find_target(code_object.target_name)
    assert target is not None
    chip = chip_of(target)
    placement = place(
        code_object.kernels[kernel], target, launch.workgroup_size, launch.dynamic_lds
    )
    table = _table(code_object, recording)
    _check_complete(table, recording)
    return _Estimate(code_object, launch, recording, values, chip, placement, table).cycles()


def _table(code_object: CodeObject, recording: Recording) -> ProgramTable:
    return program_table(
        [decode(code_object.text(int(pc), _LONGEST), int(pc)) for pc in recording.addresses]
    )


def _check_complete(table: ProgramTable, recording: Recording) -> None:
    for group in recording.workgroups:
        for number, wave in enumerate(group.waves):
            last = table.steps[wave.path[-1], Step.KIND] if len(wave.path) else None
            if last != Kind.END:
                raise NoEstimate(
                    f"the recording of wave {number} of workgroup {group.number} ends before the "
                    "wave does: record fewer workgroups, or launch a smaller problem"
                )


@dataclass(frozen=True)
class _Estimate:
    """An estimate under way. active: workgroup processors at work; wanted: workgroups of each."""

    code_object: CodeObject
    launch: Launch
    recording: Recording
    values: Mapping[str, float]
    chip: Chip
    placement: Placement
    table: ProgramTable

    @property
    def active(self) -> int:
        """Workgroup processors that have work."""
        return min(self.chip.workgroup_processors, self.launch.workgroups)

    @property
    def wanted(self) -> int:
        """Workgroups of the workgroup processor that has most."""
        return -(-self.launch.workgroups // self.chip.workgroup_processors)

    def cycles(self) -> Cycles:
        footprint = footprint_of(self.recording, self.launch.workgroups, self.launch.lines)
        simulated = rounds_of(self.placement, self.wanted, self.recording)
        waves = self._simulated(footprint, simulated)
        kernel = whole(waves, simulated, self.wanted, self.placement.resident)
        instructions = by_instruction(self.table.addresses, waves)
        wmma, valu = self._shares(waves, simulated, kernel)
        return Cycles(
            kernel=kernel,
            per_wgp=max(wave.end for wave in waves),
            seconds=kernel / self.chip.clock,
            wmma_share=wmma,
            valu_share=valu,
            sampled_workgroups=simulated,
            stalls=stalls_of(instructions),
            by_instruction=instructions,
            by_line=by_line(instructions, self.code_object.line_of),
            timeline=timeline(waves),
            assumptions=sentences(self.chip, self.table, waves, footprint, simulated < self.wanted),
        )
