"""What a launch counted, as arrays with one element for each instruction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import CodeObject, Kernel
from amdjit.emulator.counting.layout import AccessField
from amdjit.emulator.counting.paths import RecordedStreams, make_recording
from amdjit.emulator.counting.plan import CountedBlock, CountingPlan
from amdjit.emulator.counting.recording import Recording
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow
from amdjit.late_methods import dataclass

__all__ = ["CountedLaunch", "InstructionRows"]

Int64s = NDArray[np.int64]

_ALWAYS_TAKEN = (Flow.JUMP, Flow.CALL, Flow.INDIRECT, Flow.INDIRECT_CALL)
_ACCESS = (
    ("requests", AccessField.REQUESTS),
    ("bytes", AccessField.BYTES),
    ("cache_lines", AccessField.CACHE_LINES),
    ("lds_cycles", AccessField.LDS_CYCLES),
    ("lds_conflict_cycles", AccessField.LDS_CONFLICT_CYCLES),
    ("contention", AccessField.CONTENTION),
)


@dataclass(frozen=True, slots=True, eq=False)
class InstructionRows:
    """Counts by instruction, in the order of `CountingPlan.instructions`; the fields are those of
    `profiling.counts.Counts`."""

    executions: Int64s
    active_lanes: Int64s
    taken: Int64s
    requests: Int64s
    bytes: Int64s
    cache_lines: Int64s
    lds_cycles: Int64s
    lds_conflict_cycles: Int64s
    contention: Int64s
    barrier_waits: Int64s


@dataclass(frozen=True, eq=False)
class CountedLaunch:
    """A launch that has ended, and what its counters hold, summed over the host threads."""

    code_object: CodeObject
    kernel: Kernel
    geometry: LaunchShape
    waves: int
    """Waves of a workgroup."""
    plan: CountingPlan
    counters: Int64s
    """The counters, by their numbers in `plan`."""
    distinct_lines: int
    """Cache lines of the device's memory that were touched, private memory not among them."""
    streams: RecordedStreams | None
    """What the sample of workgroups did, as native code has written it."""

    @cached_property
    def recording(self) -> Recording | None:
        """What the sample of workgroups did, None if none was asked for."""
        return None if self.streams is None else make_recording(self.plan, self.streams)

    @cached_property
    def rows(self) -> InstructionRows:
        """The counts of each instruction."""
        place = {i.pc: number for number, i in enumerate(self.plan.instructions)}
        columns = {name: np.zeros(len(place), np.int64) for name in InstructionRows.__slots__}
        for instruction, executions, lanes, taken in self._executed():
            number = place[instruction.pc]
            columns["executions"][number] += executions
            columns["active_lanes"][number] += lanes
            columns["taken"][number] += taken
            if instruction.traits.waits_at_barrier and self.waves > 1:
                columns["barrier_waits"][number] += executions
        for pc, first in self.plan.accesses.items():
            for name, field in _ACCESS:
                columns[name][place[pc]] += self.counters[first + field]
        return InstructionRows(**columns)

    def _executed(self) -> Iterator[tuple[Instruction, int, int, int]]:
        """Yield each instruction with its executions, active lanes, and times that it branched."""
        for counted in self.plan.blocks:
            executions = int(self.counters[counted.executions])
            for segment in counted.segments:
                lanes = executions * self.plan.wave_size
                if segment.counter is not None:
                    lanes = int(self.counters[segment.counter])
                for instruction in counted.block.instructions[segment.first : segment.end]:
                    yield instruction, executions, lanes, self._taken(counted, instruction)

    def _taken(self, counted: CountedBlock, instruction: Instruction) -> int:
        if counted.taken is not None and instruction is counted.block.instructions[-1]:
            return int(self.counters[counted.taken])
        is_taken = instruction.traits.flow in _ALWAYS_TAKEN
        return int(self.counters[counted.executions]) if is_taken else 0
