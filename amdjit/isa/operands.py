"""Operands from the numbers in fields: registers, inline constants, special sources.

Source: RDNA 4 ISA document, section 15.3, tables of SSRC, SRC and SDST codes.
"""

from __future__ import annotations

from functools import cache

from amdjit.isa.errors import InvalidField
from amdjit.isa.formats import NULL
from amdjit.isa.instruction import (
    InlineConstant,
    Operand,
    Register,
    RegisterFile,
    SpecialSource,
)

VGPR_BASE = 256
SGPRS = 106
VGPRS = 256
_FLOATS = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189535)
_SPECIAL = {
    230: "src_flat_scratch_base_lo",
    231: "src_flat_scratch_base_hi",
    235: "src_shared_base",
    236: "src_shared_limit",
    237: "src_private_base",
    238: "src_private_limit",
    239: "src_pops_exiting_wave_id",
    251: "src_vccz",
    252: "src_execz",
}


@cache
def vector_register(index: int, dwords: int, half: int | None = None) -> Register:
    """Return VGPRs [index, index + dwords); InvalidField past v255."""
    if index + dwords > VGPRS:
        raise InvalidField(f"v[{index}:{index + dwords - 1}] is past v255")
    return Register(RegisterFile.VGPR, index, dwords, half)


@cache
def scalar_register(code: int, dwords: int) -> Register:
    """Return the scalar register(s) of a 7-bit code; InvalidField if misaligned or out of range.

    Pairs start at an even register, wider groups at a multiple of four.
    """
    if code < SGPRS:
        return _in_range(RegisterFile.SGPR, code, dwords, SGPRS)
    if code < 108:
        return _low_high(RegisterFile.VCC, code - SGPRS, dwords)
    if code < 124:
        return _in_range(RegisterFile.TTMP, code - 108, dwords, 16)
    if code == NULL:
        return Register(RegisterFile.NULL, 0, dwords)
    if code == 125 and dwords == 1:
        return Register(RegisterFile.M0, 0)
    if code in (126, 127):
        return _low_high(RegisterFile.EXEC, code - 126, dwords)
    raise InvalidField(f"scalar code {code} names no register of {dwords} dwords")


def _in_range(file: RegisterFile, index: int, dwords: int, count: int) -> Register:
    alignment = min(dwords, 4) if dwords != 3 else 4
    if dwords == 3 and file is RegisterFile.TTMP:
        raise InvalidField("there are no groups of three trap registers")
    if index % alignment:
        raise InvalidField(f"{file.value}{index} is misaligned for {dwords} dwords")
    if index + dwords > count:
        raise InvalidField(f"{file.value}[{index}:{index + dwords - 1}] is out of range")
    return Register(file, index, dwords)


def _low_high(file: RegisterFile, index: int, dwords: int) -> Register:
    if index + dwords > 2:
        raise InvalidField(f"{file.value} has no {dwords} dwords from dword {index}")
    return Register(file, index, dwords)


@cache
def source_operand(code: int, dwords: int, takes: str) -> Operand:
    """Return the operand of a 9-bit source code other than a literal.

    takes: the kinds that the opcode takes in this place: v (VGPR), s (scalar register), i (inline
    constant), n (null, but no other scalar register). InvalidField for another kind or an unknown
    code.
    """
    if code >= VGPR_BASE:
        require(takes, "v", code)
        return vector_register(code - VGPR_BASE, dwords)
    if code < 128:
        require(takes, "n" if code == NULL and "n" in takes else "s", code)
        return scalar_register(code, dwords)
    constant = inline_constant(code)
    if constant is not None:
        require(takes, "i", code)
        return constant
    require(takes, "s", code)
    if code == 253:
        return Register(RegisterFile.SCC, 0)
    if code in _SPECIAL and not (code == 231 and dwords > 1):
        return SpecialSource(_SPECIAL[code])
    raise InvalidField(f"source code {code} is unknown")


def inline_constant(code: int) -> InlineConstant | None:
    """Return the constant that a source code stands for, None if it is none."""
    if 128 <= code <= 192:
        return InlineConstant(code - 128, code)
    if 193 <= code <= 208:
        return InlineConstant(192 - code, code)
    if 240 <= code <= 248:
        return InlineConstant(_FLOATS[code - 240], code)
    return None


_KINDS = {"v": "a vector register", "s": "a scalar", "i": "an inline constant", "n": "null"}


def require(takes: str, kind: str, code: int) -> None:
    """Raise InvalidField if an operand does not take that kind."""
    if kind not in takes:
        raise InvalidField(f"{_KINDS[kind]} (source code {code}) is not allowed for this operand")
