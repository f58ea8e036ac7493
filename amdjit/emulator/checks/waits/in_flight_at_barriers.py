"""Accesses that may still be in flight when a wave signals a barrier.

    ds_load_b32 v4, v3
    s_barrier_signal -1     ; the load may take place after the barrier
    s_barrier_wait -1

The barrier may be meant for other memory than this. Whether it is a mistake shows only when the
code runs (`checks/race/in_flight_accesses.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.emulator.checks.waits.counters import effect_of, waits_of
from amdjit.emulator.checks.waits.places import Paths
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import MemoryKind, Space
from amdjit.isa.wait_counters import WaitCounter

_OLDEST = 64  # what the widest counter holds
# How many instructions that count on the counter have been issued since an access was.
_Ages = dict[tuple[int, WaitCounter], int]


def in_flight_at_barriers(graph: Graph) -> frozenset[int]:
    """Return the pcs of these accesses of LDS, and of such loads of global memory if the waves of a
    workgroup may have caches of their own, which let others' stores overtake them."""
    found: set[int] = set()
    states: dict[int, _Ages] = {graph.entry: {}}
    work = [graph.entry]
    paths = Paths(graph)
    while work:
        block = graph.blocks[work.pop()]
        ages = dict(states[block.pc])
        for instruction in block.instructions:
            barrier = instruction.traits.barrier
            if barrier is not None and barrier.signals:
                found |= {pc for pc, _ in ages}
            _issue(instruction, ages, graph.splits_workgroups)
        for successor in paths.after(block):
            if _merge(states, successor, ages):
                work.append(successor)
    return frozenset(found)


def _issue(instruction: Instruction, ages: _Ages, splits_workgroups: bool) -> None:
    for counter, left in waits_of(instruction).items():
        for key, age in list(ages.items()):
            if key[1] is counter and (age >= left if counter.in_order else left == 0):
                del ages[key]
    counts = effect_of(instruction).counts
    for key in ages:
        if key[1] in counts:
            ages[key] = min(ages[key] + 1, _OLDEST)
    for counter in _counters(instruction, counts, splits_workgroups):
        ages[instruction.pc, counter] = 0


def _counters(
    instruction: Instruction, counts: tuple[WaitCounter, ...], splits_workgroups: bool
) -> Iterator[WaitCounter]:
    """Yield the counters whose waits end an access that matters here."""
    access = instruction.traits.memory
    if access is None or access.kind not in (MemoryKind.LOAD, MemoryKind.STORE):
        return
    if access.space in (Space.LDS, Space.FLAT):
        yield counts[-1]
    is_load = access.kind is MemoryKind.LOAD
    if splits_workgroups and is_load and access.space in (Space.GLOBAL, Space.FLAT):
        yield counts[0]


def _merge(states: dict[int, _Ages], target: int, new: _Ages) -> bool:
    old = states.get(target)
    if old is None:
        states[target] = dict(new)
        return True
    changed = False
    for key, age in new.items():
        if key not in old or age < old[key]:
            old[key] = age
            changed = True
    return changed
