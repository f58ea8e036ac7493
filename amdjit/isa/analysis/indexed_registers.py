"""Instructions whose registers M0 decides at run time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.analysis.dataflow import vector_operands
from amdjit.isa.analysis.mode import MODE_REGISTER
from amdjit.isa.instruction import Instruction, Operand, OperandSpec, Register
from amdjit.isa.operand_codes import RegisterFile
from amdjit.isa.register_numbers import HALF_VGPRS, VCC_HI
from amdjit.isa.traits import ModeWrite, Unit

__all__ = ["indexed_instructions", "with_all_registers"]


def indexed_instructions(graph: Graph) -> Iterator[Instruction]:
    """Yield the instructions that may read or write other registers than they name, in the order of
    addresses: V_MOVREL*, S_MOVREL*, and on gfx9 the vector instructions before which, on any path,
    S_SET_GPR_IDX_ON or MODE has switched an index on, and nothing has switched it off."""
    indexed = _indexed_at_start(graph)
    for pc, block in sorted(graph.blocks.items()):
        is_on = pc in indexed
        for instruction in block.instructions:
            traits = instruction.traits
            moves = traits.moves_relative_scalars or (
                traits.is_relative and _is_vector(traits.unit)
            )
            if moves or (is_on and _is_vector(traits.unit) and any(vector_operands(instruction))):
                yield instruction
            is_on = _is_on_after(instruction, is_on)


def with_all_registers(graph: Graph) -> Graph:
    """Return a graph whose indexed instructions name all registers that M0 may choose. What they
    write they may also leave as it is."""
    indexed = {instruction.pc for instruction in indexed_instructions(graph)}
    if not indexed:
        return graph
    blocks = {
        pc: replace(
            block,
            instructions=tuple(
                _with_all(item) if item.pc in indexed else item for item in block.instructions
            ),
        )
        for pc, block in graph.blocks.items()
    }
    return replace(graph, blocks=blocks)


_ALL = {
    RegisterFile.VGPR: Register(RegisterFile.VGPR, 0, HALF_VGPRS),
    RegisterFile.AGPR: Register(RegisterFile.AGPR, 0, HALF_VGPRS),
    # VCC follows the SGPRs.
    RegisterFile.SGPR: Register(RegisterFile.SGPR, 0, VCC_HI + 1),
}


def _with_all(instruction: Instruction) -> Instruction:
    """Replace the operands to whose numbers M0 is added: of the moves, their names say which; with
    an index of gfx9, it may be any."""
    name, is_vector = instruction.traits.operation, _is_vector(instruction.traits.unit)
    pairs = zip(instruction.opcode.operands, instruction.operands, strict=True)
    operands = tuple(
        operand if _is_plain(name, spec) else _widened(operand, is_vector)
        for spec, operand in pairs
    )
    pair = None if instruction.pair is None else _with_all(instruction.pair)
    return replace(instruction, operands=operands, pair=pair)


def _widened(operand: Operand | None, is_vector: bool) -> Operand | None:
    if not isinstance(operand, Register) or (operand.file is RegisterFile.SGPR) is is_vector:
        return operand
    return _ALL.get(operand.file, operand)


def _is_plain(name: str, spec: OperandSpec) -> bool:
    """Whether M0 is not added to the number of an operand of an indexed move."""
    return "movrels_" in name if spec.written else "movreld_" in name


def _is_vector(unit: Unit) -> bool:
    return unit in (Unit.VALU, Unit.TRANSCENDENTAL)


def _indexed_at_start(graph: Graph) -> set[int]:
    """Return the blocks at whose start an index may be on."""
    found: set[int] = set()
    work = [block for block in graph.blocks.values() if _is_on_at_end(block, False)]
    while work:
        for successor in work.pop().successors:
            if successor in graph.blocks and successor not in found:
                found.add(successor)
                if _is_on_at_end(graph.blocks[successor], True):
                    work.append(graph.blocks[successor])
    return found


def _is_on_at_end(block: Block, is_on: bool) -> bool:
    for instruction in block.instructions:
        is_on = _is_on_after(instruction, is_on)
    return is_on


# MODE.gpr_idx_en of gfx9 (LLVM: FeatureVGPRIndexMode).
_INDEX_ENABLE = 27


def _is_on_after(instruction: Instruction, is_on: bool) -> bool:
    traits = instruction.traits
    if traits.operation == "s_set_gpr_idx_on":
        return True
    if traits.operation == "s_set_gpr_idx_off":
        return False
    if traits.writes_mode is ModeWrite.FIELD and _may_enable(instruction):
        return True
    return is_on


def _may_enable(instruction: Instruction) -> bool:
    if instruction.opcode.instruction_set.family != "gfx9":
        return False
    first, size = instruction.immediates["hwreg_offset"], instruction.immediates["hwreg_size"]
    is_mode = instruction.immediates["hwreg_id"] == MODE_REGISTER
    return is_mode and first <= _INDEX_ENABLE < first + size
