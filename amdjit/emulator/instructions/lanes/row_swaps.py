"""V_PERMLANE16_SWAP and V_PERMLANE32_SWAP: rows of two registers change places.

A row is 16 lanes: the first one swaps odd rows of the result's register with even rows of the
source, the second one the upper half of the wave with the lower half (CDNA 4 ISA). The document's
pseudocode does not mention EXEC. Like the other V_PERMLANE, an inactive lane keeps what it has, and
where a lane's partner is inactive, op_sel decides as (fi, bound_ctrl): it is read, or gives 0, or
the lane stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.whole_waves import in_each_half, vectors_of
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import FULL_MASK, V32
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number

# Lanes of a row.
_ROW = 16
_EVEN = [lane & ~_ROW for lane in range(LANES)]
_ODD = [lane | _ROW for lane in range(LANES)]


def _swap_rows(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    first, second = _numbers(instruction)
    left, right = frame.registers.vector(first), frame.registers.vector(second)
    active = frame.registers.exec_mask()
    is_odd = sequence("i1", [bool(lane & _ROW) for lane in range(LANES)])
    for number, values, lanes, written in (
        (first, right, _EVEN, is_odd),
        (second, left, _ODD, b.not_(is_odd)),
    ):
        partner = active if active is FULL_MASK else b.shuffle(active, active, lanes)
        _write(frame, instruction, number, (b.shuffle(values, values, lanes), partner), written)


def _swap_halves(frame: Frame, instruction: Instruction) -> None:
    first, second = _numbers(instruction)
    upper = vectors_of(frame, vector_register(instruction, "vdst"))[1]
    lower = vectors_of(frame, vector_register(instruction, "src0"))[0]
    active = in_each_half(frame, frame.registers.exec_mask)
    for half, number, values in ((1, first, lower), (0, second, upper)):
        frame.registers.select_half(half)
        _write(frame, instruction, number, (values, active[1 - half]), FULL_MASK)
    frame.registers.select_half(0)


def _numbers(instruction: Instruction) -> tuple[int, int]:
    first, second = (vector_register(instruction, role) for role in ("vdst", "src0"))
    return vector_number(first), vector_number(second)


def _write(
    frame: Frame,
    instruction: Instruction,
    number: int,
    moved: tuple[Value, Value],
    written: Value,
) -> None:
    """Write lanes of a register. moved: the values, and which of them come from active lanes."""
    b = frame.builder
    values, active = moved
    select = instruction.modifiers.op_sel
    mask = frame.mask()
    if mask is FULL_MASK or written is FULL_MASK:
        mask = written if mask is FULL_MASK else mask
    else:
        mask = b.and_(mask, written)
    if active is not FULL_MASK and not select & 1:
        if select & 2:
            values = b.select(active, values, constant(V32, 0))
        else:
            mask = active if mask is FULL_MASK else b.and_(mask, active)
    frame.registers.write_vector(number, values, mask)


ROW_SWAPS: Mapping[str, Emitter] = {
    "v_permlane16_swap_b32": _swap_rows,
    "v_permlane32_swap_b32": _swap_halves,
}
