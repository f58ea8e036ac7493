"""Loads and stores at addresses by lane number (ADDTID, "add thread ID"), in global memory and
LDS."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.memory.access import (
    Address,
    Addressing,
    Width,
    load,
    register_of,
    store_vectors,
    stored_values,
)
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import M0

_DWORD = Width(4)


def _lane_offsets(frame: Frame) -> Value:
    """Return 4 * lane."""
    first = 4 * LANES * frame.registers.wave_half
    return sequence("i32", range(first, first + 4 * LANES, 4))


def _in_global(frame: Frame, instruction: Instruction) -> Address:
    """SGPR pair + offset + 4 * lane."""
    saddr = register_of(instruction, "saddr")
    if saddr is None:
        raise Untranslatable(instruction, "an address by lane number needs a scalar base")
    b = frame.builder
    base = b.add(
        frame.scalar_operand(saddr, "b64", instruction),
        constant("i64", instruction.immediates["offset"]),
    )
    return "s", [base, _lane_offsets(frame)]


def _in_lds(frame: Frame, instruction: Instruction) -> Address:
    """M0[15:0] + offset + 4 * lane."""
    b = frame.builder
    start = b.mask(frame.registers.scalar(M0), 16)
    base = b.add(start, constant("i32", instruction.immediates["offset"]))
    return "l", [_lane_offsets(frame), base]


def _store(addressing: Addressing, role: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        values = stored_values(frame, vector_register(instruction, role), _DWORD)
        store_vectors(frame, instruction, addressing(frame, instruction), 4, values)

    return emit


LANE_NUMBER_ACCESS: Mapping[str, Emitter] = {
    "global_load_addtid_b32": load(_in_global, _DWORD),
    "global_store_addtid_b32": _store(_in_global, "vdata"),
    "ds_load_addtid_b32": load(_in_lds, _DWORD),
    "ds_store_addtid_b32": _store(_in_lds, "data0"),
}
