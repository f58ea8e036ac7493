"""How llvm-objdump writes operands: registers, constants, source modifiers."""

from __future__ import annotations

from amdjit.isa.instruction import (
    InlineConstant,
    Literal,
    Operand,
    Register,
    RegisterFile,
    SpecialSource,
)

_RANGED = (RegisterFile.SGPR, RegisterFile.VGPR, RegisterFile.AGPR, RegisterFile.TTMP)
_LOW_HIGH = (
    RegisterFile.VCC,
    RegisterFile.EXEC,
    RegisterFile.FLAT_SCRATCH,
    RegisterFile.XNACK_MASK,
)
_HALF_BITS = {
    0.5: 0x3800,
    -0.5: 0xB800,
    1.0: 0x3C00,
    -1.0: 0xBC00,
    2.0: 0x4000,
    -2.0: 0xC000,
    4.0: 0x4400,
    -4.0: 0xC400,
}
_INVERSE_TWO_PI = 248


def operand_text(operand: Operand, constants: str, halves: bool = False) -> str:
    """Return the text of an operand.

    constants: how constants are written in this operand, by the opcode table (32, 64, f16, i16,
    ...). halves: write .l and .h.
    """
    if isinstance(operand, Register):
        text = register_text(operand)
        shown = halves and operand.half is not None and operand.file is RegisterFile.VGPR
        return text + (".h" if operand.half else ".l") if shown else text
    if isinstance(operand, SpecialSource):
        return operand.name
    if isinstance(operand, InlineConstant):
        return _constant_text(operand, constants)
    return literal_text(operand, constants)


def register_text(register: Register) -> str:
    """Return s3, v[0:1], vcc_lo, exec, ttmp[4:7], null, m0, src_scc, ..."""
    file, index, dwords = register.file, register.index, register.dwords
    if file in _RANGED:
        if dwords == 1:
            return f"{file.value}{index}"
        return f"{file.value}[{index}:{index + dwords - 1}]"
    if file in _LOW_HIGH:
        return file.value if dwords == 2 else f"{file.value}_{('lo', 'hi')[index]}"
    return "src_scc" if file is RegisterFile.SCC else file.value


def literal_text(literal: Literal, constants: str) -> str:
    """Return the text of a literal: lit(...) where an inline constant would read the same."""
    value = literal.value
    if constants == "literal":
        return f"0x{value:x}"
    if constants == "plain":
        return str(_signed(value, 32)) if _is_inline_integer(value, 32) else _plain_literal(value)
    if constants == "f64":
        return _DOUBLE_LITERALS.get(value, f"0x{value:x}")
    shown = value & 0xFFFF if constants in ("f16", "i16") else value
    return f"lit(0x{value:x})" if _looks_inline(value, constants) else f"0x{shown:x}"


def _looks_inline(value: int, constants: str) -> bool:
    if constants == "64":
        return value <= 64
    if constants in ("f16", "bf16"):
        return _is_inline_integer(value & 0xFFFF, 16) or value & 0xFFFF in _INLINE_FLOATS[constants]
    if _is_inline_integer(value, 32):
        return True
    if constants == "splat":
        return value >> 16 == value & 0xFFFF and value & 0xFFFF in _INLINE_FLOATS["f16"]
    return value in _INLINE_FLOATS[{"v2f16": "f16", "v2bf16": "bf16"}.get(constants, "f32")]


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _is_inline_integer(value: int, bits: int) -> bool:
    return -16 <= _signed(value, bits) <= 64


def _plain_literal(value: int) -> str:
    return _SINGLE_LITERALS.get(value, f"0x{value:x}")


def _constant_text(constant: InlineConstant, constants: str) -> str:
    value = constant.value
    if isinstance(value, int):
        return str(value)
    if constants == "i16":
        return "0x3118" if constant.code == _INVERSE_TWO_PI else f"0x{_HALF_BITS[value]:x}"
    if constant.code == _INVERSE_TWO_PI:
        return "0.15915494309189532" if constants in ("64", "f64") else "0.15915494"
    return str(value)


_SINGLE_LITERALS = {
    0x3F800000: "1.0",
    0xBF800000: "-1.0",
    0x3F000000: "0.5",
    0xBF000000: "-0.5",
    0x40000000: "2.0",
    0xC0000000: "-2.0",
    0x40800000: "4.0",
    0xC0800000: "-4.0",
    0x3E22F983: "0.15915494",
}
# The literal of a 64-bit float is its upper half.
_DOUBLE_LITERALS = {
    0: "0",
    0x3FF00000: "1.0",
    0xBFF00000: "-1.0",
    0x3FE00000: "0.5",
    0xBFE00000: "-0.5",
    0x40000000: "2.0",
    0xC0000000: "-2.0",
    0x40100000: "4.0",
    0xC0100000: "-4.0",
}
_INLINE_FLOATS = {
    "f32": frozenset(_SINGLE_LITERALS),
    "f16": frozenset((*_HALF_BITS.values(), 0x3118)),
    "bf16": frozenset((0x3F80, 0xBF80, 0x3F00, 0xBF00, 0x4000, 0xC000, 0x4080, 0xC080, 0x3E22)),
}


def negated(text: str, constant: bool, negative: bool, absolute: bool) -> str:
    """Return an operand's text with neg and abs; a negated constant is neg(...)."""
    if absolute:
        text = f"|{text}|"
    if not negative:
        return text
    quoted = constant and not absolute and not text.startswith("lit(")
    return f"neg({text})" if quoted else f"-{text}"
