"""Loops of random graphs: natural loops where dominators say so, and no cycle outside of loops."""

from __future__ import annotations

import random

from amdjit.inspection.blocks import Loop, find_loops

Edges = dict[int, list[int]]


def random_graph(seed: int) -> Edges:
    """Return a graph whose nodes are all reachable from 0."""
    choose = random.Random(seed)
    count = choose.randint(1, 12)
    edges: Edges = {node: [] for node in range(count)}
    for node in range(1, count):
        edges[choose.randrange(node)].append(node)
    for _ in range(choose.randint(0, count)):
        edges[choose.randrange(count)].append(choose.randrange(count))
    return edges


def reached(edges: Edges, start: int, without: int | None = None) -> set[int]:
    found: set[int] = set()
    work = [start] if start != without else []
    while work:
        node = work.pop()
        if node not in found:
            found.add(node)
            work += [target for target in edges[node] if target != without]
    return found


def dominates(edges: Edges, above: int, node: int) -> bool:
    return above == node or node not in reached(edges, 0, without=above)


def has_cycle(edges: Edges) -> bool:
    return any(node in reached(edges, target) for node in edges for target in edges[node])


def natural_loops(edges: Edges) -> dict[int, frozenset[int]] | None:
    """Return the blocks of each natural loop by its header, those of one header together; None if a
    cycle is entered in several places."""
    backward = {node: [n for n in edges if node in edges[n]] for node in edges}
    forward: Edges = {node: [] for node in edges}
    loops: dict[int, frozenset[int]] = {}
    for node, targets in edges.items():
        for header in targets:
            if dominates(edges, header, node):
                body = reached(backward, node, without=header) | {header}
                loops[header] = loops.get(header, frozenset()) | body
            else:
                forward[node].append(header)
    return None if has_cycle(forward) else loops


def test_loops_are_the_natural_ones_and_leave_no_cycle_out() -> None:
    for seed in range(400):
        agrees_with_dominators(random_graph(seed))


def agrees_with_dominators(edges: Edges) -> None:
    found = find_loops(edges, [0])
    nested_as_they_say(found)
    expected = natural_loops(edges)
    if expected is not None:
        assert {loop.header: loop.blocks for loop in found} == expected
        assert all(loop.entries == (loop.header,) for loop in found)
    inside = {(loop.header, node) for loop in found for node in loop.blocks}
    rest = {n: [t for t in targets if (t, n) not in inside] for n, targets in edges.items()}
    assert not has_cycle(rest)


def nested_as_they_say(loops: tuple[Loop, ...]) -> None:
    for number, loop in enumerate(loops):
        around = [other for other in loops if loop.blocks < other.blocks]
        assert loop.depth == 1 + len(around)
        assert (loop.parent is None) == (not around)
        if loop.parent is not None:
            assert loop.parent < number
            assert loops[loop.parent].blocks == min((other.blocks for other in around), key=len)


def test_the_random_graphs_have_loops_of_all_kinds() -> None:
    graphs = [random_graph(seed) for seed in range(400)]
    expected = [natural_loops(graph) for graph in graphs]
    assert sum(loops is None for loops in expected) > 20
    assert sum(bool(loops) for loops in expected) > 100
    assert max(loop.depth for graph in graphs for loop in find_loops(graph, [0])) >= 3
