"""An ALU instruction described by types and an expression; the emitters of vector and scalar
forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amdjit.emulator.analysis.errors import Untranslatable
from amdjit.emulator.decoder.instruction import Instruction, Register
from amdjit.emulator.expressions.integers import Expression
from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.long_expressions import call_long
from amdjit.emulator.wave.frame import Frame

Emitter = Callable[[Frame, Instruction], None]


@dataclass(frozen=True, slots=True)
class VectorOp:
    """A VALU instruction with one result.

    sources: type codes of the sources, in the order of the opcode's operands after the result.
    accumulates: the old result is one more source, the last. clamped: the expression under `clamp`,
    where it is not the float one. scaled: the expression under `omod`, where rounding depends on
    it.
    """

    expression: Expression
    sources: tuple[str, ...]
    accumulates: str | None = None
    clamped: Expression | None = None
    scaled: Expression | None = None

    def compute(self, frame: Frame, instruction: Instruction) -> Value:
        """Return the result before `omod` and `clamp` of floats."""
        operands = [
            frame.source(instruction, index + 1, code) for index, code in enumerate(self.sources)
        ]
        if self.accumulates:
            operands.append(frame.source(instruction, 0, self.accumulates))
        return frame.without_overflow(
            self._value(frame, instruction, operands), operands, instruction
        )

    def _value(self, frame: Frame, instruction: Instruction, operands: list[Value]) -> Value:
        expression = self.choose(instruction)
        shared = (
            call_long(frame, instruction.mnemonic, operands)
            if expression is self.expression
            else None
        )
        return shared or expression(frame.builder, *operands)

    def choose(self, instruction: Instruction) -> Expression:
        """Return the expression for this instruction's modifiers."""
        if instruction.modifiers.omod and self.scaled is not None:
            return self.scaled
        if instruction.modifiers.clamp and self.clamped is not None:
            return self.clamped
        return self.expression

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        value = self.compute(frame, instruction)
        if instruction.modifiers.clamp and self.clamped is None and not _is_float(value):
            raise Untranslatable(instruction, "clamp is not emulated for this instruction")
        frame.write(instruction, 0, value)


def _is_float(value: Value) -> bool:
    return "float" in value.type or "half" in value.type or "double" in value.type


def vector_op(
    expression: Expression,
    sources: str,
    accumulates: str | None = None,
    clamped: Expression | None = None,
) -> VectorOp:
    """Describe a VALU instruction; `sources` lists type codes."""
    return VectorOp(expression, tuple(sources.split()), accumulates, clamped)


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """A SALU instruction with one result. nonzero: SCC tells whether the result is not 0; else it
    stays."""

    expression: Expression
    sources: tuple[str, ...]
    nonzero: bool = False
    accumulates: str | None = None

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        operands = [
            frame.scalar_source(instruction, index + 1, code)
            for index, code in enumerate(self.sources)
        ]
        if self.accumulates:
            operands.append(frame.scalar_source(instruction, 0, self.accumulates))
        result = self.expression(frame.builder, *operands)
        if "half" in result.type:
            frame.refuse_overflow(instruction)
        result = frame.flushed_result(result, instruction)
        frame.write_scalar(instruction.operands[0], result)
        if self.nonzero:
            zero = frame.builder.const(result, 0)
            frame.registers.write_condition_code(frame.builder.compare("ne", result, zero))


def scalar_op(
    expression: Expression, sources: str, nonzero: bool = False, accumulates: str | None = None
) -> ScalarOp:
    """Describe a SALU instruction; `sources` lists type codes."""
    return ScalarOp(expression, tuple(sources.split()), nonzero, accumulates)


def vector_register(instruction: Instruction, role: str) -> Register:
    """Return an operand that must be a register."""
    operand = instruction.operand(role)
    assert isinstance(operand, Register)
    return operand
