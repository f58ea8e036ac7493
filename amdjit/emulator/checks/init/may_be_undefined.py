"""Which registers may hold undefined values at the start of each block, so that all others cost
nothing at run time.

What a load returns may be undefined, and so may what is computed from it; constants, ids and kernel
arguments are defined. A forward analysis. A set of registers is an integer with a bit for each:
vector registers first, then the scalar ones by the ISA's operand codes, SCC among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amdjit.emulator.checks.init.layout import VECTORS
from amdjit.emulator.checks.waits.counters import effect_of
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.analysis.dataflow import Ones, ones_after, scalar_writes
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.register_numbers import (
    EXEC_LO,
    SCC_SLOT,
    is_vector,
    scalar_slot,
    vector_number,
    vector_set,
)
from amdjit.isa.traits import (
    Arithmetic,
    Destination,
    Operator,
    SingleLane,
    Traits,
    Unit,
)
from amdjit.late_methods import dataclass

SCC = 1 << (VECTORS + SCC_SLOT)
_SCALARS = ((1 << 128) - 1) << VECTORS


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known before an instruction: registers that may be undefined, and those that point to
    the arguments."""

    tainted: int
    arguments: int


def bit_set(register: Register) -> int:
    """Return the registers of an operand as a set."""
    if is_vector(register):
        return vector_set(register)
    slot = SCC_SLOT if register.file is RegisterFile.SCC else scalar_slot(register)
    return 0 if slot is None else ((1 << register.dwords) - 1) << (VECTORS + slot)


def _registers(instruction: Instruction) -> Iterator[tuple[bool, bool, int]]:
    """Yield (written, read, registers) of each operand. An instruction that writes half of a
    register keeps the other half, and so reads it."""
    for half in (instruction, instruction.pair) if instruction.pair else (instruction,):
        specs = half.opcode.operands
        for index, (spec, operand) in enumerate(zip(specs, half.operands, strict=True)):
            if isinstance(operand, Register):
                yield (
                    spec.written,
                    spec.read or (spec.written and half.keeps_part(index)),
                    bit_set(operand),
                )


def reads_arguments(instruction: Instruction, facts: Facts) -> bool:
    """Return whether a scalar load reads the kernel's arguments, which the launch has written."""
    base = instruction.operand("sbase")
    return isinstance(base, Register) and bit_set(base) & ~facts.arguments == 0


def _loads(instruction: Instruction, facts: Facts) -> bool:
    traits = instruction.traits
    if not traits.unit.is_memory or not effect_of(instruction).fills:
        return False
    if traits.unit is not Unit.SCALAR_MEMORY:
        return True
    # gfx9's clocks, S_MEMTIME and S_MEMREALTIME, return what is always defined.
    return traits.memory is not None and not reads_arguments(instruction, facts)


def facts_after(instruction: Instruction, facts: Facts, exec_is_full: bool) -> Facts:
    """Return what is known after an instruction."""
    read = written = 0
    for writes, reads, registers in _registers(instruction):
        written |= registers if writes else 0
        read |= registers if reads else 0
    for slot in scalar_writes(instruction):
        written |= 1 << (VECTORS + slot)
    tainted = facts.tainted
    written |= SCC if instruction.traits.writes_scc else 0
    read |= SCC if instruction.traits.reads_scc else 0
    if read & tainted or _loads(instruction, facts):
        tainted |= written
    else:
        kept = 0 if exec_is_full else written & ~_SCALARS
        tainted &= ~(written & ~kept)
    return Facts(tainted & ~_EXEC, _arguments_after(instruction, facts, read, written))


_EXEC = 3 << (VECTORS + EXEC_LO)


def _arguments_after(instruction: Instruction, facts: Facts, read: int, written: int) -> int:
    sources = read & ~SCC
    copied = _keeps_pointers(instruction.traits) and sources and not sources & ~facts.arguments
    return facts.arguments | written if copied else facts.arguments & ~written


def _keeps_pointers(traits: Traits) -> bool:
    """Whether a scalar instruction makes pointers of pointers into the same memory."""
    if traits.unit is not Unit.SALU:
        return False
    if traits.logic is not None:
        logic = traits.logic
        is_and = logic.is_plain and logic.operator is Operator.AND
        return is_and and logic.destination is Destination.REGISTER
    return traits.arithmetic in (Arithmetic.MOVE, Arithmetic.ADD)


def facts_at_entries(
    graph: Graph,
    ones: Mapping[int, Ones],
    undefined_at_start: frozenset[int],
    argument_slots: frozenset[int],
    executes: frozenset[int],
) -> dict[int, Facts]:
    """Return the facts at the start of each reachable block.

    undefined_at_start: vector registers that nothing has written. argument_slots: scalar registers
    that the launch sets. executes: those that hold EXEC.
    """
    tainted = sum(1 << number for number in undefined_at_start)
    known = {graph.entry: Facts(tainted, sum(1 << (VECTORS + slot) for slot in argument_slots))}
    work = [graph.entry]
    while work:
        block = graph.blocks[work.pop()]
        facts, full = known[block.pc], ones[block.pc]
        for instruction in block.instructions:
            facts = facts_after(instruction, facts, executes <= full)
            full = ones_after(instruction, full)
        for successor in block.successors:
            if successor not in graph.blocks:
                continue
            old = known.get(successor)
            new = (
                facts
                if old is None
                else Facts(old.tainted | facts.tainted, old.arguments & facts.arguments)
            )
            if new != old:
                known[successor] = new
                work.append(successor)
    return known


def keeping_scalars(graph: Graph) -> frozenset[int]:
    """Return the vector registers in whose lanes compilers keep scalar registers: lanes are read
    only after they are written."""
    instructions = (item for block in graph.blocks.values() for item in block.instructions)
    targets = (
        item.operands[0] for item in instructions if item.traits.single_lane is SingleLane.WRITE
    )
    return frozenset(vector_number(target) for target in targets if is_vector(target))
