"""What differs between two versions of kernels: figures, and figures of their source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from amdjit.diagnostics import AmdjitError
from amdjit.inspection.comparison import Alignment, compare
from amdjit.inspection.facts import UNITS, Companion, SourcePlace
from amdjit.profiling.launch_facts import LaunchFacts
from amdjit.testing.figures import FIGURES, Figure, NotKnown
from amdjit.testing.measured import Measured, title_of

__all__ = ["Change", "Difference", "Differences", "PartDifference", "differences"]


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of both versions. name: of the figure. before, after: the figure in each. better:
    "less" or "more" of it, "" if neither is."""

    name: str
    before: float
    after: float
    better: str = ""

    @property
    def growth(self) -> float:
        """How much worse it is afterwards, as a part of what it was; how much more if neither is
        better."""
        more = (self.after - self.before) / (abs(self.before) or 1)
        return -more if self.better == "more" else more

    @property
    def is_worse(self) -> bool:
        """Whether it got worse."""
        return self.better != "" and self.growth > 0


@dataclass(frozen=True, slots=True)
class PartDifference:
    """What differs in a part of a kernel: a source line, or a configuration of a tuned kernel.

    name: of the part. text: the source line, or another description of the part; may be empty.
    figures: what changed.
    """

    name: str
    text: str
    figures: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions of one kernel. kernel: its name with arguments, options and target, what differs
    as "before -> after". note: a remark, "" for none. figures: what changed, what got worse most
    first. parts: those that changed, those that grew most first."""

    kernel: str
    figures: tuple[Change, ...]
    parts: tuple[PartDifference, ...] = ()
    note: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether a figure got worse."""
        return any(one.is_worse for one in self.figures)

    @property
    def growth(self) -> float:
        """How much the figure that got worse most did."""
        return max((one.growth for one in self.figures if one.better), default=0)


@dataclass(frozen=True)
class Differences:
    """Two versions of some kernels.

    old, new: what was compared. changed: kernels of both with differences, those that got worse
    most first. same: how many have none. added, removed: the kernels that only one version has.
    """

    old: str
    new: str
    changed: tuple[Difference, ...]
    same: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def in_order(found: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return those with differences, those that got worse most first."""
    changed = [one for one in found if one.figures or one.parts or one.note]
    return tuple(sorted(changed, key=lambda one: -one.growth))


def differences(
    old: Sequence[Measured],
    new: Sequence[Measured],
    names: tuple[str, str],
    figures: Sequence[Figure] = tuple(FIGURES.values()),
) -> Differences:
    """Return what differs between two versions of kernels.

    Kernels are paired by name, then by what else they have in common; launches by their order.
    names: of the versions. figures: which to compare, all unless given. AmdjitError if two that are
    paired have none of them in common.
    """
    pairs, removed, added = _paired(old, new)
    found = [_difference(*pair, figures) for pair in pairs]
    changed = in_order(found)
    return Differences(
        *names,
        changed=changed,
        same=len(found) - len(changed),
        added=tuple(one.title for one in added),
        removed=tuple(one.title for one in removed),
    )


# Pairs of kernels.

_Pair = tuple[Measured, Measured, str]


def _paired(
    old: Sequence[Measured], new: Sequence[Measured]
) -> tuple[list[_Pair], list[Measured], list[Measured]]:
    """Return pairs, each with a remark on it, and those that are only in one of the versions."""
    by_name = [_by_name(old), _by_name(new)]
    if len(by_name[0]) == len(by_name[1]) == 1:  # whatever they are called, they are to be compared
        by_name = [{"": list(old)}, {"": list(new)}]
    pairs: list[_Pair] = []
    left: tuple[list[Measured], list[Measured]] = ([], [])
    for name in {**by_name[0], **by_name[1]}:
        one, other = (group.get(name, []) for group in by_name)
        found = _of_one_name(one, other)
        pairs += found
        for rest, whole, place in ((left[0], one, 0), (left[1], other, 1)):
            taken = {id(pair[place]) for pair in found}
            rest += [each for each in whole if id(each) not in taken]
    return pairs, *left


def _by_name(kernels: Sequence[Measured]) -> dict[str, list[Measured]]:
    found: dict[str, list[Measured]] = {}
    for one in kernels:
        found.setdefault(one.kernel, []).append(one)
    return found


def _of_one_name(old: Sequence[Measured], new: Sequence[Measured]) -> list[_Pair]:
    """Pair the kernels that have most in common first; code size breaks ties."""
    ranked = sorted(
        (_distance(one, other), i, j) for i, one in enumerate(old) for j, other in enumerate(new)
    )
    pairs: list[_Pair] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, i, j in ranked:
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            pairs.append((old[i], new[j], _remark(old[i], old, new)))
    return pairs


def _distance(old: Measured, new: Measured) -> tuple[int, int]:
    common = (old.target == new.target) + len({*old.details} & {*new.details})
    codes = [one.inspection for one in (old, new)]
    sizes = [0 if code is None else len(code.instructions) for code in codes]
    return -common, abs(sizes[0] - sizes[1])


def _remark(kernel: Measured, *versions: Sequence[Measured]) -> str:
    """Say where the size of the code has decided what is compared."""
    if kernel.launch is not None:
        return ""
    alike = max(sum(one.title == kernel.title for one in version) for version in versions)
    return f"paired by size of the code: {alike} kernels are called so" if alike > 1 else ""


def _title(old: Measured, new: Measured) -> str:
    """Return what both are called, with what differs as `before -> after`."""
    kernel = old.kernel if old.kernel == new.kernel else f"{old.kernel} -> {new.kernel}"
    target = old.target if old.target == new.target else f"{old.target} -> {new.target}"
    both = [one for one in old.details if one in new.details]
    gone = ", ".join(one for one in old.details if one not in both)
    come = ", ".join(one for one in new.details if one not in both)
    if gone and come:
        both.append(f"{gone} -> {come}")
    elif gone or come:
        both.append(f"now with {come}" if come else f"now without {gone}")
    return title_of(kernel, target, both)


# What differs in a pair.


def _difference(old: Measured, new: Measured, remark: str, figures: Sequence[Figure]) -> Difference:
    title = _title(old, new)
    changes = _changes(old, new, title, figures)
    order = sorted(changes, key=lambda one: (one.better == "", -one.growth))
    changed = tuple(one for one in order if one.before != one.after)
    parts = tuple(_parts(old, new))
    return Difference(title, changed, parts, remark if changed or parts else "")


def _changes(
    old: Measured, new: Measured, title: str, figures: Sequence[Figure]
) -> Iterator[Change]:
    known = 0
    for figure in figures:
        by_launch = figure.of_launch is not None
        if by_launch and (old.launch is None) != (new.launch is None):
            continue  # one would be counted, the other read from the code
        try:
            yield Change(figure.name, figure.read(old), figure.read(new), figure.better)
        except NotKnown:
            continue
        known += 1
    if not known:
        listed = "" if len(figures) == len(FIGURES) else f" of {', '.join(f.name for f in figures)}"
        raise AmdjitError(
            f"{title}: the versions have no figure{listed} in common; compare code with code, and "
            "launches with launches"
        )


def _parts(old: Measured, new: Measured) -> Iterator[PartDifference]:
    if old.launch is not None and new.launch is not None:
        yield from _launch_lines(old, new)
    elif old.inspection is not None and new.inspection is not None:
        for line in compare(old.inspection, new.inspection).lines:
            figures = _count_changes(UNITS, line.units_before, line.units_after)
            yield PartDifference(_place_name(line.before, line.after), line.text, figures)


def _count_changes(
    names: Iterable[str], before: Mapping[str, float], after: Mapping[str, float]
) -> tuple[Change, ...]:
    pairs = ((name, before.get(name, 0), after.get(name, 0)) for name in names)
    return tuple(Change(name, one, other) for name, one, other in pairs if one != other)


def _place_name(before: SourcePlace | None, after: SourcePlace | None) -> str:
    """Return the name of a line, that of the second version if it is there."""
    place = after or before
    if place is None:
        return "without a line"
    return f"{PurePath(place[0]).name}:{place[1]}{'' if after else ' (gone)'}"


# Lines of launches, by what each cost.

_OF_LINES = (
    "executions",
    "requests",
    "bytes",
    "cache_lines",
    "lds_conflict_cycles",
    "contention",
    "barrier_waits",
)
_CYCLES = "cycles"


@dataclass(frozen=True)
class _Lines:
    """The lines of a launch: what each cost, and the sources as far as they are known."""

    lines: Mapping[SourcePlace, Mapping[str, float]]
    companion: Companion

    @staticmethod
    def of(kernel: Measured, launch: LaunchFacts) -> _Lines:
        """Return the lines of a kernel's launch."""
        cycles = {} if launch.cycles is None else launch.cycles.by_line
        spent = {place: one.issue + sum(one.stalls.values()) for place, one in cycles.items()}
        lines = {
            place: {name: getattr(line, name) for name in _OF_LINES}
            | {_CYCLES: spent.get(place, 0)}
            for place, line in launch.lines.items()
        }
        code = kernel.inspection
        return _Lines(lines, Companion() if code is None else code.companion)

    def text(self, place: SourcePlace | None) -> str:
        """Return the text of a line, "" if it is not known."""
        file, number = place or ("", 0)
        lines = self.companion.sources.get(file, "").splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _launch_lines(old: Measured, new: Measured) -> Iterator[PartDifference]:
    assert old.launch is not None
    assert new.launch is not None
    before, after = _Lines.of(old, old.launch), _Lines.of(new, new.launch)
    aligned = Alignment(before, after)
    pairs: set[tuple[SourcePlace | None, SourcePlace | None]]
    pairs = {(place, aligned.after(place)) for place in before.lines}
    pairs |= {(aligned.before(place), place) for place in after.lines}
    found = []
    for one, other in pairs:
        costs = (
            before.lines.get(one, {}) if one else {},
            after.lines.get(other, {}) if other else {},
        )
        figures = _count_changes((_CYCLES, *_OF_LINES), *costs)
        if figures:
            text = after.text(other) or before.text(one)
            growth = tuple(costs[0].get(name, 0) - costs[1].get(name, 0) for name in _BY_GROWTH)
            found.append((growth, PartDifference(_place_name(one, other), text, figures)))
    yield from (part for _, part in sorted(found, key=lambda each: (each[0], each[1].name)))


_BY_GROWTH = (_CYCLES, "executions")
