"""Data-parallel primitives: operand 0 comes from other lanes (RDNA 4 ISA, 6.8)."""

from __future__ import annotations

from amdjit.emulator.analysis.errors import Untranslatable
from amdjit.emulator.analysis.vector_numbers import is_vector, vector_number
from amdjit.emulator.decoder.instruction import Dpp, Instruction, Register
from amdjit.emulator.host.builder import LANES, constant, sequence
from amdjit.emulator.wave.frame import Frame, source_number
from amdjit.emulator.wave.registers import FULL_MASK, V32


def source_lane(control: int, lane: int) -> int | None:
    """Return the lane that `lane` reads under a DPP16 control, None if it is outside the row."""
    row, place = lane & ~15, lane & 15
    if control <= 0xFF:
        return lane & ~3 | control >> 2 * (lane & 3) & 3
    amount = control & 15
    place = {
        0x100: place + amount,
        0x110: place - amount,
        0x120: (place - amount) % 16,
        0x150: amount,
        0x160: place ^ amount,
    }.get(control & 0x1F0, {0x140: 15 - place, 0x141: place & 8 | 7 - (place & 7)}.get(control, 16))
    return row | place if 0 <= place < 16 else None


def _sources(dpp: Dpp) -> list[int | None]:
    if dpp.lanes is not None:
        return [lane & ~7 | dpp.lanes[lane & 7] for lane in range(LANES)]
    assert dpp.control is not None
    return [source_lane(dpp.control, lane) for lane in range(LANES)]


def apply_dpp(frame: Frame, instruction: Instruction) -> None:
    """Set the frame's override of operand 0 and the lanes to write, until `clear_dpp`."""
    dpp = instruction.modifiers.dpp
    assert dpp is not None
    register = _first_source(instruction)
    b = frame.builder
    sources = _sources(dpp)
    values = frame.registers.vector(vector_number(register))
    moved = b.shuffle(values, values, [lane if lane is not None else 0 for lane in sources])
    valid = sequence("i1", [lane is not None for lane in sources])
    execution = frame.registers.exec_mask()
    if execution is not FULL_MASK and not dpp.fetch_inactive:
        active = b.shuffle(
            execution, execution, [lane if lane is not None else 0 for lane in sources]
        )
        valid = b.and_(valid, active)
    elif None not in sources:
        valid = FULL_MASK
    # DPP8 has no bound_ctrl: a source that must not be read yields 0.
    zero = dpp.bound_control or dpp.lanes is not None
    if valid is not FULL_MASK and zero:
        moved = b.select(valid, moved, constant(V32, 0))
    frame.source_override = moved
    written = _row_and_bank_lanes(dpp, frame.registers.wave_half)
    mask = execution
    if not all(written):
        enabled = sequence("i1", written)
        mask = enabled if mask is FULL_MASK else b.and_(mask, enabled)
    if valid is not FULL_MASK and not zero:
        mask = valid if mask is FULL_MASK else b.and_(mask, valid)
    frame.write_mask = mask


def _first_source(instruction: Instruction) -> Register:
    for index, operand in enumerate(instruction.operands):
        vector = is_vector(operand)
        if vector and source_number(instruction, index) == 0:
            assert isinstance(operand, Register)
            return operand
    raise Untranslatable(instruction, "DPP needs a vector register in operand 0")


def _row_and_bank_lanes(dpp: Dpp, half: int) -> list[bool]:
    if dpp.lanes is not None:
        return [True] * LANES
    rows = dpp.row_mask >> 2 * half
    return [
        bool(rows >> (lane >> 4) & 1 and dpp.bank_mask >> (lane >> 2 & 3) & 1)
        for lane in range(LANES)
    ]


def clear_dpp(frame: Frame) -> None:
    """Forget the override of the last instruction."""
    frame.source_override = None
    frame.write_mask = None
