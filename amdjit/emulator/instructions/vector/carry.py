"""VALU instructions with a lane mask as second result: carries and 64-bit multiply-add."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_rows import VECTOR_PAIR_ROWS, PairRow
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class CarryOp:
    """Both results of a row."""

    row: PairRow

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        clamped = self.row.clamped if instruction.modifiers.clamp else None
        places = instruction.opcode.source_places
        sources = [frame.source(instruction, place) for place in places]
        result, carry = (clamped or self.row.expression)(frame.builder, *sources)
        frame.write(instruction, 0, result)
        frame.write_conditions(instruction.operands[1], carry)


VECTOR_CARRY: Mapping[str, Emitter] = {name: CarryOp(row) for name, row in VECTOR_PAIR_ROWS.items()}
