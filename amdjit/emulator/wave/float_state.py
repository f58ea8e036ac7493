"""What the floats of an instruction depend on, apart from its operands: the MODE register, as far
as it is known at translation, and its bits at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amdjit.emulator.host.builder import Builder, Value, bits_of, constant, element_of, is_float
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.operands import scale_result
from amdjit.emulator.wave.registers import Registers
from amdjit.emulator.wave.rounding import RoundingBuilder, llvm_mode
from amdjit.isa.analysis.mode import DX10_CLAMP, HALF_OVERFLOW, IEEE, Mode
from amdjit.isa.floats.expressions import clamp_unit, flush_denormals
from amdjit.isa.floats.nans import bits, is_nan
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_expressions import Expression
from amdjit.isa.traits import Unit


@dataclass
class ModeState:
    """Rounding, denormals, overflow and result modifiers of a `Frame`, whose fields `mode` and
    `keeps_denormals` are set here."""

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

    @property
    def clamps_overflow(self) -> bool | Value:
        """Whether halves and 8-bit floats that overflow become the largest finite number."""
        return self.mode_bit(HALF_OVERFLOW)

    def overflow_flag(self) -> Value:
        """Return `clamps_overflow` as an i32, for native functions."""
        clamps = self.clamps_overflow
        return (
            constant("i32", clamps) if isinstance(clamps, bool) else self.builder.resize(clamps, 32)
        )

    def without_overflow(
        self, value: Value, sources: Sequence[Value], instruction: Instruction
    ) -> Value:
        """Return a half with MODE's overflow applied: infinite only if a float among the sources
        is, or in a quotient whose denominator is 0.

        Source: RDNA 4 ISA, "MODE register", FP16_OVFL. It says that 1 / 0 and the logarithm of 0
        stay infinite, too; a gfx1201 returns the largest numbers.
        """
        if self.clamps_overflow is False or element_of(value.type) != "half":
            return value
        b = self.builder
        allowed = [_is_infinite(b, source) for source in sources if is_float(source.type)]
        if instruction.traits.is_quotient:
            # If the estimate is infinite, the quotient has overflowed.
            allowed = allowed[1:]
            denominator = b.bitcast(sources[1], "i16")
            allowed.append(b.compare("eq", b.mask(denominator, 15), b.const(denominator, 0)))
        return self._limited(value, allowed)

    def _limited(self, value: Value, allowed: Sequence[Value]) -> Value:
        """Return a half that is infinite only under one of the conditions `allowed`, if MODE asks
        for that."""
        clamps = self.clamps_overflow
        if clamps is False or element_of(value.type) != "half":
            return value
        b = self.builder
        infinite = _is_infinite(b, value)
        for condition in allowed:
            infinite = b.and_(infinite, b.not_(condition))
        bits = b.bitcast(value, "i16")
        largest = b.bitcast(
            b.or_(b.and_(bits, b.const(bits, 0x8000)), b.const(bits, 0x7BFF)), "half"
        )
        clamped = b.select(infinite, largest, value)
        return clamped if clamps is True else b.select(clamps, clamped, value)

    def by_ieee(self, quieting: Expression, other: Expression, operands: list[Value]) -> Value:
        """Return an expression's value by MODE's IEEE bit."""
        ieee = self.mode_bit(IEEE)
        if isinstance(ieee, bool):
            return (quieting if ieee else other)(self.builder, *operands)
        values = (expression(self.builder, *operands) for expression in (quieting, other))
        return self.builder.select(ieee, *values)

    def refuse_overflow(self, instruction: Instruction) -> None:
        """Refuse an instruction for which no document defines FP16_OVFL, unless that is known to be
        off."""
        if self.clamps_overflow is not False:
            raise Untranslatable(
                instruction, "no document says what MODE's FP16_OVFL does to this instruction"
            )

    def flushed_source(self, value: Value) -> Value:
        """Return an operand as the instruction sees it in the denormal mode."""
        return value if self.keeps_denormals else self._flushed(value, 0)

    def flushed_result(self, value: Value, instruction: Instruction) -> Value:
        """Return a result as the instruction writes it in the denormal mode."""
        if self.keeps_denormals or instruction.traits.picks_source:
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

    def modified_result(self, value: Value, instruction: Instruction) -> Value:
        """Apply `omod` and `clamp` to a float.

        gfx1201 does so whether or not MODE keeps denormal results
        (tests/hardware/alu_gfx1201.json).
        """
        modifiers = instruction.modifiers
        if modifiers.omod and self._scales(value, instruction):
            is_approximate = instruction.traits.unit is Unit.TRANSCENDENTAL
            self.round_as(None if is_approximate else denormal_bit(value.type) - 4)
            scaled = scale_result(self.builder, value, modifiers.omod)
            value = self._limited(scaled, [_is_infinite(self.builder, value)])
        return self.clamped_unit(value, instruction) if modifiers.clamp else value

    def without_tiny(
        self, value: Value, is_tiny: Callable[[], Value], instruction: Instruction
    ) -> Value:
        """Return a float, but zero where it is below the normal numbers before its exponent is
        limited, if the instruction then writes 0: under `omod`, or if MODE flushes results.

        The rounding to a denormal may have made it the smallest normal number.
        """
        b = self.builder
        keeps: bool | Value = self.keeps_denormals or self.mode_bit(denormal_bit(value.type) + 1)
        if instruction.modifiers.omod and self._scales(value, instruction):
            keeps = False
        if keeps is True:
            return value
        raw = bits(b, value)
        zero = b.and_(raw, b.const(raw, 1 << bits_of(value.type) - 1))
        flushed = b.bitcast(b.select(is_tiny(), zero, raw), element_of(value.type))
        return flushed if keeps is False else b.select(keeps, value, flushed)

    def flushed_halves(self, dwords: Value) -> Value:
        """Return pairs of halves as an instruction writes them in the denormal mode."""
        if self.keeps_denormals:
            return dwords
        b = self.builder
        halves = (
            b.bitcast(b.resize(b.shift("lshr", dwords, start), 16), "half") for start in (0, 16)
        )
        low, high = (b.resize(bits(b, self._flushed(half, 1)), 32) for half in halves)
        return b.or_(low, b.shift("shl", high, 16))

    def clamped_unit(self, value: Value, instruction: Instruction) -> Value:
        """Return a float clamped to [0, 1]. NaN becomes 0, on gfx11 if MODE's DX10_CLAMP says so
        (RDNA 3 ISA, "MODE register")."""
        b = self.builder
        clamped = clamp_unit(b, value)
        if not instruction.opcode.instruction_set.has_nan_modes:
            return clamped
        to_zero = self.mode_bit(DX10_CLAMP)
        if to_zero is True:
            return clamped
        kept = b.select(is_nan(b, value), value, clamped)
        return kept if to_zero is False else b.select(to_zero, clamped, kept)

    def _scales(self, value: Value, instruction: Instruction) -> bool:
        """Whether `omod` has an effect: on gfx11 it has none if MODE's IEEE bit is 1 or denormal
        results are kept (RDNA 3 ISA, 7.2.3.1 "Output Operand Modifiers")."""
        if not instruction.opcode.instruction_set.has_nan_modes:
            return True
        bits = (self.mode_bit(bit) for bit in (IEEE, denormal_bit(value.type) + 1))
        hindrances = list(bits)
        if True in hindrances:
            return False
        if hindrances != [False, False]:
            raise Untranslatable(instruction, "omod depends on a MODE that is not known")
        return True


def _is_infinite(b: Builder, value: Value) -> Value:
    width = bits_of(value.type)
    bits = b.bitcast(value, f"i{width}")
    exponent = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[width]
    return b.compare("eq", b.mask(bits, width - 1), b.const(bits, exponent))


def denormal_bit(type_name: str) -> int:
    """Return the place of a float type's denormal mode in MODE."""
    return 4 if element_of(type_name) == "float" else 6
