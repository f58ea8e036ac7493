"""Where M0 is added to the numbers of vector registers, between S_SET_GPR_IDX_ON and _OFF (CDNA 3
ISA, "S_SET_GPR_IDX_ON").

Compilers switch it on and off around single moves. So it is followed inside blocks only, and code
that leaves it on at the end of a block is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.analysis.control_flow import Block
from amdjit.emulator.analysis.dataflow import scalar_writes
from amdjit.emulator.analysis.errors import Untranslatable
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.decoder.traits import ModeWrite, Unit
from amdjit.emulator.layout import M0

# Bits of a mode: to which operands M0 is added.
SOURCE_0, DESTINATION = 1, 8
_ON, _OFF, _MODE = "s_set_gpr_idx_on", "s_set_gpr_idx_off", "s_set_gpr_idx_mode"
_INDEX = "s_set_gpr_idx_idx"


def index_modes(block: Block) -> Mapping[int, int]:
    """Return the modes of a block's vector instructions by pc, if they are on.

    Untranslatable if it is not known what is on.
    """
    mode: int | None = None
    found: dict[int, int] = {}
    for instruction in block.instructions:
        mode = _mode_after(instruction, mode)
        if mode is not None and instruction.traits.unit is not Unit.SALU:
            found[instruction.pc] = mode
    if mode is not None:
        reason = "indices of vector registers are followed inside of blocks only"
        raise Untranslatable(block.instructions[-1], reason)
    return found


def _mode_after(instruction: Instruction, mode: int | None) -> int | None:
    operation = instruction.traits.operation
    if operation == _ON:
        return instruction.immediates["index_mode"]
    if operation == _OFF:
        return None
    if operation == _MODE:
        return None if mode is None else instruction.immediates["simm16"] & 15
    writes_m0 = operation != _INDEX and M0 in scalar_writes(instruction)
    if mode is not None and (writes_m0 or instruction.traits.writes_mode is ModeWrite.FIELD):
        reason = "it changes which vector registers have an index, while some have"
        raise Untranslatable(instruction, reason)
    return mode
