"""The figures of a kernel by name: what each means, what it is read from, what causes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from amdjit.diagnostics import AmdjitError
from amdjit.inspection.facts import UNITS, InstructionFacts, SourcePlace
from amdjit.inspection.hazards import Hazards, kernel_hazards
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.missing import HIDDEN_BRANCHES, NO_CODE_SIZE, NO_SCRATCH_SIZE
from amdjit.profiling.counts import Counts
from amdjit.profiling.launch_facts import LaunchFacts
from amdjit.testing.measured import Measured

__all__ = ["FIGURES", "Figure", "NotKnown", "Origin"]


class NotKnown(AmdjitError):
    """A figure that cannot be read from what is known of a kernel; the message says from what it
    can."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a figure comes from. place: the line that has most of it, None if no line is known.
    text: more about it, "" if there is no more."""

    place: SourcePlace | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number about a kernel.

    name: by which conditions call it. meaning: what it counts, in words. unit: "", "bytes" or "%".
    of_code, of_launch: read it from the code object, and from a launch; None if it is not there. A
    launch is asked first. cause, launch_cause: where most of it comes from, by each. better: "less"
    or "more" of it, "" for a figure that only describes the kernel.
    """

    name: str
    meaning: str
    unit: str = ""
    of_code: Callable[[Inspection], float] | None = None
    of_launch: Callable[[LaunchFacts], float] | None = None
    cause: Callable[[Inspection], Origin] = field(default=lambda _: Origin())
    launch_cause: Callable[[LaunchFacts], Origin] = field(default=lambda _: Origin())
    better: str = "less"

    @property
    def plain_meaning(self) -> str:
        """The meaning without links."""
        return re.sub(r"\[(.*?)\]\(.*?\)", r"\1", self.meaning)

    def read(self, kernel: Measured) -> float:
        """Return the figure of a kernel; NotKnown says what it takes to know it."""
        try:
            if self.of_launch is not None and kernel.launch is not None:
                return self.of_launch(kernel.launch)
            if self.of_code is not None and kernel.inspection is not None:
                return self.of_code(kernel.inspection)
        except NotKnown as error:
            raise NotKnown(f"{kernel.title}: {self.name} is not known. {error}") from None
        remedy = _NEEDS_LAUNCH if self.of_code is None else _NEEDS_CODE
        raise NotKnown(f"{kernel.title}: {self.name} is not known. {remedy}")

    def cause_in(self, kernel: Measured) -> Origin:
        """Return where most of it comes from."""
        if self.of_launch is not None and kernel.launch is not None:
            return self.launch_cause(kernel.launch)
        return Origin() if kernel.inspection is None else self.cause(kernel.inspection)


_NEEDS_LAUNCH = (
    "Only a launch tells: `--run` with FILE.py:KERNEL, or the JSON of `amdjit.profile()`."
)
_NEEDS_CODE = "A profile does not hold the code: name the code object, or FILE.py:KERNEL."


# Read from a code object.


def _whole(inspection: Inspection) -> Inspection:
    """Return an inspection that has all instructions of its kernel; NotKnown if it has not."""
    code = inspection.instructions
    if not code or any(one.mnemonic == "unknown" for one in code):
        raise NotKnown(" ".join(inspection.missing) or "The machine code could not be read.")
    if HIDDEN_BRANCHES in inspection.missing:
        raise NotKnown(HIDDEN_BRANCHES)
    return inspection


def _scratch(inspection: Inspection) -> int:
    if NO_SCRATCH_SIZE in inspection.missing:
        raise NotKnown(NO_SCRATCH_SIZE)
    return inspection.scratch_bytes


def _code_bytes(inspection: Inspection) -> int:
    if NO_CODE_SIZE in inspection.missing:
        raise NotKnown(NO_CODE_SIZE)
    return inspection.code_bytes


def _conflicts(inspection: Inspection) -> int:
    known = [one for one in _whole(inspection).accesses if one.space == "LDS"]
    hidden = [one for one in known if one.bank_conflicts is None]
    if hidden:
        raise NotKnown(
            f"The code does not show the addresses of {len(hidden)} of {len(known)} accesses to "
            "LDS. A launch counts them: `--run` with FILE.py:KERNEL, or the JSON of "
            "`amdjit.profile()`."
        )
    return sum(one.bank_conflicts or 0 for one in known)


def _at(inspection: Inspection, address: int, text: str = "") -> Origin:
    """Return the cause at an address, which it names if the line is not known."""
    code = inspection.instructions
    place = next((one.place for one in code if one.address == address), None)
    return Origin(place, text if place is not None else f"{text} at {address:#x}".strip())


def _peak(inspection: Inspection) -> Origin:
    if not inspection.instructions:
        return Origin()
    return _at(inspection, inspection.peak.address, f"{inspection.peak.vgprs} VGPRs are live")


def _most_scalars(inspection: Inspection) -> Origin:
    most = max(inspection.instructions, key=lambda one: len(one.live_sgprs), default=None)
    if most is None:
        return Origin()
    return _at(inspection, most.address, f"{len(most.live_sgprs)} SGPRs are live")


def _occupancy(inspection: Inspection) -> Origin:
    occupancy = inspection.occupancy
    steps = [f"limited by {occupancy.limited_by}", *(step.text for step in occupancy.steps[:1])]
    causes: dict[str, Callable[[Inspection], Origin]] = {"vgprs": _peak, "lds": _access_in("LDS")}
    find = causes.get(occupancy.limited_by)
    return Origin(None if find is None else find(inspection).place, "; ".join(steps))


def _access_in(space: str) -> Callable[[Inspection], Origin]:
    """Return what finds the first access to a memory: whoever sees its line knows the array."""

    def cause(inspection: Inspection) -> Origin:
        found = (one for one in inspection.accesses if one.space == space)
        text = f"the first access to {'scratch' if space == 'private' else space}"
        return next((_at(inspection, one.address, text) for one in found), Origin())

    return cause


def _spilled(inspection: Inspection) -> Origin:
    """Spilled VGPRs are accesses to private memory, most of them where most registers are live."""
    found = _access_in("private")(inspection)
    return found if found.place is not None else _peak(inspection)


def _worst_access(inspection: Inspection) -> Origin:
    worst = max(inspection.accesses, key=lambda one: one.bank_conflicts or 0, default=None)
    if worst is None or not worst.bank_conflicts:
        return Origin()
    return _at(inspection, worst.address, f"{worst.bank_conflicts} cycles of one {worst.kind}")


def _longest_line(counts: Callable[[InstructionFacts], bool]) -> Callable[[Inspection], Origin]:
    """Return what finds the line with most instructions of a kind."""

    def cause(inspection: Inspection) -> Origin:
        numbers: dict[SourcePlace, int] = {}
        for one in inspection.instructions:
            if one.place is not None and counts(one):
                numbers[one.place] = numbers.get(one.place, 0) + 1
        place = max(numbers, key=lambda each: numbers[each], default=None)
        return Origin() if place is None else Origin(place, f"{numbers[place]} are of this line")

    return cause


def _innermost_loop(inspection: Inspection) -> Origin:
    loop = max(inspection.loops, key=lambda one: one.depth, default=None)
    if loop is None:
        return Origin()
    header = inspection.blocks[loop.header].address
    return _at(inspection, header, f"one of {len(inspection.loops)}, at depth {loop.depth}")


def _of_unit(unit: str) -> Figure:
    """Return the figure of the instructions of a unit."""

    def counts(one: InstructionFacts) -> bool:
        return one.unit == unit

    return Figure(
        f"{unit.lower().replace(' ', '_')}_instructions",
        f"instructions of the unit {unit} in the machine code",
        of_code=lambda inspection: sum(map(counts, _whole(inspection).instructions)),
        cause=_longest_line(counts),
        better="",
    )


def _hazards(inspection: Inspection) -> Hazards:
    """Return what is missing and spare; NotKnown without the code, or if paths or registers are not
    known."""
    _whole(inspection)
    if not inspection.code_object:
        raise NotKnown(_NEEDS_CODE)
    found = _hazards_in(inspection.code_object, inspection.kernel)
    if found.unknown and not found.missing:
        raise NotKnown(found.unknown[0])
    return found


@lru_cache(maxsize=4)
def _hazards_in(data: bytes, kernel: str) -> Hazards:
    """Both figures of a kernel, and their causes, are read one after the other."""
    try:
        return kernel_hazards(data, kernel)
    except KeyError:
        raise NotKnown(f"The code object has no kernel {kernel}.") from None


def _missing(inspection: Inspection) -> Origin:
    found = _hazards(inspection).missing
    return _at(inspection, found[0].wait.pc, found[0].wait.message) if found else Origin()


def _unneeded(inspection: Inspection) -> Origin:
    found = _hazards(inspection).spare
    return _at(inspection, found[0].address, found[0].text) if found else Origin()


# Read from a launch.


def _cycles(launch: LaunchFacts) -> int:
    if launch.cycles is None:
        raise NotKnown(f"There is no estimate: {launch.no_cycles}.")
    return launch.cycles.kernel


def _rate(name: str) -> Callable[[LaunchFacts], float]:
    def read(launch: LaunchFacts) -> float:
        _cycles(launch)
        return 100 * float(getattr(launch.cycles, name))

    return read


def _slowest_line(launch: LaunchFacts) -> Origin:
    lines = {} if launch.cycles is None else launch.cycles.by_line
    sums = {place: sum(line.stalls.values()) + line.issue for place, line in lines.items()}
    place = max(sums, key=lambda each: sums[each], default=None)
    if place is None:
        return Origin()
    share = 100 * sums[place] / max(1, sum(sums.values()))
    return Origin(place, f"{share:.0f} % of the waves' cycles are of this line")


def _total(name: str) -> Callable[[LaunchFacts], float]:
    return lambda launch: int(getattr(launch.totals, name))


def _most(
    amount: Callable[[LaunchFacts, Counts], int], of: str = ""
) -> Callable[[LaunchFacts], Origin]:
    """Return what finds the line with the largest amount of something. of: its name, if the figure
    is not the amount."""

    def cause(launch: LaunchFacts) -> Origin:
        amounts = {place: amount(launch, line) for place, line in launch.lines.items()}
        place = max(amounts, key=lambda each: amounts[each], default=None)
        if place is None or not amounts[place]:
            return Origin()
        scalar = sum(
            amount(launch, each)
            for each in launch.instructions
            if (each.file, each.line) == place and each.unit == "scalar memory"
        )
        # They come first, at a line that names no array.
        loads = ", most by scalar loads, as of the arguments" if 2 * scalar > amounts[place] else ""
        return Origin(place, f"{amounts[place]:,} {of}are of this line{loads}")

    return cause


def _counted(name: str, meaning: str, unit: str = "", count: str = "") -> Figure:
    """Return the figure of a count. count: the field of `Counts`, if it has another name."""
    field_name = count or name
    return Figure(
        name,
        meaning,
        unit,
        of_launch=_total(field_name),
        launch_cause=_most(lambda _, line: int(getattr(line, field_name))),
    )


def _active(launch: LaunchFacts) -> float:
    lanes = launch.totals.executions * launch.wave_size
    if not lanes:
        raise NotKnown("No wave executed anything.")
    return 100 * launch.totals.active_lanes / lanes


def _used(launch: LaunchFacts) -> float:
    if launch.used_share is None:
        raise NotKnown("The launch accesses no memory by vector instructions.")
    return 100 * launch.used_share


# All figures, in the order of the documentation.


def _inactive(launch: LaunchFacts, line: Counts) -> int:
    return line.executions * launch.wave_size - line.active_lanes


_ALL = (
    Figure("vgprs", "VGPRs of a wave", of_code=lambda one: one.vgprs, cause=_peak),
    Figure("sgprs", "SGPRs of a wave", of_code=lambda one: one.sgprs, cause=_most_scalars),
    Figure(
        "live_vgprs",
        "VGPRs that are live at once, at most",
        of_code=lambda one: _whole(one).peak.vgprs,
        cause=_peak,
    ),
    Figure(
        "spills",
        "registers that are spilled to memory for lack of room, VGPRs and SGPRs",
        of_code=lambda one: one.vgpr_spills + one.sgpr_spills,
        cause=_spilled,
    ),
    Figure(
        "vgpr_spills", "VGPRs that are spilled", of_code=lambda one: one.vgpr_spills, cause=_spilled
    ),
    Figure(
        "sgpr_spills",
        "SGPRs that are spilled",
        of_code=lambda one: one.sgpr_spills,
        cause=_most_scalars,
    ),
    Figure(
        "scratch",
        "scratch memory of a work-item",
        "bytes",
        of_code=_scratch,
        cause=_access_in("private"),
    ),
    Figure(
        "lds",
        "LDS of a workgroup; what a launch adds is in it if the launch is known",
        "bytes",
        of_code=lambda one: one.lds_bytes,
        cause=_access_in("LDS"),
    ),
    Figure(
        "occupancy",
        "waves that a SIMD holds at once, in whole workgroups",
        of_code=lambda one: one.occupancy.waves_per_simd,
        cause=_occupancy,
        better="more",
    ),
    Figure("code_bytes", "size of the machine code", "bytes", of_code=_code_bytes),
    Figure(
        "instructions",
        "machine instructions",
        of_code=lambda one: len(_whole(one).instructions),
        cause=_longest_line(lambda _: True),
    ),
    *map(_of_unit, UNITS),
    Figure(
        "loops",
        "loops in the machine code",
        of_code=lambda one: len(_whole(one).loops),
        cause=_innermost_loop,
        better="",
    ),
    Figure(
        "lds_conflicts",
        "cycles of LDS lost to bank conflicts: over all waves of a launch; without a launch, of "
        "each access once",
        of_code=_conflicts,
        cause=_worst_access,
        of_launch=_total("lds_conflict_cycles"),
        launch_cause=_most(lambda _, line: line.lds_conflict_cycles),
    ),
    Figure(
        "missing_waits",
        "waits and wait states that are missing on some path, as [hazards](hazards.md) has them",
        of_code=lambda one: len(_hazards(one).missing),
        cause=_missing,
    ),
    Figure(
        "spare_waits",
        "waits, `s_nop` and `v_nop` of which no path needs all",
        of_code=lambda one: len(_hazards(one).spare),
        cause=_unneeded,
    ),
    Figure(
        "cycles",
        "cycles of the launch, estimated by the [cycle model](cycles.md)",
        of_launch=_cycles,
        launch_cause=_slowest_line,
    ),
    Figure(
        "wmma_share",
        "part of the peak rate of matrix instructions, estimated",
        "%",
        of_launch=_rate("wmma_share"),
        launch_cause=_slowest_line,
        better="",
    ),
    Figure(
        "valu_share",
        "part of the peak rate of vector instructions, estimated",
        "%",
        of_launch=_rate("valu_share"),
        launch_cause=_slowest_line,
        better="",
    ),
    _counted("executions", "instructions that waves executed"),
    Figure(
        "active_lanes",
        "lanes that are active, of all lanes of the executed instructions",
        "%",
        of_launch=_active,
        launch_cause=_most(_inactive),
        better="more",
    ),
    _counted("requests", "accesses to memory that waves made"),
    _counted("requested_bytes", "bytes that lanes asked memory for", "bytes", count="bytes"),
    _counted("cache_lines", "lines of 128 bytes that were touched, summed over the requests"),
    Figure(
        "used_bytes",
        "part that was asked for of the cache lines that vector instructions touched",
        "%",
        of_launch=_used,
        launch_cause=_most(lambda _, line: line.cache_lines, of="cache lines "),
        better="more",
    ),
    Figure(
        "distinct_lines",
        "lines of memory that the launch touches, each counted once",
        of_launch=lambda launch: launch.distinct_lines,
    ),
    _counted("lds_cycles", "cycles that LDS needs"),
    _counted("contention", "lanes of atomics that access an address after another lane"),
    _counted("barrier_waits", "how often a wave came to a wait at a barrier"),
)

FIGURES = MappingProxyType({figure.name: figure for figure in _ALL})
