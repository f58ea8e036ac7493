"""The findings of a run of the probe, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from amdjit.probe.case import Difference, Measurement

__all__ = [
    "BatchOutcome",
    "BatchStatus",
    "CaseOutcome",
    "CaseStatus",
    "Facts",
    "Record",
    "StoredArray",
    "plain",
    "read_batch",
    "read_case",
    "read_facts",
    "read_measurement",
    "read_record",
]


class CaseStatus(Enum):
    """How a case ended."""

    AGREES = "agrees"
    DIFFERS = "differs"
    CHIP_FAILED = "failed on the chip"
    EMULATOR_FAILED = "failed on the emulator"
    BOTH_FAILED = "failed on both"
    CRASHED = "ended the process on the chip"
    HUNG = "hung on the chip"
    EMULATOR_LOST = "ended the emulator's process"


class BatchStatus(Enum):
    """How a batch ended on the chip."""

    DONE = "done"
    CRASHED = "crashed"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class StoredArray:
    """A result as the chip computed it."""

    dtype: str
    """The name of the element type, NumPy's or ml_dtypes'."""
    shape: tuple[int, ...]
    data: bytes
    """The bytes of the elements in C order."""
    is_relative: bool = False
    """Whether the data are the chip's bits minus the emulator's. This compresses well if there are
    many elements; the result can be restored from the emulator's, whose digest the case has."""


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of a case on the chip and on the emulator."""

    name: str
    subject: str
    rule: str
    status: CaseStatus
    elements: int = 0
    """The number of elements of all results."""
    differing: int = 0
    """The number of elements whose bits differ."""
    chip: str = ""
    """The digest of the chip's results, empty if there are none."""
    emulator: str = ""
    """The digest of the emulator's results, empty if there are none."""
    note: str = ""
    """What failed, in words."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many elements differ, for each kind of difference, such as "1 ulp toward zero"."""
    differences: tuple[Difference, ...] = ()
    """The first differences."""
    results: tuple[StoredArray, ...] = ()
    """The chip's results, if the case stores them; empty for large ones that equal the
    emulator's."""


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """The outcome of a batch."""

    name: str
    group: str
    status: BatchStatus
    seconds: float = 0.0
    """How many seconds the batch took on the chip."""
    detail: str = ""
    """How a batch that is not done ended, with the last lines of its standard error."""
    cases: tuple[CaseOutcome, ...] = ()
    measurements: tuple[Measurement, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a device."""

    device: str
    target: str
    """The target id. Memory and HIP's version are in `description`."""
    description: str
    multiprocessors: int
    driver: str = ""
    """The version of the kernel's driver, empty if unknown."""
    system: str = ""
    """The name of the operating system. Nothing here tells whose device it is."""
    python: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A run of the probe."""

    amdjit: str
    """The version of amdjit."""
    corpus: str
    """The version of the corpus."""
    facts: Facts
    selection: str
    """The batches that the user asked for, in words."""
    batches: tuple[BatchOutcome, ...]
    """The batches, in the order in which they ran."""
    is_complete: bool = True
    """Whether all selected batches ran."""
    stopped: str = ""
    """Why they did not, in words."""

    def cases(self) -> tuple[CaseOutcome, ...]:
        """Return the cases of all batches."""
        return tuple(case for batch in self.batches for case in batch.cases)

    def measurements(self) -> tuple[Measurement, ...]:
        """Return the measurements of all batches."""
        return tuple(each for batch in self.batches for each in batch.measurements)


def plain(value: Any) -> Any:
    """Return a value of these classes as lists, numbers and strings, which msgpack can write."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return [plain(getattr(value, name)) for name in value.__dataclass_fields__]
    return value


def read_batch(row: Any) -> BatchOutcome:
    """Return a batch from its plain form. TypeError, ValueError or KeyError for anything else."""
    name, group, status, seconds, detail, cases, measurements = row
    return BatchOutcome(
        _text(name),
        _text(group),
        status=BatchStatus(status),
        seconds=float(seconds),
        detail=_text(detail),
        cases=tuple(read_case(each) for each in cases),
        measurements=tuple(read_measurement(each) for each in measurements),
    )


def read_facts(row: Any) -> Facts:
    """Return facts from their plain form. TypeError or ValueError for anything else."""
    device, target, description, multiprocessors, *others = row
    return Facts(
        _text(device),
        _text(target),
        _text(description),
        int(multiprocessors),
        *(_text(other) for other in others),
    )


def read_record(row: Any) -> Record:
    """Return a record from its plain form. TypeError, ValueError or KeyError for anything else."""
    amdjit, corpus, facts, selection, batches, is_complete, stopped = row
    return Record(
        _text(amdjit),
        _text(corpus),
        facts=read_facts(facts),
        selection=_text(selection),
        batches=tuple(read_batch(each) for each in batches),
        is_complete=bool(is_complete),
        stopped=_text(stopped),
    )


def read_case(row: Any) -> CaseOutcome:
    """Return a case's outcome from its plain form. TypeError, ValueError or KeyError for anything
    else."""
    name, subject, rule, status, elements, differing, chip, emulator, note, *rest = row
    kinds, differences, results = rest
    return CaseOutcome(
        _text(name),
        _text(subject),
        rule=_text(rule),
        status=CaseStatus(status),
        elements=int(elements),
        differing=int(differing),
        chip=_text(chip),
        emulator=_text(emulator),
        note=_text(note),
        kinds={_text(kind): int(count) for kind, count in kinds.items()},
        differences=tuple(
            Difference(int(r), int(e), _text(i), int(c), int(m)) for r, e, i, c, m in differences
        ),
        results=tuple(
            StoredArray(_text(d), tuple(map(int, s)), bytes(b), bool(r)) for d, s, b, r in results
        ),
    )


def read_measurement(row: Any) -> Measurement:
    """Return a measurement from its plain form. TypeError or ValueError for anything else."""
    name, value, unit, samples, parameter, expected = row
    return Measurement(
        _text(name),
        float(value),
        unit=_text(unit),
        samples=tuple(float(sample) for sample in samples),
        parameter=_text(parameter),
        expected=None if expected is None else float(expected),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is a {type(value).__name__}")
    return value
