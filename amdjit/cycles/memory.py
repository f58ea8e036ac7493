"""The memory system that a workgroup processor sees: caches, latencies, its share of bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.chip import Chip
from amdjit.cycles.engine.layout import TICKS, Cache, Memory
from amdjit.cycles.sample import Footprint
from amdjit.emulator.counting.layout import LINE_BYTES

__all__ = ["CacheShape", "MemoryParameters", "NativeMemory", "memory_of"]

# Of all caches: how many there are is not published.
_WAYS = 16


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Sets and ways of a cache; a way is a line."""

    sets: int
    ways: int

    @classmethod
    def of(cls, nbytes: int, line_bytes: int, ways: int) -> CacheShape:
        """Return the shape of a cache of `nbytes` bytes."""
        return cls(max(1, nbytes // (line_bytes * ways)), ways)


@dataclass(frozen=True, slots=True)
class MemoryParameters:
    """The memory system in numbers. `engine.layout.TICKS` ticks are what the simulation counts: a
    cycle, or a quantum; behind L2 is the Infinity Cache or DRAM."""

    vector_cache: CacheShape
    """Of one compute unit."""
    scalar_cache: CacheShape
    """Of the workgroup processor."""
    l2_cache: CacheShape
    """The workgroup processor's part of L2."""
    vector_latency: int
    """Ticks until a line of the vector cache is there."""
    scalar_latency: int
    """Ticks until a line of the scalar cache is there."""
    l2_latency: int
    """Ticks until a line of L2 is there."""
    far_latency: int
    """Ticks until a line from behind L2 is there."""
    vector_cost: int
    """Ticks of bandwidth that a line of the vector cache takes."""
    scalar_cost: int
    """Ticks of bandwidth that a line of the scalar cache takes."""
    l2_cost: int
    """Ticks of bandwidth that a line of L2 takes."""
    far_cost: int
    """Ticks of bandwidth that a line from behind L2 takes."""


def memory_of(
    chip: Chip,
    active: int,
    footprint: Footprint,
    values: Mapping[str, float],
    quantum: int = 1,
) -> MemoryParameters:
    """Return the memory system of one of `active` workgroup processors under a launch.

    values: of the parameters of memory, by name. quantum: cycles of what the simulation counts.
    What is behind L2 is the Infinity Cache if the
    launch's lines fit it, else DRAM. L2 is shared: each workgroup processor has its part of it for
    the lines that it does not share.
    """
    is_near = footprint.lines * LINE_BYTES <= chip.infinity_bytes
    far = chip.infinity_bandwidth if is_near else chip.dram_bandwidth
    sharing = min(footprint.sharing, active)
    # Each die has its part of the workgroup processors, and of those that share a line.
    share = max(1.0, sharing / chip.dies) / max(1.0, active / chip.dies)
    l2_bytes = min(chip.l2_bytes, int(chip.l2_bytes * share))
    far_latency = values["infinity cache latency" if is_near else "DRAM latency"]
    vector_bytes, scalar_bytes = values["vector cache bytes"], values["scalar cache bytes"]

    ticks = TICKS / quantum

    def cost(bytes_a_cycle: float) -> int:
        return round(ticks * LINE_BYTES / bytes_a_cycle)

    return MemoryParameters(
        vector_cache=CacheShape.of(int(vector_bytes), LINE_BYTES, _WAYS),
        scalar_cache=CacheShape.of(int(scalar_bytes), LINE_BYTES, _WAYS),
        l2_cache=CacheShape.of(l2_bytes, LINE_BYTES, _WAYS),
        vector_latency=round(ticks * values["vector cache latency"]),
        scalar_latency=round(ticks * values["scalar cache latency"]),
        l2_latency=round(ticks * values["L2 latency"]),
        far_latency=round(ticks * far_latency),
        vector_cost=cost(values["vector cache bytes a cycle"]),
        scalar_cost=cost(values["scalar cache bytes a cycle"]),
        l2_cost=cost(chip.bytes_a_cycle(chip.l2_bandwidth, active)),
        far_cost=cost(chip.bytes_a_cycle(far, active)),
    )


@dataclass(frozen=True)
class NativeMemory:
    """The memory system as the host code works on it. record: `engine.layout.Memory`."""

    parameters: MemoryParameters
    record: NDArray[np.int64] = field(init=False, repr=False)
    tags: list[NDArray[np.int64]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        values = self.parameters
        record = np.zeros(Memory.FIELDS, np.int64)
        tags = []
        for place, shape in (
            (Memory.VECTOR_CACHE, values.vector_cache),
            (Memory.OTHER_VECTOR_CACHE, values.vector_cache),
            (Memory.SCALAR_CACHE, values.scalar_cache),
            (Memory.L2_CACHE, values.l2_cache),
        ):
            lines = np.full(shape.sets * shape.ways, -1, np.int64)
            tags.append(lines)
            record[place + Cache.SETS] = shape.sets
            record[place + Cache.WAYS] = shape.ways
            record[place + Cache.TAGS] = lines.ctypes.data
        for name in ("vector", "scalar", "l2", "far"):
            for what in ("latency", "cost"):
                record[Memory[f"{name}_{what}".upper()]] = getattr(values, f"{name}_{what}")
        object.__setattr__(self, "record", record)
        object.__setattr__(self, "tags", tags)

    @property
    def address(self) -> int:
        """Where the record is."""
        return int(self.record.ctypes.data)
