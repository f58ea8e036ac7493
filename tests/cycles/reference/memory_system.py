"""The memory system of the cycle model, in plain Python: caches as lists, bandwidths as times until
which a level is busy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from amdjit.cycles.engine.layout import TICKS, Access
from amdjit.cycles.memory import CacheShape, MemoryParameters

HASH = 0x9E3779B97F4A7C15


@dataclass
class Cache:
    """Sets of line numbers, the most recent one last."""

    shape: CacheShape
    sets: dict[int, list[int]] = field(default_factory=dict)

    def holds(self, line: int) -> bool:
        """Return whether a line is there; afterwards it is."""
        index = (line * HASH % 2**64 >> 32) % self.shape.sets
        lines = self.sets.setdefault(index, [])
        found = line in lines
        if found:
            lines.remove(line)
        elif len(lines) == self.shape.ways:
            lines.pop(0)
        lines.append(line)
        return found


@dataclass
class MemorySystem:
    """Caches of a workgroup processor, and the tick until which each level is busy."""

    values: MemoryParameters

    def __post_init__(self) -> None:
        self.first = {name: Cache(self.values.vector_cache) for name in (0, 1)}
        self.first["scalar"] = Cache(self.values.scalar_cache)
        self.l2 = Cache(self.values.l2_cache)
        self.busy: dict[int | str, int] = {}

    def access(self, kind: Access, half: int, keys: Sequence[int], salt: int, time: int) -> int:
        """Return the cycle at which the last line of a request is there."""
        ticks = [time * TICKS]
        for key in keys:
            ticks.append(self._line(kind, half, key + salt if key & 2 else key, time * TICKS))
        return -(-max(ticks) // TICKS)

    def _line(self, kind: Access, half: int, key: int, tick: int) -> int:
        values, line, shared = self.values, key >> 2, key & 1
        first = "scalar" if kind is Access.SCALAR else half
        cost = values.scalar_cost if kind is Access.SCALAR else values.vector_cost
        latency = values.scalar_latency if kind is Access.SCALAR else values.vector_latency
        start = self._take(first, tick, cost)
        if kind in (Access.LOAD, Access.SCALAR) and self.first[first].holds(line):
            return start + latency
        at_l2 = self._take("l2", start, values.l2_cost)
        if self.l2.holds(line) or shared:
            return at_l2 + values.l2_latency
        far = self._take("far", at_l2, values.far_cost)
        if kind is Access.STORE:
            return at_l2 + values.l2_latency
        return far + values.far_latency

    def _take(self, level: int | str, tick: int, cost: int) -> int:
        start = max(tick, self.busy.get(level, 0))
        self.busy[level] = start + cost
        return start
