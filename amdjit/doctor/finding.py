"""The doctor's findings, each with what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from amdjit.late_methods import dataclass, field

__all__ = ["REINSTALL", "REPORT_IT", "Finding", "State"]

REINSTALL = "pip install --force-reinstall amdjit"
"""What to do about packages that are missing, broken, or of another version."""

REPORT_IT = (
    "Report it with these words, unless a setting of yours leads to it: it is a mistake of "
    "amdjit's, or of a package that it uses."
)
"""What to do about errors that amdjit does not recognise."""


class State(Enum):
    """How good a finding is.

    OK: it is as it should be. NOTE: nothing fails, but it is good to know. PROBLEM: something does
    not work that should.
    """

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to a question."""

    topic: str
    """What it is about, such as "HIP library" or "hip:0"."""
    state: State
    found: str
    """What there is, in words."""
    remedy: str = ""
    """What can be done; empty if nothing has to be."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The same information as values, for programs, and nothing that `found` does not say."""

    def __post_init__(self) -> None:
        if self.state is State.PROBLEM and not self.remedy:
            raise ValueError(f"the problem of {self.topic} has no remedy: {self.found}")
