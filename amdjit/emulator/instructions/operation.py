"""An ALU instruction as an expression: the emitters of vector and scalar instructions with one
result.

A row of the tables is a mnemonic and an expression over LLVM values. How many sources there are,
their types, and whether the old result is one of them come from the opcode table:

    "v_bfe_i32": ix.bfe(signed=True)      src0:i32 src1:i32 src2:i32   ->   expression(b, x, y, z)
    "v_fmac_f32": fma                     vdst:f32 (read, too) ...     ->   expression(b, x, y, old)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial

from amdjit.emulator.host.builder import Value, is_float
from amdjit.emulator.instructions.long_expressions import call_long
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.integer_expressions import Expression
from amdjit.isa.integer_rows import Row
from amdjit.late_methods import dataclass

Emitter = Callable[[Frame, Instruction], None]


@dataclass(frozen=True, slots=True)
class VectorOp(Row):
    """A VALU instruction with one result."""

    def compute(self, frame: Frame, instruction: Instruction) -> Value:
        """Return the result before `omod` and `clamp` of floats."""
        read = frame.unflushed_source if self.is_raw else frame.source
        operands = [read(instruction, place) for place in instruction.opcode.source_places]

        def evaluate(expression: Expression, values: list[Value]) -> Value:
            shared = None
            if expression is self.expression:
                shared = call_long(frame, instruction.traits.operation, values)
            return shared or expression(frame.builder, *values)

        return frame.computed(self, operands, instruction, evaluate)

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        value = self.compute(frame, instruction)
        if instruction.modifiers.clamp and self.clamped is None and not is_float(value.type):
            raise Untranslatable(instruction, "clamp is not emulated for this instruction")
        frame.write(instruction, 0, value)


# The rows of a table: an expression by mnemonic, or a row.
Rows = Mapping[str, Expression | Row]


def vector_op(row: Expression | Row) -> VectorOp:
    """Return the emitter of a row."""
    if not isinstance(row, Row):
        return VectorOp(row)
    return row if isinstance(row, VectorOp) else VectorOp(*map(partial(getattr, row), _FIELDS))


_FIELDS = [field.name for field in fields(Row)]


def vector_ops(rows: Rows) -> dict[str, VectorOp]:
    """Return the emitters of a table of VALU instructions."""
    return {name: vector_op(row) for name, row in rows.items()}


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """A SALU instruction with one result. tests_result: SCC becomes whether the result is not 0;
    other instructions leave SCC alone. tiny: see `Row`."""

    expression: Expression
    tests_result: bool = False
    tiny: Expression | None = None

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        operands = [
            frame.scalar_source(instruction, place) for place in instruction.opcode.source_places
        ]
        result = self.expression(frame.builder, *operands)
        result = frame.without_overflow(result, operands, instruction)
        if self.tiny is not None:
            is_tiny = partial(self.tiny, frame.builder, *operands)
            result = frame.without_tiny(result, is_tiny, instruction)
        result = frame.flushed_result(result, instruction)
        frame.write_scalar(instruction.operands[0], result)
        if self.tests_result:
            zero = frame.builder.const(result, 0)
            frame.registers.write_condition_code(frame.builder.compare("ne", result, zero))


def scalar_ops(rows: Rows, tests_result: bool = False) -> dict[str, ScalarOp]:
    """Return the emitters of SALU instructions, one for each row."""
    return {
        name: ScalarOp(row.expression, tests_result, row.tiny)
        if isinstance(row, Row)
        else ScalarOp(row, tests_result)
        for name, row in rows.items()
    }


def vector_register(instruction: Instruction, role: str) -> Register:
    """Return the operand of a role that is always a register."""
    operand = instruction.operand(role)
    assert isinstance(operand, Register)
    return operand
