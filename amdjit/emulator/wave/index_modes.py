"""Where M0 is added to the numbers of vector registers, between S_SET_GPR_IDX_ON and _OFF (CDNA 3
ISA, "S_SET_GPR_IDX_ON").

Compilers switch it on and off around single moves. So it is followed inside blocks only, and code
that goes on to another block with it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from amdjit.emulator.wave.errors import Untranslatable
from amdjit.isa.analysis.control_flow import Block
from amdjit.isa.analysis.dataflow import scalar_writes
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import M0
from amdjit.isa.traits import ModeWrite, Unit

# Bits of a mode: to which operands M0 is added.
SOURCE_0, DESTINATION = 1, 8


class _Change(Enum):
    ON = auto()
    OFF = auto()
    MODE = auto()
    INDEX = auto()


_CHANGES: Mapping[str, _Change] = {
    "s_set_gpr_idx_on": _Change.ON,
    "s_set_gpr_idx_off": _Change.OFF,
    "s_set_gpr_idx_mode": _Change.MODE,
    "s_set_gpr_idx_idx": _Change.INDEX,
}


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
    if mode is not None and block.successors:
        reason = "indices of vector registers are followed inside of blocks only"
        raise Untranslatable(block.instructions[-1], reason)
    return found


def _mode_after(instruction: Instruction, mode: int | None) -> int | None:
    change = _CHANGES.get(instruction.traits.operation)
    if change is _Change.ON:
        return instruction.immediates["index_mode"]
    if change is _Change.OFF:
        return None
    if change is _Change.MODE:
        return None if mode is None else instruction.immediates["simm16"] & 15
    writes_m0 = change is not _Change.INDEX and M0 in scalar_writes(instruction)
    if mode is not None and (writes_m0 or instruction.traits.writes_mode is ModeWrite.FIELD):
        reason = "it changes which vector registers have an index, while some have"
        raise Untranslatable(instruction, reason)
    return mode
