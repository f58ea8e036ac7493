"""The numbers of vector registers: where a wave's state keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from amdjit.emulator.decoder.instruction import Operand, Register, RegisterFile
from amdjit.emulator.layout import FIRST_AGPR


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
