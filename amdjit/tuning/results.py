"""The results of a search: candidates with their reasons, the best one, and tables of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from amdjit.tuning.candidates import Candidate, State
from amdjit.tuning.configurations import Configuration
from amdjit.tuning.keys import TuningKey
from amdjit.tuning.timing import seconds_text

__all__ = ["Tuning", "candidate_table", "losers_text", "reasons_text"]

_SHOWN = 10
_SHOWN_OF_STATE = 3
_REASON_WIDTH = 160


@dataclass(frozen=True)
class Tuning:
    """What a search found."""

    kernel: str
    key: TuningKey
    candidates: tuple[Candidate, ...] = field(repr=False)
    """The candidates, the best first."""
    best: Candidate | None
    space: int
    """How many configurations there were to search."""
    stopped: str = ""
    """Why it ended early; "" if it did not."""
    seconds: float = 0.0
    """Seconds that the search took."""

    @property
    def best_config(self) -> Configuration | None:
        """The best configuration."""
        return None if self.best is None else self.best.configuration

    @property
    def by(self) -> str:
        """How the best one was chosen: "events" if it was measured, else what estimated it."""
        return "" if self.best is None else self.best.by

    @property
    def complete(self) -> bool:
        """Whether the whole space was searched."""
        return not self.stopped and len(self.candidates) == self.space

    def __repr__(self) -> str:
        best = "none" if self.best is None else str(self.best.configuration)
        return (
            f"<tuning of {self.kernel} on {self.key.device}: {len(self.candidates)} of "
            f"{self.space} configurations, the best: {best}>"
        )

    def __str__(self) -> str:
        lines = [f"{self.kernel} on {self.key.device}: {len(self.candidates)} of {self.space} "
                 f"configurations in {self.seconds:.1f} s"]  # fmt: skip
        if self.stopped:
            lines[0] += f", stopped: {self.stopped}"
        lines.append(reasons_text(self.candidates))
        lines.append(candidate_table(self.candidates, _SHOWN))
        lines.append(losers_text(self.candidates, _SHOWN))
        return "\n".join(line for line in lines if line)


def reasons_text(candidates: Sequence[Candidate]) -> str:
    """Return how many candidates there are in each state."""
    counts = Counter(each.state for each in candidates)
    return ", ".join(f"{counts[state]} {state.value}" for state in State if counts[state])


def candidate_table(candidates: Sequence[Candidate], most: int | None = None) -> str:
    """Return a table of candidates in their order: the time and where it comes from, what they
    need, and why they are out."""
    shown = candidates[:most]
    rows = [("configuration", "time", "by", "VGPRs", "spills", "LDS", "waves", "state", "why")]
    for each in shown:
        facts = each.facts
        rows.append(
            (
                str(each.configuration),
                "" if each.seconds is None else seconds_text(each.seconds),
                each.by,
                *(
                    ("", "", "", "")
                    if facts is None
                    else (
                        str(facts.vgprs),
                        str(facts.vgpr_spills + facts.sgpr_spills),
                        str(facts.lds_bytes),
                        str(facts.waves_per_simd),
                    )
                ),
                each.state.value,
                _one_line(each.reason),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column in (0, 2, 7, 8) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    left = len(candidates) - len(shown)
    return "\n".join([*lines, *([f"and {left} more"] if left > 0 else [])])


def losers_text(candidates: Sequence[Candidate], shown: int | None) -> str:
    """Return why the first few candidates of each state are out, for those that a table of `shown`
    candidates does not show."""
    hidden = [] if shown is None else candidates[shown:]
    lines = []
    for state in State:
        out = [each for each in hidden if each.state is state and each.reason]
        for each in out[:_SHOWN_OF_STATE]:
            lines.append(f"{state.value}: {each.configuration}: {_one_line(each.reason)}")
        if len(out) > _SHOWN_OF_STATE:
            lines.append(f"{state.value}: and {len(out) - _SHOWN_OF_STATE} more")
    return "\n".join(lines)


def _one_line(reason: str) -> str:
    return " ".join(reason.split())[:_REASON_WIDTH]
