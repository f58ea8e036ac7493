"""How llvm-objdump writes operands: registers, constants, source modifiers."""

from __future__ import annotations

from amdjit.emulator.decoder.instruction import (
    InlineConstant,
    Literal,
    Operand,
    Register,
    RegisterFile,
    SpecialSource,
)

_RANGED = (RegisterFile.SGPR, RegisterFile.VGPR, RegisterFile.TTMP)
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

    constants: how constants are written there (32, 64, f16, i16); halves: write .l and .h.
    """
    if isinstance(operand, Register):
        text = register_text(operand)
        return text + (".h" if operand.half else ".l") if halves and operand.half is not None else text
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
    if file in (RegisterFile.VCC, RegisterFile.EXEC):
        return file.value if dwords == 2 else f"{file.value}_{('lo', 'hi')[index]}"
    return "src_scc" if file is RegisterFile.SCC else file.value


def literal_text(literal: Literal, constants: str) -> str:
    """Return the text of a literal: an inline value as such, anything else in hexadecimal."""
    value = literal.value
    if constants in ("f16", "i16"):
        value &= 0xFFFF
        bits = 16
    else:
        bits = 32
    signed = value - (1 << bits) if value >> (bits - 1) else value
    if -16 <= signed <= 64 and not (constants == "64" and signed < 0):
        return str(signed)
    return _FLOAT_LITERALS.get((constants, value), f"0x{value:x}")


def _constant_text(constant: InlineConstant, constants: str) -> str:
    value = constant.value
    if isinstance(value, int):
        return str(value)
    if constants == "i16":
        return "0x3118" if constant.code == _INVERSE_TWO_PI else f"0x{_HALF_BITS[value]:x}"
    if constant.code == _INVERSE_TWO_PI:
        return "0.15915494309189532" if constants == "64" else "0.15915494"
    return str(value)


# A literal whose bits are those of an inline float is written like that float.
_FLOAT_LITERALS: dict[tuple[str, int], str] = {
    **{("f16", bits): str(value) for value, bits in _HALF_BITS.items()},
    ("f16", 0x3118): "0.15915494",
    ("32", 0x3F800000): "1.0",
    ("32", 0xBF800000): "-1.0",
    ("32", 0x3F000000): "0.5",
    ("32", 0xBF000000): "-0.5",
    ("32", 0x40000000): "2.0",
    ("32", 0xC0000000): "-2.0",
    ("32", 0x40800000): "4.0",
    ("32", 0xC0800000): "-4.0",
    ("32", 0x3E22F983): "0.15915494",
}


def negated(text: str, constant: bool, negative: bool, absolute: bool) -> str:
    """Return an operand's text under neg and abs; a negated constant is neg(...)."""
    if absolute:
        text = f"|{text}|"
    if not negative:
        return text
    return f"neg({text})" if constant and not absolute else f"-{text}"
