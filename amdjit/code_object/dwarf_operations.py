"""The operations of DWARF expressions: bytes to numbers.

Section numbers in comments are those of the DWARF 5 standard.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from amdjit.code_object.bytes_reader import BytesReader
from amdjit.code_object.errors import MalformedCodeObject

__all__ = ["Code", "Operation", "read_operations"]

_MOST_OPERATIONS = 256


class Code(IntEnum):
    """Operations that are evaluated (7.7.1, table 7.9), and some that have names only."""

    ADDRESS = 0x03
    CONST1U = 0x08
    CONSTU = 0x10
    CONSTS = 0x11
    SWAP = 0x16
    XDEREFERENCE = 0x18
    AND = 0x1A
    DIVIDE = 0x1B
    MINUS = 0x1C
    MODULO = 0x1D
    MULTIPLY = 0x1E
    NEGATE = 0x1F
    NOT = 0x20
    OR = 0x21
    PLUS = 0x22
    PLUS_CONSTANT = 0x23
    SHIFT_LEFT = 0x24
    SHIFT_RIGHT = 0x25
    SHIFT_RIGHT_ARITHMETIC = 0x26
    XOR = 0x27
    LITERAL0 = 0x30
    REGISTER0 = 0x50
    REGISTER = 0x90
    FRAME_BASE = 0x91
    REGISTER_PLUS = 0x92
    REGISTER0_PLUS = 0x70
    PIECE = 0x93
    BIT_PIECE = 0x9D
    IMPLICIT_VALUE = 0x9E
    STACK_VALUE = 0x9F
    CONVERT = 0xA8


class Operation(NamedTuple):
    """An operation. A literal or a register of the opcode itself is its operand."""

    code: int
    operands: tuple[int, ...] = ()


# Operands by opcode: a number of bytes, negative if signed; "u" and "s" for LEB128; "b" for a block
# with its size before it. Those from 0xe1 are LLVM's (LLVM AMDGPU guide, "DWARF Extensions For
# Heterogeneous Debugging", Operation Encodings).
_Kind = int | str
_SIZES: dict[int, tuple[_Kind, ...]] = {
    0x03: (8,),
    0x08: (1,),
    0x09: (-1,),
    0x0A: (2,),
    0x0B: (-2,),
    0x0C: (4,),
    0x0D: (-4,),
    0x0E: (8,),
    0x0F: (-8,),
    0x10: ("u",),
    0x11: ("s",),
    0x15: (1,),
    0x23: ("u",),
    0x28: (-2,),
    0x2F: (-2,),
    0x90: ("u",),
    0x91: ("s",),
    0x92: ("u", "s"),
    0x93: ("u",),
    0x94: (1,),
    0x95: (1,),
    0x9D: ("u", "u"),
    0x9E: ("b",),
    0xA1: ("u",),
    0xA2: ("u",),
    0xA3: ("b",),
    0xA8: ("u",),
    0xA9: ("u",),
    0xE4: ("u",),
    0xE6: ("u",),
    0xE8: ("u", "s"),
    0xEB: ("u", "u"),
    0xEC: ("u", "u"),
}
_WITHOUT_OPERANDS = frozenset(
    (
        *(0x06, *range(0x12, 0x15), *range(0x16, 0x23), *range(0x24, 0x28), *range(0x29, 0x2F)),
        *(0x96, 0x97, 0x9B, 0x9C, 0x9F, 0xE1, 0xE2, 0xE3, 0xE5, 0xE7, 0xEA),
    )
)


def read_operations(expression: bytes) -> list[Operation] | None:
    """Return the operations of an expression, None if one of them is unknown, which ends what can
    be read; MalformedCodeObject if the bytes end within an operation."""
    reader = BytesReader(expression, 0, len(expression), "DWARF expression")
    operations: list[Operation] = []
    while not reader.exhausted:
        code = reader.unsigned(1)
        operation = _of_opcode(code, reader)
        if operation is None:
            kinds = _SIZES.get(code)
            if kinds is None and code not in _WITHOUT_OPERANDS:
                return None
            operation = Operation(code, tuple(_operand(reader, kind) for kind in kinds or ()))
        operations.append(operation)
        if len(operations) > _MOST_OPERATIONS:
            raise MalformedCodeObject(f"a DWARF expression of more than {_MOST_OPERATIONS}")
    return operations


def _of_opcode(code: int, reader: BytesReader) -> Operation | None:
    """Return an operation whose opcode holds a number, as one that has it as an operand."""
    if Code.LITERAL0 <= code < Code.LITERAL0 + 32:
        return Operation(Code.CONSTU, (code - Code.LITERAL0,))
    if Code.REGISTER0 <= code < Code.REGISTER0 + 32:
        return Operation(Code.REGISTER, (code - Code.REGISTER0,))
    if Code.REGISTER0_PLUS <= code < Code.REGISTER0_PLUS + 32:
        return Operation(Code.REGISTER_PLUS, (code - Code.REGISTER0_PLUS, reader.sleb()))
    if Code.CONST1U <= code < Code.CONSTU:
        kind = _SIZES[code][0]
        return Operation(Code.CONSTS, (_operand(reader, kind),))
    return None


def _operand(reader: BytesReader, kind: _Kind) -> int:
    if kind == "u":
        return reader.uleb()
    if kind == "s":
        return reader.sleb()
    if isinstance(kind, int):
        return reader.signed(-kind) if kind < 0 else reader.unsigned(kind)
    return int.from_bytes(reader.take(reader.uleb()), "little")
