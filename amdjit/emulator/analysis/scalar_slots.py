"""The numbers of scalar registers: where a wave's scalar state keeps them."""

from __future__ import annotations

from amdjit.emulator.decoder.instruction import Register, RegisterFile
from amdjit.emulator.layout import EXEC_LO, M0, TTMP_FIRST, VCC_LO

_FIRST_SLOT = {
    RegisterFile.SGPR: 0,
    RegisterFile.FLAT_SCRATCH: 102,
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
