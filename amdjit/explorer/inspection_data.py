"""An `Inspection` as plain data for the page. What is empty or unknown is left out.

Files and inlined calls stand once and are meant by number; a place is [file, line]. Sets of
registers are texts such as "0-7 12".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any

from amdjit.explorer.fragments import lane_maps
from amdjit.explorer.interning import Interned
from amdjit.explorer.places import Place, ir_lines, tree_lines
from amdjit.inspection.facts import AccessFacts, Call, InstructionFacts, Peak
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.instruction_meanings import meanings_of
from amdjit.inspection.missing import NO_NAMES
from amdjit.inspection.units import UNITS

__all__ = ["Numbering", "inspection_data", "known", "ranges"]

# Lines of a file that are shown before its first line with code, and after its last.
_CONTEXT = 60
_SCALARS = (
    "kernel", "target", "wave_size", "wgp_mode", "producer", "vgprs", "sgprs", "vgpr_spills",
    "sgpr_spills", "lds_bytes", "scratch_bytes", "code_bytes", "workgroup_size",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Numbering:
    """What stands once in a kernel's data."""

    files: Interned[str] = field(default_factory=Interned)
    stacks: Interned[tuple[Call, ...]] = field(default_factory=Interned)

    def place(self, place: Place) -> list[int] | None:
        """Return a place as the page knows it: a file's number, and the line."""
        return [self.files.number(place[0]), place[1]] if place else None


def inspection_data(inspection: Inspection) -> dict[str, Any]:
    """Return all that the page shows of a code object, as JSON has it."""
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
    # The page says that there are no names where they would stand.
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
    """Return fields without those that are None or empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def ranges(numbers: Iterable[int]) -> str:
    """Return a set of numbers as its runs: {0, 1, 2, 7} as "0-2 7"."""
    runs = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    return " ".join(_run([number for _, number in run]) for _, run in runs)


def _run(numbers: list[int]) -> str:
    first, last = numbers[0], numbers[-1]
    return f"{first}-{last}" if last > first else str(first)


def _text(lines: Iterator[tuple[str, Place]], numbering: Numbering) -> list[Any]:
    """Return lines of a text: each as [line, file, line in the file], or alone."""
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
    """Return a file with the part of its text around the code. first: the number of its first
    line."""
    if not text or not used:
        return {"name": name}
    lines = text.splitlines()
    first = max(1, min(used) - _CONTEXT)
    return {"name": name, "first": first, "lines": lines[first - 1 : max(used) + _CONTEXT]}
