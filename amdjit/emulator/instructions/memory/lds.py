"""Loads and stores of LDS, with one or two addresses, and accesses at addresses by lane
number."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.memory.access import (
    DWORDS,
    Address,
    Addressing,
    Width,
    load,
    load_register,
    load_vectors,
    register_of,
    store_vectors,
    stored_values,
    write_loaded,
)
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import M0, vector_number


def lds_address(frame: Frame, instruction: Instruction, offset: int) -> Address:
    """VGPR + offset."""
    addr = vector_register(instruction, "addr")
    return "l", [frame.registers.vector(vector_number(addr)), constant("i32", offset)]


def _address(frame: Frame, instruction: Instruction) -> Address:
    return lds_address(frame, instruction, instruction.immediates["offset"])


def _store(width: Width) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        register = vector_register(instruction, "data0")
        address = _address(frame, instruction)
        store_vectors(
            frame, instruction, address, width.size, stored_values(frame, register, width)
        )

    return emit


def _two_offsets(instruction: Instruction, stride: int) -> tuple[int, int]:
    immediates = instruction.immediates
    return immediates["offset0"] * stride, immediates["offset1"] * stride


def _load_two(size: int, stride: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        register = vector_register(instruction, "vdst")
        first, second = _two_offsets(instruction, stride)
        if second == first + size:
            address = lds_address(frame, instruction, first)
            load_register(
                frame,
                instruction,
                address=address,
                width=Width(2 * size),
                register=register,
                element=size,
            )
            return
        values = []
        for offset in (first, second):
            values += load_vectors(
                frame, instruction, lds_address(frame, instruction, offset), size
            )
        write_loaded(frame, register, Width(2 * size), values)

    return emit


def _store_two(size: int, stride: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        data = [register_of(instruction, role) for role in ("data0", "data1")]
        assert data[0] is not None
        assert data[1] is not None
        values = [
            stored_values(frame, register, Width(size)) for register in data if register is not None
        ]
        first, second = _two_offsets(instruction, stride)
        if second == first + size:
            address = lds_address(frame, instruction, first)
            store_vectors(
                frame,
                instruction,
                address=address,
                size=2 * size,
                values=values[0] + values[1],
                element=size,
            )
            return
        for offset, part in zip((first, second), values, strict=True):
            store_vectors(frame, instruction, lds_address(frame, instruction, offset), size, part)

    return emit


LDS_ACCESS: Mapping[str, Emitter] = {
    "ds_load_u8": load(_address, Width(1)),
    "ds_load_i8": load(_address, Width(1, signed=True)),
    "ds_load_u16": load(_address, Width(2)),
    "ds_load_i16": load(_address, Width(2, signed=True)),
    "ds_load_u8_d16": load(_address, Width(1, half=0)),
    "ds_load_i8_d16": load(_address, Width(1, signed=True, half=0)),
    "ds_load_u16_d16": load(_address, Width(2, half=0)),
    "ds_load_u8_d16_hi": load(_address, Width(1, half=1)),
    "ds_load_i8_d16_hi": load(_address, Width(1, signed=True, half=1)),
    "ds_load_u16_d16_hi": load(_address, Width(2, half=1)),
    "ds_store_b8": _store(Width(1)),
    "ds_store_b16": _store(Width(2)),
    "ds_store_b8_d16_hi": _store(Width(1, half=1)),
    "ds_store_b16_d16_hi": _store(Width(2, half=1)),
    **{f"ds_load_{name}": load(_address, width) for name, width in DWORDS.items()},
    **{f"ds_store_{name}": _store(width) for name, width in DWORDS.items()},
    "ds_load_2addr_b32": _load_two(4, 4),
    "ds_load_2addr_b64": _load_two(8, 8),
    "ds_load_2addr_stride64_b32": _load_two(4, 256),
    "ds_load_2addr_stride64_b64": _load_two(8, 512),
    "ds_store_2addr_b32": _store_two(4, 4),
    "ds_store_2addr_b64": _store_two(8, 8),
    "ds_store_2addr_stride64_b32": _store_two(4, 256),
    "ds_store_2addr_stride64_b64": _store_two(8, 512),
}


# Loads and stores at addresses by lane number (ADDTID, "add thread ID"), in global memory and LDS.


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


def _store_by_number(addressing: Addressing, role: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        values = stored_values(frame, vector_register(instruction, role), _DWORD)
        store_vectors(frame, instruction, addressing(frame, instruction), 4, values)

    return emit


LANE_NUMBER_ACCESS: Mapping[str, Emitter] = {
    "global_load_addtid_b32": load(_in_global, _DWORD),
    "global_store_addtid_b32": _store_by_number(_in_global, "vdata"),
    "ds_load_addtid_b32": load(_in_lds, _DWORD),
    "ds_store_addtid_b32": _store_by_number(_in_lds, "data0"),
}
