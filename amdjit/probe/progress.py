"""What a run says while it goes on: a line for each batch, with the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from amdjit.probe.case import Batch
from amdjit.probe.outcome import BatchOutcome, BatchStatus, CaseStatus

__all__ = ["Progress"]

_FAILED = (CaseStatus.CHIP_FAILED, CaseStatus.CRASHED, CaseStatus.HUNG)


@dataclass
class Progress:
    """Counts batches. left: those that this run has to do; before: how many earlier runs did."""

    left: Sequence[Batch]
    before: int
    say: Callable[[str], None]
    _began: float = field(default_factory=time.monotonic)
    _ended: int = 0
    _expected: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    def ended(self, batch: Batch, outcome: BatchOutcome) -> None:
        """Say what became of a batch."""
        self._ended += 1
        self._expected += batch.expected
        total = self.before + len(self.left)
        number = f"[{self.before + self._ended:{len(str(total))}}/{total}]"
        self.say(f"{number} {batch.name}: {_what(outcome)}{self._remaining()}")

    def _remaining(self) -> str:
        """Return the time that is left if the rest is as quick as what has ended."""
        rest = sum(batch.expected for batch in self.left) - self._expected
        if rest <= 0 or self._expected <= 0:
            return ""
        seconds = round(self.elapsed * rest / self._expected)
        return f"; {seconds // 60}:{seconds % 60:02} left"


def _what(outcome: BatchOutcome) -> str:
    parts = []
    if outcome.status is not BatchStatus.DONE:
        first = outcome.detail.splitlines()[0] if outcome.detail else ""
        parts.append(f"{outcome.status.value.upper()} {first}".strip())
    if outcome.measurements:
        parts.append(f"{len(outcome.measurements)} measurements")
    if outcome.cases:
        parts.append(f"{len(outcome.cases)} cases")
    for words, statuses in (
        ("differ", (CaseStatus.DIFFERS,)),
        ("failed", _FAILED),
        ("not emulated", (CaseStatus.EMULATOR_FAILED, CaseStatus.EMULATOR_LOST)),
    ):
        count = sum(case.status in statuses for case in outcome.cases)
        if count:
            parts.append(f"{count} {words}")
    return ", ".join(parts) or "nothing"
