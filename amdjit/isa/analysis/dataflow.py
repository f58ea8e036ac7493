"""Facts about a kernel's blocks: which scalar registers are all ones, and which vector registers
are live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Literal,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.register_numbers import EXEC_LO, HALF_LANES, M0, is_vector, numbers_of, scalar_slot
from amdjit.isa.traits import (
    Arithmetic,
    Destination,
    Operator,
    ScalarLogic,
    Traits,
    Unit,
)
from amdjit.late_methods import dataclass

# Scalar registers whose bits are all set.
Ones = frozenset[int]


_NOT_SCALAR = (RegisterFile.VGPR, RegisterFile.AGPR, RegisterFile.SCC)


def exec_slots(wave_size: int) -> Ones:
    """Return the scalar registers that hold EXEC."""
    return frozenset(range(EXEC_LO, EXEC_LO + wave_size // HALF_LANES))


def _is_ones(operand: Operand | None, ones: Ones, dwords: int) -> bool:
    if isinstance(operand, InlineConstant):
        return operand.value == -1
    if isinstance(operand, Literal):
        # A literal is zero-extended to 64 bits.
        return operand.value == 0xFFFFFFFF and dwords == 1
    if isinstance(operand, Register) and operand.file not in _NOT_SCALAR:
        slot = scalar_slot(operand)
        return slot is not None and ones.issuperset(range(slot, slot + operand.dwords))
    return False


def scalar_writes(instruction: Instruction) -> set[int]:
    """Return the numbers of the scalar registers that an instruction writes, without SCC."""
    found: set[int] = set()
    for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True):
        if not spec.written or not isinstance(operand, Register) or operand.file in _NOT_SCALAR:
            continue
        slot = scalar_slot(operand)
        if slot is not None:
            found.update(range(slot, slot + operand.dwords))
    logic = instruction.traits.logic
    if logic is not None and logic.destination is not Destination.REGISTER:
        found.update(range(EXEC_LO, EXEC_LO + instruction.opcode.operands[0].dwords))
    if instruction.traits.is_relative and instruction.traits.unit is Unit.SALU:
        found.add(M0)
    return found


def ones_after(instruction: Instruction, ones: Ones) -> Ones:
    """Return the registers known to be all ones after an instruction."""
    writes = scalar_writes(instruction)
    if not writes:
        return ones
    gained = _gained_ones(instruction, ones, writes)
    lost = writes - gained
    return (ones - lost) | gained if lost or gained else ones


def _gained_ones(instruction: Instruction, ones: Ones, writes: set[int]) -> set[int]:
    """Return the written registers that are all ones: those of moves, of `and`, and of `or`."""
    traits, logic = instruction.traits, instruction.traits.logic
    if logic is None and not _is_scalar_move(traits):
        return set()
    dwords = instruction.opcode.operands[0].dwords
    known = [_is_ones(operand, ones, dwords) for operand in instruction.operands[1:]]
    if logic is None or logic.destination is Destination.REGISTER:
        return writes if _makes_ones(logic, known) else set()
    if logic.destination is not Destination.EXEC:
        return set()
    executes = frozenset(range(EXEC_LO, EXEC_LO + dwords))
    gained = writes - executes if executes <= ones else set()
    return gained | executes if _makes_ones(logic, [executes <= ones, *known]) else gained


def _is_scalar_move(traits: Traits) -> bool:
    return traits.arithmetic is Arithmetic.MOVE and traits.unit is Unit.SALU


def _makes_ones(logic: ScalarLogic | None, known: list[bool]) -> bool:
    """Whether a move or plain logic results in all ones. known: the sources that are all ones."""
    if logic is None:
        return all(known)
    if not logic.is_plain or logic.operator is Operator.XOR:
        return False
    return all(known) if logic.operator is Operator.AND else any(known)


def ones_at_entries(graph: Graph, full_at_start: bool, wave_size: int) -> dict[int, Ones]:
    """Return for each block the registers known to be all ones at its start: a forward analysis
    whose meet is the intersection."""
    known: dict[int, Ones] = {graph.entry: exec_slots(wave_size) if full_at_start else frozenset()}
    work = [graph.entry]
    while work:
        block = graph.blocks[work.pop()]
        state = known[block.pc]
        for instruction in block.instructions:
            state = ones_after(instruction, state)
        for successor in block.successors:
            if successor not in graph.blocks:
                continue
            old = known.get(successor)
            new = state if old is None else old & state
            if new != old:
                known[successor] = new
                work.append(successor)
    return known


def given_vectors(graph: Graph) -> frozenset[int]:
    """Return the vector registers that hold the ids of work-items when a wave begins."""
    sets = graph.blocks[graph.entry].instructions[0].opcode.instruction_set
    return frozenset((0,) if sets.packs_item_ids else (0, 1, 2))


@dataclass(frozen=True, slots=True)
class Liveness:
    """Vector registers live at each block's start, by the ISA's numbers, which stand for both
    halves of a wave64."""

    at_start: dict[int, frozenset[int]]


def vector_operands(instruction: Instruction) -> Iterator[tuple[int, bool, bool, Register]]:
    """Yield each vector operand: its index, whether it is written and read, and its registers."""
    specs = instruction.opcode.operands
    for index, (spec, operand) in enumerate(zip(specs, instruction.operands, strict=True)):
        if is_vector(operand):
            yield index, spec.written, spec.read, operand


def _uses_and_kills(instruction: Instruction, exec_is_full: bool) -> tuple[set[int], set[int]]:
    uses: set[int] = set()
    kills: set[int] = set()
    halves = [instruction, instruction.pair] if instruction.pair else [instruction]
    for half in halves:
        for index, written, read, register in vector_operands(half):
            numbers = numbers_of(register)
            whole = exec_is_full and not half.keeps_part(index) and half.modifiers.dpp is None
            if written and whole and not read:
                kills.update(numbers)
            else:
                uses.update(numbers)
    return uses, kills


def vector_liveness(graph: Graph, ones: Mapping[int, Ones], wave_size: int) -> Liveness:
    """Return which vector registers' values may still be read: a backward analysis."""
    summaries = {
        pc: _summary(block, ones[pc], wave_size) for pc, block in graph.blocks.items() if pc in ones
    }
    live: dict[int, frozenset[int]] = dict.fromkeys(graph.blocks, frozenset())
    changed = True
    while changed:
        changed = False
        for pc in sorted(summaries, reverse=True):
            out: frozenset[int] = frozenset()
            for successor in graph.blocks[pc].successors:
                out |= live.get(successor, frozenset())
            uses, kills = summaries[pc]
            new = uses | (out - kills)
            if new != live[pc]:
                live[pc] = new
                changed = True
    return Liveness(live)


def _summary(block: Block, ones: Ones, wave_size: int) -> tuple[frozenset[int], frozenset[int]]:
    executes = exec_slots(wave_size)
    used: set[int] = set()
    killed: set[int] = set()
    for instruction in block.instructions:
        uses, kills = _uses_and_kills(instruction, executes <= ones)
        used |= uses - killed
        killed |= kills
        ones = ones_after(instruction, ones)
    return frozenset(used), frozenset(killed)
