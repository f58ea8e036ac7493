"""How undefined values pass through instructions of gfx9 that write half of a register, or a byte
of it, and keep the rest: what they overwrite does not count.

Halves are the smallest parts that are followed. The lower byte of a half defines it: compilers
write that one first, into a register in which nothing is defined.
"""

from __future__ import annotations

import re

from amdjit.emulator.analysis.vector_numbers import vector_number
from amdjit.emulator.checks.init.operands import Shadow, sources
from amdjit.emulator.decoder.instruction import Instruction, Register

_BYTES = re.compile(r"v_cvt_(scalef32_)?(sr_[fb][pf]8|(sr_)?pk_fp4)_b?f(16|32)")
_HALVES = re.compile(
    r"v_cvt_(scalef32_)?pk_[fb][pf]8_b?f(16|32)|v_cvt_scalef32_f16_[fb][pf]8|v_cvt_sr_b?f16_f32"
    r"|v_bitop3_b16|v_ashr_pk_[iu]8_i32"
)


def write_parts(shadow: Shadow, instruction: Instruction) -> bool:
    """Write the result of such an instruction; return whether it is one."""
    name = instruction.traits.operation
    is_byte = _BYTES.fullmatch(name) is not None
    if not instruction.opcode.selects_halves or not (is_byte or _HALVES.fullmatch(name)):
        return False
    target = instruction.operands[0]
    assert isinstance(target, Register)
    read = [index for index in sources(instruction) if index]
    mask = shadow.masks.either(*(shadow.any_of(instruction, index) for index in read))
    old = shadow.registers.vector(vector_number(target))
    select = instruction.modifiers.op_sel
    half = select >> 3 & 1
    if is_byte and select >> 2 & 1:
        mask = shadow.masks.either(old[half], mask)
    new = (old[0], mask) if half else (mask, old[1])
    shadow.registers.write_vector(vector_number(target), new, shadow.lanes())
    return True
