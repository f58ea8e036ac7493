"""How undefined values pass through instructions of gfx9 that write half of a register, or a byte
of it, and keep the rest: what they overwrite does not count.

Halves are the smallest parts that are followed. The lower byte of a half defines it: compilers
write that one first, into a register in which nothing is defined.
"""

from __future__ import annotations

from amdjit.emulator.checks.init.operands import Shadow, sources
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import vector_number


def write_parts(shadow: Shadow, instruction: Instruction) -> bool:
    """Write the result of such an instruction; return whether it is one."""
    bits = instruction.traits.part_bits
    if bits is None or not instruction.opcode.selects_halves:
        return False
    target = instruction.operands[0]
    assert isinstance(target, Register)
    read = [index for index in sources(instruction) if index]
    mask = shadow.masks.either(*(shadow.any_of(instruction, index) for index in read))
    old = shadow.registers.vector(vector_number(target))
    select = instruction.modifiers.op_sel
    half = select >> 3 & 1
    if bits == 8 and select >> 2 & 1:
        mask = shadow.masks.either(old[half], mask)
    new = (old[0], mask) if half else (mask, old[1])
    shadow.registers.write_vector(vector_number(target), new, shadow.lanes())
    return True
