"""What grew from one compilation to another: registers, memory, code, and instructions by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePath
from typing import Protocol

from amdjit.inspection.facts import UNITS, Companion, KernelFacts, SourcePlace, json_text

__all__ = ["Alignment", "Comparison", "Figure", "LineGrowth", "Sourced", "compare"]

SCHEMA = "amdjit.comparison/1"
_Place = SourcePlace | None


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of both compilations.

    name: such as "VGPRs". before, after: the number in each.
    """

    name: str
    before: int
    after: int

    @property
    def growth(self) -> int:
        """How much larger it is afterwards."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class LineGrowth:
    """The instructions of one source line in both compilations, by unit.

    before, after: the line's place, None where it is not there, and both for instructions of which
    no line is known. text: the line, "" if the source is not known. units_before, units_after: its
    instructions by unit.
    """

    before: _Place
    after: _Place
    text: str
    units_before: Mapping[str, int]
    units_after: Mapping[str, int]

    @property
    def growth(self) -> int:
        """How many more instructions there are afterwards."""
        return sum(self.units_after.values()) - sum(self.units_before.values())


@dataclass(frozen=True)
class Comparison:
    """Two compilations of a kernel, or two kernels; printing shows what changed.

    before, after: the kernels' names. figures: registers, memory, occupancy, code, and instructions
    by unit. lines: those of which the instructions changed, what grew most first.
    """

    before: str
    after: str
    figures: tuple[Figure, ...]
    lines: tuple[LineGrowth, ...]

    def __str__(self) -> str:
        changed = [figure for figure in self.figures if figure.growth]
        rows = [f"{self.before} -> {self.after}"]
        width = max((len(figure.name) for figure in changed), default=0)
        rows += [
            f"  {figure.name:{width}}  {figure.before:,} -> {figure.after:,} ({figure.growth:+,})"
            for figure in changed
        ]
        rows += [f"  {_title(line)}  {_units(line)}" for line in self.lines]
        return "\n".join(rows if len(rows) > 1 else [*rows, "  no difference"])

    def to_json(self) -> str:
        """Return the comparison as JSON: an object with its fields by name, and "schema"."""
        return json_text(SCHEMA, self)


def compare(before: KernelFacts, after: KernelFacts) -> Comparison:
    """Return what is different afterwards.

    Lines are the same if they have one number in one file. Where both know their sources and these
    differ, they are aligned by the lines' text.
    """
    return Comparison(
        before.kernel, after.kernel, tuple(_figures(before, after)), _lines(before, after)
    )


def _figures(before: KernelFacts, after: KernelFacts) -> Iterator[Figure]:
    for name, attribute in _ATTRIBUTES:
        yield Figure(name, getattr(before, attribute), getattr(after, attribute))
    yield Figure("VGPRs live at the peak", before.peak.vgprs, after.peak.vgprs)
    yield Figure("SGPRs live at the peak", before.peak.sgprs, after.peak.sgprs)
    waves = before.occupancy.waves_per_simd, after.occupancy.waves_per_simd
    yield Figure("waves a SIMD", *waves)
    yield Figure("instructions", len(before.instructions), len(after.instructions))
    units = [Counter(item.unit for item in facts.instructions) for facts in (before, after)]
    for unit in UNITS:
        yield Figure(f"{unit} instructions", units[0][unit], units[1][unit])


_ATTRIBUTES = (
    ("VGPRs", "vgprs"),
    ("SGPRs", "sgprs"),
    ("spilled VGPRs", "vgpr_spills"),
    ("spilled SGPRs", "sgpr_spills"),
    ("bytes of LDS", "lds_bytes"),
    ("bytes of scratch", "scratch_bytes"),
    ("bytes of code", "code_bytes"),
)


def _lines(before: KernelFacts, after: KernelFacts) -> tuple[LineGrowth, ...]:
    old, new = _by_line(before), _by_line(after)
    aligned = Alignment(before, after)
    pairs = {(place, aligned.after(place)) for place in old}
    pairs |= {(aligned.before(place), place) for place in new}
    found = (
        LineGrowth(
            one,
            other,
            _text(after, other) or _text(before, one),
            dict(old.get(one, {}) if one or not other else {}),
            dict(new.get(other, {}) if other or not one else {}),
        )
        for one, other in pairs
    )
    changed = [line for line in found if line.units_before != line.units_after]
    return tuple(sorted(changed, key=lambda line: (-line.growth, _order(line))))


def _by_line(facts: KernelFacts) -> dict[_Place, Counter[str]]:
    found: dict[_Place, Counter[str]] = {}
    for item in facts.instructions:
        found.setdefault(item.place, Counter())[item.unit] += 1
    return found


class Sourced(Protocol):
    """What has facts of source lines, and may know the sources."""

    @property
    def lines(self) -> Mapping[SourcePlace, object]:
        """The facts of each line, by file and line."""
        ...

    @property
    def companion(self) -> Companion:
        """What knows the sources."""
        ...


class Alignment:
    """Which lines of two compilations are the same. Instructions without a line are compared with
    each other."""

    def __init__(self, before: Sourced, after: Sourced) -> None:
        self._files = _same_files(before, after)
        self._lines: dict[tuple[str, str], dict[int, int]] = {}
        for one, other in self._files.items():
            texts = before.companion.sources.get(one), after.companion.sources.get(other)
            if texts[0] is not None and texts[1] is not None and texts[0] != texts[1]:
                self._lines[one, other] = dict(_same_lines(texts[0], texts[1]))
        self._files_back = {other: one for one, other in self._files.items()}
        self._lines_back = {
            pair: {there: line for line, there in lines.items()}
            for pair, lines in self._lines.items()
        }
        self._twins = dict(self._same_texts(before, after))
        self._twins_back = {there: place for place, there in self._twins.items()}

    def after(self, place: _Place) -> _Place:
        """Return where a line is in the second compilation, None if it is gone."""
        twin = None if place is None else self._twins.get(place)
        return twin or self._after(place)

    def before(self, place: _Place) -> _Place:
        """Return where a line was in the first compilation, None if it is new."""
        twin = None if place is None else self._twins_back.get(place)
        return twin or self._before(place)

    def _same_texts(
        self, before: Sourced, after: Sourced
    ) -> Iterator[tuple[SourcePlace, SourcePlace]]:
        """Yield lines with code in one compilation only, paired by their texts: those of two
        kernels that stand in one file."""
        gone = [place for place in sorted(before.lines) if self._after(place) not in after.lines]
        new = [place for place in sorted(after.lines) if self._before(place) not in before.lines]
        old_texts, new_texts = [_text(before, p) for p in gone], [_text(after, p) for p in new]
        if all(old_texts) and all(new_texts):
            for one, other in _alike(old_texts, new_texts):
                yield gone[one], new[other]

    def _after(self, place: _Place) -> _Place:
        if place is None or place[0] not in self._files:
            return None
        other = self._files[place[0]]
        return _moved(other, place[1], self._lines.get((place[0], other)))

    def _before(self, place: _Place) -> _Place:
        if place is None or place[0] not in self._files_back:
            return None
        one = self._files_back[place[0]]
        return _moved(one, place[1], self._lines_back.get((one, place[0])))


def _moved(file: str, line: int, lines: Mapping[int, int] | None) -> _Place:
    if lines is None:
        return file, line
    return (file, lines[line]) if line in lines else None


def _same_files(before: Sourced, after: Sourced) -> dict[str, str]:
    """Return which file is which: those of one path, then those of one name, and a last one."""
    old = sorted({file for file, _ in before.lines})
    new = sorted({file for file, _ in after.lines})
    found = {file: file for file in old if file in new}
    for by_name in (True, False):
        left = _named((file for file in old if file not in found), by_name)
        right = _named((file for file in new if file not in found.values()), by_name)
        for name, files in left.items():
            if len(files) == 1 == len(right.get(name, [])):
                found[files[0]] = right[name][0]
    return found


def _named(files: Iterable[str], by_name: bool) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in files:
        found.setdefault(PurePath(file).name if by_name else "", []).append(file)
    return found


def _same_lines(before: str, after: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers of lines with the same text, and of lines that stand for each other."""
    for one, other in _alike(before.splitlines(), after.splitlines()):
        yield one + 1, other + 1


def _alike(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of equal texts in their order, and of as many between them."""
    for kind, a, a_end, b, b_end in SequenceMatcher(None, old, new, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and a_end - a == b_end - b):
            yield from zip(range(a, a_end), range(b, b_end), strict=True)


def _text(facts: Sourced, place: _Place) -> str:
    if place is None:
        return ""
    lines = facts.companion.sources.get(place[0], "").splitlines()
    return lines[place[1] - 1].strip() if place[1] <= len(lines) else ""


def _order(line: LineGrowth) -> SourcePlace:
    return line.after or line.before or ("", 0)


def _title(line: LineGrowth) -> str:
    place = line.after or line.before
    if place is None:
        return "without a line"
    gone = " (gone)" if line.after is None else ""
    return f"{PurePath(place[0]).name}:{place[1]}{gone}  {line.text}".rstrip()


def _units(line: LineGrowth) -> str:
    parts = (
        (unit, line.units_before.get(unit, 0), line.units_after.get(unit, 0)) for unit in UNITS
    )
    return ", ".join(f"{unit} {one} -> {other}" for unit, one, other in parts if one != other)
