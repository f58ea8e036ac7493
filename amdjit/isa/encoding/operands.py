"""Operands as kernels name them: registers, constants, and the numbers that encode them."""

from __future__ import annotations

import struct
from dataclasses import replace

from amdjit.isa.errors import EncodingError
from amdjit.isa.instruction import (
    InlineConstant,
    Literal,
    Operand,
    Register,
    RegisterFile,
    SpecialSource,
)
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.operand_codes import LITERAL, VGPR_BASE
from amdjit.isa.operands import inline_constant

__all__ = [
    "EXEC",
    "EXEC_HI",
    "EXEC_LO",
    "M0",
    "NOTHING",
    "OFF",
    "SCC",
    "VCC",
    "VCC_HI",
    "VCC_LO",
    "Value",
    "a",
    "code_of",
    "constant",
    "literal",
    "s",
    "ttmp",
    "v",
]

Value = Operand | int | float | None
"""What `Program.add` takes as an operand."""

VCC, VCC_LO, VCC_HI = (Register(RegisterFile.VCC, *place) for place in ((0, 2), (0, 1), (1, 1)))
EXEC, EXEC_LO, EXEC_HI = (Register(RegisterFile.EXEC, *place) for place in ((0, 2), (0, 1), (1, 1)))
M0 = Register(RegisterFile.M0, 0)
SCC = Register(RegisterFile.SCC, 0)
NOTHING = Register(RegisterFile.NULL, 0)
"""The register `null`, which gfx9 lacks."""
OFF = None
"""The operand that the assembler writes as `off`."""

_CONSTANT_CODES = (*range(128, 209), *range(240, 249))
_BITS_OF_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


def v(number: int, count: int = 1, half: int | None = None) -> Register:
    """Return `count` VGPRs from v`number` on; half: 0 or 1 where 16 bits of one are meant."""
    return Register(RegisterFile.VGPR, number, count, half)


def s(number: int, count: int = 1) -> Register:
    """Return `count` SGPRs from s`number` on."""
    return Register(RegisterFile.SGPR, number, count)


def a(number: int, count: int = 1) -> Register:
    """Return `count` accumulation VGPRs from a`number` on."""
    return Register(RegisterFile.AGPR, number, count)


def ttmp(number: int, count: int = 1) -> Register:
    """Return `count` trap registers from ttmp`number` on."""
    return Register(RegisterFile.TTMP, number, count)


def code_of(operand: Operand, sets: InstructionSet) -> int:
    """Return the number of an operand in a source field of nine bits; EncodingError if the family
    has none."""
    if isinstance(operand, InlineConstant):
        return operand.code
    if isinstance(operand, Literal):
        return LITERAL
    if isinstance(operand, SpecialSource):
        return _special_code(operand.name, sets)
    if operand.file in (RegisterFile.VGPR, RegisterFile.AGPR):
        return VGPR_BASE + operand.index
    first = sets.codes.first_code(operand.file)
    if first is None:
        raise EncodingError(f"{sets.name} has no register {operand.file.value}")
    return first + operand.index


def _special_code(name: str, sets: InstructionSet) -> int:
    for code, known in sets.codes.special.items():
        if known == name:
            return code
    raise EncodingError(f"{sets.name} has no source {name}")


def constant(value: int | float, type: str) -> InlineConstant | Literal:
    """Return a number as an operand of that type: an inline constant if there is one.

    A literal has 32 bits: those of a 64-bit float are its high half. EncodingError if it does not
    fit.
    """
    for code in _CONSTANT_CODES:
        found = inline_constant(code)
        if found and type_of(found.value) is type_of(value) and found.value == value:
            return found
    return literal(value, type)


def literal(value: int | float, type: str) -> Literal:
    """Return a number as the 32 bits that follow an instruction; EncodingError if it has more."""
    if isinstance(value, int):
        if not -(1 << 31) <= value < 1 << 32:
            raise EncodingError(f"the literal {value} has more than 32 bits")
        return Literal(value & 0xFFFFFFFF)
    layout = _BITS_OF_FLOATS.get(type.removeprefix("v2"), "<f")
    return Literal(int.from_bytes(struct.pack(layout, value)[-4:], "little"))


def type_of(value: int | float) -> type:
    """Return int or float."""
    return int if isinstance(value, int) else float


def without_half(operand: Operand | None) -> Operand | None:
    """Return an operand as it is without the choice of the lower half."""
    if isinstance(operand, Register) and operand.half == 0:
        return replace(operand, half=None)
    return operand
