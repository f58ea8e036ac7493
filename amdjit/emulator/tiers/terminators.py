"""How a block of machine code ends, for either tier.

This module knows the meaning of a block's last instruction. The tier's `Ending` turns that into
host code that branches, or into a record of a threaded program. Sites, pauses and the ids to resume
from are numbered here, so that they are the same in both tiers and a launch can switch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.emission import branch_condition
from amdjit.emulator.instructions.scalar.barriers import (
    WORKGROUP,
    Ends,
    barrier_of_wait,
    emit_wait,
    joined_signal,
)
from amdjit.emulator.layout import WAVE_ARRIVES, WAVE_NAMED, Context, FaultKind
from amdjit.emulator.scheduling.fault_record import FAULT
from amdjit.emulator.tiers.instruction_classes import may_poll
from amdjit.emulator.tiers.pauses import Pause, Poll
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.isa.analysis.control_flow import (
    Block,
    Graph,
    branch_target,
    is_debug_trap,
)
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow

# Most instructions have 8 bytes or 4.
_INSTRUCTION_BYTES = 6


def label_of(pc: int) -> str:
    """Return the label of the block at a pc."""
    return f"at{pc:x}"


class Ending(ABC):
    """How a tier builds the ways in which a block can end. Each stores the registers first."""

    @abstractmethod
    def end_wave(self) -> None:
        """End the wave."""

    @abstractmethod
    def stop(self) -> None:
        """Leave the wave function: the launch is stopped."""

    @abstractmethod
    def place(self, label: str) -> None:
        """Begin a place that is no block."""

    @abstractmethod
    def jump(self, label: str) -> None:
        """Jump to a label."""

    @abstractmethod
    def jump_if(self, condition: Value, label: str, following: int) -> None:
        """Jump to a label if a condition holds, otherwise continue at the following pc."""

    @abstractmethod
    def go_on(self, following: int) -> None:
        """Continue at the following pc."""

    @abstractmethod
    def pause(self, pause: Pause) -> None:
        """Let other waves run."""

    @abstractmethod
    def pause_if(self, condition: Value, pause: Pause) -> None:
        """Let other waves run if a condition holds."""

    @abstractmethod
    def choose(self, pc: Value, labels: Mapping[int, str]) -> None:
        """Jump to the label of a pc. The code that is emitted next is for a pc without a label."""


class Terminators:
    """Translates the ends of a kernel's blocks. pauses, polls: those so far, in their order.
    shared_jump: where indirect jumps go on if there are many."""

    def __init__(self, graph: Graph, frame: Frame, ending: Ending) -> None:
        self.pauses: list[Pause] = []
        self.polls: list[Poll] = []
        self._graph = graph
        self._frame = frame
        self._ending = ending
        self._ends_of_waves = Ends(graph)
        self.shared_jump = SharedJump(graph)

    @property
    def loops(self) -> list[int]:
        """The pcs that some block jumps back to, in their order; among them where all indirect
        jumps go on, if they share one."""
        return sorted({poll.target for poll in self.polls})

    def place_of(self, pc: int) -> str:
        """Return the label where a wave goes on at a pc, which is a block or all indirect jumps."""
        return label_of(pc) if pc in self._graph.blocks else SHARED_SWITCH

    def emit(self, block: Block) -> None:
        """Emit the end of a block."""
        last = block.instructions[-1]
        following = last.pc + last.size
        flow, ending = last.traits.flow, self._ending
        self._ends_of_waves.note(self._frame, block)
        if flow is Flow.END:
            ending.end_wave()
        elif flow is Flow.CONDITIONAL:
            condition = branch_condition(self._frame, last)
            ending.jump_if(condition, self._destination(last, branch_target(last)), following)
        elif flow in (Flow.JUMP, Flow.CALL):
            if flow is Flow.CALL:
                self._link(last, following)
            ending.jump(self._destination(last, branch_target(last)))
        elif flow.is_indirect:
            self._indirect(last, following)
        elif flow is Flow.BARRIER:
            self._wait(last, following, joined_signal(block) is not None)
        elif flow is Flow.SLEEP:
            ending.pause(self._new_pause(following, yields=True))
        elif flow is Flow.TRAP and not is_debug_trap(last):
            is_cut = last.pc in self._graph.cuts
            kind = FaultKind.UNSUPPORTED if is_cut else FaultKind.TRAP
            self._fault(kind, last, constant("i64", 0))
        else:
            ending.go_on(following)

    def emit_shared_jump(self) -> None:
        """Emit the place where indirect jumps go on, after all blocks."""
        jump = self.shared_jump
        if not jump.is_used:
            return
        may_wait = may_poll(self._graph, jump.first, jump.last)
        pause = self._new_pause(jump.last, yields=True, polls=True) if may_wait else None
        self.polls.append(Poll(SHARED_JUMP, jump.last, None, jump.cost, pause))
        self._ending.place(SHARED_SWITCH)
        self._frame.registers.begin_block(frozenset())
        target, site = self._frame.registers.jump()
        ways = {pc: label_of(pc) for pc in self._graph.indirect_targets}
        self._ending.choose(target, ways)
        address = self._frame.builder.add(target, self._frame.context(Context.LOAD_BIAS))
        self._fault_at(FaultKind.WILD_BRANCH, site, address)

    def _destination(self, last: Instruction, target: int) -> str:
        """Return the label to jump to; a jump backwards goes through the count of instructions."""
        if target > last.pc:
            return label_of(target)
        site = self._frame.sites.note(last.pc)
        cost = (last.pc - target) // _INSTRUCTION_BYTES + 1
        may_wait = may_poll(self._graph, target, last.pc)
        pause = self._new_pause(target, yields=True, polls=True) if may_wait else None
        poll = Poll(f"poll{len(self.polls)}", target, site, cost, pause)
        self.polls.append(poll)
        return poll.label

    def _new_pause(
        self, following: int, yields: bool = False, polls: bool = False, flags: int = 0
    ) -> Pause:
        pause = Pause(len(self.pauses) + 1, following, yields, polls, flags)
        self.pauses.append(pause)
        return pause

    def _link(self, last: Instruction, following: int) -> None:
        bias = self._frame.context(Context.LOAD_BIAS)
        address = self._frame.builder.add(bias, self._frame.sites.address(following))
        self._frame.write_scalar(last.operands[0], address)

    def _indirect(self, last: Instruction, following: int) -> None:
        address = self._frame.scalar_operand(last.operand("src0"), "b64", last)
        if last.traits.flow is Flow.INDIRECT_CALL:
            self._link(last, following)
        pc = self._frame.builder.sub(address, self._frame.context(Context.LOAD_BIAS))
        if self.shared_jump.is_used:
            self._frame.registers.write_jump(pc, self._frame.sites.add(last.pc))
            self._ending.jump(SHARED_JUMP)
            return
        targets = self._graph.indirect_targets
        self._ending.choose(pc, {target: self._destination(last, target) for target in targets})
        self._fault(FaultKind.WILD_BRANCH, last, address)

    def _wait(self, last: Instruction, following: int, arrives: bool) -> None:
        """Wait at a barrier. arrives: the wave signals before it waits."""
        number = barrier_of_wait(last)
        if number == WORKGROUP:
            flags = WAVE_ARRIVES if arrives else 0
            self._ending.pause(self._new_pause(following, flags=flags))
        elif number < WORKGROUP:  # the trap handler's: nothing happens (RDNA 4 ISA, 5.6)
            self._ending.go_on(following)
        else:
            waits = emit_wait(self._frame, last, number)
            self._ending.pause_if(waits, self._new_pause(following, flags=WAVE_NAMED))

    def _fault(self, kind: FaultKind, last: Instruction, address: Value) -> None:
        self._fault_at(kind, self._frame.sites.add(last.pc), address)

    def _fault_at(self, kind: FaultKind, site: Value, address: Value) -> None:
        lane, size = constant("i64", -1), constant("i32", 0)
        arguments = [CONTEXT, constant("i32", kind), site, lane, address, size]
        self._frame.native_void(FAULT.name, arguments)
        self._ending.stop()


# One place from which all indirect jumps of a kernel go on.
#
# A return may go wherever a call returns to. With r returns and c calls, r * c branches would each
# carry all registers, which takes host LLVM seconds for 30 functions. Here each return leaves where
# it goes, and one switch follows: r + c branches, and one place to yield to other waves.

SHARED_JUMP = "jump"
SHARED_SWITCH = "jumps"
# With more branches than this, all jumps share one; with fewer, the direct form compiles sooner.
_MOST_BRANCHES = 16
# Instructions have 4 bytes at least, and all begin at multiples of 4.
_WITHIN = 2


class SharedJump:
    """The jumps of one kernel.

    last: in the highest jump, and no block's pc; a wave that yields here resumes from it. first:
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
