"""Which halves of VGPRs the wait check looks at: loads in flight fill halves, and stores may take
the other one.

A D16 load leaves the other half of its register as it is (RDNA 4 ISA, 10.4), but on gfx11 and gfx12
not before it has landed: LLVM calls that a hardware issue (feature d16-write-vgpr32), and lets the
vector ALU touch neither half while a load into the other is in flight. Stores may take the other
half, and loads that land in order may fill it (LLVM: SIInsertWaitcnts, determineVGPR16Dependency).
"""

from __future__ import annotations

import re

from amdjit.emulator.decoder.instruction import Instruction

LOW, HIGH = "v.l", "v.h"
BOTH = (LOW, HIGH)
_MEMORY = frozenset({"DS", "VGLOBAL", "VSCRATCH", "VBUFFER", "VFLAT"})
_DATA = frozenset({"vdst", "vdata", "data0"})
# Stores of 8 and 16 bits; `_d16_format_xy` and wider ones move whole registers.
_LOW_HALF = re.compile(r"_store_b(8|16)$|_d16(_[ui]8|_b16|_format_x)?$")


def moved_halves(instruction: Instruction, role: str) -> tuple[str, ...]:
    """Return the halves of a VGPR operand that an instruction moves; both where it is no 16-bit
    data of memory."""
    if instruction.opcode.encoding not in _MEMORY or role not in _DATA:
        return BOTH
    if "_d16_hi" in instruction.mnemonic:
        return (HIGH,)
    return (LOW,) if _LOW_HALF.search(instruction.mnemonic) else BOTH
