"""From the rows that native code writes to reports: what all checks share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.array_places import ArrayArgument, Place, place_in_lds, place_of
from amdjit.diagnostics.sanitizer import Coordinates, Origin, SanitizerReport
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.layout import Report
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What the numbers of a row mean in one launch."""

    function: EmulatedFunction
    compiled: HostKernel
    geometry: LaunchShape
    arguments: tuple[ArrayArgument, ...]
    memory: DeviceMemory

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.function.name

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self.function.kernel.descriptor.wave_size

    def line(self, site: int) -> tuple[str | None, int | None]:
        """Return the source file and line of a site."""
        return self.line_of(self.compiled.site_pcs[site])

    def line_of(self, pc: int) -> tuple[str | None, int | None]:
        """Return the source file and line of an instruction."""
        return self.function.module.code_object.line_of(pc) or (None, None)

    def instruction(self, site: int) -> str:
        """Return the instruction of a site as text."""
        return self.instruction_at(self.compiled.site_pcs[site])

    def instruction_at(self, pc: int) -> str:
        """Return an instruction as text."""
        return self.function.module.instruction_at(pc, self.wave_size)

    def block(self, group: int) -> Coordinates:
        """Return the indices of a workgroup by its number."""
        x, y, _ = self.geometry.grid
        return group % x, group // x % y, group // (x * y)

    def thread(self, wave: int, lane: int) -> Coordinates | None:
        """Return the indices of a work-item in its workgroup, None if no lane is given."""
        if lane < 0:
            return None
        item = wave * self.wave_size + lane
        x, y, _ = self.geometry.block
        return item % x, item // x % y, item // (x * y)

    def place(self, row: Row) -> Place | None:
        """Return the array element at a row's address, or that would be there."""
        pc = self.compiled.site_pcs[row[Report.SITE]]
        base = self.function.module.register_base(
            pc, row[Report.BASE] & (1 << 64) - 1, self.wave_size
        )
        return place_of(self.arguments, row.address, base)

    def lds_place(self, address: int) -> Place | None:
        """Return the element of a shared array at a byte of the workgroup's LDS, None if it is
        not known."""
        return place_in_lds(self.arguments, address)


class Row:
    """One row of the reports (`layout.Report`), read."""

    def __init__(self, values: Sequence[int]) -> None:
        self._values = [int(value) for value in values]

    def __getitem__(self, field: Report) -> int:
        return self._values[field]

    def counting(self, more: int) -> Row:
        """Return this row with a larger count."""
        values = list(self._values)
        values[Report.COUNT] += more
        return Row(values)

    @property
    def address(self) -> int:
        """The address, unsigned."""
        return self._values[Report.ADDRESS] & (1 << 64) - 1

    def block(self) -> Coordinates:
        """The workgroup's indices."""
        return self[Report.GROUP_X], self[Report.GROUP_Y], self[Report.GROUP_Z]

    def lane(self) -> int | None:
        """The lane, None if there is none."""
        return self[Report.LANE] if self[Report.LANE] >= 0 else None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check says about a row; `SanitizerReport` explains the fields."""

    kind: str
    message: str
    help: str
    other: Origin | None = None
    notes: tuple[str, ...] = ()
    place: Place | None = None
    """The element that it is about."""
    severity: str = "error"


def report_of(
    check: str,
    finding: Finding,
    row: Row,
    facts: LaunchFacts,
    address: int | None = None,
    nbytes: int | None = None,
    pc: int | None = None,
) -> SanitizerReport:
    """Return the report of a row. pc: the instruction, if it is not the one at the row's site."""
    pc = facts.compiled.site_pcs[row[Report.SITE]] if pc is None else pc
    file, line = facts.line_of(pc)
    place = finding.place
    return SanitizerReport(
        check=check,
        kind=finding.kind,
        severity=finding.severity,
        kernel=facts.kernel,
        message=finding.message,
        file=file,
        line=line,
        block=row.block(),
        thread=facts.thread(row[Report.WAVE], row[Report.LANE]),
        lane=row.lane(),
        address=address,
        nbytes=nbytes,
        array=place.array if place else None,
        index=place.indices if place else None,
        shape=place.shape if place else None,
        other=finding.other,
        count=row[Report.COUNT],
        instruction=facts.instruction_at(pc),
        notes=finding.notes,
        help=finding.help,
    )


def one_an_instruction(rows: Iterable[Row], pcs: Sequence[int]) -> list[Row]:
    """Return the rows in their order, with those of one instruction combined: each half of a wave64
    has a site of its own.

    pcs: the instruction of each site.
    """
    first: dict[tuple[int, ...], Row] = {}
    for row in rows:
        key = (row[Report.KIND], pcs[row[Report.SITE]], pcs[row[Report.OTHER_SITE]])
        known = first.get(key)
        first[key] = row if known is None else known.counting(row[Report.COUNT])
    return list(first.values())
