"""What is known about one candidate: how it was compiled, why it was dropped, how fast it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from amdjit.tuning.configurations import Configuration

__all__ = ["Candidate", "Facts", "State"]


class State(Enum):
    """How far a candidate got."""

    FINE = "fine"
    """It may be the best one."""
    BUILT = "built"
    """It is compiled and within the limits; nothing has run."""
    PRUNED = "pruned"
    """It needs more than the limits allow."""
    REFUSED = "refused"
    """It cannot be compiled or launched."""
    FAULTED = "faulted"
    """Its launch faulted, or a sanitizer found something."""
    WRONG = "wrong"
    """Its results differ from the right ones."""
    LOST = "lost"
    """Its worker died, took too long, or ran out of memory."""
    DROPPED = "dropped"
    """It was not among the first ones of the ranking, so it was not run."""
    SLOWER = "slower"
    """Its measurement was stopped early: it is clearly slower than another one."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a candidate needs."""

    vgprs: int
    """VGPRs of a wave."""
    sgprs: int
    """SGPRs of a wave."""
    vgpr_spills: int
    """VGPRs that are spilled."""
    sgpr_spills: int
    """SGPRs that are spilled."""
    lds_bytes: int
    """LDS of a workgroup, dynamic LDS included."""
    scratch_bytes: int
    """Private memory of a work-item."""
    waves_per_simd: int
    """Waves that a SIMD holds at the same time, in whole workgroups."""
    limiter: str
    """What keeps a SIMD from holding more waves."""
    code_bytes: int
    """Size of the machine code."""
    instructions: int
    """Machine instructions."""
    block: int
    """Work-items of a workgroup."""
    workgroups: int
    """Workgroups of the grid."""


@dataclass(frozen=True)
class Candidate:
    """One configuration with what the search found."""

    configuration: Configuration
    state: State
    reason: str = ""
    """Why it cannot be the best one."""
    facts: Facts | None = None
    score: float | None = None
    """The figure of the ranking; lower is better."""
    cycles: int | None = None
    """The cycle model's estimate for the whole launch."""
    seconds: float | None = None
    """Seconds of a launch: the median of the measurement, or the model's estimate."""
    samples: tuple[float, ...] = ()
    """Measured seconds."""
    by: str = ""
    """What gave the time: "events", "model", "static" or the name of the ranking."""
    compile_seconds: float | None = None
    """Seconds that compiling took."""
    worker: str = ""
    """The device that it was measured or estimated for."""
    tries: int = 0
    """How many searches lost it."""

    def __repr__(self) -> str:
        seconds = "" if self.seconds is None else f", {self.seconds:.3g} s by {self.by}"
        reason = f" ({self.reason})" if self.reason else ""
        return f"<candidate {self.configuration}: {self.state.value}{reason}{seconds}>"

    @property
    def order(self) -> tuple[bool, float, float]:
        """The order of candidates: measured before estimated, fast before slow."""
        quick = float("inf") if self.seconds is None else self.seconds
        return self.state is not State.FINE, quick, _or_last(self.score)

    def record(self) -> dict[str, Any]:
        """Return the candidate as JSON values."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        values["configuration"] = _json_configuration(self.configuration)
        values["text"] = str(self.configuration)
        values["state"] = self.state.value
        values["facts"] = None if self.facts is None else dataclasses.asdict(self.facts)
        return {
            name: value
            for name, value in values.items()
            if value not in (None, "", ()) and (name, value) != ("tries", 0)
        }

    @staticmethod
    def read(record: Mapping[str, Any], configuration: Configuration | None = None) -> Candidate:
        """Return the candidate that JSON values describe. configuration: the configuration of the
        space with this text, whose values may be more than JSON can represent. ValueError for
        anything else."""
        known = {each.name for each in dataclasses.fields(Candidate)}
        values = {name: value for name, value in record.items() if name in known}
        try:
            values["configuration"] = configuration or Configuration(record["configuration"])
            values["state"] = State(record["state"])
            values["samples"] = tuple(map(float, record.get("samples", ())))
            facts = record.get("facts")
            values["facts"] = None if facts is None else Facts(**facts)
            return Candidate(**values)
        except (TypeError, KeyError) as error:
            raise ValueError(f"no candidate: {error}") from None


def _or_last(value: float | None) -> float:
    return float("inf") if value is None else value


def _json_configuration(configuration: Configuration) -> dict[str, Any]:
    plain = (bool, int, float, str, type(None))
    return {
        name: value if isinstance(value, plain) else str(Configuration({name: value}))
        for name, value in configuration.items()
    }
