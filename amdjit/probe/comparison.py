"""Reads a file of the probe, on any machine: what it decides, and what would have to change in the
emulator and in the cycle model."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from amdjit.intrinsics.matrix.multiply.certainty import GFX11_KNOWN, KNOWN, cdna_known, known
from amdjit.intrinsics.models import vector_arithmetic
from amdjit.intrinsics.models.certainty import Known
from amdjit.intrinsics.models.mfma_instructions import mfma_instruction
from amdjit.probe.case import Measurement, Results
from amdjit.probe.corpus import batches, corpus_version
from amdjit.probe.corpus.matrix import findings
from amdjit.probe.differences import differences_of, kinds_of
from amdjit.probe.fitting import deviating
from amdjit.probe.joining import whole_results
from amdjit.probe.outcome import BatchOutcome, CaseOutcome, CaseStatus, Record, plain
from amdjit.probe.processes import Processes
from amdjit.probe.record import read_values, results_of, stored
from amdjit.probe.report import Subject, shown_subject, subjects_of
from amdjit.target import Feature, Target, read_target

__all__ = ["GFX9_ROWS", "Comparison", "Verdict", "compare", "judged_rows", "text"]

_SECONDS = 900.0
_EXAMPLES = 3


@dataclass(frozen=True)
class Comparison:
    """A record, compared with the emulator of this amdjit."""

    record: Record
    """The record, with the outcomes that this emulator gives."""
    rows: tuple[Row, ...]
    """The rows of the certainty tables, with verdicts."""
    notes: tuple[str, ...]
    """Sentences that say what was computed again, and what could not be."""
    rules: tuple[str, ...] = ()
    """The rules that fit the chip's sums, one for each matrix row that differs."""


def compare(
    record: Record, jobs: int, processes: Processes, say: Callable[[str], None]
) -> Comparison:
    """Compute the batches with differences again, if the corpus is the same, and judge the rows of
    the tables."""
    target = read_target(record.facts.target)
    wanted = [
        batch
        for batch in record.batches
        if any(case.status in _DISAGREEING for case in batch.cases)
    ]
    notes: list[str] = []
    if record.corpus != corpus_version():
        notes.append(
            f"The corpus is {corpus_version()}, and the file's {record.corpus}: the emulator's "
            "results are those of the file."
        )
    elif not target.is_emulated:
        notes.append(f"{target.name} is not emulated: the results are those of the file.")
    elif wanted:
        record, note = _recomputed(record, wanted, jobs, processes, say)
        notes.append(note)
    rules = _rules(record, target, say)
    return Comparison(record, judged_rows(record.cases(), target), tuple(notes), rules)


_DISAGREEING = (CaseStatus.DIFFERS, CaseStatus.EMULATOR_FAILED, CaseStatus.EMULATOR_LOST)


def _recomputed(
    record: Record,
    wanted: list[BatchOutcome],
    jobs: int,
    processes: Processes,
    say: Callable[[str], None],
) -> tuple[Record, str]:
    """Return the record with the outcomes of some batches as this emulator gives them."""
    target = read_target(record.facts.target)
    known = {batch.name for batch in batches(target)}
    with tempfile.TemporaryDirectory(prefix="amdjit-probe-", ignore_cleanup_errors=True) as folder:

        def emulate(place: int) -> BatchOutcome:
            batch = wanted[place]
            file = Path(folder, str(place))
            device = f"emulator:{target.name}"
            ended = processes.on_emulator(_SECONDS, "run", str(file), device, batch.name, "0")
            say(f"{batch.name}: emulated again in {ended.seconds:.0f} s")
            return replace(batch, cases=_with_emulated(batch.cases, file))

        places = [place for place, batch in enumerate(wanted) if batch.name in known]
        with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
            try:
                changed = {batch.name: batch for batch in pool.map(emulate, places)}
            except BaseException:
                processes.close()
                raise
    after = replace(
        record, batches=tuple(changed.get(batch.name, batch) for batch in record.batches)
    )
    return after, _what_changed(record, after)


def _what_changed(before: Record, after: Record) -> str:
    """Say for how many cases this emulator agrees with the chip where the file's emulator did
    not."""
    counts: Counter[tuple[CaseStatus, CaseStatus]] = Counter(
        (old.status, new.status) for old, new in zip(before.cases(), after.cases(), strict=True)
    )
    differed = sum(count for (old, _), count in counts.items() if old in _DISAGREEING)
    agree = sum(
        count
        for (old, new), count in counts.items()
        if old in _DISAGREEING and new is CaseStatus.AGREES
    )
    return (
        f"{differed} cases that differ in the file, or that its emulator could not compute, were "
        f"emulated again: {agree} of them agree with the chip now."
    )


def _with_emulated(cases: tuple[CaseOutcome, ...], file: Path) -> tuple[CaseOutcome, ...]:
    digests: dict[str, tuple[str, object]] = {}
    name = ""
    for value in read_values(file):
        if value["kind"] == "begin":
            name = value["name"]
        elif value["kind"] == "ended":
            digests[name] = value["digest"], value["arrays"]
    return tuple(_against(case, digests) for case in cases)


def _against(case: CaseOutcome, emulated: Mapping[str, tuple[str, object]]) -> CaseOutcome:
    """Return the outcome of a case, compared with what the emulator computes now."""
    if case.status not in (*_DISAGREEING, CaseStatus.AGREES) or case.name not in emulated:
        return case
    digest, rows = emulated[case.name]
    if digest == case.chip:
        agreeing = replace(case, status=CaseStatus.AGREES, emulator=digest, differing=0, note="")
        return replace(agreeing, kinds={}, differences=(), results=stored(results_of(rows)))
    if digest == case.emulator:
        return replace(case, results=stored(whole_results(case, results_of(rows))))
    changed = replace(case, status=CaseStatus.DIFFERS, emulator=digest)
    if not case.results or any(array.is_relative for array in case.results):
        note = "this emulator computes something else, and the file has not all of the results"
        return replace(changed, note=note)
    return _different_again(changed, results_of(plain(case.results)), results_of(rows))


def _different_again(case: CaseOutcome, chip: Results, emulator: Results) -> CaseOutcome:
    if [each.shape for each in chip] != [each.shape for each in emulator]:
        return replace(case, note="other shapes")
    count, found = differences_of(chip, emulator, lambda result, element: f"element {element}")
    return replace(
        case, differing=count, kinds=kinds_of(chip, emulator), differences=found, note=""
    )


def text(comparison: Comparison) -> str:
    """Return a report of everything that the comparison found."""
    record = comparison.record
    facts = record.facts
    target = read_target(facts.target)
    lines = [
        f"{facts.description} ({facts.target}), {facts.driver or 'driver unknown'}, "
        f"{facts.system}; amdjit {record.amdjit}, corpus {record.corpus}, {record.selection}"
        + ("" if record.is_complete else f"; not complete: {record.stopped}"),
        *comparison.notes,
        *_rows_text(comparison.rows, target),
        *_emulator_text(record),
        *_rules_text(comparison.rules),
        *_model_text(record.measurements()),
    ]
    return "\n".join(lines)


def _rows_text(rows: tuple[Row, ...], target: Target) -> list[str]:
    counts = Counter(row.verdict for row in rows)
    words = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
    lines = ["", f"Rows of the certainty tables for {target.name}: {words}"]
    for verdict in (Verdict.REFUTED, Verdict.CONFIRMED):
        lines += [f"  {row}" for row in rows if row.verdict is verdict]
    still = [row.subject for row in rows if row.verdict is Verdict.OPEN]
    return lines + ([f"  open, no case of them ran: {', '.join(still)}"] if still else [])


def _emulator_text(record: Record) -> list[str]:
    subjects = [each for each in subjects_of(record.cases()) if each.different or each.failed]
    if not subjects:
        return ["", "The emulator would have to change nothing."]
    lines = ["", f"What the emulator would have to change ({len(subjects)} subjects):"]
    for subject in subjects:
        if subject.different:
            lines += shown_subject(subject, _EXAMPLES)
        lines += [
            f"  {subject.name}, {case.name}: {case.status.value}: {case.note}"
            for case in subject.failed[:1]
        ]
    return lines


def _rules_text(rules: tuple[str, ...]) -> list[str]:
    return (
        ["", "Rules that fit the chip's sums:", *(f"  {rule}" for rule in rules)] if rules else []
    )


def _rules(record: Record, target: Target, say: Callable[[str], None]) -> tuple[str, ...]:
    """Find the rule that fits the chip's results, for each matrix instruction that differs."""
    names = {subject.name for subject in subjects_of(record.cases()) if subject.different}
    results = {
        case.name: results_of(plain(case.results))[0]
        for case in record.cases()
        if case.subject in names and case.results and not case.results[0].is_relative
    }
    if record.corpus != corpus_version() or not results:
        return ()  # other versions have other operands
    say("looking for the rules that fit the chip's sums")
    return tuple(f"{row}: {finding}" for row, finding in findings(target.name, results).items())


def _model_text(measurements: tuple[Measurement, ...]) -> list[str]:
    known = [each for each in measurements if each.expected is not None]
    if not known:
        return []
    far = deviating(known)
    head = f"What the cycle model would have to change ({len(far)} of {len(known)} figures):"
    ordered = sorted(far, key=lambda each: each.measurement.parameter)
    return ["", head, *(f"  {each}" for each in ordered)]


# Which rows of the certainty tables in the documentation a run decides.
#
# The tables: `docs/emulator.md` and `docs/reference/matrix_instructions.md` of matrix and dot
# instructions, whose rows are those of `intrinsics/matrix/multiply/certainty.py`;
# `docs/arithmetic.md` of instructions of the vector unit, whose rows are those of
# `intrinsics/models/vector_arithmetic.py`; and the one of `docs/emulator.md` of what gfx9 does.


class Verdict(Enum):
    """What a run says about a row."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    certainty: str
    """How certain the rule is, as the documentation says."""
    subject: str
    """The cases that the row is about."""
    verdict: Verdict
    compared: int = 0
    """The number of cases that both sides computed."""
    different: int = 0
    """The number of cases with different results."""
    summary: str = ""
    """How the results differ, in words."""

    def __str__(self) -> str:
        """The row in one line."""
        if self.verdict is Verdict.OPEN:
            return f"{self.certainty}: {self.subject}: open, no case of it ran"
        text = f"{self.certainty}: {self.subject}: {self.verdict.value} by {self.compared} cases"
        if self.verdict is Verdict.CONFIRMED:
            return text
        return f"{text}, of which {self.different} differ: {self.summary}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of gfx9's table."""

    certainty: str
    """How certain the row is, as the documentation says."""
    what: str
    """What the row says that these processors do."""
    about: tuple[tuple[str, str], ...]
    """Patterns of the instructions that it is about. The second pattern of each pair selects the
    kinds of differences that refute the row; an empty one selects all."""
    targets: tuple[str, ...] = ("gfx908", "gfx90a", "gfx942", "gfx950")
    """The processors to which it applies."""

    def has(self, subject: Subject) -> bool:
        """Whether a subject belongs to this row."""
        return any(re.search(pattern, subject.name) for pattern, _ in self.about)

    def is_refuted_by(self, case: CaseOutcome) -> bool:
        """Whether the results of a case speak against this row."""
        return case.status is CaseStatus.DIFFERS and any(
            re.search(pattern, case.subject) and any(re.search(ways, kind) for kind in case.kinds)
            for pattern, ways in self.about
        )


_DIVISIONS = r"v_div_(scale|fmas|fixup)_"
_INTEGERS = r"_[iub](8|16|24|32|64)(?!\d)|_cmpx?_|_cvt_|permute|dpp|swizzle"
_MEMORY = r"^ds_|^(global|flat|buffer)_(load|store|atomic)|^s_"
_OF_INTEGERS = r"^(1 more|1 less|other bits|in other places)"
GFX9_ROWS = (
    TableRow(
        "rule",
        "integers, bits, comparisons, conversions, lanes, LDS, memory, atomics, branches",
        ((f"{_INTEGERS}|{_MEMORY}", ""),),
    ),
    TableRow(
        "rule",
        "the upper half of 16-bit results; FNUZ bytes of gfx942, OCP bytes of gfx950",
        ((r"fp8|bf8", ""), (r"_[fiu]16(?!\d)", _OF_INTEGERS)),
    ),
    TableRow(
        "rule",
        "sums of floats in global memory have no denormals before gfx942",
        ((r"(global|flat|buffer)_atomic_(pk_)?add_(f|bf)", "denormal"),),
        targets=("gfx908", "gfx90a"),
    ),
    TableRow(
        "measured by AMD on a gfx950",
        "what is inside a buffer",
        ((r"^buffer_", ""),),
        targets=("gfx950",),
    ),
    TableRow(
        "assumption",
        "which NaN an instruction returns; the steps of a division",
        ((_DIVISIONS, ""), (r"^v_.*_f(16|32|64)", "another NaN")),
    ),
    TableRow(
        "assumption",
        "dot products of floats add one product after the other, each sum rounded",
        ((r"v_dot2c?_(f32|bf16|f16)_", ""),),
    ),
    TableRow(
        "assumption",
        "`v_mad_f16` and `v_mac_f16` have no denormals, as `v_mad_f32` has not",
        ((r"v_(mad|mac)_f(16|32)", "denormal"),),
    ),
)


def judged_rows(cases: Iterable[CaseOutcome], target: Target) -> tuple[Row, ...]:
    """Return what a run says about each row of the tables that applies to a processor."""
    subjects = subjects_of(cases)
    named: dict[str, list[Subject]] = {}
    for subject in subjects:
        named.setdefault(_row_name(subject.name, target), []).append(subject)
    rows = [
        _row(known.certainty, name, named.get(name, []))
        for name, known in sorted(_matrix_table(target).items())
    ]
    rows += [
        _row(known.certainty, name, [each for each in subjects if each.name == name])
        for name, known in vector_arithmetic.known_rows(target.name).items()
    ]
    if target.isa[0] == 9:
        others = tuple(each for each in subjects if not re.match(r"(v_)?s?mf", each.name))
        rows += [_table_row(row, others) for row in GFX9_ROWS if target.name in row.targets]
    return tuple(rows)


def _matrix_table(target: Target) -> Mapping[str, Known]:
    if Feature.MFMA in target.features:
        return cdna_known(target.name)
    names = GFX11_KNOWN if target.isa[0] == 11 else KNOWN
    has_sums = target.isa[0] == 11 or Feature.WMMA_GFX12 in target.features
    return {name: known(name, target.name) for name in names} if has_sums else {}


def _row_name(subject: str, target: Target) -> str:
    """Return the name that the tables use for an instruction, whose subject may be AMD's assembler
    name."""
    name = subject.removeprefix("v_")
    if Feature.MFMA in target.features:
        with suppress(ValueError):
            return mfma_instruction(name, target.name).name
    return name


def _row(
    certainty: str,
    name: str,
    subjects: list[Subject],
    refutes: Callable[[CaseOutcome], bool] = lambda case: case.status is CaseStatus.DIFFERS,
) -> Row:
    """Return the verdict on the cases of some subjects."""
    cases = [case for subject in subjects for case in subject.compared]
    different = [case for case in cases if refutes(case)]
    if not cases:
        return Row(certainty, name, Verdict.OPEN)
    if not different:
        return Row(certainty, name, Verdict.CONFIRMED, len(cases))
    summary = Subject(name, tuple(different)).summary()
    return Row(
        certainty,
        name,
        verdict=Verdict.REFUTED,
        compared=len(cases),
        different=len(different),
        summary=summary,
    )


def _table_row(row: TableRow, subjects: tuple[Subject, ...]) -> Row:
    found = [subject for subject in subjects if row.has(subject)]
    verdict = _row(row.certainty, row.what, found, row.is_refuted_by)
    if verdict.verdict is not Verdict.REFUTED:
        return verdict
    wrong = sorted({s.name for s in found if any(map(row.is_refuted_by, s.different))})
    names = ", ".join(wrong[:4]) + (f" and {len(wrong) - 4} more" if len(wrong) > 4 else "")
    return replace(verdict, summary=f"{names}: {verdict.summary}")
