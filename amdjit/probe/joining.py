"""Combines what both sides wrote into the outcome of a batch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amdjit.probe.case import Measurement, Results, bits_of
from amdjit.probe.outcome import (
    CaseOutcome,
    CaseStatus,
    StoredArray,
    plain,
    read_case,
    read_measurement,
)
from amdjit.probe.processes import scrubbed
from amdjit.probe.record import read_values, results_of, stored

__all__ = [
    "differing",
    "joined",
    "measurements_in",
    "outcomes_in",
    "stored_results",
    "whole_results",
]

_SMALL_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class _Side:
    """A case on one side."""

    begin: Mapping[str, Any]
    end: Mapping[str, Any]

    @property
    def how(self) -> str:
        """How it went: "ended", "failed" or "died"; empty if nothing is known."""
        return str(self.end.get("kind", ""))

    @property
    def note(self) -> str:
        return scrubbed(str(self.end.get("note", "")))

    @property
    def digest(self) -> str:
        return str(self.end.get("digest", ""))


_MISSING = _Side({}, {})


def differing(chip: Path, emulator: Path) -> bool:
    """Return whether some results of a case differ."""
    here = _sides(emulator)
    return any(
        side.how == "ended" == here.get(name, _MISSING).how and side.digest != here[name].digest
        for name, side in _sides(chip).items()
    )


def joined(
    chip: Path, emulator: Path, compared: Mapping[str, CaseOutcome]
) -> tuple[CaseOutcome, ...]:
    """Return the outcomes of the cases that the chip began, in their order. compared: the outcomes
    of those whose results differ."""
    here = _sides(emulator)
    found = []
    for name, side in _sides(chip).items():
        other = here.get(name, _MISSING)
        outcome = compared.get(name) or _plain_outcome(name, side, other)
        if side.begin.get("keeps"):
            outcome = replace(outcome, results=stored_results(side.end, other.end))
        found.append(outcome)
    return tuple(found)


def stored_results(chip: Mapping[str, Any], emulator: Mapping[str, Any]) -> tuple[StoredArray, ...]:
    """Return the chip's results in the form in which the file stores them: small ones as they are,
    large ones relative to the emulator's, if these exist."""
    arrays = results_of(chip.get("arrays", ()))
    others = results_of(emulator.get("arrays", ()))
    known = [(array.dtype, array.shape) for array in arrays]
    if sum(array.nbytes for array in arrays) <= _SMALL_BYTES or known != [
        (array.dtype, array.shape) for array in others
    ]:
        return stored(arrays)
    if chip["digest"] == emulator["digest"]:
        return ()
    changes = (bits_of(there) - bits_of(here) for there, here in zip(arrays, others, strict=True))
    return tuple(
        StoredArray(array.dtype.name, array.shape, change.tobytes(), is_relative=True)
        for array, change in zip(arrays, changes, strict=True)
    )


def whole_results(case: CaseOutcome, emulator: Results) -> Results:
    """Return the chip's results of a case. emulator: the emulator's results, whose digest the case
    has."""
    found = results_of(plain(case.results))
    if not any(array.is_relative for array in case.results):
        return found
    return tuple(
        (bits_of(change) + bits_of(here)).view(here.dtype).reshape(here.shape)
        for change, here in zip(found, emulator, strict=True)
    )


def _plain_outcome(name: str, chip: _Side, emulator: _Side) -> CaseOutcome:
    """Return the outcome of a case that ended on at most one side, or that ended with equal results
    on both."""
    status, note = _status(chip, emulator)
    elements = sum(math.prod(shape) for _, shape, *_ in chip.end.get("arrays", ()))
    return CaseOutcome(
        name,
        str(chip.begin["subject"]),
        str(chip.begin["rule"]),
        status,
        elements=elements,
        chip=chip.digest,
        emulator=emulator.digest,
        note=note,
    )


def _status(chip: _Side, emulator: _Side) -> tuple[CaseStatus, str]:
    if chip.how == "died":
        return (CaseStatus.HUNG if chip.end["is_hung"] else CaseStatus.CRASHED), chip.note
    if chip.how == "failed" and emulator.how == "failed":
        return CaseStatus.BOTH_FAILED, f"chip: {chip.note}; emulator: {emulator.note}"
    if chip.how != "ended":
        return CaseStatus.CHIP_FAILED, chip.note
    if emulator.how == "failed":
        return CaseStatus.EMULATOR_FAILED, emulator.note
    if emulator.how != "ended":
        return CaseStatus.EMULATOR_LOST, emulator.note
    if chip.digest != emulator.digest:
        return CaseStatus.DIFFERS, "the comparison of both results was not finished"
    return CaseStatus.AGREES, ""


def outcomes_in(file: Path) -> dict[str, CaseOutcome]:
    """Return what a comparison wrote, by the names of the cases."""
    found = (read_case(v["outcome"]) for v in read_values(file) if v["kind"] == "outcome")
    return {outcome.name: outcome for outcome in found}


def measurements_in(file: Path) -> Iterator[Measurement]:
    """Yield what a batch measured."""
    for value in read_values(file):
        if value["kind"] == "measurement":
            yield read_measurement(value["measurement"])


def _sides(file: Path) -> dict[str, _Side]:
    found: dict[str, _Side] = {}
    name = ""
    for value in read_values(file):
        if value["kind"] == "begin":
            name = value["name"]
            found[name] = _Side(value, {})
        elif value["kind"] in ("ended", "failed", "died"):
            found[name] = _Side(found[name].begin, value)
    return found
