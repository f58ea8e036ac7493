"""Moves between vector registers at numbers to which M0 is added, after S_SET_GPR_IDX_ON."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.vector.relative_moves import move_relative
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.index_modes import DESTINATION, SOURCE_0
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import M0

# Where M0 holds the mode and the index (CDNA 3 ISA, S_SET_GPR_IDX_ON).
_MODE_BITS, _INDEX_BITS = 0xF000, 0xFF
_INDEXED = {"v_mov_b32": move_relative}


def emit_indexed(frame: Frame, instruction: Instruction, mode: int) -> None:
    """Emit a vector instruction while an index is on: a move, as compilers use it."""
    modifiers = instruction.modifiers
    is_plain = modifiers.dpp is None and modifiers.sdwa is None
    move = _INDEXED.get(instruction.traits.operation)
    if move is None or not is_plain:
        reason = "with an index of vector registers, only V_MOV_B32 is emulated"
        raise Untranslatable(instruction, reason)
    index = frame.builder.mask(frame.registers.scalar(M0), 8)
    move(
        frame,
        instruction,
        index if mode & SOURCE_0 else None,
        index if mode & DESTINATION else None,
    )


def _set(frame: Frame, index: Value | None, mode: int | None) -> None:
    """Write the index, M0[7:0], and the mode, M0[15:12]."""
    b, kept = frame.builder, frame.registers.scalar(M0)
    for value, bits in (
        (None if index is None else b.mask(index, 8), _INDEX_BITS),
        (None if mode is None else constant("i32", mode << 12), _MODE_BITS),
    ):
        if value is not None:
            kept = b.or_(b.and_(kept, constant("i32", ~bits)), value)
    frame.registers.write_scalar(M0, kept)


def _on(frame: Frame, instruction: Instruction) -> None:
    index = frame.scalar_source(instruction, 0)
    _set(frame, index, instruction.immediates["index_mode"])


def _mode(frame: Frame, instruction: Instruction) -> None:
    _set(frame, None, instruction.immediates["simm16"] & 15)


def _index(frame: Frame, instruction: Instruction) -> None:
    _set(frame, frame.scalar_source(instruction, 0), None)


def _off(frame: Frame, instruction: Instruction) -> None:
    """Emit nothing: where an index is on is known at translation."""


INDEX_MODES: Mapping[str, Emitter] = {
    "s_set_gpr_idx_on": _on,
    "s_set_gpr_idx_mode": _mode,
    "s_set_gpr_idx_idx": _index,
    "s_set_gpr_idx_off": _off,
}
