"""Data-parallel primitives: operand 0 comes from other lanes (RDNA 4 ISA, 6.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from amdjit.emulator.host.builder import LANES, Value, sequence
from amdjit.emulator.instructions.whole_waves import in_each_half
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame, source_number
from amdjit.emulator.wave.registers import FULL_MASK
from amdjit.isa.instruction import Dpp, Instruction, Register
from amdjit.isa.register_numbers import EXEC_LO, is_vector, numbers_of


def _row_broadcast(lane: int, rows: int) -> int | None:
    """The last lane of `rows` rows goes to all lanes of the next ones; the first ones get none."""
    first = lane & -16 * rows
    return first - 1 if first else None


# gfx9's controls beyond rows: WAVE_SHL, WAVE_ROL, WAVE_SHR, WAVE_ROR, ROW_BCAST15, ROW_BCAST31
# (CDNA 3 ISA, "DPP_CTRL Enumeration").
_WAVE: Mapping[int, Callable[[int], int | None]] = {
    0x130: lambda lane: lane + 1 if lane < 63 else None,
    0x134: lambda lane: (lane + 1) % 64,
    0x138: lambda lane: lane - 1 if lane else None,
    0x13C: lambda lane: (lane - 1) % 64,
    0x142: lambda lane: _row_broadcast(lane, 1),
    0x143: lambda lane: _row_broadcast(lane, 2),
}


def source_lane(control: int, lane: int) -> int | None:
    """Return the lane that `lane` reads under a DPP16 control, None if there is none."""
    if control in _WAVE:
        return _WAVE[control](lane)
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


def crosses_halves(instruction: Instruction) -> bool:
    """Whether DPP moves values between the halves of a wave64."""
    dpp = instruction.modifiers.dpp
    return dpp is not None and dpp.control in _WAVE


def collect_halves(frame: Frame, instruction: Instruction) -> None:
    """Keep both halves' sources for `apply_dpp`, before either half of the result is written."""
    frame.dpp_sources = [
        in_each_half(frame, partial(frame.registers.vector, number))
        for number in numbers_of(first_source(instruction))
    ]


def _sources(dpp: Dpp, half: int) -> list[int | None]:
    """Return where the lanes of a half read: lanes of the half, or of the wave if it may be another
    one."""
    if dpp.lanes is not None:
        return [lane & ~7 | dpp.lanes[lane & 7] for lane in range(LANES)]
    assert dpp.control is not None
    first = LANES * half if dpp.control in _WAVE else 0
    return [source_lane(dpp.control, first + lane) for lane in range(LANES)]


def apply_dpp(frame: Frame, instruction: Instruction) -> None:
    """Set the frame's override of operand 0 and the lanes to write, until `clear_dpp`."""
    dpp = instruction.modifiers.dpp
    assert dpp is not None
    b = frame.builder
    sources = _sources(dpp, frame.registers.wave_half)
    places = [lane if lane is not None else 0 for lane in sources]
    moved = _moved(frame, instruction, places)
    valid = sequence("i1", [lane is not None for lane in sources])
    execution = frame.registers.exec_mask()
    executions = [execution, execution]
    if crosses_halves(instruction):
        executions = [frame.registers.mask(EXEC_LO + half) for half in (0, 1)]
    if any(mask is not FULL_MASK for mask in executions) and not dpp.fetch_inactive:
        valid = b.and_(valid, b.shuffle(executions[0], executions[1], places))
    elif None not in sources:
        valid = FULL_MASK
    # DPP8 has no bound_ctrl: a source that must not be read yields 0.
    zero = dpp.bound_control or dpp.lanes is not None
    if valid is not FULL_MASK and zero:
        moved = b.select(valid, moved, b.const(moved, 0))
    frame.source_override = moved
    written = _row_and_bank_lanes(dpp, frame.registers.wave_half)
    mask = execution
    if not all(written):
        enabled = sequence("i1", written)
        mask = enabled if mask is FULL_MASK else b.and_(mask, enabled)
    if valid is not FULL_MASK and not zero:
        mask = valid if mask is FULL_MASK else b.and_(mask, valid)
    frame.write_mask = mask


def _moved(frame: Frame, instruction: Instruction, places: list[int]) -> Value:
    """Return the lanes' values of operand 0, which may be pairs of registers."""
    b, register = frame.builder, first_source(instruction)
    if crosses_halves(instruction):
        dwords = frame.dpp_sources
    else:
        dwords = [[frame.registers.vector(number)] * 2 for number in numbers_of(register)]
    parts = [b.shuffle(lower, upper, places) for lower, upper in dwords]
    return parts[0] if len(parts) == 1 else b.concat_bits(*parts)


def first_source(instruction: Instruction) -> Register:
    """Return the registers that DPP moves."""
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
