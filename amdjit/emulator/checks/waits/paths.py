"""Where waves go on after a block, as far as loads in flight are concerned."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.traits import Flow


class Paths:
    """The ways through a graph: a call goes to functions only, not to where another call returns.

    Callees land everything first (LLVM: SIInsertWaitcnts, callWaitsOnFunctionEntry), so that a
    caller may leave loads in flight.
    """

    def __init__(self, graph: Graph) -> None:
        self._blocks = graph.blocks
        last = [block.instructions[-1] for block in graph.blocks.values()]
        returns = frozenset(item.pc + item.size for item in last if item.traits.flow.is_call)
        self._never_called = returns | {graph.entry}

    def after(self, block: Block) -> Iterator[int]:
        """Yield where a block goes on."""
        call = block.instructions[-1].traits.flow is Flow.INDIRECT_CALL
        for successor in block.successors:
            if successor in self._blocks and not (call and successor in self._never_called):
                yield successor
