"""The report that the owner of a GPU reads after a run, on one screen: differences, by subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from amdjit.probe.case import Difference
from amdjit.probe.fitting import deviating
from amdjit.probe.outcome import BatchOutcome, BatchStatus, CaseOutcome, CaseStatus, Record

__all__ = [
    "Subject",
    "how_to_send",
    "issues_url",
    "report",
    "shown_difference",
    "shown_subject",
    "subjects_of",
]


_MOST_SUBJECTS = 10
_MOST_LINES = 6
_EXAMPLES = 2
_WIDTH = 120


def report(record: Record) -> str:
    """Return what was found, on one screen: counts, what differs by subject and value, what failed,
    and what was measured."""
    cases = record.cases()
    subjects = subjects_of(cases)
    return "\n".join(
        line
        for part in (
            _head(record),
            _differences([subject for subject in subjects if subject.different]),
            _failures(record, subjects),
            _not_emulated(cases),
            _measured(record),
        )
        for line in part
    )


def _head(record: Record) -> list[str]:
    facts, cases = record.facts, record.cases()
    counts = Counter(case.status for case in cases)
    compared = counts[CaseStatus.AGREES] + counts[CaseStatus.DIFFERS]
    lines = [f"{facts.device}: {facts.description}"]
    if cases:
        lines.append(
            f"{len(record.batches)} batches, {len(cases)} cases: {counts[CaseStatus.AGREES]} of "
            f"{compared} that both computed agree bit for bit, {counts[CaseStatus.DIFFERS]} differ"
        )
    if not record.is_complete:
        lines.append(f"The run is not complete: {record.stopped}.")
    return lines


def _differences(subjects: list[Subject]) -> list[str]:
    if not subjects:
        return []
    lines = ["", "The chip and the emulator disagree:"]
    for subject in subjects[:_MOST_SUBJECTS]:
        lines += shown_subject(subject, _EXAMPLES if len(subjects) <= 5 else 1)
    return lines + _more(len(subjects), _MOST_SUBJECTS, "subjects")


def shown_subject(subject: Subject, examples: int) -> list[str]:
    """Return the lines about a subject: how its results differ, and the first examples."""
    known = sorted(subject.rules - {"documented"})
    certainty = f"; certainty: {' and '.join(known)}" if known else ""
    cases = f"{len(subject.different)} of {len(subject.compared)} cases{certainty}"
    lines = [f"  {subject.name} ({cases}): {subject.summary()}"]
    for case, difference in subject.examples[:examples]:
        lines.append(f"    {shown_difference(case, difference)}")
    notes = [case.note for case in subject.different if case.note]
    return lines + [f"    {note}"[:_WIDTH] for note in notes[:1]]


def shown_difference(case: CaseOutcome, difference: Difference) -> str:
    """Return an element that differs, in one line."""
    results = f"chip {difference.chip:#x}, emulator {difference.emulator:#x}"
    short = case.name.removeprefix(case.subject).rpartition(": ")[2].strip(" ,")
    what = f"{short}: {difference.inputs}" if short else difference.inputs
    room = _WIDTH - 6 - len(results)
    return f"{what if len(what) <= room else f'{what[: room - 4]} ...'}: {results}"


def _failures(record: Record, subjects: tuple[Subject, ...]) -> list[str]:
    lines = [
        f"  {case.subject}, {case.name}: {case.status.value}: {_first_line(case.note)}"[:_WIDTH]
        for subject in subjects
        for case in subject.failed
    ]
    lines += [
        f"  {batch.name} {batch.status.value}: {_first_line(batch.detail)}"[:_WIDTH]
        for batch in record.batches
        if batch.status is not BatchStatus.DONE and not _has_lost_case(batch)
    ]
    if not lines:
        return []
    head = ["", "Failed on the chip:"]
    return head + lines[:_MOST_LINES] + _more(len(lines), _MOST_LINES, "failures")


def _has_lost_case(batch: BatchOutcome) -> bool:
    return any(case.status in (CaseStatus.CRASHED, CaseStatus.HUNG) for case in batch.cases)


def _not_emulated(cases: tuple[CaseOutcome, ...]) -> list[str]:
    lost = (CaseStatus.EMULATOR_FAILED, CaseStatus.EMULATOR_LOST, CaseStatus.BOTH_FAILED)
    found = [case for case in cases if case.status in lost]
    if not found:
        return []
    first = found[0]
    return [
        "",
        f"Not compared, because the emulator failed: {len(found)} cases, such as {first.name}: "
        f"{_first_line(first.note)}"[:_WIDTH],
    ]


def _measured(record: Record) -> list[str]:
    """Return the measurements that differ most from the cycle model."""
    found = record.measurements()
    if not found:
        return []
    known = [each for each in found if each.expected is not None]
    far = sorted(
        deviating(known), key=lambda each: -_distance(each.measurement.value, each.expected)
    )
    head = f"Measured: {len(found)} figures, {len(known)} of which the cycle model predicts"
    others = f"; {len(far)} differ from it:" if far else ""
    lines = [f"  {each}"[:_WIDTH] for each in far[:_MOST_LINES]]
    return ["", head + others, *lines, *_more(len(far), _MOST_LINES, "figures")]


def _distance(value: float, expected: float) -> float:
    """Return by which factor two figures differ, at least 1."""
    if value <= 0 or expected <= 0:
        return float("inf")
    return max(value / expected, expected / value)


def how_to_send(path: Path, size: int) -> str:
    """Return how to send the file in."""
    url = issues_url()
    where = f"attach it to an issue at {url}" if url else "attach it to an issue of the project"
    return (
        f"{path} ({size / 1024:.0f} KiB) has all of it, and nothing about you or the machine but "
        f"the GPU, the driver's version and the system's name. To send it in, {where} "
        "(as a .zip, which GitHub takes)."
    )


def issues_url() -> str:
    """Return the address of the project's issues, from the metadata of the package."""
    for entry in metadata.metadata("amdjit").get_all("Project-URL") or ():
        label, _, url = str(entry).partition(",")
        if label.strip() == "Issues":
            return url.strip()
    return ""


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else "no words"


def _more(count: int, most: int, what: str) -> list[str]:
    return [f"  and {count - most} more {what}"] if count > most else []


# Groups differences by subject: an instruction, a matrix row, an example, a program.


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
