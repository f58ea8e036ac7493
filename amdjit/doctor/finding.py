"""What the doctor says: findings, each with what can be done about it."""

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
"""What to do about errors that amdjit does not know."""


class State(Enum):
    """How good a finding is.

    OK: as it should be. NOTE: nothing fails, but it is good to know. PROBLEM: something that should
    work does not.
    """

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to a question.

    topic: what it is about, such as "HIP library" or "hip:0". found: what there is, in words.
    remedy: what can be done, empty where nothing needs to be. facts: the same as values, for
    programs; none that `found` does not tell.
    """

    topic: str
    state: State
    found: str
    remedy: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state is State.PROBLEM and not self.remedy:
            raise ValueError(f"the problem of {self.topic} has no remedy: {self.found}")
