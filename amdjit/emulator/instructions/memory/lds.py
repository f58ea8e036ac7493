"""Loads and stores of LDS, with one or two addresses."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import constant
from amdjit.emulator.instructions.memory.access import (
    DWORDS,
    Address,
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
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number


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
