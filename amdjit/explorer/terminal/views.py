"""The views of an inspection by name, with the beginning and the end that all of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePath

from amdjit.explorer.terminal.screen import PLAIN, Cell, Screen, columns
from amdjit.inspection.facts import (
    UNITS,
    AccessFacts,
    BlockFacts,
    InstructionFacts,
    KernelFacts,
    LineFacts,
    LiveOrigin,
    SourcePlace,
)
from amdjit.inspection.meanings import meanings_of
from amdjit.inspection.missing import NO_NAMES

__all__ = ["VIEWS", "view"]


# The instructions by address, with blocks, source lines and live registers.


def listing_view(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return a line for each instruction, a label for each block, and a comment where the source
    line changes."""
    blocks = {block.number: block for block in inspection.blocks}
    text: list[str] = []
    block, place = None, None
    for item in inspection.instructions:
        if item.block != block:
            block = item.block
            text.append(screen.heading(_label(inspection, blocks.get(block), block)))
        if item.place != place and item.place is not None:
            place = item.place
            source = source_line(inspection, *place)
            text.append(
                screen.paint(screen.cut(f"; {place_text(place)}  {source}".rstrip()), "dim")
            )
        text.append(_listing_instruction(item, screen))
    return text


def _label(inspection: KernelFacts, block: BlockFacts | None, number: int) -> str:
    if block is None or block.loop is None:
        return f"block {number}:"
    depth = next((loop.depth for loop in inspection.loops if loop.number == block.loop), 1)
    return f"block {number}: in loop {block.loop}, {depth} deep"


def _listing_instruction(item: InstructionFacts, screen: Screen) -> str:
    begins = f"{item.address:#8x}  "
    text = screen.cut(f"{item.text:48}", len(begins))
    live = screen.cut(f"  {len(item.live_vgprs):3} VGPRs", len(begins) + len(text))
    room = screen.width is None or screen.width >= len(begins) + len(text) + len(live)
    return begins + screen.paint(text, item.unit) + (screen.paint(live, "dim") if room else "")


# The instructions by address, each with a sentence that says what it does.


def sentences_view(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return two lines or more for each instruction: its text, and below it what it does."""
    meanings = meanings_of(inspection)
    text: list[str] = []
    place = None
    for item in inspection.instructions:
        if item.place != place and item.place is not None:
            place = item.place
            source = f"; {place_text(place)}  {source_line(inspection, *place)}".rstrip()
            text.append(screen.paint(screen.cut(source), "dim"))
        text.append(screen.paint(screen.cut(f"{item.address:#8x}  {item.text}"), item.unit))
        if item.address in meanings:
            text += _indented(meanings[item.address], screen)
    return text


def _indented(sentence: str, screen: Screen) -> list[str]:
    margin = " " * 10
    room = None if screen.width is None else screen.width - len(margin)
    return [margin + line for line in Screen(room).wrap(sentence)]


# The live registers along the code, as bars, with the numbers at which fewer waves fit.

_MOST_ROWS = 64
_LONGEST_BAR, _SHORTEST_BAR = 40, 10
# The width of the address and the number before a bar.
_MARGIN = 16


def pressure_view(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return a bar for each instruction, or if there are many, for the maximum of several."""
    if not inspection.instructions:
        return []
    most = max(inspection.peak.vgprs, 1)
    steps = {
        step.vgprs: step.waves
        for step in inspection.occupancy.steps
        if step.vgprs is not None and step.vgprs < most
    }
    length = _bar_length(screen)
    marks = [round(vgprs * length / most) for vgprs in steps]
    rows, place = [], None
    for group in _groups(inspection.instructions):
        highest = max(group, key=lambda item: len(item.live_vgprs))
        notes = _notes(inspection, group, highest, screen, highest.place != place)
        place = highest.place
        bar = screen.bar(len(highest.live_vgprs) * length / most, marks, length + 1)
        rows.append(
            _pressure_row(inspection, group, highest=highest, bar=bar, notes=notes, screen=screen)
        )
    return [*_peak(inspection, screen), *_legend(steps, screen), "", *rows]


def _bar_length(screen: Screen) -> int:
    """Return the length of the longest bar: about a third of a line, so that there is space for
    text."""
    third = _LONGEST_BAR if screen.width is None else (screen.width - _MARGIN) // 3
    return min(max(third, _SHORTEST_BAR), _LONGEST_BAR)


def _groups(instructions: Sequence[InstructionFacts]) -> Iterator[Sequence[InstructionFacts]]:
    size = -(-len(instructions) // _MOST_ROWS)
    for first in range(0, len(instructions), size):
        yield instructions[first : first + size]


def _notes(
    inspection: KernelFacts,
    group: Sequence[InstructionFacts],
    highest: InstructionFacts,
    screen: Screen,
    is_new: bool,
) -> str:
    """Return the text after a bar: loops, the instruction, and the source line where it changes."""
    loop = ("┃" if screen.unicode else ":") * highest.loop_depth
    what = highest.text if len(group) == 1 else f"{len(group)} instructions"
    source = (place_text(highest.place), source_line(inspection, highest.file, highest.line))
    return "  ".join((f"{loop:3}{what:36}", *(source if is_new else ()))).rstrip()


def _pressure_row(
    inspection: KernelFacts,
    group: Sequence[InstructionFacts],
    highest: InstructionFacts,
    bar: str,
    notes: str,
    screen: Screen,
) -> str:
    begins = f"{group[0].address:#8x}  {len(highest.live_vgprs):4} "
    is_peak = any(item.address == inspection.peak.address for item in group)
    painted = screen.paint(bar, "warning" if is_peak else "VALU")
    return f"{begins}{painted} {screen.cut(notes, len(begins) + len(bar) + 1)}".rstrip()


def _peak(inspection: KernelFacts, screen: Screen) -> list[str]:
    peak = inspection.peak
    where = next((i for i in inspection.instructions if i.address == peak.address), None)
    place = place_text(where.place) if where else ""
    at = f"{peak.address:#x}" + (f" ({place})" if place else "")
    lines = [f"peak: {peak.vgprs} VGPRs, {peak.sgprs} SGPRs live at {at}"]
    lines += [f"  {value.name}: {value.type} in {value.registers}" for value in peak.values]
    lines += [f"  {_origin(inspection, origin)}" for origin in peak.origins]
    return [screen.cut(line) for line in lines]


def _origin(inspection: KernelFacts, origin: LiveOrigin) -> str:
    place = origin.place
    written = f"written by {place_text(place)}" if place else "written by lines that are not known"
    source = source_line(inspection, origin.file, origin.line)
    return f"{len(origin.vgprs):4} {written:32} {source}".rstrip()


def _legend(steps: dict[int, int], screen: Screen) -> list[str]:
    line = "│" if screen.unicode else "|"
    texts = [f"{line} {vgprs} VGPRs: {waves} waves would fit" for vgprs, waves in steps.items()]
    return [screen.cut(text) for text in texts]


# How many waves fit on a SIMD, what limits them, and what more would need.

_NAMES = {"vgprs": "VGPRs", "lds": "LDS", "none": "wave slots"}


def occupancy_view(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return the limits as a table with bars, and the next steps up in words."""
    occupancy = inspection.occupancy
    waves = occupancy.waves_per_simd
    name = _NAMES.get(occupancy.limited_by, occupancy.limited_by)
    limit = f", limited by {name}" if occupancy.limited_by != "none" else ""
    lines = [screen.heading(f"{waves} wave{'s' * (waves != 1)} a SIMD{limit}"), ""]
    rows: list[list[str | Cell]] = [
        [
            _NAMES.get(name, name),
            str(count),
            Cell(screen.bar(count), "warning" if count == waves else "VALU"),
        ]
        for name, count in occupancy.limits.items()
    ]
    lines += columns(screen, ("limit", "waves", ""), rows)
    if occupancy.steps:
        lines += ["", screen.heading("what more waves would need")]
        lines += [screen.cut(f"  {step.text}") for step in occupancy.steps]
    return lines


# The waits, each with the instructions that it waits for.


def waits_view(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return the waits by address, and for each the instructions that it waits for, with how far
    before it they were issued."""
    order = {item.address: number for number, item in enumerate(inspection.instructions)}
    waits = [item for item in inspection.instructions if item.unit == "wait" or item.waits_for]
    text: list[str] = []
    for wait in waits:
        text.append(screen.paint(_instruction(inspection, wait, screen, 0), "wait"))
        text += _awaited(inspection, wait, order, screen)
    if not text and inspection.instructions:
        return screen.wrap("the kernel does not wait for memory")
    return text


def _awaited(
    inspection: KernelFacts, wait: InstructionFacts, order: dict[int, int], screen: Screen
) -> list[str]:
    if not wait.waits_for:
        return [screen.paint(screen.cut("  for nothing that is known to be in flight"), "dim")]
    arrow = "←" if screen.unicode else "<-"
    lines = []
    for address in wait.waits_for:
        item = inspection.instructions[order[address]]
        between = order[wait.address] - order[address] - 1
        distance = f"{between} between" if between >= 0 else "in an earlier round of the loop"
        text = f"  {arrow} {_instruction(inspection, item, screen, 4)}"
        lines.append(screen.paint(screen.cut(f"{text}  ({distance})"), item.unit))
    return lines


def _instruction(inspection: KernelFacts, item: InstructionFacts, screen: Screen, used: int) -> str:
    source = source_line(inspection, item.file, item.line)
    parts = [f"{item.address:#x}", f"{item.text:40}", place_text(item.place), source]
    return screen.cut("  ".join(part for part in parts if part).rstrip(), used)


# The memory instructions as a table.

_HEAD = ("address", "space", "kind", "bytes", "lanes", "conflicts", "policy", "line", "source")

_UNITS = frozenset({"scalar memory", "vector memory", "LDS"})
_NONE = "the kernel does not access memory"


def accesses_view(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return a row for each access: what a lane moves, and how the addresses of lanes lie."""
    if not inspection.accesses:
        return (
            screen.wrap(_NONE) if inspection.instructions and not _uses_memory(inspection) else []
        )
    rows = [_accesses_row(inspection, access) for access in inspection.accesses]
    notes = [
        "",
        "lanes: how the addresses of a wave's lanes lie; ? if the code does not show it",
        "conflicts: cycles of LDS beyond those of an access without bank conflicts",
    ]
    return [
        *columns(screen, _HEAD, rows),
        *(screen.paint(screen.cut(note), "dim") for note in notes),
    ]


def _uses_memory(inspection: KernelFacts) -> bool:
    return any(item.unit in _UNITS for item in inspection.instructions)


def _accesses_row(inspection: KernelFacts, access: AccessFacts) -> list[str | Cell]:
    place = (access.file, access.line) if access.file and access.line else None
    conflicts = "" if access.bank_conflicts is None else str(access.bank_conflicts)
    return [
        f"{access.address:#x}",
        access.space,
        access.kind,
        str(access.width),
        _lanes(access),
        Cell(conflicts, "warning" if access.bank_conflicts else ""),
        access.policy,
        place_text(place),
        source_line(inspection, access.file, access.line),
    ]


def _lanes(access: AccessFacts) -> str:
    if access.uniform:
        return "one address"
    if access.lane_stride is None:
        return "?"
    if access.lane_stride == access.width:
        return "contiguous"
    return f"{access.lane_stride} bytes apart"


# Source lines with what each became: instructions by unit, and live registers at the peak.

_SHORT = {"transcendental": "trans", "scalar memory": "smem", "vector memory": "vmem"}


def lines_view(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return a table for each file: a row for each source line that has instructions."""
    facts = sorted(inspection.lines.values(), key=lambda line: (line.file, line.line))
    used = [unit for unit in UNITS if any(unit in line.units for line in facts)]
    head = ("line", *(_SHORT.get(unit, unit) for unit in used), "VGPRs", "SGPRs", "source")
    text: list[str] = []
    for file, lines in groupby(facts, lambda line: line.file):
        rows = [_row(inspection, line, used) for line in lines]
        text += [screen.heading(file), *columns(screen, head, rows), ""]
    return [*text, *map(screen.cut, _without_line(inspection))]


def _row(inspection: KernelFacts, line: LineFacts, used: list[str]) -> list[str | Cell]:
    counts = [Cell(str(line.units.get(unit, 0) or ""), unit) for unit in used]
    is_peak = line.peak_vgprs == inspection.peak.vgprs
    peak = Cell(str(line.peak_vgprs), "warning" if is_peak else "")
    source = source_line(inspection, line.file, line.line)
    return [str(line.line), *counts, peak, str(line.peak_sgprs), source]


def _without_line(inspection: KernelFacts) -> list[str]:
    units = Counter(item.unit for item in inspection.instructions if item.place is None)
    if not units:
        return []
    listed = ", ".join(f"{count} {unit}" for unit, count in units.items())
    return [f"without a line: {listed}"]


VIEWS: Mapping[str, Callable[[KernelFacts, Screen], list[str]]] = {
    "lines": lines_view,
    "pressure": pressure_view,
    "memory": accesses_view,
    "waits": waits_view,
    "occupancy": occupancy_view,
    "meanings": sentences_view,
    "asm": listing_view,
}

# The views that would show the names of values.
_NAMES_VALUES = ("pressure",)


def view(inspection: KernelFacts, name: str, screen: Screen = PLAIN) -> str:
    """Return a view of an inspection as text; KeyError if there is none of that name."""
    body = VIEWS[name](inspection, screen)
    missing = [
        screen.paint(line, "warning")
        for text in inspection.missing
        if text != NO_NAMES or name in _NAMES_VALUES
        for line in screen.wrap(f"not known: {text}")
    ]
    gap = [""] if body and body[-1] and missing else []
    return "\n".join([*summary(inspection, screen), "", *body, *gap, *missing])


def summary(inspection: KernelFacts, screen: Screen) -> list[str]:
    """Return what the kernel is and what it needs."""
    i = inspection
    sizes = [
        f"{i.vgprs} VGPRs",
        f"{i.sgprs} SGPRs",
        f"{i.lds_bytes} bytes of LDS" if i.lds_bytes else "no LDS",
        f"{i.scratch_bytes} bytes of scratch" if i.scratch_bytes else "no scratch",
    ]
    if i.vgpr_spills or i.sgpr_spills:
        sizes.append(f"{i.vgpr_spills} VGPRs and {i.sgpr_spills} SGPRs spilled")
    title = f"{i.kernel}: {i.target}, wave{i.wave_size}"
    count = len(i.instructions)
    size = f"{i.code_bytes} bytes"
    code = f"{count} instruction{'s' * (count != 1)}, {size}" if count else f"{size} of code"
    return [screen.heading(title), screen.cut(f"{code}; {', '.join(sizes)}")]


# The source lines of an inspection, if its companion has them.


def source_line(inspection: KernelFacts, file: str | None, line: int | None) -> str:
    """Return the text of a source line without its margin; "" if it is not known."""
    text = inspection.companion.sources.get(file or "", "")
    lines = text.splitlines()
    return lines[line - 1].strip() if line is not None and 0 < line <= len(lines) else ""


def place_text(place: SourcePlace | None) -> str:
    """Return `saxpy.py:7`, or "" for no place."""
    return "" if place is None else f"{PurePath(place[0]).name}:{place[1]}"
