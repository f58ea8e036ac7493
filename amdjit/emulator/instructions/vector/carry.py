"""VALU instructions with a lane mask as second result: carries and 64-bit multiply-add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction


@dataclass(frozen=True, slots=True)
class CarryOp:
    """Add or subtract with carry out, and with carry in if there is a third source."""

    subtract: bool
    swap: bool
    carry_in: bool

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        b = frame.builder
        left, right = (frame.source(instruction, index) for index in (2, 3))
        if self.swap:
            left, right = right, left
        operation = "sub" if self.subtract else "add"
        total = b.binary(operation, left, right)
        carry = self._overflow(frame, left, total)
        if self.carry_in:
            extra = b.resize(frame.source(instruction, 4), 32)
            partial = total
            total = b.binary(operation, partial, extra)
            carry = b.or_(carry, self._overflow(frame, partial, total))
        result = self._clamped(frame, instruction, total, carry)
        frame.write(instruction, 0, result)
        frame.write_conditions(instruction.operands[1], carry)

    def _overflow(self, frame: Frame, before: Value, after: Value) -> Value:
        return frame.builder.compare("ugt" if self.subtract else "ult", after, before)

    def _clamped(self, frame: Frame, instruction: Instruction, total: Value, carry: Value) -> Value:
        if not instruction.modifiers.clamp:
            return total
        limit = frame.builder.const(total, 0 if self.subtract else -1)
        return frame.builder.select(carry, limit, total)


def _mad_wide(signed: bool) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        left, right = (frame.source(instruction, index) for index in (2, 3))
        addend = frame.source(instruction, 4)
        product = b.mul(b.resize(left, 64, signed), b.resize(right, 64, signed))
        total = b.add(product, addend)
        if signed:
            # Bit 64 of the exact 65-bit sum.
            carry = b.xor(
                b.xor(product, addend),
                b.select(b.compare("ult", total, product), *_ones(frame, total)),
            )
            conditions = b.compare("slt", carry, b.const(carry, 0))
        else:
            conditions = b.compare("ult", total, product)
        frame.write(instruction, 0, total)
        frame.write_conditions(instruction.operands[1], conditions)

    return emit


def _ones(frame: Frame, shape: Value) -> tuple[Value, Value]:
    return frame.builder.const(shape, -1), frame.builder.const(shape, 0)


VECTOR_CARRY: Mapping[str, Emitter] = {
    "v_add_co_u32": CarryOp(subtract=False, swap=False, carry_in=False),
    "v_sub_co_u32": CarryOp(subtract=True, swap=False, carry_in=False),
    "v_subrev_co_u32": CarryOp(subtract=True, swap=True, carry_in=False),
    "v_add_co_ci_u32": CarryOp(subtract=False, swap=False, carry_in=True),
    "v_sub_co_ci_u32": CarryOp(subtract=True, swap=False, carry_in=True),
    "v_subrev_co_ci_u32": CarryOp(subtract=True, swap=True, carry_in=True),
    "v_mad_co_u64_u32": _mad_wide(signed=False),
    "v_mad_co_i64_i32": _mad_wide(signed=True),
}
