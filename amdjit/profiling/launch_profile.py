"""What one profiled launch did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cached_property

from amdjit.emulator.counting.counted_launch import CountedLaunch, InstructionRows
from amdjit.emulator.counting.recording import Recording
from amdjit.emulator.decoder import disassemble
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.reading import inspect_object
from amdjit.inspection.units import unit_of
from amdjit.profiling.counts import Counts, InstructionCounts, LineCounts, Totals
from amdjit.profiling.notebook import launch_html

__all__ = ["LaunchProfile"]

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
        return self._counted.geometry.groups

    @property
    def waves(self) -> int:
        """Waves of all workgroups."""
        return self._counted.waves * self.workgroups

    @property
    def recording(self) -> Recording | None:
        """What a sample of the workgroups did; None if none was recorded."""
        return self._counted.recording

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
        """The counts of the launch, and executions by unit."""
        units: dict[str, int] = defaultdict(int)
        for counts in self.instructions:
            units[counts.unit] += counts.executions
        return Totals(**_sums(self.instructions), units=dict(units), operations=None)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return launch_html(self)

    def __repr__(self) -> str:
        return f"<profile of {self.kernel}, grid {self.grid}, block {self.block}>"


def _row(rows: InstructionRows, number: int) -> dict[str, int]:
    return {name: int(getattr(rows, name)[number]) for name in _COUNTS}


def _sums(parts: Iterable[Counts]) -> dict[str, int]:
    several = list(parts)
    return {name: sum(getattr(part, name) for part in several) for name in _COUNTS}
