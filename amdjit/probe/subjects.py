"""Groups differences by subject: an instruction, a matrix row, an example, a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from amdjit.probe.case import Difference
from amdjit.probe.outcome import CaseOutcome, CaseStatus

__all__ = ["Subject", "subjects_of"]

# These kinds are counted in addition to the kinds of single elements.
_ON_TOP = ("from an even result", "at the same bits", "in other places")
_RAN_ON_BOTH = (CaseStatus.AGREES, CaseStatus.DIFFERS)
_FAILED_ON_CHIP = (CaseStatus.CHIP_FAILED, CaseStatus.CRASHED, CaseStatus.HUNG)


@dataclass(frozen=True)
class Subject:
    """A subject with all its cases."""

    name: str
    cases: tuple[CaseOutcome, ...]

    @property
    def rules(self) -> frozenset[str]:
        """The kinds of rules that the emulator follows in its cases."""
        return frozenset(case.rule for case in self.cases)

    @property
    def compared(self) -> tuple[CaseOutcome, ...]:
        """The cases that both sides computed."""
        return tuple(case for case in self.cases if case.status in _RAN_ON_BOTH)

    @property
    def different(self) -> tuple[CaseOutcome, ...]:
        """The cases in which results differ."""
        return tuple(case for case in self.cases if case.status is CaseStatus.DIFFERS)

    @property
    def failed(self) -> tuple[CaseOutcome, ...]:
        """The cases that failed on the chip, but not on the emulator."""
        return tuple(case for case in self.cases if case.status in _FAILED_ON_CHIP)

    @property
    def differing(self) -> int:
        """The number of elements that differ."""
        return sum(case.differing for case in self.different)

    @property
    def elements(self) -> int:
        """The number of elements that were compared in the cases that differ."""
        return sum(case.elements for case in self.different)

    @property
    def examples(self) -> tuple[tuple[CaseOutcome, Difference], ...]:
        """The differences that the file has, with their cases; the first of each case come
        first."""
        ranked = [
            (place, case, difference)
            for case in self.different
            for place, difference in enumerate(case.differences)
        ]
        ranked.sort(key=lambda row: row[0])
        return tuple((case, difference) for _, case, difference in ranked)

    def summary(self) -> str:
        """Say in one line how the chip's results differ."""
        kinds: Counter[str] = Counter()
        for case in self.different:
            kinds.update(case.kinds)
        ways = Counter({kind: count for kind, count in kinds.items() if kind not in _ON_TOP})
        parts = [f"{kind} in {count}" for kind, count in ways.most_common(3)]
        others = sum(ways.values()) - sum(count for _, count in ways.most_common(3))
        if others:
            parts.append(f"else in {others}")
        text = ", ".join(parts) or "other shapes"
        if kinds["in other places"] == self.differing > 1:
            text = f"the emulator's values in other places, in {self.differing}"
        return f"{text} of {self.elements}{self._pattern(kinds)}"

    def _pattern(self, kinds: Counter[str]) -> str:
        """Say what all differences have in common."""
        count = self.differing
        if kinds["from an even result"] == count > 3:
            return ": rounds so instead of to even"
        if kinds["at the same bits"] == count > 1:
            return ": always at the same bits"
        return ""


def subjects_of(cases: Iterable[CaseOutcome]) -> tuple[Subject, ...]:
    """Return the subjects of cases; those with the greatest share of differing elements come
    first."""
    found: dict[str, list[CaseOutcome]] = {}
    for case in cases:
        found.setdefault(case.subject, []).append(case)
    subjects = [Subject(name, tuple(cases)) for name, cases in found.items()]
    return tuple(sorted(subjects, key=_rank))


def _rank(subject: Subject) -> tuple[float, str]:
    share = subject.differing / subject.elements if subject.elements else 0.0
    return -share - bool(subject.failed), subject.name
