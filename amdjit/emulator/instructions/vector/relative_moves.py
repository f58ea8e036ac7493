"""Moves between vector registers at numbers relative to M0 (V_MOVREL*)."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.operation import Emitter, VectorOp, vector_ops, vector_register
from amdjit.emulator.layout import SCALAR_BYTES, VGPR_BYTES
from amdjit.emulator.wave.frame import STATE, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import HALF_VGPRS, M0


def _relative(source: bool, target: bool, split: bool) -> Emitter:
    """V_MOVREL*: add M0 to register numbers; past v255 the move does nothing. All registers must be
    in memory meanwhile."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        m0 = frame.registers.scalar(M0)
        offsets = [b.mask(m0, 10), b.mask(b.shift("lshr", m0, 16), 10)] if split else [m0, m0]
        move_relative(
            frame, instruction, offsets[0] if source else None, offsets[1] if target else None
        )

    return emit


def move_relative(
    frame: Frame, instruction: Instruction, source: Value | None, target: Value | None
) -> None:
    """Move between vector registers, whose numbers are that much higher."""
    b = frame.builder
    frame.registers.flush_vectors(0, 256)
    mask = frame.mask()
    place = _place(frame, vector_register(instruction, "vdst").index, target)
    if source is not None:
        origin = _place(frame, vector_register(instruction, "src0").index, source)
        value = b.load(V32, origin, 4)
    else:
        value = frame.source(instruction, 1)
    old = b.load(V32, place, 4)
    b.store(b.select(mask, value, old), place, 4)
    frame.registers.forget_vectors(0, 256)


def _swap_relative(frame: Frame, instruction: Instruction) -> None:
    """V_SWAPREL_B32: add M0[25:16] to the destination's number, M0[9:0] to the source's."""
    b = frame.builder
    m0 = frame.registers.scalar(M0)
    frame.registers.flush_vectors(0, 256)
    mask = frame.mask()
    first = _place(
        frame, vector_register(instruction, "vdst").index, b.mask(b.shift("lshr", m0, 16), 10)
    )
    second = _place(frame, vector_register(instruction, "src0").index, b.mask(m0, 10))
    left, right = b.load(V32, first, 4), b.load(V32, second, 4)
    b.store(b.select(mask, right, left), first, 4)
    b.store(b.select(mask, left, right), second, 4)
    frame.registers.forget_vectors(0, 256)


def _place(frame: Frame, index: int, offset: Value | None) -> Value:
    b = frame.builder
    first = SCALAR_BYTES + frame.registers.wave_half * HALF_VGPRS * VGPR_BYTES
    if offset is None:
        return b.offset(STATE, first + index * VGPR_BYTES)
    number = b.intrinsic("umin", b.add(offset, constant("i32", index)), constant("i32", 255))
    distance = b.shift("shl", b.resize(number, 64), 7)
    return b.offset(b.offset(STATE, first), distance)


VECTOR_RELATIVE: Mapping[str, Emitter] = {
    "v_movrels_b32": _relative(source=True, target=False, split=False),
    "v_movreld_b32": _relative(source=False, target=True, split=False),
    "v_movrelsd_b32": _relative(source=True, target=True, split=False),
    "v_movrelsd_2_b32": _relative(source=True, target=True, split=True),
    "v_swaprel_b32": _swap_relative,
}


# Moves to, from and between accumulation VGPRs (CDNA 3 ISA, V_ACCVGPR_READ, _WRITE, _MOV): plain
# moves, since both kinds are vector registers here (`isa/register_numbers.py`).

VECTOR_ACCUMULATION: Mapping[str, VectorOp] = vector_ops(
    dict.fromkeys(
        ("v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"), lambda b, x: x
    )
)
