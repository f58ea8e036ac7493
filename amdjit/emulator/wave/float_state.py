"""What the floats of an instruction depend on, apart from its operands: the MODE register, as far
as it is known at translation, and its bits at run time."""

from __future__ import annotations

from typing import NoReturn

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.registers import Registers
from amdjit.emulator.wave.rounding import RoundingBuilder
from amdjit.isa.analysis.mode import Mode
from amdjit.isa.floats.modes import FloatState, llvm_mode
from amdjit.isa.instruction import Instruction
from amdjit.late_methods import dataclass


@dataclass
class ModeState(FloatState):
    """MODE of a `Frame`, whose fields `mode` and `keeps_denormals` are set here."""

    builder: Builder
    registers: Registers

    def set_mode(self, mode: Mode) -> None:
        """Use what is known of the mode from here on."""
        self.mode, self.keeps_denormals = mode, mode.keeps_denormals

    def mode_bit(self, bit: int) -> bool | Value:
        """Return a bit of MODE: a bool if it is known, otherwise an i1."""
        if self.mode.known >> bit & 1:
            return bool(self.mode.value >> bit & 1)
        return self.builder.resize(self.builder.shift("lshr", self.registers.mode_bits(), bit), 1)

    def rounding(self, shift: int | None) -> Value | None:
        """Return LLVM's number of the rounding mode at bit `shift` of MODE, None for the
        nearest."""
        if shift is None:
            return None
        field = self.mode.field(shift)
        if field is not None:
            return llvm_mode(field) if field else None
        number = self.builder.shift("lshr", self.registers.mode_bits(), shift)
        return self.builder.mask(self.builder.add(number, constant("i32", 1)), 2)

    def round_as(self, shift: int | None) -> None:
        """Round float operations by the mode at bit `shift` of MODE (None: to nearest) until the
        next call."""
        if isinstance(self.builder, RoundingBuilder):
            self.builder.rounding = None
            self.builder.rounding = self.rounding(shift)

    def overflow_flag(self) -> Value:
        """Return `clamps_overflow` as an i32, for native functions."""
        clamps = self.clamps_overflow
        return (
            constant("i32", clamps) if isinstance(clamps, bool) else self.builder.resize(clamps, 32)
        )

    def refuse(self, instruction: Instruction, reason: str) -> NoReturn:
        """Refuse to translate an instruction."""
        raise Untranslatable(instruction, reason)
