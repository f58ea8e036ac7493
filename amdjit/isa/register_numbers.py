"""The numbers of registers, by which everything about a wave's registers is kept: a scalar register
has the number that encodes it as an operand, vector registers have numbers of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from amdjit.isa.instruction import Operand, Register, RegisterFile

# As the ISA encodes scalar operands (RDNA 4 ISA, section 3.3, "SGPR operand encodings"). SCC has no
# code of its own: 124 is `null`.
FLAT_SCRATCH_LO, FLAT_SCRATCH_HI = 102, 103
VCC_LO, VCC_HI, TTMP_FIRST, SCC_SLOT, M0, EXEC_LO, EXEC_HI = 106, 107, 108, 124, 125, 126, 127
TTMP7, TTMP8, TTMP9 = 115, 116, 117
# A wave64 is two halves of 32 lanes, the lower and the upper one, as the hardware works on them
# (RDNA 4 ISA, 2.1). Vector registers of the upper half have numbers HALF_VGPRS above those of the
# lower one.
HALF_LANES = 32
HALF_VGPRS = 256
# The accumulation VGPRs of gfx9 come after both halves' VGPRs, in halves as those do.
FIRST_AGPR = 2 * HALF_VGPRS
# The numbers of the lower half: those of VGPRs, and those of accumulation VGPRs.
VECTOR_NUMBERS = (*range(HALF_VGPRS), *range(FIRST_AGPR, FIRST_AGPR + HALF_VGPRS))

_FIRST_SLOT = {
    RegisterFile.SGPR: 0,
    RegisterFile.FLAT_SCRATCH: FLAT_SCRATCH_LO,
    RegisterFile.XNACK_MASK: 104,
    RegisterFile.VCC: VCC_LO,
    RegisterFile.TTMP: TTMP_FIRST,
    RegisterFile.M0: M0,
    RegisterFile.EXEC: EXEC_LO,
}


def scalar_slot(register: Register) -> int | None:
    """Return the number of a scalar register, the ISA's operand code; None for `null`."""
    if register.file is RegisterFile.NULL:
        return None
    return _FIRST_SLOT[register.file] + register.index


def is_vector(operand: Operand | None) -> TypeGuard[Register]:
    """Whether an operand is a VGPR or an accumulation VGPR."""
    return isinstance(operand, Register) and operand.file in (RegisterFile.VGPR, RegisterFile.AGPR)


def vector_number(register: Register) -> int:
    """Return the number of a vector register in the lower half of a wave: that of the ISA, and of
    accumulation VGPRs from 512 on."""
    return register.index + FIRST_AGPR if register.file is RegisterFile.AGPR else register.index


def numbers_of(register: Register) -> range:
    """Return the numbers of the registers that a vector operand covers."""
    first = vector_number(register)
    return range(first, first + register.dwords)


def vector_set(register: Register) -> int:
    """Return the registers of a vector operand as a set of bits."""
    return ((1 << register.dwords) - 1) << vector_number(register)


def numbers_in(registers: int) -> Iterator[int]:
    """Yield the members of a set of bits, the lowest first."""
    while registers:
        lowest = registers & -registers
        yield lowest.bit_length() - 1
        registers ^= lowest
