"""Sets of lanes that EXEC and lane masks hold, as far as they are parts of each other.

A set is named by the chain of sets that it is a part of, the widest first: what narrows EXEC at
0x40 inside of what narrowed it at 0x10 is ("entry", 0x10, 0x40). The empty chain is all lanes. A
name stands for the set that was made last at its place; who makes one again forgets all else of
that name (`state`).
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.isa.traits import Operator, ScalarLogic

__all__ = ["ALL", "ANY", "ENTRY", "NO_LANES", "Chain", "LaneSet", "combined", "common"]

Chain = tuple[int | str, ...]

ALL: Chain = ()
# The lanes with which a wave starts.
ENTRY: Chain = ("entry",)


@dataclass(frozen=True, slots=True)
class LaneSet:
    """The lanes of a mask. chain: they are a part of this set, or just this set if it is exact.
    None: no lanes."""

    chain: Chain | None
    exact: bool = False

    def is_part_of(self, other: Chain) -> bool:
        """Whether all of its lanes are in a set."""
        return self.chain is None or self.chain[: len(other)] == other


ANY = LaneSet(ALL)
NO_LANES = LaneSet(None, exact=True)


def common(one: Chain, other: Chain) -> Chain:
    """Return the narrowest set of which both are parts."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return one[:place]
    return min(one, other, key=len)


def combined(logic: ScalarLogic, sources: list[LaneSet]) -> LaneSet:
    """Return the lanes that bitwise logic of two masks leaves."""
    if logic.is_negated:
        return ANY
    one, other = sources
    if logic.complemented is not None:
        kept, lost = (one, other) if logic.complemented == 1 else (other, one)
        if logic.operator is not Operator.AND:
            return ANY
        return kept if lost == NO_LANES else LaneSet(kept.chain)
    if logic.operator is Operator.AND:
        return _intersection(one, other)
    return _union(one, other, exclusive=logic.operator is Operator.XOR)


def _intersection(one: LaneSet, other: LaneSet) -> LaneSet:
    for a, b in ((one, other), (other, one)):
        if b.exact and b.chain is not None and a.is_part_of(b.chain):
            return a
    narrowest = max((one, other), key=lambda item: -1 if item.chain is None else len(item.chain))
    return NO_LANES if NO_LANES in (one, other) else LaneSet(narrowest.chain)


def _union(one: LaneSet, other: LaneSet, exclusive: bool) -> LaneSet:
    for a, b in ((one, other), (other, one)):
        if b.chain is None:
            return a
        if b.exact and not exclusive and a.is_part_of(b.chain):
            return b
    assert one.chain is not None
    assert other.chain is not None
    return LaneSet(common(one.chain, other.chain))
