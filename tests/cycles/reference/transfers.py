"""The path of operands from a SIMD's registers to LDS and to vector memory, which the two SIMDs of
a compute unit share: one dword a cycle."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tests.cycles.reference.vector_unit import NEVER, P

__all__ = ["TransferPath", "TransferQueue"]

DEPTH = P["transfer queue"]


@dataclass
class TransferPath:
    """free: the first cycle at which the next transfer may begin."""

    free: int = NEVER


@dataclass
class TransferQueue:
    """Instructions of a SIMD that wait for their transfer; ends: when their places are free."""

    ends: deque[int] = field(default_factory=lambda: deque(maxlen=DEPTH))

    def accepts(self) -> int:
        """Return the first cycle at which another instruction fits."""
        return self.ends[0] if len(self.ends) == DEPTH else NEVER

    def add(self, start: int, dwords: int) -> None:
        """Keep a place for a transfer."""
        self.ends.append(start + dwords + P["transfer queue place"])
