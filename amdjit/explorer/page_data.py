"""What is known about a kernel as plain data for the page: its inspection, and the counts and
cycles of a launch. Fields that are empty or unknown are left out.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import groupby
from pathlib import PurePath
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from amdjit.cycles.estimate import STALLS, Cycles, InstructionCycles, Segment, WaveTimeline
from amdjit.inspection.causes import Cause, causes_in_code
from amdjit.inspection.facts import UNITS, AccessFacts, Call, InstructionFacts, KernelFacts, Peak
from amdjit.inspection.meanings import meanings_of
from amdjit.inspection.missing import NO_NAMES
from amdjit.intrinsics.models.matrix_layouts import OPERANDS, Layout, matrix_instruction
from amdjit.profiling.counts import Counts, InstructionCounts, Roofline, Totals

__all__ = [
    "Interned",
    "Launch",
    "inspection_data",
    "ir_lines",
    "known",
    "lane_maps",
    "launch_data",
    "ranges",
    "tree_lines",
]


# Values that are listed once in the page's data and referred to by their numbers elsewhere.

Value = TypeVar("Value", bound=Hashable)


@dataclass(slots=True)
class Interned(Generic[Value]):
    """Distinct values in the order of their first use."""

    _numbers: dict[Value, int] = field(default_factory=dict)

    def number(self, value: Value) -> int:
        """Return the number of a value, from 0."""
        return self._numbers.setdefault(value, len(self._numbers))

    def values(self) -> list[Value]:
        """Return the values by number."""
        return list(self._numbers)


# How many lines of a file are shown before its first line with code, and after its last.
_CONTEXT = 60
_SCALARS = (
    "kernel", "target", "wave_size", "wgp_mode", "producer", "vgprs", "sgprs", "vgpr_spills",
    "sgpr_spills", "lds_bytes", "scratch_bytes", "code_bytes", "workgroup_size",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Numbering:
    """The values that are listed once in a kernel's data."""

    files: Interned[str] = field(default_factory=Interned)
    stacks: Interned[tuple[Call, ...]] = field(default_factory=Interned)

    def place(self, place: Place) -> list[int] | None:
        """Return a place in the form that the page uses: the number of the file, and the line."""
        return [self.files.number(place[0]), place[1]] if place else None


def inspection_data(inspection: KernelFacts) -> dict[str, Any]:
    """Return everything that the page shows about a code object, as JSON values."""
    numbering = Numbering()
    data: dict[str, Any] = {name: getattr(inspection, name) for name in _SCALARS}
    data["units"] = list(UNITS)
    meanings = meanings_of(inspection)
    data["instructions"] = [
        {**_instruction(each, numbering), **known(meaning=meanings.get(each.address))}
        for each in inspection.instructions
    ]
    data["blocks"] = [asdict(block) for block in inspection.blocks]
    data["loops"] = [asdict(loop) for loop in inspection.loops]
    data["accesses"] = [_access(each, numbering) for each in inspection.accesses]
    data["peak"] = _peak(inspection.peak, numbering)
    data["occupancy"] = asdict(inspection.occupancy)
    data["register_banks"] = [
        {**asdict(each), "addresses": len(each.addresses)} for each in inspection.register_banks
    ]
    # The page says in the place of the names that there are none.
    data["causes"] = _shown(causes_in_code(inspection))
    data["missing"] = [text for text in inspection.missing if text != NO_NAMES]
    data["lane_maps"] = lane_maps(inspection)
    companion = inspection.companion
    data["optimized_llvm"] = _text(ir_lines(companion.optimized_llvm), numbering)
    data["typed_tree"] = _text(tree_lines(companion.typed_tree), numbering)
    data["stacks"] = [[_call(call, numbering) for call in s] for s in numbering.stacks.values()]
    data["files"] = _files(data, numbering, companion.sources)
    return data


def _peak(peak: Peak, numbering: Numbering) -> dict[str, Any]:
    origins = [
        known(place=numbering.place(each.place), vgprs=len(each.vgprs)) for each in peak.origins
    ]
    return {**asdict(replace(peak, origins=())), "origins": origins}


def _instruction(each: InstructionFacts, numbering: Numbering) -> dict[str, Any]:
    return known(
        address=each.address,
        size=each.size,
        text=each.text,
        mnemonic=each.mnemonic,
        unit=each.unit,
        issue=each.issue_cycles,
        place=numbering.place(each.place),
        stack=numbering.stacks.number(each.inlined_from) if each.inlined_from else None,
        block=each.block,
        depth=each.loop_depth or None,
        vgprs=ranges(each.live_vgprs),
        sgprs=ranges(each.live_sgprs),
        waits_for=list(each.waits_for),
        waited_by=list(each.waited_by),
        needs=list(each.needs),
    )


def _call(call: Call, numbering: Numbering) -> dict[str, Any]:
    return {"function": call.function, "place": numbering.place((call.file, call.line))}


def _access(access: AccessFacts, numbering: Numbering) -> dict[str, Any]:
    fields = asdict(access)
    file, line = fields.pop("file"), fields.pop("line")
    place = numbering.place((file, line)) if file is not None and line is not None else None
    return known(**fields, place=place)


def known(**fields: Any) -> dict[str, Any]:
    """Return the fields that are neither None nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def ranges(numbers: Iterable[int]) -> str:
    """Return a set of numbers as its runs: {0, 1, 2, 7} as "0-2 7"."""
    runs = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    return " ".join(_run([number for _, number in run]) for _, run in runs)


def _run(numbers: list[int]) -> str:
    first, last = numbers[0], numbers[-1]
    return f"{first}-{last}" if last > first else str(first)


def _text(lines: Iterator[tuple[str, Place]], numbering: Numbering) -> list[Any]:
    """Return the lines of a text, each as [line, file, line in the file], or as [line] alone."""
    return [[line, *(numbering.place(place) or ())] for line, place in lines]


def _files(
    data: Mapping[str, Any], numbering: Numbering, sources: Mapping[str, str]
) -> list[dict[str, Any]]:
    used = list(_places(data))
    return [
        _file(name, sources.get(name), [line for file, line in used if file == number])
        for number, name in enumerate(numbering.files.values())
    ]


def _places(data: Mapping[str, Any]) -> Iterator[list[int]]:
    for instruction in data["instructions"]:
        yield from filter(None, [instruction.get("place")])
    for stack in data["stacks"]:
        yield from filter(None, (call["place"] for call in stack))


def _file(name: str, text: str | None, used: list[int]) -> dict[str, Any]:
    """Return a file with the part of its text around the code. first: the number of the first line
    of that part."""
    if not text or not used:
        return {"name": name}
    lines = text.splitlines()
    first = max(1, min(used) - _CONTEXT)
    return {"name": name, "first": first, "lines": lines[first - 1 : max(used) + _CONTEXT]}


# The page's lane maps show which lane holds which element of the operands of a matrix instruction.

LaneMaps = dict[str, dict[str, dict[str, Any]]]


def lane_maps(inspection: KernelFacts) -> LaneMaps:
    """Return the maps of the operands of each matrix instruction of a kernel, by mnemonic.
    Instructions whose layouts are not known are left out."""
    if not inspection.target.startswith(("gfx11", "gfx12")):
        return {}
    mnemonics = {each.mnemonic for each in inspection.instructions if each.unit == "WMMA"}
    wave_size, target = inspection.wave_size, inspection.target
    maps = {name: _operands(f"{name}_w{wave_size}", target) for name in sorted(mnemonics)}
    return {name: operands for name, operands in maps.items() if operands}


def _operands(instruction: str, target: str) -> dict[str, dict[str, Any]]:
    try:
        # The names of layouts are the assembler's without the prefix of vector instructions.
        found = matrix_instruction(instruction.removeprefix("v_"), target)
    except ValueError:
        return {}
    operands = OPERANDS if found.is_sparse else OPERANDS[:-1]
    return {operand: _map(found.layout(operand)) for operand in operands}


def _map(layout: Layout) -> dict[str, Any]:
    """Return a layout as data. lanes, elements: for each place of the matrix, row by row, the lane
    that holds it, and its number among the lane's elements, of which the first is in the lowest
    bits. copies: how many groups of that many lanes hold the same elements; the lanes are those of
    the first group."""
    held = layout.positions()
    lane, element = np.meshgrid(np.arange(layout.lanes), np.arange(layout.elements), indexing="ij")
    lanes = np.zeros((layout.rows, layout.columns), np.int64)
    elements = np.zeros_like(lanes)
    lanes[held], elements[held] = lane, element
    return {
        "kind": layout.kind,
        "rows": layout.rows,
        "columns": layout.columns,
        "bits": layout.bits,
        "registers": layout.registers,
        "copies": layout.copies,
        "lanes": lanes.ravel().tolist(),
        "elements": elements.ravel().tolist(),
    }


# The source line of each line of a text: LLVM IR has it in its debug metadata, the typed tree at
# the beginning of its lines.

Place = tuple[str, int] | None

_METADATA = re.compile(r"^!(?P<number>\d+) = (?:distinct )?!(?P<kind>\w+)\((?P<fields>.*)\)$")
_FIELD = re.compile(r'(?P<name>\w+): (?:!(?P<node>\d+)|"(?P<text>[^"]*)"|(?P<word>[^,]*))')
_USE = re.compile(r",? !dbg !(?P<number>\d+)")
_TREE_FILE = re.compile(r"^# (?P<file>\S.*)$")
_TREE_LINE = re.compile(r"^\s*(?P<line>\d*) \| ?(?P<text>.*)$")

Nodes = Mapping[str, tuple[str, Mapping[str, str]]]


def ir_lines(text: str) -> Iterator[tuple[str, Place]]:
    """Yield the lines of LLVM IR, each with the file and line that it was compiled for. Metadata
    that only says where code comes from are left out."""
    lines = text.splitlines()
    nodes = {number: node for line in lines for number, node in _metadata(line)}
    for line in lines:
        use = _USE.search(line)
        if not line.startswith("!"):
            yield _USE.sub("", line), _place(use["number"], nodes) if use else None


def _metadata(line: str) -> Iterator[tuple[str, tuple[str, Mapping[str, str]]]]:
    match = _METADATA.match(line) if line.startswith("!") else None
    if match:
        fields = {
            each["name"]: each["node"] or each["text"] or each["word"] or ""
            for each in _FIELD.finditer(match["fields"])
        }
        yield match["number"], (match["kind"], fields)


def _place(number: str, nodes: Nodes) -> Place:
    kind, fields = nodes.get(number, ("", {}))
    line = fields.get("line", "0")
    if kind not in ("DILocation", "DISubprogram") or not line.isdigit() or line == "0":
        return None
    file = _places_file(number, nodes)
    return (file, int(line)) if file else None


def _places_file(number: str, nodes: Nodes) -> str:
    """Return the path of the file of a scope, or of the nearest scope around it that has one."""
    seen: set[str] = set()
    while number in nodes and number not in seen:
        seen.add(number)
        kind, fields = nodes[number]
        if kind == "DIFile":
            folder, name = fields.get("directory", ""), fields.get("filename", "")
            return f"{folder}/{name}" if folder and not name.startswith("/") else name
        number = fields.get("file") or fields.get("scope", "")
    return ""


def tree_lines(text: str) -> Iterator[tuple[str, Place]]:
    """Yield the lines of a printed typed tree without their numbers and folders, each with its file
    and line."""
    file = ""
    for line in text.splitlines():
        name, found = _TREE_FILE.match(line), _TREE_LINE.match(line)
        if name:
            file = name["file"]
            yield f"# {PurePath(file).name}", None
        elif found:
            yield found["text"], (file, int(found["line"])) if found["line"] and file else None
        else:
            yield line, None


# The counts and cycles of a launch as plain data for the page.


_COUNTS = tuple(field.name for field in fields(Counts))
# The most segments of all timelines together. If there are more, the shortest ones are merged with
# their neighbours.
_MOST_SEGMENTS = 24_000
_WHATS = ("issue", *STALLS)
_MOST_CAUSES = 3


class Launch(Protocol):
    """The parts of a profiled launch that the page reads."""

    @property
    def kernel(self) -> str:
        """The kernel's name."""

    @property
    def code_object(self) -> bytes:
        """The code object that was launched."""

    @property
    def inspection(self) -> KernelFacts:
        """The facts of the kernel."""

    @property
    def instructions(self) -> Sequence[InstructionCounts]:
        """Counts by instruction."""

    @property
    def totals(self) -> Totals:
        """Counts of the launch."""

    @property
    def arguments(self) -> Mapping[str, str]:
        """What the kernel was launched with, by name."""

    @property
    def causes(self) -> Sequence[Cause]:
        """What costs most, that first."""

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroups in x, y and z."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Work-items of a workgroup in x, y and z."""

    @property
    def waves(self) -> int:
        """Waves of all workgroups."""

    @property
    def roofline(self) -> Roofline | None:
        """How far the launch is below the chip's limits."""

    @property
    def cycles(self) -> Cycles | None:
        """The cycle model's estimate."""

    @property
    def no_cycles(self) -> str | None:
        """Why there is no estimate; None if there is one."""

    @property
    def missing(self) -> Sequence[str]:
        """What could not be found out, and why."""


def launch_data(launch: Launch) -> dict[str, Any]:
    """Return everything that the page shows about a launch, as JSON values: counts and cycles by
    address."""
    return known(
        grid=list(launch.grid),
        block=list(launch.block),
        waves=launch.waves,
        missing=list(launch.missing),
        causes=_shown(launch.causes),
        no_cycles=launch.no_cycles,
        totals=known(**asdict(launch.totals)),
        counts={str(each.address): _counts(each) for each in launch.instructions},
        roofline=asdict(launch.roofline) if launch.roofline else None,
        cycles=_cycles(launch.cycles) if launch.cycles else None,
    )


def _shown(causes: Sequence[Cause]) -> list[dict[str, Any]]:
    """Return what is shown at the top: the causes that cost most, after remarks on no line."""
    remarks = sum(cause.kind == "small launch" for cause in causes)
    return [_cause(cause) for cause in causes[: remarks + _MOST_CAUSES]]


def _cause(cause: Cause) -> dict[str, Any]:
    return known(
        kind=cause.kind,
        sentence=cause.sentence,
        basis=cause.basis,
        file=cause.file,
        line=cause.line,
        addresses=list(cause.addresses),
    )


def _counts(counts: Counts) -> dict[str, int]:
    return {name: value for name in _COUNTS if (value := getattr(counts, name))}


def _cycles(cycles: Cycles) -> dict[str, Any]:
    return {
        "kernel": cycles.kernel,
        "per_wgp": cycles.per_wgp,
        "seconds": cycles.seconds,
        "wmma_share": cycles.wmma_share,
        "valu_share": cycles.valu_share,
        "sampled_workgroups": cycles.sampled_workgroups,
        "stalls": dict(cycles.stalls),
        "by_instruction": {
            str(address): _counted_instruction(each)
            for address, each in cycles.by_instruction.items()
        },
        "whats": list(_WHATS),
        "timeline": _timelines(cycles.timeline),
        "assumptions": list(cycles.assumptions),
    }


def _counted_instruction(each: InstructionCycles) -> dict[str, Any]:
    stalls = {cause: count for cause, count in each.stalls.items() if count}
    return known(executions=each.executions, issue=each.issue, stalls=stalls)


def _timelines(waves: Sequence[WaveTimeline]) -> list[dict[str, Any]]:
    most = max(64, _MOST_SEGMENTS // max(1, len(waves)))
    return [_timeline(wave, most) for wave in waves]


def _timeline(wave: WaveTimeline, most: int) -> dict[str, Any]:
    """Return a wave. segments: the start, the length and the number of each activity, one after
    another; merged: whether short segments were merged with others."""
    kept = merged(wave.segments, most)
    numbers = [n for s in kept for n in (s.start, s.end - s.start, _WHATS.index(s.what))]
    return known(
        simd=wave.simd,
        slot=wave.slot,
        workgroup=wave.workgroup,
        wave=wave.wave,
        start=wave.start,
        end=wave.end,
        segments=numbers,
        merged=len(kept) < len(wave.segments) or None,
        totals=_totals(wave.segments),
    )


def _totals(segments: Iterable[Segment]) -> Mapping[str, int]:
    totals: dict[str, int] = {}
    for segment in segments:
        totals[segment.what] = totals.get(segment.what, 0) + segment.end - segment.start
    return totals


def merged(segments: Sequence[Segment], most: int) -> list[Segment]:
    """Return at most `most` segments that cover the same time. If there are more, time is divided
    into equal parts, and each part becomes a segment of the activity that takes most of it."""
    if len(segments) <= most:
        return list(segments)
    start, end = segments[0].start, segments[-1].end
    width = -(-(end - start) // most)
    shares: list[dict[str, int]] = [{} for _ in range(-(-(end - start) // width))]
    for segment in segments:
        for part in range((segment.start - start) // width, -(-(segment.end - start) // width)):
            low = max(segment.start, start + part * width)
            high = min(segment.end, start + (part + 1) * width)
            shares[part][segment.what] = shares[part].get(segment.what, 0) + high - low
    return [
        Segment(
            start + n * width, min(end, start + (n + 1) * width), max(share, key=share.__getitem__)
        )
        for n, share in enumerate(shares)
        if share
    ]
