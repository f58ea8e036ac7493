"""One place from which all indirect jumps of a kernel go on.

A return may go wherever a call returns to. With r returns and c calls, r * c branches would each
carry all registers, which takes host LLVM seconds for 30 functions. Here each return leaves where
it goes, and one switch follows: r + c branches, and one place to give way to other waves.
"""

from __future__ import annotations

from amdjit.isa.analysis.control_flow import Graph

SHARED_JUMP = "jump"
SHARED_SWITCH = "jumps"
# With more branches than this, all jumps share one; with fewer, the direct form compiles sooner.
_MOST_BRANCHES = 16
# Instructions have 4 bytes at least, and all begin at multiples of 4.
_WITHIN = 2


class SharedJump:
    """The jumps of one kernel.

    last: in the highest jump, and no block's pc; a wave that gives way here resumes from it. first:
    the lowest target. cost: the instructions to count for a jump, about a function's length.
    """

    def __init__(self, graph: Graph) -> None:
        ends = [block.instructions[-1] for block in graph.blocks.values()]
        jumps = [end.pc for end in ends if end.traits.flow.is_indirect]
        instructions = sum(len(block.instructions) for block in graph.blocks.values())
        self.is_used = len(jumps) * len(graph.indirect_targets) > _MOST_BRANCHES
        self.last = max(jumps, default=0) + _WITHIN
        self.first = min(graph.indirect_targets, default=0)
        self.cost = instructions // max(len(jumps), 1) + 1
