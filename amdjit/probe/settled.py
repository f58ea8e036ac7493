"""Which rows of the certainty tables in the documentation a run settles.

The tables: `docs/emulator.md` and `docs/reference/matrix_instructions.md` of matrix and dot
instructions, whose rows are those of `intrinsics/matrix/multiply/certainty.py`, and the one of
`docs/emulator.md` of what gfx9 does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

from amdjit.intrinsics.matrix.multiply.certainty import GFX11_KNOWN, KNOWN, Known, cdna_known
from amdjit.intrinsics.models.mfma_instructions import mfma_instruction
from amdjit.probe.outcome import CaseOutcome, CaseStatus
from amdjit.probe.subjects import Subject, subjects_of
from amdjit.target import Feature, Target

__all__ = ["GFX9_ROWS", "Row", "Verdict", "settled_rows"]


class Verdict(Enum):
    """What a run says about a row."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. certainty: what the documentation says; subject: what it is about;
    compared: cases that both computed; different: those with other results; summary: in which way.
    """

    certainty: str
    subject: str
    verdict: Verdict
    compared: int = 0
    different: int = 0
    summary: str = ""

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
    """A row of gfx9's table. about: patterns of instructions, each with a pattern of the ways of
    differing that speak against the row, empty for all; targets: where it holds."""

    certainty: str
    what: str
    about: tuple[tuple[str, str], ...]
    targets: tuple[str, ...] = ("gfx908", "gfx90a", "gfx942", "gfx950")

    def has(self, subject: Subject) -> bool:
        """Whether a subject belongs to this row."""
        return any(re.search(pattern, subject.name) for pattern, _ in self.about)

    def is_refuted_by(self, case: CaseOutcome) -> bool:
        """Whether the results of a case speak against this row."""
        return case.status is CaseStatus.DIFFERS and any(
            re.search(pattern, case.subject) and any(re.search(ways, kind) for kind in case.kinds)
            for pattern, ways in self.about
        )


_APPROXIMATE = r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_"
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
        "which NaN an instruction returns; the steps of a division; the last bit of `v_exp_f32` "
        "and the like",
        ((rf"{_APPROXIMATE}|{_DIVISIONS}", ""), (r"^v_.*_f(16|32|64)", "another NaN")),
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


def settled_rows(cases: Iterable[CaseOutcome], target: Target) -> tuple[Row, ...]:
    """Return what a run says about each row that is there for a processor."""
    subjects = subjects_of(cases)
    named: dict[str, list[Subject]] = {}
    for subject in subjects:
        named.setdefault(_row_name(subject.name, target), []).append(subject)
    rows = [
        _row(known.certainty, name, named.get(name, []))
        for name, known in sorted(_matrix_table(target).items())
    ]
    if target.isa[0] == 9:
        others = tuple(each for each in subjects if not re.match(r"(v_)?s?mf", each.name))
        rows += [_table_row(row, others) for row in GFX9_ROWS if target.name in row.targets]
    rows += _approximate_rows(subjects) if target.isa[0] != 9 else []
    return tuple(rows)


def _matrix_table(target: Target) -> Mapping[str, Known]:
    if Feature.MFMA in target.features:
        return cdna_known(target.name)
    if target.isa[0] == 11:
        return GFX11_KNOWN
    return KNOWN if Feature.WMMA_GFX12 in target.features else {}


def _row_name(subject: str, target: Target) -> str:
    """Return the name that the tables have for an instruction, which may be spelled as in AMD's
    assembler."""
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
    """Return the verdict of the cases of some subjects."""
    cases = [case for subject in subjects for case in subject.compared]
    different = [case for case in cases if refutes(case)]
    if not cases:
        return Row(certainty, name, Verdict.OPEN)
    if not different:
        return Row(certainty, name, Verdict.CONFIRMED, len(cases))
    summary = Subject(name, tuple(different)).summary()
    return Row(certainty, name, Verdict.REFUTED, len(cases), len(different), summary)


def _table_row(row: TableRow, subjects: tuple[Subject, ...]) -> Row:
    found = [subject for subject in subjects if row.has(subject)]
    verdict = _row(row.certainty, row.what, found, row.is_refuted_by)
    if verdict.verdict is not Verdict.REFUTED:
        return verdict
    wrong = sorted({s.name for s in found if any(map(row.is_refuted_by, s.different))})
    names = ", ".join(wrong[:4]) + (f" and {len(wrong) - 4} more" if len(wrong) > 4 else "")
    return replace(verdict, summary=f"{names}: {verdict.summary}")


def _approximate_rows(subjects: tuple[Subject, ...]) -> list[Row]:
    """Return a row for each approximate instruction that ran: the ISA allows it an error, and the
    emulator returns what was measured or the nearest number."""
    return [
        _row("approximate", subject.name, [subject])
        for subject in sorted(subjects, key=lambda each: each.name)
        if re.search(_APPROXIMATE, subject.name)
    ]
