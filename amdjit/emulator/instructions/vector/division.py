"""The first step of correctly rounded division, which has two results (RDNA 4 ISA, V_DIV_SCALE)."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import vector
from amdjit.emulator.instructions.long_expressions import long_symbol
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.arithmetic import ELEMENTS
from amdjit.isa.floats.division import SCALES, Format
from amdjit.isa.instruction import Instruction


def scale_symbol(form: Format) -> str:
    """Return the name of the native function of V_DIV_SCALE."""
    return long_symbol(f"v_div_scale_{form.code}")


def scaled_type(form: Format) -> str:
    """Return the type of V_DIV_SCALE's result: the scaled operand, and the lane mask."""
    return f"{{ {vector(ELEMENTS[form.code])}, i32 }}"


def _scale(form: Format) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        both = frame.native(
            scale_symbol(form),
            scaled_type(form),
            [frame.source(instruction, index) for index in (2, 3, 4)],
        )
        result = b.emit(vector(ELEMENTS[form.code]), f"extractvalue {both.type} {both.text}, 0")
        frame.write(instruction, 0, result)
        back = b.emit("i32", f"extractvalue {both.type} {both.text}, 1")
        frame.write_conditions(instruction.operands[1], b.lane_mask(back))

    return emit


VECTOR_DIVISION: Mapping[str, Emitter] = {
    f"v_div_scale_{code}": _scale(form) for code, form in SCALES.items()
}
