"""Which halves of VGPRs the wait check looks at: loads in flight fill halves, and stores may take
the other one.

A D16 load preserves the other half of its register (RDNA 4 ISA, 10.4), but on gfx11 and gfx12 only
once it has landed: LLVM calls that a hardware issue (feature d16-write-vgpr32), and lets the vector
ALU touch neither half while a load into the other is in flight. Stores may take the other half, and
loads that land in order may fill it (LLVM: SIInsertWaitcnts, determineVGPR16Dependency).
"""

from __future__ import annotations

from amdjit.isa.instruction import Instruction

LOW, HIGH = "v.l", "v.h"
BOTH = (LOW, HIGH)
_DATA = frozenset({"vdst", "vdata", "data0"})


def moved_halves(instruction: Instruction, role: str) -> tuple[str, ...]:
    """Return the halves of a VGPR operand that an instruction moves: both, unless it loads or
    stores 16 bits."""
    access = instruction.traits.memory
    if access is None or access.half is None or role not in _DATA:
        return BOTH
    return (BOTH[access.half],)
