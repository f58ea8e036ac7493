"""Facts about a kernel's blocks: which scalar registers are all ones, which vector registers are live."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from amdjit.emulator.decoder.instruction import InlineConstant, Instruction, Literal, Operand, Register, RegisterFile
from amdjit.emulator.layout import EXEC_LO
from amdjit.emulator.translate.control_flow import Block, Graph
from amdjit.emulator.translate.registers import scalar_slot

# Scalar registers whose bits are all set.
Ones = frozenset[int]


def _is_ones(operand: Operand | None, ones: Ones) -> bool:
    if isinstance(operand, InlineConstant):
        return operand.value == -1
    if isinstance(operand, Literal):
        return operand.value == 0xFFFFFFFF
    if isinstance(operand, Register) and operand.file not in (RegisterFile.VGPR, RegisterFile.SCC):
        return scalar_slot(operand) in ones
    return False


def _both(exec_ones: bool, source: bool) -> bool:
    return exec_ones and source


def _either(exec_ones: bool, source: bool) -> bool:
    return exec_ones or source


_SAVE_EXEC: Mapping[str, Callable[[bool, bool], bool]] = {
    "s_and_saveexec_b32": _both,
    "s_or_saveexec_b32": _either,
}


def scalar_writes(instruction: Instruction) -> Iterable[int]:
    """Return the numbers of the scalar registers that an instruction writes; SCC is not among them."""
    for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True):
        scalar = isinstance(operand, Register) and operand.file not in (RegisterFile.VGPR, RegisterFile.SCC)
        if spec.written and scalar:
            assert isinstance(operand, Register)
            slot = scalar_slot(operand)
            if slot is not None:
                yield from range(slot, slot + operand.dwords)
    if instruction.mnemonic.endswith(("_saveexec_b32", "_wrexec_b32")):
        yield EXEC_LO


def ones_after(instruction: Instruction, ones: Ones) -> Ones:
    """Return the registers known to be all ones after an instruction."""
    name, operands = instruction.mnemonic, instruction.operands
    gained: set[int] = set()
    if name in ("s_mov_b32", "s_or_b32", "s_and_b32"):
        known = [_is_ones(operand, ones) for operand in operands[1:]]
        if any(known) if name == "s_or_b32" else all(known):
            gained.update(scalar_writes(instruction))
    elif name.endswith("_saveexec_b32"):
        if EXEC_LO in ones:
            gained.update(slot for slot in scalar_writes(instruction) if slot != EXEC_LO)
        keeps = _SAVE_EXEC.get(name)
        if keeps and keeps(EXEC_LO in ones, _is_ones(operands[1], ones)):
            gained.add(EXEC_LO)
    lost = set(scalar_writes(instruction)) - gained
    return (ones - lost) | gained if lost or gained else ones


def ones_at_entries(graph: Graph, full_at_start: bool) -> dict[int, Ones]:
    """Return for each block what is known to be all ones at its start: a forward analysis, meet is intersection."""
    known: dict[int, Ones] = {graph.entry: frozenset({EXEC_LO}) if full_at_start else frozenset()}
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


@dataclass(frozen=True, slots=True)
class Liveness:
    """Vector registers live at each block's start."""

    at_start: dict[int, frozenset[int]]


def _vector_operands(instruction: Instruction) -> Iterable[tuple[bool, bool, Register]]:
    for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True):
        if isinstance(operand, Register) and operand.file is RegisterFile.VGPR:
            yield spec.written, spec.read, operand


def _uses_and_kills(instruction: Instruction, exec_is_full: bool) -> tuple[set[int], set[int]]:
    uses: set[int] = set()
    kills: set[int] = set()
    halves = [instruction, instruction.pair] if instruction.pair else [instruction]
    for half in halves:
        for written, read, register in _vector_operands(half):
            numbers = range(register.index, register.index + register.dwords)
            whole = exec_is_full and register.half is None and half.modifiers.dpp is None
            if written and whole and not read:
                kills.update(numbers)
            else:
                uses.update(numbers)
    return uses, kills


def vector_liveness(graph: Graph, ones: Mapping[int, Ones]) -> Liveness:
    """Return which vector registers' values may still be read: a backward analysis."""
    summaries = {pc: _summary(block, ones[pc]) for pc, block in graph.blocks.items() if pc in ones}
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


def _summary(block: Block, ones: Ones) -> tuple[frozenset[int], frozenset[int]]:
    used: set[int] = set()
    killed: set[int] = set()
    for instruction in block.instructions:
        uses, kills = _uses_and_kills(instruction, EXEC_LO in ones)
        used |= uses - killed
        killed |= kills
        ones = ones_after(instruction, ones)
    return frozenset(used), frozenset(killed)
