"""Instructions that work on a whole wave: they are emitted once, even in wave64."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.emulator.host.builder import Value
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import is_vector, vector_number


def in_each_half(frame: Frame, read: Callable[[], Value]) -> list[Value]:
    """Return the result of `read` in each half of the wave."""
    values = []
    for half in range(frame.registers.halves):
        frame.registers.select_half(half)
        values.append(read())
    frame.registers.select_half(0)
    return values


def write_halves(frame: Frame, target: Register, results: list[Value]) -> None:
    """Write a vector register in the active lanes, with one result for each half of the wave."""
    for half, result in enumerate(results):
        frame.registers.select_half(half)
        frame.registers.write_vector(vector_number(target), result, frame.mask())
    frame.registers.select_half(0)


def vectors_of(frame: Frame, register: Register) -> list[Value]:
    """Return a vector register's dwords in each half of the wave."""
    return in_each_half(frame, lambda: frame.registers.vector(vector_number(register)))


def require_all_lanes(frame: Frame, instruction: Instruction) -> None:
    """Make an instruction fault unless EXEC is all ones or 0, which is mostly known at translation.

    With EXEC = 0 a wave runs past a branch that it does not take: nobody uses the result.
    """
    registers = frame.registers
    bits: list[Value] = []
    is_known = True
    for half in range(registers.halves):
        registers.select_half(half)
        is_known &= registers.exec_is_full
        bits.append(registers.exec_bits())
    registers.select_half(0)
    if not is_known:
        frame.native_void(
            "aj_require_lanes", [CONTEXT, frame.sites.add(instruction.pc), bits[0], bits[-1]]
        )


def matrix_register(instruction: Instruction, index: int) -> Register:
    """Return a register operand of a matrix instruction."""
    operand = instruction.operands[index]
    if not is_vector(operand):
        raise Untranslatable(instruction, "matrix operands must be vector registers")
    return operand
