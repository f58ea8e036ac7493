"""The MODE register: rounding and denormals, known at every instruction when a kernel is translated.

Single precision may flush denormals of sources and of results. Half and double precision keep theirs and rounding is
to nearest even: nothing else is emulated.
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.decoder.instruction import InlineConstant, Instruction, Literal
from amdjit.emulator.translate.errors import Untranslatable
from amdjit.emulator.translate.frame import KEEP_DENORMALS, Frame
from amdjit.emulator.translate.operation import Emitter

_MODE_REGISTER = 1
_SHADER_CYCLES_LOW, _SHADER_CYCLES_HIGH = 29, 30
_ROUND_BITS, _DENORMAL_BITS = range(0, 4), range(4, 8)


def _set_denormals(frame: Frame, instruction: Instruction) -> None:
    frame.single_denormals = _checked_denormals(instruction, instruction.immediates["simm16"])


def _checked_denormals(instruction: Instruction, value: int) -> int:
    if value >> 2 & 3 != KEEP_DENORMALS:
        raise Untranslatable(instruction, "half and double precision always keep their denormals in the emulator")
    return value & 3


def _set_rounding(frame: Frame, instruction: Instruction) -> None:
    if instruction.immediates["simm16"] & 15:
        raise Untranslatable(instruction, "the emulator rounds to nearest even only")


def _set_register(frame: Frame, instruction: Instruction) -> None:
    """Writes to MODE that keep the rounding, and those of performance hints."""
    operand = instruction.operands[0]
    immediates = instruction.immediates
    if immediates["hwreg_id"] != _MODE_REGISTER or not isinstance(operand, (InlineConstant, Literal)):
        raise Untranslatable(instruction, "this hardware register cannot be written in the emulator")
    first = immediates["hwreg_offset"]
    bits = {first + index: int(operand.value) >> index & 1 for index in range(immediates["hwreg_size"])}
    if any(bits.get(bit) for bit in _ROUND_BITS):
        raise Untranslatable(instruction, "the emulator rounds to nearest even only")
    if any(8 <= bit < 24 for bit in bits):
        raise Untranslatable(instruction, "these bits of MODE are not emulated")
    given = {bit: value for bit, value in bits.items() if bit in _DENORMAL_BITS}
    old = frame.single_denormals | KEEP_DENORMALS << 2
    new = sum(given.get(bit, old >> bit - 4 & 1) << bit - 4 for bit in _DENORMAL_BITS)
    frame.single_denormals = _checked_denormals(instruction, new)


def _get_register(frame: Frame, instruction: Instruction) -> None:
    """The cycle counters; other hardware registers are not emulated."""
    number = instruction.immediates["hwreg_id"]
    whole = instruction.immediates["hwreg_offset"] == 0 and instruction.immediates["hwreg_size"] == 32
    if number not in (_SHADER_CYCLES_LOW, _SHADER_CYCLES_HIGH) or not whole:
        raise Untranslatable(instruction, "this hardware register cannot be read in the emulator")
    b = frame.builder
    cycles = b.call("llvm.readcyclecounter", "i64", [])
    low, high = b.split_bits(cycles)
    frame.write_scalar(instruction.operands[0], low if number == _SHADER_CYCLES_LOW else high)


_MESSAGE_REAL_TIME = 0x83


def _message_with_result(frame: Frame, instruction: Instruction) -> None:
    if instruction.immediates["message"] != _MESSAGE_REAL_TIME:
        raise Untranslatable(instruction, "only the real time can be asked for in the emulator")
    b = frame.builder
    cycles = b.call("llvm.readcyclecounter", "i64", [])
    narrow = instruction.mnemonic.endswith("b32")
    frame.write_scalar(instruction.operands[0], b.resize(cycles, 32) if narrow else cycles)


FLOAT_MODE: Mapping[str, Emitter] = {
    "s_denorm_mode": _set_denormals,
    "s_round_mode": _set_rounding,
    "s_setreg_imm32_b32": _set_register,
    "s_getreg_b32": _get_register,
    "s_sendmsg_rtn_b32": _message_with_result,
    "s_sendmsg_rtn_b64": _message_with_result,
}
