"""What an instruction's floats depend on besides its operands: MODE, as far as it is known, and at run time."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.decoder.instruction import Instruction, Modifiers
from amdjit.emulator.ir import Builder, Value, constant, element_of, is_float
from amdjit.emulator.translate.float_extremes import is_selection
from amdjit.emulator.translate.mode import Mode
from amdjit.emulator.translate.operands import clamp_unit, flush_denormals, scale_result
from amdjit.emulator.translate.registers import Registers
from amdjit.emulator.translate.rounding import RoundingBuilder, llvm_mode


@dataclass
class ModeState:
    """Rounding, denormals and result modifiers. A Frame has it; its fields `mode` and `keeps_denormals` are here."""

    builder: Builder
    registers: Registers

    def set_mode(self, mode: Mode) -> None:
        """Take over what is known of the mode from here on."""
        self.mode, self.keeps_denormals = mode, mode.keeps_denormals

    def mode_bit(self, bit: int) -> bool | Value:
        """Return a bit of MODE: a bool where it is known, else an i1."""
        if self.mode.known >> bit & 1:
            return bool(self.mode.value >> bit & 1)
        return self.builder.resize(self.builder.shift("lshr", self.registers.mode_bits(), bit), 1)

    def rounding(self, shift: int | None) -> Value | None:
        """Return how to round, LLVM's number of the mode at `shift` of MODE; None for the nearest."""
        if shift is None:
            return None
        field = self.mode.field(shift)
        if field is not None:
            return llvm_mode(field) if field else None
        number = self.builder.shift("lshr", self.registers.mode_bits(), shift)
        return self.builder.mask(self.builder.add(number, constant("i32", 1)), 2)

    def round_as(self, shift: int | None) -> None:
        """Let float operations round by the mode at `shift` of MODE, None: to nearest, until the next call."""
        if isinstance(self.builder, RoundingBuilder):
            self.builder.rounding = None
            self.builder.rounding = self.rounding(shift)

    def flushed_source(self, value: Value) -> Value:
        """Return an operand as the denormal mode lets the instruction see it."""
        return value if self.keeps_denormals else self._flushed(value, 0)

    def flushed_result(self, value: Value, instruction: Instruction) -> Value:
        """Return a result as the denormal mode lets the instruction write it."""
        if self.keeps_denormals or is_selection(instruction.mnemonic):
            return value
        return self._flushed(value, 1)

    def _flushed(self, value: Value, which: int) -> Value:
        if not is_float(value.type):
            return value
        keeps = self.mode_bit(denormal_bit(value.type) + which)
        if keeps is True:
            return value
        flushed = flush_denormals(self.builder, value)
        return flushed if keeps is False else self.builder.select(keeps, value, flushed)

    def modified_result(self, value: Value, modifiers: Modifiers) -> Value:
        """Apply `omod` and `clamp` to a float.

        An instruction that keeps denormal results ignores omod; else it makes +0 of -0 (RDNA 4 ISA, "Output
        modifiers").
        """
        keeps = self.mode_bit(denormal_bit(value.type) + 1) if modifiers.omod else True
        if keeps is not True:
            scaled = scale_result(self.builder, value, modifiers.omod)
            value = scaled if keeps is False else self.builder.select(keeps, value, scaled)
        return clamp_unit(self.builder, value) if modifiers.clamp else value


def denormal_bit(type_name: str) -> int:
    """Return where MODE has the denormals of a float type."""
    return 4 if element_of(type_name) == "float" else 6
