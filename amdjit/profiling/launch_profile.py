"""What one profiled launch did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING

from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.estimate import Cycles
from amdjit.emulator.counting.counted_launch import CountedLaunch, InstructionRows
from amdjit.emulator.counting.recording import Recording
from amdjit.emulator.decoder import disassemble
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.json_form import json_value
from amdjit.inspection.reading import inspect_object
from amdjit.inspection.units import unit_of
from amdjit.late import late
from amdjit.profiling.counts import Counts, InstructionCounts, LineCounts, Roofline, Totals
from amdjit.profiling.notebook import launch_html
from amdjit.profiling.operations import operations_of, sum_operations
from amdjit.profiling.peaks import PEAKS
from amdjit.profiling.roofline import roofline_of
from amdjit.profiling.text import launch_text

# Many profiles are read without estimates.
if TYPE_CHECKING:
    from amdjit.cycles import model
else:
    model = late("amdjit.cycles.model")

__all__ = ["IN_JSON", "LaunchProfile"]

# What the JSON form has of a launch.
IN_JSON = (
    "kernel", "target", "grid", "block", "dynamic_lds", "wave_size", "workgroups", "waves",
    "distinct_lines", "totals", "roofline", "instructions", "lines", "missing",
    "cycles", "no_cycles",
)  # fmt: skip

_COUNTS = tuple(field.name for field in fields(Counts))


class LaunchProfile:
    """What a launch did, from what the emulator counted.

    Counts are exact, summed over all waves. They do not depend on the order in which the emulator
    runs the waves, unless the kernel's own results do.
    """

    def __init__(self, counted: CountedLaunch) -> None:
        self._counted = counted

    @property
    def kernel(self) -> str:
        """The kernel's name in the code object."""
        return self._counted.kernel.name

    @property
    def target(self) -> str:
        """The processor, such as "gfx1201"."""
        return self._counted.code_object.target_name

    @property
    def code_object(self) -> bytes:
        """The code object that was launched."""
        return self._counted.code_object.data

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroups in x, y and z."""
        return self._counted.geometry.grid

    @property
    def block(self) -> tuple[int, int, int]:
        """Work-items of a workgroup in x, y and z."""
        return self._counted.geometry.block

    @property
    def dynamic_lds(self) -> int:
        """Bytes of LDS that the launch added for each workgroup."""
        return self._counted.geometry.dynamic_lds

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self._counted.plan.wave_size

    @property
    def workgroups(self) -> int:
        """Workgroups of the grid."""
        return self._counted.geometry.workgroups

    @property
    def waves(self) -> int:
        """Waves of all workgroups."""
        return self._counted.waves * self.workgroups

    @property
    def recording(self) -> Recording | None:
        """What a sample of the workgroups did; None if none was recorded."""
        return self._counted.recording

    @cached_property
    def cycles(self) -> Cycles | None:
        """The estimated cycles of the launch; None if there is no estimate: `no_cycles` says
        why."""
        return self._estimate[0]

    @property
    def no_cycles(self) -> str | None:
        """Why there is no estimate of cycles, None if there is one."""
        return self._estimate[1]

    @cached_property
    def _estimate(self) -> tuple[Cycles | None, str | None]:
        counted = self._counted
        if self.recording is None:
            return None, "no workgroup was recorded: `profile(workgroups=0)`"
        launch = model.Launch(
            self.workgroups, counted.geometry.items, self.dynamic_lds, counted.distinct_lines
        )
        try:
            found = model.estimate(counted.code_object, self.kernel, launch, self.recording)
        except NoEstimate as error:
            return None, str(error)
        return found, None

    @cached_property
    def inspection(self) -> Inspection:
        """The facts of the kernel, from the code object's bytes."""
        return inspect_object(self.code_object, self.kernel)

    @cached_property
    def instructions(self) -> tuple[InstructionCounts, ...]:
        """The counts of each instruction that the kernel can reach, by address."""
        whole = self._counted.code_object
        found = []
        for number, instruction in enumerate(self._counted.plan.instructions):
            place = whole.line_of(instruction.pc)
            file, line = place if place is not None else (None, None)
            counts = InstructionCounts(
                **_row(self._counted.rows, number),
                address=instruction.pc,
                text=disassemble(instruction),
                unit=unit_of(instruction),
                file=file,
                line=line,
            )
            found.append(counts)
        return tuple(found)

    @cached_property
    def lines(self) -> Mapping[tuple[str, int], LineCounts]:
        """The counts of each source line, by file and line; instructions without a line are not
        here."""
        by_line: dict[tuple[str, int], list[InstructionCounts]] = defaultdict(list)
        for counts in self.instructions:
            if counts.file is not None and counts.line is not None:
                by_line[counts.file, counts.line].append(counts)
        return {
            (file, line): LineCounts(**_sums(by_line[file, line]), file=file, line=line)
            for file, line in sorted(by_line)
        }

    @cached_property
    def totals(self) -> Totals:
        """The counts of the launch, executions by unit, and operations by type."""
        units: dict[str, int] = defaultdict(int)
        for counts in self.instructions:
            units[counts.unit] += counts.executions
        pairs = zip(self._counted.plan.instructions, self.instructions, strict=True)
        operations = sum_operations(
            operations_of(instruction, counts.executions, counts.active_lanes)
            for instruction, counts in pairs
        )
        return Totals(**_sums(self.instructions), units=dict(units), operations=operations)

    @property
    def distinct_lines(self) -> int:
        """Cache lines of the device's memory that the launch touches, each counted once; private
        memory is not among them."""
        return self._counted.distinct_lines

    @cached_property
    def roofline(self) -> Roofline | None:
        """Where the launch stands below the chip's limits; None if those are not known."""
        peaks = PEAKS.get(self.target)
        if peaks is None:
            return None
        return roofline_of(self.totals.operations or {}, self.distinct_lines, peaks)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """What could not be found out, and why, in sentences."""
        found = []
        peaks = PEAKS.get(self.target)
        if peaks is None:
            found.append(f"no roofline: what a chip with {self.target} can do is not known")
        else:
            unknown = sorted((self.totals.operations or {}).keys() - peaks.operations.keys())
            found += [
                f"operations of {kind} are not in the roofline: their peak is not known"
                for kind in unknown
            ]
        if self.recording is not None and self.recording.dropped:
            found.append(
                f"{self.recording.dropped} workgroups are not recorded: they have too many "
                "instructions (profile(instructions=...))"
            )
        return tuple(found)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return launch_html(self)

    def __str__(self) -> str:
        """The totals and the hot lines."""
        return launch_text(self)

    def json_form(self) -> dict[str, object]:
        """Return what `profile.to_json` writes of the launch."""
        return {name: json_value(getattr(self, name)) for name in IN_JSON}

    def __repr__(self) -> str:
        return f"<profile of {self.kernel}, grid {self.grid}, block {self.block}>"


def _row(rows: InstructionRows, number: int) -> dict[str, int]:
    return {name: int(getattr(rows, name)[number]) for name in _COUNTS}


def _sums(parts: Iterable[Counts]) -> dict[str, int]:
    several = list(parts)
    return {name: sum(getattr(part, name) for part in several) for name in _COUNTS}
