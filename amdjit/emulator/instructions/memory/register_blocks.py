"""LOAD_BLOCK and STORE_BLOCK: blocks of 32 registers, of which M0 selects some."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import constant
from amdjit.emulator.instructions.memory.access import (
    Address,
    Addressing,
    Width,
    global_address,
    load_vectors,
    private_address,
    store_vectors,
    stored_values,
)
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import M0, vector_number


def _block(addressing: Addressing, store: bool) -> Emitter:
    """Transfer register i and dword i of memory for each bit i that is set in M0."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        register = vector_register(instruction, "vdata" if store else "vdst")
        space, (*parts, base) = addressing(frame, instruction)
        chosen = frame.registers.scalar(M0)
        # Read everything first: a load may overwrite its own address.
        for number in range(register.dwords):
            bit = b.resize(b.resize(b.shift("lshr", chosen, number), 1), 32, True)
            frame.access_mask = b.and_(frame.registers.exec_bits(), bit)
            address = _moved(frame, (space, [*parts, base]), 4 * number)
            one = type(register)(register.file, register.index + number, 1)
            if store:
                store_vectors(frame, instruction, address, 4, stored_values(frame, one, Width(4)))
            else:
                loaded = load_vectors(frame, instruction, address, 4)[0]
                written = b.lane_mask(frame.access_mask)
                frame.registers.write_vector(vector_number(one), loaded, written)
            frame.access_mask = None

    return emit


def _moved(frame: Frame, address: Address, distance: int) -> Address:
    """Add bytes to an address. The base is the first value of a scalar address, and the last one of
    all others."""
    space, values = address
    place = 0 if space == "s" else len(values) - 1
    moved = list(values)
    moved[place] = frame.builder.add(values[place], constant(values[place].type, distance))
    return space, moved


REGISTER_BLOCKS: Mapping[str, Emitter] = {
    "global_load_block": _block(global_address, store=False),
    "global_store_block": _block(global_address, store=True),
    "scratch_load_block": _block(private_address, store=False),
    "scratch_store_block": _block(private_address, store=True),
}
