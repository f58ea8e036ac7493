"""What the translation of a whole kernel asks about its instructions."""

from __future__ import annotations

from amdjit.emulator.analysis.control_flow import Graph
from amdjit.emulator.decoder.instruction import Instruction, RegisterFile
from amdjit.emulator.instructions.lanes.table import WHOLE_WAVE
from amdjit.emulator.instructions.matrix.wmma import WMMA
from amdjit.emulator.instructions.memory.lds_atomics import COUNTERS
from amdjit.emulator.instructions.vector.relative_moves import RELATIVE
from amdjit.emulator.instructions.vector.transcendental import PSEUDO_SCALAR
from amdjit.emulator.layout import HALF_LANES, HALF_VGPRS

_SHORT_LOOP = 16


def is_for_the_whole_wave(instruction: Instruction) -> bool:
    """Tell whether an instruction is emitted once for a wave64: scalar ones, and those that move
    between halves."""
    name = instruction.mnemonic
    return (
        instruction.opcode.encoding[0] == "S"
        or name in PSEUDO_SCALAR
        or name in WHOLE_WAVE
        or name in COUNTERS
        or name in WMMA
        or name.startswith("global_load_tr")
    )


def may_poll(graph: Graph, first: int, last: int) -> bool:
    """Tell whether the loop [first, last] may wait for another wave: it has an atomic with a result
    or a load of a wider scope, or it is short and loads."""
    body = [
        i
        for block in graph.blocks.values()
        if first <= block.pc <= last
        for i in block.instructions
    ]
    short = len(body) <= _SHORT_LOOP
    return any(_observes(instruction, short) for instruction in body)


def _observes(instruction: Instruction, short: bool) -> bool:
    name = instruction.mnemonic
    if "_load_" in name:
        return short or bool(instruction.immediates.get("scope"))
    returns = instruction.opcode.operands and instruction.opcode.operands[0].role == "vdst"
    return bool(returns and instruction.operands[0] and ("_atomic_" in name or "_rtn_" in name))


def registers_in_memory(graph: Graph, wave_size: int) -> frozenset[int]:
    """Return the vector registers that native code reaches: those of matrix instructions, all with
    relative moves.

    Those of the upper half of a wave64 have numbers from 256 on.
    """
    named = _named_registers(graph)
    return frozenset(
        index + half * HALF_VGPRS for half in range(wave_size // HALF_LANES) for index in named
    )


def _named_registers(graph: Graph) -> frozenset[int]:
    found: set[int] = set()
    for block in graph.blocks.values():
        for instruction in block.instructions:
            if instruction.mnemonic in RELATIVE:
                return frozenset(range(256))
            if instruction.mnemonic.startswith(("v_wmma", "v_swmmac")):
                for operand in instruction.operands:
                    if getattr(operand, "file", None) is RegisterFile.VGPR:
                        found.update(range(operand.index, operand.index + operand.dwords))  # type: ignore[union-attr]
    return frozenset(found)
