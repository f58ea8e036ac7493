"""Operands from the numbers in fields: registers, inline constants, special sources."""

from __future__ import annotations

from functools import cache

from amdjit.isa.errors import InvalidField
from amdjit.isa.instruction import InlineConstant, Operand, Register, SpecialSource
from amdjit.isa.operand_codes import (
    LDS_DIRECT,
    NARROW_SOURCES,
    SCC,
    TTMP,
    TTMPS,
    VGPR_BASE,
    VGPRS,
    OperandCodes,
    RegisterFile,
)

_FLOATS = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189535)


@cache
def vector_register(
    codes: OperandCodes,
    index: int,
    dwords: int,
    half: int | None = None,
    accumulates: bool = False,
) -> Register:
    """Return VGPRs [index, index + dwords), or accumulation VGPRs; InvalidField past the last one,
    or if they are misaligned."""
    file = RegisterFile.AGPR if accumulates else RegisterFile.VGPR
    if index + dwords > VGPRS:
        raise InvalidField(f"{file.value}[{index}:{index + dwords - 1}] is past {file.value}255")
    if codes.aligned and dwords > 1 and index % 2:
        raise InvalidField(f"{file.value}{index} is misaligned for {dwords} dwords")
    return Register(file, index, dwords, half)


@cache
def scalar_register(codes: OperandCodes, code: int, dwords: int) -> Register:
    """Return the scalar register(s) of a 7-bit code; InvalidField if misaligned or out of range.

    Pairs start at an even register, wider groups at a multiple of four.
    """
    if code < codes.sgprs:
        return _in_range(RegisterFile.SGPR, code, dwords, codes.sgprs)
    if TTMP <= code < TTMP + TTMPS:
        return _in_range(RegisterFile.TTMP, code - TTMP, dwords, TTMPS)
    if code == codes.null:
        return Register(RegisterFile.NULL, 0, dwords)
    if code == codes.m0 and dwords == 1:
        return Register(RegisterFile.M0, 0)
    file = codes.pairs.get(code & ~1)
    if file is None:
        raise InvalidField(f"scalar code {code} names no register of {dwords} dwords")
    if code % 2 + dwords > 2:
        raise InvalidField(f"{file.value} has no {dwords} dwords from dword {code % 2}")
    return Register(file, code % 2, dwords)


def _in_range(file: RegisterFile, index: int, dwords: int, count: int) -> Register:
    alignment = min(dwords, 4) if dwords != 3 else 4
    if dwords == 3 and file is RegisterFile.TTMP:
        raise InvalidField("there are no groups of three trap registers")
    if index % alignment:
        raise InvalidField(f"{file.value}{index} is misaligned for {dwords} dwords")
    if index + dwords > count:
        raise InvalidField(f"{file.value}[{index}:{index + dwords - 1}] is out of range")
    return Register(file, index, dwords)


@cache
def source_operand(codes: OperandCodes, code: int, dwords: int, takes: str) -> Operand:
    """Return the operand of a 9-bit source code other than a literal.

    takes: the kinds that the opcode takes in this place: v (VGPR), s (scalar register), i (inline
    constant), n (null, but no other scalar register). InvalidField for another kind or an unknown
    code.
    """
    if code >= VGPR_BASE:
        require(takes, "v", code)
        return vector_register(codes, code - VGPR_BASE, dwords)
    if code < 128:
        require(takes, "n" if code == codes.null and "n" in takes else "s", code)
        return scalar_register(codes, code, dwords)
    constant = inline_constant(code)
    if constant is not None:
        require(takes, "i", code)
        return constant
    require(takes, "s", code)
    if code == SCC:
        return Register(RegisterFile.SCC, 0)
    name = codes.special.get(code)
    too_wide = code in NARROW_SOURCES and dwords > 1
    if name is None or too_wide or (code == LDS_DIRECT and "v" not in takes):
        raise InvalidField(f"source code {code} is unknown")
    return SpecialSource(name)


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
