"""Blocks, loops, source lines and the peak: what inspection counts over instructions."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amdjit.inspection.facts import (
    UNITS,
    BlockFacts,
    InstructionFacts,
    LineFacts,
    LoopFacts,
    SourcePlace,
)
from amdjit.inspection.machine_code import MachineCode

__all__ = ["Loop", "Structure", "block_facts", "find_loops", "line_facts", "peak_of"]


class Structure:
    """The blocks and loops of a kernel by number.

    numbers: of blocks, by their first address. loops: as `LoopFacts`. innermost: for each block
    that is in a loop, the number of the innermost one.
    """

    def __init__(self, code: MachineCode) -> None:
        self.numbers = {address: number for number, address in enumerate(code.graph.blocks)}
        found = find_loops(_local_edges(code), _entries(code))
        self.loops = tuple(self._facts(number, loop) for number, loop in enumerate(found))
        # Outer loops come first, so that the innermost one stays.
        self.innermost = {block: loop.number for loop in self.loops for block in loop.blocks}

    def _facts(self, number: int, loop: Loop) -> LoopFacts:
        blocks = tuple(sorted(self.numbers[address] for address in loop.blocks))
        return LoopFacts(number, self.numbers[loop.header], blocks, loop.parent, loop.depth)

    def depth_of(self, block: int) -> int:
        """Return how many loops are around a block."""
        loop = self.innermost.get(block)
        return 0 if loop is None else self.loops[loop].depth


def _entries(code: MachineCode) -> set[int]:
    """Return where functions begin: the kernel, and what is called."""
    called = {
        target
        for address, block in code.graph.blocks.items()
        if block.instructions[-1].traits.flow.is_call
        for target in code.edges[address]
    }
    return {code.graph.entry, *called}


def _local_edges(code: MachineCode) -> dict[int, Sequence[int]]:
    """Return the edges inside functions: behind a call comes the next instruction, and a return
    goes nowhere. Else two calls of one function would look like a loop."""
    entries = _entries(code)
    edges: dict[int, Sequence[int]] = {}
    for address, block in code.graph.blocks.items():
        last = block.instructions[-1]
        following = last.pc + last.size
        if last.traits.flow.is_call:
            edges[address] = [following] if following in code.graph.blocks else []
        elif last.traits.flow.is_indirect:
            outside = code.returns | entries
            edges[address] = [target for target in code.edges[address] if target not in outside]
        else:
            edges[address] = code.edges[address]
    return edges


def block_facts(
    code: MachineCode, structure: Structure, instructions: Sequence[InstructionFacts]
) -> tuple[BlockFacts, ...]:
    """Return the blocks, by address."""
    numbers = structure.numbers.values()
    inside: dict[int, list[InstructionFacts]] = {number: [] for number in numbers}
    for instruction in instructions:
        inside[instruction.block].append(instruction)
    before: dict[int, list[int]] = {number: [] for number in inside}
    for address, targets in code.edges.items():
        for target in targets:
            before[structure.numbers[target]].append(structure.numbers[address])
    return tuple(
        BlockFacts(
            number=number,
            address=address,
            end=inside[number][-1].address + inside[number][-1].size,
            loop=structure.innermost.get(number),
            successors=tuple(structure.numbers[target] for target in code.edges[address]),
            predecessors=tuple(sorted(before[number])),
            units=_units(inside[number]),
            peak_vgprs=max(len(item.live_vgprs) for item in inside[number]),
            peak_sgprs=max(len(item.live_sgprs) for item in inside[number]),
        )
        for address, number in structure.numbers.items()
    )


def line_facts(instructions: Iterable[InstructionFacts]) -> dict[SourcePlace, LineFacts]:
    """Return the source lines that became instructions, by file and line."""
    by_place: dict[SourcePlace, list[InstructionFacts]] = {}
    for instruction in instructions:
        if instruction.place is not None:
            by_place.setdefault(instruction.place, []).append(instruction)
    return {
        place: LineFacts(
            file=place[0],
            line=place[1],
            addresses=tuple(item.address for item in found),
            units=_units(found),
            peak_vgprs=max(len(item.live_vgprs) for item in found),
            peak_sgprs=max(len(item.live_sgprs) for item in found),
        )
        for place, found in sorted(by_place.items())
    }


def _units(instructions: Iterable[InstructionFacts]) -> Mapping[str, int]:
    counts = Counter(instruction.unit for instruction in instructions)
    return {unit: counts[unit] for unit in UNITS if counts[unit]}


def peak_of(instructions: Sequence[InstructionFacts]) -> InstructionFacts | None:
    """Return the first instruction before which most VGPRs are live; None without instructions."""
    return max(instructions, key=lambda item: len(item.live_vgprs), default=None)


# Loops of a control flow graph, found from its strongly connected parts.
#
# A part of the graph whose blocks all reach each other is a loop. Its header is the block through
# which it is entered; without the edges back to the header, the parts that are left inside are the
# inner loops. In a graph whose loops have one entry each these are the natural loops, those of one
# header together. A loop with several entries is one loop all the same, whose header is the entry
# of the lowest address.


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
            ways_in = _entry_places(part, edges, starts)
            header = ways_in[0]
            depth = 1 if parent is None else found[parent].depth + 1
            found.append(Loop(header, part, parent, depth, ways_in))
            work.append((part, cut | {header}, len(found) - 1))
    return tuple(found)


def _entry_places(part: frozenset[int], edges: _Edges, starts: frozenset[int]) -> tuple[int, ...]:
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
