"""Pictures of what a launch did, as text: its lanes, cache lines, banks, fragments, waits, time."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil
from pathlib import PurePath
from types import MappingProxyType

from amdjit.code_object import CodeObject
from amdjit.cycles.estimate import WaveTimeline
from amdjit.diagnostics.notebooks import shown_file
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.emulator.counting.lds_banks import BANK_BYTES, BANKS, lanes_per_cycle
from amdjit.explorer.terminal.screen import Screen, columns
from amdjit.explorer.terminal.views import occupancy_view, summary, waits_view
from amdjit.inspection.accesses import Addresses, known_states, lane_addresses
from amdjit.inspection.machine_code import read_machine_code
from amdjit.intrinsics.matrix import layout, layout_map
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Space
from amdjit.profiling.counts import InstructionCounts
from amdjit.profiling.launch_profile import LaunchProfile

__all__ = ["PICTURES", "draw"]

_BAR = 32
_TIME = 64
_MOST_WAVES = 8
_LANES_IN_ROW = 16


def draw(picture: str, launches: Sequence[LaunchProfile], screen: Screen) -> str:
    """Return a picture of the last of several launches; KeyError if there is none of that name."""
    title, *rows = PICTURES[picture](launches[-1], screen)
    return "\n".join([*screen.wrap(title), *rows])


# Tables with a row for each source line.


def _by_line(
    launch: LaunchProfile, units: Sequence[str] = ()
) -> Iterator[tuple[str, int, Sequence[InstructionCounts]]]:
    """Yield each source line with its instructions that were executed, of all units or of some."""
    chosen = [
        each
        for each in launch.instructions
        if each.executions and each.file and (not units or each.unit in units)
    ]
    chosen.sort(key=lambda each: (each.file or "", each.line or 0))
    for (file, line), group in groupby(chosen, lambda each: (each.file, each.line)):
        assert file is not None
        assert line is not None
        yield file, line, list(group)


def _place(file: str, line: int) -> list[str]:
    return [f"{PurePath(shown_file(file)).name}:{line}", linecache.getline(file, line).strip()]


def _sum(group: Sequence[InstructionCounts], count: str) -> int:
    return sum(getattr(each, count) for each in group)


# How many lanes of the waves were active.

_MOVED = (
    "Instructions are counted at the line that the compiler made them from. It may move them into "
    "or out of an `if`."
)


def _lanes(launch: LaunchProfile, screen: Screen) -> list[str]:
    rows = []
    for file, line, group in _by_line(launch):
        executions = _sum(group, "executions")
        part = _sum(group, "active_lanes") / (executions * launch.wave_size)
        bar = screen.bar(_BAR * part).ljust(_BAR)
        rows.append([str(executions), f"{100 * part:.0f}", bar, *_place(file, line)])
    waves = f"{launch.waves} wave{'s' * (launch.waves != 1)}"
    title = f"{waves} of {launch.wave_size} lanes: how many were active, by source line"
    table = columns(screen, ("instructions", "%", "lanes", "line", "source"), rows)
    return [title, "", *table, "", *screen.wrap(_MOVED)]


# What of the cache lines that requests touched was asked for.


def _cache(launch: LaunchProfile, screen: Screen) -> list[str]:
    rows = []
    for file, line, group in _by_line(launch, ["vector memory"]):
        counts = [_sum(group, name) for name in ("requests", "bytes", "cache_lines")]
        if not counts[0]:
            # A barrier's line writes caches back, or invalidates them.
            continue
        part = min(1.0, counts[1] / (counts[2] * LINE_BYTES)) if counts[2] else 0
        bar = screen.bar(_BAR * part).ljust(_BAR)
        rows.append([*map(str, counts), f"{100 * part:.0f}", bar, *_place(file, line)])
    title = f"how much of the cache lines ({LINE_BYTES} bytes each) that the waves touch they use"
    head = ("requests", "bytes", "cache lines", "%", "used", "line", "source")
    return [title, "", *columns(screen, head, rows)]


# Which bank of LDS each lane asks.


def _banks(launch: LaunchProfile, screen: Screen) -> list[str]:
    rows = [f"LDS has {BANKS} banks of {BANK_BYTES} bytes; each serves one address a cycle"]
    wave, accesses = _lds_accesses(launch)
    for file, line, group in _by_line(launch, ["LDS"]):
        cycles, lost = _sum(group, "lds_cycles"), _sum(group, "lds_conflict_cycles")
        style = "warning" if lost else "LDS"
        rows += ["", "  ".join(_place(file, line))]
        rows.append(
            screen.paint(f"  {cycles} cycles in all, {lost} of them due to bank conflicts", style)
        )
        if group[0].address in accesses:
            rows += _bank_rows(*accesses[group[0].address], wave)
    return rows


def _lds_accesses(
    launch: LaunchProfile,
) -> tuple[int, Mapping[int, tuple[Instruction, Addresses | None]]]:
    """Return the number of a wave, the second one if there are two, and the accesses to LDS, with
    what the code shows of the addresses of its lanes."""
    whole = CodeObject.read(launch.code_object)
    code = read_machine_code(whole, whole.kernels[launch.kernel])
    assert code is not None, "amdjit's own code can be decoded"
    wave = 1 if launch.waves > launch.workgroups else 0
    return wave, {
        instruction.pc: (instruction, lane_addresses(state, instruction, code.wave_size))
        for instruction, state in known_states(code, launch.block, wave)
        if instruction.traits.memory is not None and instruction.access.space is Space.LDS
    }


def _bank_rows(instruction: Instruction, known: Addresses | None, wave: int) -> list[str]:
    size = instruction.access.size
    if known is None or not size:
        return []
    banks = [((known.first or 0) + offset) // BANK_BYTES % BANKS for offset in known.offsets]
    lanes = min(lanes_per_cycle(size), _LANES_IN_ROW)
    several = f"first of {size // BANK_BYTES} banks" if size > BANK_BYTES else "bank"
    relative = "" if known.first is not None else ", counted from that of lane 0"
    rows = [f"  {several} of each lane of wave {wave}{relative}:"]
    for first in range(0, len(banks), lanes):
        part = " ".join(f"{bank:2}" for bank in banks[first : first + lanes])
        rows.append(f"  lanes {first:2} to {first + lanes - 1:2}: {part}")
    return rows


# Which lane holds which element of a matrix.

_MATRIX = re.compile(r"v_(s?wmmac?_\w+)")
# Of all WMMA of the course's processor.
_OF_B = "operand B: as A, with rows and columns exchanged"
_ELEMENT = re.compile(r"\b(\d+)\.(\d+)\b")


def _fragments(launch: LaunchProfile, screen: Screen) -> list[str]:
    executions: Counter[str] = Counter()
    for each in launch.instructions:
        if match := _MATRIX.match(each.text):
            executions[match[1]] += each.executions
    rows = []
    for name, count in executions.items():
        rows.append(f"{count} times {name}, over all waves; which lane holds what:")
        rows += ["", *_map(name, "a", launch.target), "", _OF_B]
        rows += ["", *_map(name, "d", launch.target)]
    return [screen.cut(row) for row in rows] or ["the kernel has no matrix instructions"]


def _map(name: str, operand: str, target: str) -> list[str]:
    """Return the map of an operand, with the lane and the element written so that they are not read
    as a fraction."""
    text = layout_map(layout(name, operand, target=target))
    return _ELEMENT.sub(r"\1:\2", text.replace("lane.element", "lane:element")).splitlines()


# What waves did over time.

# The character of what a wave does, with its meaning and the names in the model.
_SIGNS = (
    ("#", "issues instructions", ("issue",)),
    ("m", "waits for memory", ("wait loadcnt", "wait storecnt", "memory queue full")),
    ("s", "waits for scalar loads", ("wait kmcnt",)),
    ("l", "waits for LDS", ("wait dscnt",)),
    ("b", "waits at a barrier", ("barrier",)),
    ("v", "waits for a vector instruction", ("VALU dependency", "transcendental dependency")),
    ("w", "waits for a WMMA", ("WMMA dependency",)),
    ("o", "lets another wave go first", ("other wave issues", "unit busy")),
)
_SIGN_OF = {name: sign for sign, _, names in _SIGNS for name in names}
_OTHER = "."
# Two digits of what a character stands for.
_STEPS: tuple[int, ...] = (*range(1, 10), 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)


def _time(launch: LaunchProfile, screen: Screen) -> list[str]:
    cycles = launch.cycles
    if cycles is None:
        return [f"no estimate of cycles: {launch.no_cycles}"]
    waves = sorted(cycles.timeline, key=lambda wave: (wave.start, wave.workgroup, wave.wave))
    waves = waves[:_MOST_WAVES]
    scale = _scale(max(wave.end for wave in waves) / _TIME)
    title = f"{cycles.kernel} cycles, as the cycle model estimates; {scale} a character"
    strips = [_strip(wave, scale * _TIME) for wave in waves]
    rows = [
        screen.cut(f"  workgroup {wave.workgroup}, wave {wave.wave}  {strip}".rstrip())
        for wave, strip in zip(waves, strips, strict=True)
    ]
    used = set("".join(strips))
    shown = [f"  {sign} {meaning}" for sign, meaning, _ in _SIGNS if sign in used]
    shown += [f"  {_OTHER} waits for something else"] if _OTHER in used else []
    return [title, "", *rows, "", *shown]


def _scale(cycles: float) -> int:
    """Return a round number that is enough: pictures of two versions of a kernel are likely to have
    the same one, and can be compared."""
    unit = int("1" + "0" * (len(str(ceil(cycles))) - 2))
    return next(unit * step for step in _STEPS if unit * step >= cycles)


def _strip(wave: WaveTimeline, end: int) -> str:
    """Return a character for each part of the time: what the wave did most in it."""
    spent = [dict[str, float]() for _ in range(_TIME)]
    for segment in wave.segments:
        sign = _SIGN_OF.get(segment.what, _OTHER)
        for column in range(segment.start * _TIME // end, -(-segment.end * _TIME // end)):
            first, last = column * end / _TIME, (column + 1) * end / _TIME
            overlap = min(segment.end, last) - max(segment.start, first)
            spent[column][sign] = spent[column].get(sign, 0) + overlap
    return "".join(max(part, key=part.__getitem__) if part else " " for part in spent)


# Registers, and waits.


_AWAITED = {
    "kmcnt": "waits for scalar loads, which read the arguments of the launch",
    "loadcnt": "waits for loads from global memory",
    "storecnt": "waits for stores to global memory",
    "dscnt": "waits for LDS and for shuffles",
    "between": "the instructions that run meanwhile: the more, the shorter the wait",
}


def _registers(launch: LaunchProfile, screen: Screen) -> list[str]:
    return [*summary(launch.inspection, screen), "", *occupancy_view(launch.inspection, screen)]


def _waits(launch: LaunchProfile, screen: Screen) -> list[str]:
    title = "the waits of the machine code, and the instructions for which they wait"
    rows = waits_view(launch.inspection, screen)
    text = "\n".join(rows)
    legend = [f"  {name:8}  {meaning}" for name, meaning in _AWAITED.items() if name in text]
    return [title, "", *rows, "", *map(screen.cut, legend)]


PICTURES: Mapping[str, Callable[[LaunchProfile, Screen], list[str]]] = MappingProxyType(
    {
        "banks": _banks,
        "cache": _cache,
        "fragments": _fragments,
        "lanes": _lanes,
        "registers": _registers,
        "time": _time,
        "waits": _waits,
    }
)
