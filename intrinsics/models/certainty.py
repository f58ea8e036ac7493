"""The words for how well the results of instructions are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Certainty = Literal["measured", "rule", "model"]

MEANING: Mapping[Certainty, str] = MappingProxyType(
    {
        "measured": "results of a GPU are published, and these are the same bit for bit",
        "rule": "computed by a rule that was published, or as measured instructions are; no result "
        "of a GPU that would show its rounding is published",
        "model": "how it rounds nobody has measured; computed by a published model, which may be "
        "wrong",
    }
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about an instruction. source: who captured or described it; open: what the
    source does not cover."""

    certainty: Certainty
    source: str
    open: str = ""
