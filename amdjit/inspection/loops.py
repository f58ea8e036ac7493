"""Loops of a control flow graph, found from its strongly connected parts.

A part of the graph whose blocks all reach each other is a loop. Its header is the block through
which it is entered; without the edges back to the header, the parts that are left inside are the
inner loops. In a graph whose loops have one entry each these are the natural loops, those of one
header together. A loop with several entries is one loop all the same, whose header is the entry of
the lowest address.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Loop", "find_loops"]

_Edges = Mapping[int, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop. header, blocks: blocks by their addresses; parent: the index of the loop around it;
    depth: 1 for an outermost loop; entries: where control comes in."""

    header: int
    blocks: frozenset[int]
    parent: int | None
    depth: int
    entries: tuple[int, ...]


def find_loops(edges: _Edges, entries: Iterable[int]) -> tuple[Loop, ...]:
    """Return the loops, each after the one around it.

    edges: the successors of each block, by address. entries: blocks that are entered from outside.
    """
    found: list[Loop] = []
    starts = frozenset(entries)
    work: deque[tuple[frozenset[int], frozenset[int], int | None]] = deque()
    work.append((frozenset(edges), frozenset(), None))
    while work:
        blocks, cut, parent = work.popleft()
        for part in sorted(_cycles(blocks, cut, edges), key=min):
            ways_in = _entries(part, edges, starts)
            header = ways_in[0]
            depth = 1 if parent is None else found[parent].depth + 1
            found.append(Loop(header, part, parent, depth, ways_in))
            work.append((part, cut | {header}, len(found) - 1))
    return tuple(found)


def _entries(part: frozenset[int], edges: _Edges, starts: frozenset[int]) -> tuple[int, ...]:
    reached = {
        target
        for block, targets in edges.items()
        if block not in part
        for target in targets
        if target in part
    }
    return tuple(sorted(reached | (starts & part))) or (min(part),)


def _cycles(blocks: frozenset[int], cut: frozenset[int], edges: _Edges) -> Iterator[frozenset[int]]:
    """Yield the strongly connected parts that hold a cycle, without the edges to `cut`."""
    inner = {
        block: [target for target in edges[block] if target in blocks and target not in cut]
        for block in blocks
    }
    for part in _connected(inner):
        if len(part) > 1 or part[0] in inner[part[0]]:
            yield frozenset(part)


def _connected(edges: _Edges) -> Iterator[list[int]]:
    """Yield the strongly connected parts (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for root in sorted(edges):
        work = [(root, iter(edges[root]))] if root not in order else []
        while work:
            block, rest = work[-1]
            if block not in order:
                order[block] = lowest[block] = len(order)
                path.append(block)
                on_path.add(block)
            target = next(rest, None)
            if target is not None:
                if target not in order:
                    work.append((target, iter(edges[target])))
                elif target in on_path:
                    lowest[block] = min(lowest[block], order[target])
                continue
            work.pop()
            if work:
                above = work[-1][0]
                lowest[above] = min(lowest[above], lowest[block])
            if lowest[block] == order[block]:
                yield _taken(path, block, on_path)


def _taken(path: list[int], first: int, on_path: set[int]) -> list[int]:
    """Take what stands on the path from a block on."""
    part: list[int] = []
    while not part or part[-1] != first:
        part.append(path.pop())
    on_path.difference_update(part)
    return part
