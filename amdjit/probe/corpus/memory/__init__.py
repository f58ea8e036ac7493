"""Memory: atomic operations, LDS, the order between waves and workgroups, scratch, bounds of
buffers, cache hints, and everything that a kernel has to wait for. No result depends on the order
in which waves run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amdjit.probe.case import Batch, Case, Group
from amdjit.probe.corpus.memory import atomic_cases, bounds, local_share, ordering, waiting
from amdjit.target import Target

__all__ = ["batches"]

_PARTS: dict[str, Callable[[Target], Iterator[Case]]] = {
    "atomics": atomic_cases.cases,
    "LDS and scratch": local_share.cases,
    "waits and barriers": waiting.cases,
    "order between workgroups": ordering.cases,
    "buffers and cache hints": bounds.cases,
}


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the batches, one for each part."""
    return tuple(
        Batch(
            f"memory/{part}", Group.MEMORY, seconds=120.0, is_quick=part == "atomics", cases=cases,
            expected=6.0 if part == "atomics" else 4.0,
        )
        for part, cases in _PARTS.items()
    )  # fmt: skip
