"""Properties of a whole kernel's instructions: loops that may wait for other waves, and registers
that native code accesses."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import (
    HALF_LANES,
    HALF_VGPRS,
    VECTOR_NUMBERS,
    is_vector,
    numbers_of,
)
from amdjit.isa.traits import MemoryKind

# Instructions of a loop that does nothing but wait: a load, a wait, a comparison and a branch.
_SHORT_LOOP = 16


def may_poll(graph: Graph, first: int, last: int) -> bool:
    """Whether the loop [first, last] may wait for another wave: it has an atomic with a result or a
    load of a wider scope, or it is short and loads."""
    blocks = [block for block in graph.blocks.values() if first <= block.pc <= last]
    body = [instruction for block in blocks for instruction in block.instructions]
    short = len(body) <= _SHORT_LOOP
    return any(_observes(instruction, short) for instruction in body)


def _observes(instruction: Instruction, short: bool) -> bool:
    access = instruction.traits.memory
    if access is None:
        return False
    if access.kind is MemoryKind.LOAD:
        return short or instruction.scope > 0
    returns = access.kind is MemoryKind.ATOMIC and instruction.opcode.operands[0].role == "vdst"
    return returns and instruction.operands[0] is not None


def registers_in_memory(graph: Graph, wave_size: int) -> frozenset[int]:
    """Return the vector registers that native code accesses: those of matrix instructions, or all
    if the kernel has relative moves.

    Numbers of the upper half of a wave64 are HALF_VGPRS more.
    """
    named = _named_registers(graph)
    return frozenset(
        index + half * HALF_VGPRS for half in range(wave_size // HALF_LANES) for index in named
    )


def _named_registers(graph: Graph) -> frozenset[int]:
    found: set[int] = set()
    for block in graph.blocks.values():
        for instruction in block.instructions:
            if instruction.traits.is_relative:
                return frozenset(VECTOR_NUMBERS)
            if instruction.traits.ignores_exec:
                found.update(_vector_registers(instruction))
    return frozenset(found)


def _vector_registers(instruction: Instruction) -> Iterator[int]:
    for operand in instruction.operands:
        if is_vector(operand):
            yield from numbers_of(operand)
