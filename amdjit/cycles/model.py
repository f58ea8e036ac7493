"""The estimate of a launch's cycles: a sample of its workgroups on one workgroup processor, and
from that the whole chip.

    recording                       what workgroups did (`emulator.counting`)
      -> placement, sample          which of them a workgroup processor runs, and where
      -> simulation                 when each wave issues each instruction
      -> results                    by instruction, by line, by cause, as a timeline
      -> Cycles                     for all workgroups of the launch
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import CodeObject, Kernel
from amdjit.code_object.resources import demand_of_launch, resident_workgroups
from amdjit.cycles.cdna import lds_quanta
from amdjit.cycles.chip import Chip, chip_of
from amdjit.cycles.engine.layout import Request
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.estimate import Cycles
from amdjit.cycles.families import family_of
from amdjit.cycles.memory import NativeMemory, memory_of
from amdjit.cycles.parameter_file import file_assumption, values_of
from amdjit.cycles.parameters import passes_name
from amdjit.cycles.program import (
    CDNA,
    QUANTUM,
    TIMINGS,
    Kind,
    ProgramTable,
    Step,
    program_table,
)
from amdjit.cycles.results import SimulatedWave, by_instruction, by_line, stalls_of, timeline
from amdjit.cycles.rows import program_of
from amdjit.cycles.sample import Footprint, footprint_of, sample_of
from amdjit.cycles.simulation import GroupRun, Requests, WaveRun, simulate
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.emulator.counting.recording import Recording
from amdjit.isa.analysis.kernel_code import segment_of
from amdjit.isa.decode import decode
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.isa.traits import Timing
from amdjit.target import Target, find_target

__all__ = ["Launch", "Placement", "cycles_by_values", "estimate", "place"]

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
    values: Mapping[str, float] | None = None,
) -> Cycles:
    """Return the estimated cycles of a launch on the chip of its code object's processor.

    values: of the model's parameters and the chip's (`chip.CHIP_VALUES`), by name; None: those of
    AMDJIT_CYCLE_PARAMETERS, or of the table. NoEstimate for processors that the model does not
    know, for kernels of which no workgroup fits, and for recordings that end before their waves do.
    KeyError if there is no such kernel.
    """
    target = _target(code_object)
    file = None
    if values is None:
        values, file = values_of(target)
    return _estimate(
        code_object, kernel, launch=launch, recording=recording, values=values, file=file
    ).cycles()


def cycles_by_values(
    code_object: CodeObject, kernel: str, launch: Launch, recording: Recording
) -> Callable[[Mapping[str, float]], int]:
    """Return what gives `Cycles.kernel` of a launch for values of the parameters, without the rest
    of an estimate, for searches. Arguments and errors as those of `estimate`."""
    values = family_of(_target(code_object)).values
    whole = _estimate(
        code_object, kernel, launch=launch, recording=recording, values=values, file=None
    )
    chip = whole.chip

    def cycles(values: Mapping[str, float]) -> int:
        return replace(whole, values=values, chip=chip.with_values(values)).kernel_cycles()

    return cycles


def _target(code_object: CodeObject) -> Target:
    target = find_target(code_object.target_name)
    assert target is not None
    return target


def _estimate(
    code_object: CodeObject,
    kernel: str,
    launch: Launch,
    recording: Recording,
    values: Mapping[str, float],
    file: Path | None,
) -> _Estimate:
    target = _target(code_object)
    chip = chip_of(target).with_values(values)
    entry = code_object.kernels[kernel]
    placement = place(entry, target, launch.workgroup_size, launch.dynamic_lds)
    table = _table(code_object, recording, entry.metadata.wave_size)
    _check_complete(table, recording)
    return _Estimate(
        code_object,
        entry,
        launch=launch,
        recording=recording,
        values=values,
        chip=chip,
        placement=placement,
        table=table,
        file=file,
    )


def _table(code_object: CodeObject, recording: Recording, wave_size: int) -> ProgramTable:
    instruction_set = instruction_set_of(code_object.target_name)
    assert instruction_set is not None
    found = []
    for pc in recording.addresses.tolist():
        segment = segment_of(code_object, pc)
        found.append(decode(segment.data, pc - segment.address, pc, wave_size, instruction_set))
    return program_table(found)


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
    """An estimate under way."""

    code_object: CodeObject
    kernel: Kernel
    launch: Launch
    recording: Recording
    values: Mapping[str, float]
    chip: Chip
    placement: Placement
    table: ProgramTable
    file: Path | None

    def cycles(self) -> Cycles:
        """Return the result."""
        wanted, simulated = self._workgroups()
        footprint = footprint_of(self.recording, self.launch.workgroups, self.launch.lines)
        waves = self._simulated(footprint, simulated)
        kernel = whole(waves, simulated, wanted, self.placement.resident)
        quantum = QUANTUM if self.table.family == CDNA else 1
        instructions = by_instruction(self.table.addresses.tolist(), waves, quantum)
        wmma, valu = self._shares(waves, simulated, kernel)
        wave_size = self.kernel.metadata.wave_size
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
            assumptions=(
                *file_assumption(self.file),
                *sentences(
                    self.chip,
                    self.table,
                    waves=waves,
                    footprint=footprint,
                    wave_size=wave_size,
                    extrapolated=wanted - simulated,
                ),
            ),
        )

    def kernel_cycles(self) -> int:
        """Return the cycles of the whole launch alone."""
        wanted, simulated = self._workgroups()
        footprint = footprint_of(self.recording, self.launch.workgroups, self.launch.lines)
        waves = self._simulated(footprint, simulated)
        return whole(waves, simulated, wanted, self.placement.resident)

    def _workgroups(self) -> tuple[int, int]:
        """Return how many workgroups a workgroup processor runs, and how many are simulated."""
        wanted = -(-self.launch.workgroups // self.chip.workgroup_processors)
        return wanted, workgroups_to_simulate(self.placement, wanted, self.recording)

    def _simulated(self, footprint: Footprint, count: int) -> list[SimulatedWave]:
        active = min(self.chip.workgroup_processors, self.launch.workgroups)
        sharing = max(1.0, footprint.sharing / self.chip.dies)
        sample = sample_of(self.recording, count, sharing, active)
        program = program_of(self.table, self.values, self.kernel.metadata.wave_size)
        quantum = program.quantum
        memory = NativeMemory(memory_of(self.chip, active, footprint, self.values, quantum))
        start = int(self.values["wave start"]) // quantum
        groups = []
        for slot, (index, salt) in enumerate(zip(sample.workgroups, sample.salts, strict=True)):
            recorded = self.recording.workgroups[index]
            waves = tuple(WaveRun(wave.path, wave.request, start, salt) for wave in recorded.waves)
            simds = [self.placement.simd(slot, number) for number in range(len(waves))]
            is_first = slot < self.placement.resident
            groups.append(GroupRun(waves, tuple(simds) if is_first else None, recorded.number))
        rows = self.recording.requests
        if self.table.family == CDNA:
            rows = rows.copy()
            rows[:, Request.LDS_CYCLES] = lds_quanta(rows[:, Request.LDS_CYCLES])
        return simulate(program, groups, Requests(rows, sample.keys, memory))

    def _shares(
        self, waves: Sequence[SimulatedWave], simulated: int, kernel: int
    ) -> tuple[float, float]:
        """Return which share of the time the chip's WMMA units and vector ALUs are busy."""
        executed = np.concatenate([wave.path for wave in waves])
        counts = np.bincount(executed, minlength=len(self.table))
        timings = [TIMINGS[number] for number in self.table.steps[:, Step.TIMING]]
        cycles = [self.values.get(passes_name(each), 0) for each in timings]
        products = self.table.steps[:, Step.PASSES]
        busy = np.where(products > 0, products * QUANTUM, np.array(cycles)) * counts
        is_matrix = np.array([timing in _MATRIX for timing in timings])
        is_vector = self.table.steps[:, Step.KIND] == Kind.VALU
        everywhere = self.launch.workgroups / simulated
        simds = self.chip.workgroup_processors * self.placement.simds
        available = max(1, kernel * simds)
        wmma = busy[is_matrix].sum() * everywhere / available
        valu = busy[is_vector & ~is_matrix].sum() * everywhere / available
        return float(wmma), float(valu)


_MATRIX = (
    Timing.MATRIX_WIDE,
    Timing.MATRIX_NARROW,
    Timing.MATRIX_FOUR_BITS,
    Timing.MATRIX_BLOCKS,
)


def workgroups_to_simulate(placement: Placement, wanted: int, recording: Recording) -> int:
    """Return how many workgroups to simulate of those that a workgroup processor runs: all, or
    whole rounds of resident ones, at least two."""
    steps = sum(len(wave.path) for group in recording.workgroups for wave in group.waves)
    mean = max(1.0, steps / max(1, len(recording.workgroups)))
    rounds = int(_BUDGET / (mean * placement.resident))
    return min(wanted, max(2, rounds) * placement.resident)


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
    return end + round((wanted - simulated) / resident * float(last - before))


# What an estimate rests on that no measurement covers, as sentences.


def sentences(
    chip: Chip,
    table: ProgramTable,
    waves: list[SimulatedWave],
    footprint: Footprint,
    wave_size: int,
    extrapolated: int,
) -> tuple[str, ...]:
    """Return the assumptions that matter for an estimate. extrapolated: workgroups of a workgroup
    processor that were not simulated."""
    executed = np.unique(np.concatenate([wave.path for wave in waves]))
    kinds = {Kind(int(kind)) for kind in np.unique(table.steps[executed, Step.KIND])}
    found = [
        f"Seconds are at the boost clock of the {chip.product}, {chip.clock / 1e9:g} GHz: clocks "
        "under load are not modelled.",
        "Instructions are in the instruction cache.",
    ]
    is_cdna = table.family == CDNA
    if Kind.VECTOR_MEMORY in kinds:
        found += _of_memory(chip, footprint, is_cdna)
    if Kind.SCALAR_MEMORY in kinds and not is_cdna:
        found.append("Scalar loads that hit their cache take as long as the fastest ones traced.")
    if is_cdna:
        found += _of_cdna(chip, table, executed)
    elif wave_size != 32:
        found.append("Traces are of wave32 only: a wave64 is taken to pass each unit twice.")
    if extrapolated:
        found.append(
            f"{extrapolated} more workgroups of each {_unit(table)} take as long as the last "
            "round that was simulated."
        )
    return tuple(found)


def _unit(table: ProgramTable) -> str:
    return "compute unit" if table.family == CDNA else "workgroup processor"


def _of_cdna(chip: Chip, table: ProgramTable, executed: NDArray[np.int64]) -> Iterator[str]:
    yield (
        "CDNA: issue, vector ALU, branches and LDS are as traces of gfx950 with one wave on a SIMD "
        f"show them{'' if chip.target == 'gfx950' else '; of ' + chip.target + ' there are none'}."
    )
    if table.steps[executed, Step.PASSES].any():
        yield (
            "MFMA: a rule (AMD's matrix instruction calculator, LLVM's scheduling model); no trace "
            "has one."
        )


def _of_memory(chip: Chip, footprint: Footprint, is_cdna: bool) -> Iterator[str]:
    nbytes = footprint.lines * LINE_BYTES
    about = "" if footprint.is_exact else "about "
    fits = nbytes <= chip.infinity_bytes
    yield (
        "Latencies of the caches and of memory are those that MT4G measured on an MI300X; how "
        "bandwidth is shared among compute units is assumed."
        if is_cdna
        else "Latencies of L2 and of memory, and how bandwidth is shared among workgroup "
        "processors, are assumed: traces show hits of the first caches, and cold memory."
    )
    yield (
        f"The launch touches {about}{nbytes / 2**20:.3g} MiB; what "
        + (
            "it reads first comes from the Infinity Cache, as after an earlier launch on the same "
            "data."
            if fits
            else "L2 does not hold comes from DRAM."
        )
    )


# Where the waves of a launch run: how many workgroups a workgroup processor holds at a time, and
# on which SIMD each wave is.


@dataclass(frozen=True, slots=True)
class Placement:
    """How workgroups lie on a workgroup processor.

    resident: workgroups that it holds at a time. waves: of a workgroup. simds: of the processor.
    wgp_mode: whether a workgroup is spread over both of its compute units, not on one of them;
    also for processors without workgroup processors, which have one.
    """

    resident: int
    waves: int
    simds: int
    wgp_mode: bool

    def simd(self, slot: int, wave: int) -> int:
        """Return the SIMD of a wave of the workgroup in a slot.

        Waves go round the SIMDs, where the workgroup before ended: the distribution of the
        hardware's dispatcher is not documented.
        """
        if self.wgp_mode:
            return (slot * self.waves + wave) % self.simds
        half = self.simds // 2
        return slot % 2 * half + (slot // 2 * self.waves + wave) % half


def place(kernel: Kernel, target: Target, workgroup_size: int, dynamic_lds: int) -> Placement:
    """Return how a kernel's workgroups lie on a workgroup processor; NoEstimate if none fits.

    workgroup_size: work-items. dynamic_lds: bytes.
    """
    demand = demand_of_launch(kernel, workgroup_size, dynamic_lds)
    resident = resident_workgroups(kernel, target, workgroup_size, dynamic_lds)
    if resident == 0:
        raise NoEstimate(
            f"no workgroup of {workgroup_size} work-items with {demand.vgprs} VGPRs and "
            f"{demand.lds_bytes} bytes of LDS fits a workgroup processor of {target}"
        )
    simds = target.simds_per_workgroup_processor
    is_whole = demand.wgp_mode or not target.has_workgroup_processors
    return Placement(resident, demand.waves, simds, is_whole)
