"""Instructions that all lanes of a wave must execute, or none."""

from __future__ import annotations

from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.host.builder import Value
from amdjit.emulator.wave.frame import CONTEXT, Frame

__all__ = ["require_all_lanes"]


def require_all_lanes(frame: Frame, instruction: Instruction) -> None:
    """Let an instruction be a fault where EXEC is neither all ones nor 0, which is mostly known
    when translating.

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
