"""What MODE and modifiers make of an instruction's operands and of its results.

An instruction changes the signs of its operands (`abs`, then `neg`), flushes their denormals,
computes, limits overflows (FP16_OVFL), scales (`omod`), clamps, and flushes the result's denormals.
The emulator does this in host code, `floats/arrays.py` with arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NoReturn

from amdjit.isa.analysis.mode import DX10_CLAMP, HALF_OVERFLOW, IEEE
from amdjit.isa.arithmetic import Arithmetic, Value, bits_of, element_of, is_float
from amdjit.isa.floats.expressions import clamp_unit, flush_denormals
from amdjit.isa.floats.nans import bits, is_nan, quieted, settled
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_expressions import Expression
from amdjit.isa.integer_rows import Row
from amdjit.isa.traits import FloatMode, Unit

__all__ = [
    "FloatState",
    "denormal_bit",
    "is_infinite",
    "llvm_mode",
    "modify_input",
    "rounding_shift",
]

Evaluate = Callable[[Expression, list[Value]], Value]
# LLVM's numbers of the ISA's modes: nearest, up, down, to zero.
_MODES = (1, 2, 3, 0)
_SHIFTS: Mapping[FloatMode | None, int] = {FloatMode.SINGLE: 0, FloatMode.HALF_AND_DOUBLE: 2}


def rounding_shift(mode: FloatMode | None) -> int | None:
    """Return which bits of MODE round an instruction's result, from the lowest one on."""
    return _SHIFTS.get(mode)


def llvm_mode(field: int) -> Value:
    """Return LLVM's number of a rounding mode of the ISA."""
    return Value("i32", str(_MODES[field]), _MODES[field])


class FloatState(ABC):
    """MODE and modifiers around an instruction's expression.

    builder: what computes. keeps_denormals: whether no format is known to flush any.
    """

    builder: Arithmetic
    keeps_denormals: bool

    @abstractmethod
    def mode_bit(self, bit: int) -> bool | Value:
        """Return a bit of MODE: a bool if it is known, otherwise an i1."""

    @abstractmethod
    def round_as(self, shift: int | None) -> None:
        """Round float operations by the mode at bit `shift` of MODE (None: to nearest) until the
        next call."""

    @abstractmethod
    def refuse(self, instruction: Instruction, reason: str) -> NoReturn:
        """Raise an error: what the instruction returns is not known."""

    def computed(
        self,
        row: Row,
        operands: list[Value],
        instruction: Instruction,
        evaluate: Evaluate | None = None,
    ) -> Value:
        """Return what a row makes of operands, before `omod` and `clamp` of floats. evaluate:
        computes expressions in another way than by calling them."""
        value = self._chosen(row, operands, instruction, evaluate)
        if row.packs_halves:
            return self.flushed_halves(value)
        value = self.without_overflow(value, operands, instruction)
        if row.tiny is None:
            return value
        return self.without_tiny(value, partial(row.tiny, self.builder, *operands), instruction)

    def _chosen(
        self,
        row: Row,
        operands: list[Value],
        instruction: Instruction,
        evaluate: Evaluate | None,
    ) -> Value:
        """Return the value of the expression that modifiers and MODE choose."""
        expression = row.choose(instruction.modifiers)
        if row.unquieted is not None:
            return self.by_bit(IEEE, expression, row.unquieted, operands)
        if row.limited is not None:
            return self.by_bit(HALF_OVERFLOW, row.limited, expression, operands)
        return evaluate(expression, operands) if evaluate else expression(self.builder, *operands)

    def by_bit(self, bit: int, yes: Expression, no: Expression, operands: Sequence[Value]) -> Value:
        """Return an expression's value by a bit of MODE."""
        is_set = self.mode_bit(bit)
        if isinstance(is_set, bool):
            return (yes if is_set else no)(self.builder, *operands)
        values = (expression(self.builder, *operands) for expression in (yes, no))
        return self.builder.select(is_set, *values)

    def with_operand_nan(self, result: Value, operand: Value, instruction: Instruction) -> Value:
        """Return the result of an approximate instruction with the NaN that its operand is: made
        quiet, but not on gfx11 while MODE's IEEE is 0 (captured on a gfx1100)."""
        if not instruction.opcode.instruction_set.has_nan_modes:
            return settled(self.builder, result, [operand])

        def quieting(b: Arithmetic, x: Value) -> Value:
            quiet = b.bitcast(quieted(b, x), element_of(x.type))
            return b.select(is_nan(b, x), quiet, result)

        def passing(b: Arithmetic, x: Value) -> Value:
            return b.select(is_nan(b, x), x, result)

        return self.by_bit(IEEE, quieting, passing, [operand])

    def finished(self, value: Value, instruction: Instruction) -> Value:
        """Return a result as the instruction writes it."""
        modifiers = instruction.modifiers
        if is_float(value.type) and (modifiers.clamp or modifiers.omod):
            value = self.modified_result(value, instruction)
        return self.flushed_result(value, instruction)

    @property
    def clamps_overflow(self) -> bool | Value:
        """Whether halves and 8-bit floats that overflow become the largest finite number."""
        return self.mode_bit(HALF_OVERFLOW)

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
        allowed = [is_infinite(b, source) for source in sources if is_float(source.type)]
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
        infinite = is_infinite(b, value)
        for condition in allowed:
            infinite = b.and_(infinite, b.not_(condition))
        raw = bits(b, value)
        largest = b.bitcast(b.or_(b.and_(raw, b.const(raw, 0x8000)), b.const(raw, 0x7BFF)), "half")
        clamped = b.select(infinite, largest, value)
        return clamped if clamps is True else b.select(clamps, clamped, value)

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
            scaled = _scaled(self.builder, value, modifiers.omod)
            value = self._limited(scaled, [is_infinite(self.builder, value)])
        return self.clamped_unit(value, instruction) if modifiers.clamp else value

    def without_tiny(
        self, value: Value, is_tiny: Callable[[], Value], instruction: Instruction
    ) -> Value:
        """Return a float, but zero where it is below the normal numbers before its exponent is
        limited, if the instruction then writes 0: under `omod`, or if MODE flushes results.

        The rounding to a denormal has made it the smallest normal number then.
        """
        b = self.builder
        keeps: bool | Value = self.keeps_denormals or self.mode_bit(denormal_bit(value.type) + 1)
        if instruction.modifiers.omod and self._scales(value, instruction):
            keeps = False
        if keeps is True:
            return value
        raw, width = bits(b, value), bits_of(value.type)
        smallest = b.const(raw, _EXPONENTS[width] & -_EXPONENTS[width])
        zero = b.and_(raw, b.const(raw, 1 << width - 1))
        flushed = b.bitcast(
            b.rarely(
                b.compare("eq", b.mask(raw, width - 1), smallest),
                raw,
                lambda: b.select(is_tiny(), zero, raw),
            ),
            element_of(value.type),
        )
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
        hindrances = [self.mode_bit(bit) for bit in (IEEE, denormal_bit(value.type) + 1)]
        if True in hindrances:
            return False
        if hindrances != [False, False]:
            self.refuse(instruction, "omod depends on a MODE that is not known")
        return True


def modify_input(b: Arithmetic, value: Value, negate: bool, absolute: bool) -> Value:
    """Apply `abs`, then `neg`; on integers they change the sign bit (v_cndmask)."""
    if not (negate or absolute):
        return value
    raw, width = bits(b, value), bits_of(value.type)
    if absolute:
        raw = b.mask(raw, width - 1)
    if negate:
        raw = b.xor(raw, b.const(raw, 1 << (width - 1)))
    return b.bitcast(raw, element_of(value.type))


_EXPONENTS = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
_OUTPUT_FACTORS = {1: 2.0, 2: 4.0, 3: 0.5}


def _scaled(b: Arithmetic, value: Value, omod: int) -> Value:
    """Apply `omod` (x2, x4, /2): zeros and denormals become +0; a result that becomes denormal is a
    zero of its sign."""
    raw, width = bits(b, value), bits_of(value.type)
    result = bits(b, b.binary("fmul", value, b.const(value, _OUTPUT_FACTORS[omod])))
    exponent = b.and_(raw, b.const(raw, _EXPONENTS[width]))
    if _OUTPUT_FACTORS[omod] < 1:
        smallest = b.const(raw, _EXPONENTS[width] & -_EXPONENTS[width])
        zero = b.and_(raw, b.const(raw, 1 << width - 1))
        result = b.select(b.compare("eq", exponent, smallest), zero, result)
    result = b.select(b.compare("eq", exponent, b.const(raw, _EXPONENTS[width])), raw, result)
    zero = b.const(raw, 0)
    return b.bitcast(
        b.select(b.compare("eq", exponent, zero), zero, result), element_of(value.type)
    )


def is_infinite(b: Arithmetic, value: Value) -> Value:
    """Return where a float is infinite."""
    raw, width = bits(b, value), bits_of(value.type)
    return b.compare("eq", b.mask(raw, width - 1), b.const(raw, _EXPONENTS[width]))


def denormal_bit(type_name: str) -> int:
    """Return the place of a float type's denormal mode in MODE."""
    return 4 if element_of(type_name) == "float" else 6
