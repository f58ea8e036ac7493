"""Findings as text for a terminal, and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

import amdjit
from amdjit.doctor.examination import exit_code
from amdjit.doctor.finding import Finding, State

__all__ = ["SCHEMA", "finding_text", "report_json", "verdict"]

SCHEMA = "amdjit.doctor/1"

_MARKS = {State.OK: "ok", State.NOTE: "note", State.PROBLEM: "PROBLEM"}
_TOPIC_COLUMN = 8
_TEXT_COLUMN = 22


def finding_text(finding: Finding, width: int) -> str:
    """Return a finding in lines of at most `width` characters: state, topic and what was found, and
    the remedy below."""
    head = f"{_MARKS[finding.state]:{_TOPIC_COLUMN}}{finding.topic:{_TEXT_COLUMN - _TOPIC_COLUMN}}"
    lines = _wrapped(head, finding.found, width)
    if finding.remedy:
        lines += _wrapped(f"{'->':>{_TEXT_COLUMN - 1}} ", finding.remedy, width)
    return "\n".join(lines)


def verdict(findings: Sequence[Finding]) -> str:
    """Return the last line, which summarises the findings."""
    problems = sum(finding.state is State.PROBLEM for finding in findings)
    if problems:
        return f"{problems} problem{'s' * (problems > 1)}: after each -> is what to do"
    gpus = [each for each in _ran_on(findings) if each.startswith("hip:")]
    if gpus:
        return f"Kernels run on {', '.join(gpus)}. Nothing needs to be done."
    return "Kernels run on the emulator; no GPU is used. Nothing needs to be done."


def report_json(findings: Sequence[Finding]) -> str:
    """Return all findings as JSON, in the form "amdjit.doctor/1" (docs/first_contact.md)."""
    form = {
        "schema": SCHEMA,
        "version": amdjit.__version__,
        "exit_code": exit_code(findings),
        "devices": _ran_on(findings),
        "findings": [
            {
                "topic": finding.topic,
                "state": finding.state.value,
                "found": finding.found,
                "remedy": finding.remedy,
                "facts": dict(finding.facts),
            }
            for finding in findings
        ],
    }
    return json.dumps(form, indent=2)


def _ran_on(findings: Sequence[Finding]) -> list[str]:
    """Return the devices on which all kernels were right."""
    return [
        finding.facts["device"]
        for finding in findings
        if finding.topic == "kernels" and finding.state is State.OK
    ]


def _wrapped(head: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        max(width, _TEXT_COLUMN + 20),
        initial_indent=head,
        subsequent_indent=" " * _TEXT_COLUMN,
        break_on_hyphens=False,
        break_long_words=False,  # so that paths can be copied
    )
