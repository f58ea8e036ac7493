"""Moves between scalar registers at numbers relative to M0 (S_MOVREL*)."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import M0, scalar_slot

# The registers that a relative move can reach: s0 to s105 (RDNA 4 ISA, 3.4). Past them, the move
# does nothing here.
_GENERAL = 106


def _first(instruction: Instruction, index: int) -> int:
    register = instruction.operands[index]
    slot = scalar_slot(register) if isinstance(register, Register) else None
    if slot is None or slot >= _GENERAL:
        raise Untranslatable(instruction, "relative moves are only emulated for s0 to s105")
    return slot


def _read(frame: Frame, first: int, distance: Value, dwords: int) -> list[Value]:
    b = frame.builder
    result = [frame.registers.scalar(first + part) for part in range(dwords)]
    for number in range(first + dwords, _GENERAL - dwords + 1, dwords):
        here = b.compare("eq", distance, constant("i32", number - first))
        result = [
            b.select(here, frame.registers.scalar(number + part), old)
            for part, old in enumerate(result)
        ]
    return result


def _write(frame: Frame, first: int, distance: Value, values: list[Value]) -> None:
    b = frame.builder
    for number in range(first, _GENERAL - len(values) + 1, len(values)):
        here = b.compare("eq", distance, constant("i32", number - first))
        for part, value in enumerate(values):
            kept = frame.registers.scalar(number + part)
            frame.registers.write_scalar(number + part, b.select(here, value, kept))


def _plain(frame: Frame, instruction: Instruction, dwords: int) -> list[Value]:
    value = frame.scalar_source(instruction, 1)
    return [value] if dwords == 1 else list(frame.builder.split_bits(value))


def _move(source: bool, target: bool, dwords: int, split: bool = False) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        m0 = frame.registers.scalar(M0)
        offsets = (b.mask(m0, 10), b.mask(b.shift("lshr", m0, 16), 10)) if split else (m0, m0)
        if source:
            values = _read(frame, _first(instruction, 1), offsets[0], dwords)
        else:
            values = _plain(frame, instruction, dwords)
        if target:
            _write(frame, _first(instruction, 0), offsets[1], values)
            return
        whole = values[0] if dwords == 1 else b.concat_bits(values[0], values[1])
        frame.write_scalar(instruction.operands[0], whole)

    return emit


SCALAR_RELATIVE: Mapping[str, Emitter] = {
    "s_movrels_b32": _move(source=True, target=False, dwords=1),
    "s_movrels_b64": _move(source=True, target=False, dwords=2),
    "s_movreld_b32": _move(source=False, target=True, dwords=1),
    "s_movreld_b64": _move(source=False, target=True, dwords=2),
    "s_movrelsd_2_b32": _move(source=True, target=True, dwords=1, split=True),
}
