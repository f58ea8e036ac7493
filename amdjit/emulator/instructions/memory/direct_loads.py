"""Loads of global and private memory that put their data into LDS, without registers in between.

Each lane has a place of its own there: M0 + the instruction's offset + the lane's number times the
bytes of its data, of which less than a dword is extended to one (CDNA 3 ISA, "Memory Buffer Load to
LDS"; LLVM: IntrinsicsAMDGPU.td, `int_amdgcn_global_load_lds`).
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.memory.access import (
    LOAD_WIDTHS,
    Addressing,
    Width,
    global_address,
    load,
    load_vectors,
    private_address,
    store_vectors,
)
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import M0


def store_in_lds(frame: Frame, instruction: Instruction, width: Width, values: list[Value]) -> None:
    """Store what each lane has loaded at its place in LDS."""
    b = frame.builder
    if width.signed:
        values = [b.resize(b.resize(values[0], 8 * width.size), 32, True)]
    size = max(width.size, 4)
    first = size * LANES * frame.registers.wave_half
    places = sequence("i32", range(first, first + size * LANES, size))
    offset = constant("i32", instruction.immediates["offset"])
    # Only gfx950 has more LDS than 16 bits can address; its addresses are checked as they are.
    base = b.add(frame.registers.scalar(M0), offset)
    store_vectors(frame, instruction, ("l", [places, base]), size, values)


def _to_lds(addressing: Addressing, width: Width) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        address = addressing(frame, instruction)
        values = load_vectors(frame, instruction, address, width.size)
        store_in_lds(frame, instruction, width, values)

    return emit


def either(to_registers: Emitter, to_lds: Emitter) -> Emitter:
    """Return the emitter of a load whose LDS bit says where the data go."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        chosen = to_lds if instruction.immediates.get("lds") else to_registers
        chosen(frame, instruction)

    return emit


_SPACES: Mapping[str, Addressing] = {"global": global_address, "scratch": private_address}
DIRECT_WIDTHS = ("u8", "i8", "u16", "i16", "b32")

DIRECT_LOADS: Mapping[str, Emitter] = {
    f"{space}_load_lds_{name}": _to_lds(addressing, LOAD_WIDTHS[name])
    for space, addressing in _SPACES.items()
    for name in DIRECT_WIDTHS
} | {
    f"global_load_lds_{name}": _to_lds(global_address, LOAD_WIDTHS[name])
    for name in ("b96", "b128")
}
# Loads of gfx908 and gfx90a, which have a bit for it.
LOADS_WITH_LDS_BIT: Mapping[str, Emitter] = {
    f"{space}_load_{name}": either(
        load(addressing, LOAD_WIDTHS[name]), _to_lds(addressing, LOAD_WIDTHS[name])
    )
    for space, addressing in _SPACES.items()
    for name in DIRECT_WIDTHS
}
