"""What the doctor says: findings, each with what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from amdjit.late_methods import dataclass, field

__all__ = ["Finding", "State"]


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
