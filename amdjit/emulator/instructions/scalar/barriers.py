"""Instructions on barriers: the workgroup's own, number -1, and the named ones, 1 to 16.

The native functions are in `scheduling/barriers.py`, with their sources. The number is an inline
constant, or in M0, whose upper half may hold a count of members (LLVM, "AMDGPU Execution
Synchronization", "Code Sequences").
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.layout import END_SITE_SLOT, NAMED_BARRIERS
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import CONTEXT, STATE, Frame
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import InlineConstant, Instruction, Register, RegisterFile
from amdjit.isa.register_numbers import M0
from amdjit.isa.traits import Barrier, Flow

WORKGROUP, TRAP = -1, -2
# In M0, the number of a signalled barrier has 5 bits and a count 7 (LLVM, "Code Sequences"); in
# other instructions the number is the lower half.
_SIGNAL_BITS, _HALF = 5, 16
_COUNT_BITS = 7
_NONE = constant("i32", 0)


def barrier_of_wait(instruction: Instruction) -> int:
    """Return the number of the barrier that an `s_barrier_wait` names; Untranslatable if gfx1201
    has no such barrier."""
    if instruction.traits.barrier is Barrier.SYNC:
        return WORKGROUP
    bits = instruction.immediates["simm16"] & 0xFFFF
    return _checked(instruction, bits - (bits >> 15 << 16))


def joined_signal(block: Block) -> int | None:
    """Return the pc of the signal of the workgroup's barrier that the block's end waits for, if the
    driver can do it when the wave waits: no other wave runs in between, and no instruction looks at
    a barrier."""
    *others, last = block.instructions
    if last.traits.barrier is Barrier.SYNC:
        return last.pc
    barriers = [i for i in others if i.traits.barrier is not None]
    if (
        last.traits.barrier is not Barrier.WAIT
        or barrier_of_wait(last) != WORKGROUP
        or len(barriers) != 1
    ):
        return None
    operand = barriers[0].operands[0] if barriers[0].operands else None
    own = isinstance(operand, InlineConstant) and operand.value == WORKGROUP
    return barriers[0].pc if own and barriers[0].traits.barrier is Barrier.SIGNAL else None


def emit_wait(frame: Frame, instruction: Instruction, number: int) -> Value:
    """Return whether the wave has to wait for the named barrier that it has joined."""
    site = frame.sites.add(instruction.pc)
    waits = frame.native("aj_barrier_wait", "i32", [CONTEXT, STATE, site, constant("i32", number)])
    return frame.builder.compare("ne", waits, _NONE)


def _checked(instruction: Instruction, number: int) -> int:
    if number in (-3, -4):
        raise Untranslatable(
            instruction, "barriers of clusters are GFX12.5's: launches have no clusters here"
        )
    if not TRAP <= number <= NAMED_BARRIERS:
        raise Untranslatable(
            instruction, f"there is no barrier {number}: -1 is the workgroup's, 1 to 16 are named"
        )
    return number


def _number(frame: Frame, instruction: Instruction, index: int, bits: int) -> tuple[Value, bool]:
    """Return the number that operand `index` stands for, and whether it comes from M0."""
    operand = instruction.operands[index]
    if isinstance(operand, InlineConstant) and isinstance(operand.value, int):
        return constant("i32", _checked(instruction, operand.value)), False
    if not isinstance(operand, Register) or operand.file is not RegisterFile.M0:
        raise Untranslatable(instruction, "a barrier is named by an inline constant or M0")
    return frame.builder.mask(frame.registers.scalar(M0), bits), True


def named_signal(frame: Frame, instruction: Instruction) -> Value | None:
    """Return the number of the named barrier that an instruction signals, None for those of the
    workgroup and of the trap handler."""
    number, _ = _number(frame, instruction, 0, _SIGNAL_BITS)
    return None if number.text.startswith("-") else number


def _signal(first: bool) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        number, in_m0 = _number(frame, instruction, 0, _SIGNAL_BITS)
        members = (
            b.mask(b.shift("lshr", frame.registers.scalar(M0), _HALF), _COUNT_BITS)
            if in_m0
            else _NONE
        )
        site = frame.sites.add(instruction.pc)
        if number == constant("i32", WORKGROUP):
            result = frame.native("aj_barrier_arrive", "i32", [CONTEXT, STATE, site])
        else:
            result = frame.native(
                "aj_barrier_signal", "i32", [CONTEXT, STATE, site, number, members]
            )
        if first:
            alone = b.compare("slt", result, _NONE)
            old = frame.registers.condition_code
            frame.registers.write_condition_code(
                b.select(alone, old, b.compare("ne", result, _NONE))
            )

    return emit


def _init(frame: Frame, instruction: Instruction) -> None:
    number, _ = _number(frame, instruction, 0, _HALF)
    members = frame.builder.shift("lshr", frame.registers.scalar(M0), _HALF)
    site = frame.sites.add(instruction.pc)
    frame.native_void("aj_barrier_init", [CONTEXT, site, _named(instruction, number), members])


def _join(frame: Frame, instruction: Instruction) -> None:
    number, _ = _number(frame, instruction, 0, _HALF)
    site = frame.sites.add(instruction.pc)
    frame.native_void("aj_barrier_join", [CONTEXT, STATE, site, _named(instruction, number)])


def _named(instruction: Instruction, number: Value) -> Value:
    if number.text.startswith("-"):
        raise Untranslatable(
            instruction, "only named barriers, from 1 on, are initialised and joined"
        )
    return number


def _leave(frame: Frame, instruction: Instruction) -> None:
    frame.native_void("aj_barrier_leave", [CONTEXT, STATE, frame.sites.add(instruction.pc)])


def _state(frame: Frame, instruction: Instruction) -> None:
    number, _ = _number(frame, instruction, 1, _SIGNAL_BITS)
    if number == constant("i32", TRAP):
        raise Untranslatable(
            instruction, "the state of the trap handler's barrier is not documented"
        )
    site = frame.sites.add(instruction.pc)
    frame.write_scalar(
        instruction.operands[0], frame.native("aj_barrier_state", "i32", [CONTEXT, site, number])
    )


class Ends:
    """Where waves end, kept in their state: the last branch on the line that decided it, rather
    than `s_endpgm`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._bare = {pc for pc, block in graph.blocks.items() if _only_ends(block)}

    def note(self, frame: Frame, block: Block) -> None:
        """Keep the site at the end of a block after which the wave may end."""
        last = block.instructions[-1]
        ends = last.traits.flow is Flow.END and block.pc not in self._bare
        if ends or not self._bare.isdisjoint(block.successors):
            self._keep(frame, last.pc)

    def _keep(self, frame: Frame, pc: int) -> None:
        frame.builder.store(frame.sites.add(pc), frame.builder.offset(STATE, END_SITE_SLOT * 4), 4)


def _only_ends(block: Block) -> bool:
    *others, last = block.instructions
    return last.traits.flow is Flow.END and all(i.traits.idle is not None for i in others)


BARRIERS: Mapping[str, Emitter] = {
    "s_barrier_signal": _signal(False),
    "s_barrier_signal_isfirst": _signal(True),
    "s_barrier_init": _init,
    "s_barrier_join": _join,
    "s_barrier_leave": _leave,
    "s_get_barrier_state": _state,
}
