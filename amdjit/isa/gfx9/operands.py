"""Operands of gfx9 from the numbers in fields.

Source: CDNA 3 ISA document, "Operand field definitions" (SDST, SSRC, VSRC). M0 has the code that is
null elsewhere, and FLAT_SCRATCH and XNACK_MASK lie above s101.
"""

from __future__ import annotations

from functools import cache

from amdjit.isa.errors import InvalidField
from amdjit.isa.instruction import (
    Operand,
    Register,
    RegisterFile,
    SpecialSource,
)
from amdjit.isa.operands import VGPR_BASE, VGPRS, inline_constant, require

SGPRS = 102
_PAIRS = {
    51: RegisterFile.FLAT_SCRATCH,
    52: RegisterFile.XNACK_MASK,
    53: RegisterFile.VCC,
    63: RegisterFile.EXEC,
}
_M0 = 124
_TTMP = 108
_LDS_DIRECT = 254
_SPECIAL = {
    235: "src_shared_base",
    236: "src_shared_limit",
    237: "src_private_base",
    238: "src_private_limit",
    239: "src_pops_exiting_wave_id",
    251: "src_vccz",
    252: "src_execz",
}


@cache
def vector_register(index: int, dwords: int, aligned: bool, accumulates: bool = False) -> Register:
    """Return VGPRs, or accumulation VGPRs; InvalidField past the last one.

    aligned: groups of registers start at an even one, as from gfx90a on.
    """
    file = RegisterFile.AGPR if accumulates else RegisterFile.VGPR
    if index + dwords > VGPRS:
        raise InvalidField(f"{file.value}[{index}:{index + dwords - 1}] is past {file.value}255")
    if aligned and dwords > 1 and index % 2:
        raise InvalidField(f"{file.value}{index} is misaligned for {dwords} dwords")
    return Register(file, index, dwords)


@cache
def scalar_register(code: int, dwords: int) -> Register:
    """Return the scalar register(s) of a 7-bit code; InvalidField if misaligned or out of range."""
    if code < SGPRS:
        return _in_range(RegisterFile.SGPR, code, dwords, SGPRS)
    if _TTMP <= code < _M0:
        return _in_range(RegisterFile.TTMP, code - _TTMP, dwords, 16)
    if code == _M0 and dwords == 1:
        return Register(RegisterFile.M0, 0)
    file = _PAIRS.get(code >> 1)
    if file is not None and code % 2 + dwords <= 2:
        return Register(file, code % 2, dwords)
    raise InvalidField(f"scalar code {code} names no register of {dwords} dwords")


def _in_range(file: RegisterFile, index: int, dwords: int, count: int) -> Register:
    if index % min(dwords, 4):
        raise InvalidField(f"{file.value}{index} is misaligned for {dwords} dwords")
    if index + dwords > count:
        raise InvalidField(f"{file.value}[{index}:{index + dwords - 1}] is out of range")
    return Register(file, index, dwords)


@cache
def source_operand(code: int, dwords: int, takes: str, unified: bool) -> Operand:
    """Return the operand of a 9-bit source code other than a literal; InvalidField for a kind that
    the opcode does not take.

    unified: as from gfx90a on, groups of VGPRs are aligned, and there is no src_lds_direct.
    """
    if code >= VGPR_BASE:
        require(takes, "v", code)
        return vector_register(code - VGPR_BASE, dwords, unified)
    if code < 128:
        require(takes, "s", code)
        return scalar_register(code, dwords)
    constant = inline_constant(code)
    if constant is not None:
        require(takes, "i", code)
        return constant
    require(takes, "s", code)
    if code == 253:
        return Register(RegisterFile.SCC, 0)
    if code in _SPECIAL:
        return SpecialSource(_SPECIAL[code])
    if code == _LDS_DIRECT and dwords == 1 and not unified and "v" in takes:
        return SpecialSource("src_lds_direct")
    raise InvalidField(f"source code {code} is unknown")
