"""Global accesses of their own kind: transposing loads, blocks of registers, addresses by lane
number.

Which elements `global_load_tr` moves where is not in the ISA document's text (11.6.2). The maps of
wave32 here were measured on gfx1201 and published: that of 8-bit elements by two projects
independently of each other, that of 16-bit ones by one, and AMD's page "RDNA4 WMMA transpose load
builtins" has the same. They give the fragments of WMMA (RDNA 4 ISA, 7.12) from matrices in the
other order.

EXEC must be all ones; with 0 nothing happens, and for others the ISA document does not say what
does (11.6.2).

In wave64 the addresses of lanes 0 to 31 count alone, and half as many registers are written (RDNA 4
ISA, 11.6.2). The upper half of the registers of wave32 goes to lanes 32 to 63, as AMD's emulator
rocjitsu has it (ds_transpose.h), and as the operands of WMMA lie in 64 lanes. rocjitsu's map of
bytes is another one than was measured, in both wave sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.analysis.errors import Untranslatable
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.memory.access import (
    Address,
    Addressing,
    Width,
    global_address,
    load_register,
    load_vectors,
    private_address,
    register_of,
    store_vectors,
    stored_values,
)
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.whole_waves import require_all_lanes
from amdjit.emulator.layout import M0
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32


def source_of_half(lane: int, element: int) -> tuple[int, int]:
    """GLOBAL_LOAD_TR_B128: (lane, element) of the eight 16-bit elements read there; 8 lanes
    transpose 8 x 8."""
    return lane // 8 * 8 + element, lane % 8


def source_of_byte(lane: int, element: int) -> tuple[int, int]:
    """GLOBAL_LOAD_TR_B64: the same of the eight bytes that each lane reads."""
    return lane // 16 * 16 + element // 4 * 8 + lane // 8 % 2 * 4 + element % 4, lane % 8


def _transposed(
    size: int, element_bits: int, source: Callable[[int, int], tuple[int, int]]
) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        require_all_lanes(frame, instruction)
        read = load_vectors(frame, instruction, global_address(frame, instruction), size)
        target = vector_register(instruction, "vdst")
        for dword in range(size // 4):
            half, place = divmod(dword, target.dwords)
            frame.registers.select_half(half)
            result = _dword(frame, read, element_bits, source, dword)
            frame.registers.write_vector(target.index + place, result, frame.mask())
        frame.registers.select_half(0)

    return emit


def _dword(
    frame: Frame,
    read: list[Value],
    bits: int,
    source: Callable[[int, int], tuple[int, int]],
    dword: int,
) -> Value:
    """Return the elements of one register of all lanes of wave32."""
    b = frame.builder
    result = constant(V32, 0)
    for part in range(32 // bits):
        moved = _element(frame, read, bits, source, dword * 32 // bits + part)
        result = b.or_(result, b.shift("shl", moved, part * bits))
    return result


def _element(
    frame: Frame,
    read: list[Value],
    bits: int,
    source: Callable[[int, int], tuple[int, int]],
    element: int,
) -> Value:
    """Return element `element` of all lanes. Its place within the source lane is lane % 8: pick
    that last."""
    b = frame.builder
    lanes = [source(lane, element)[0] for lane in range(LANES)]
    places = [source(lane, element)[1] for lane in range(LANES)]
    per_dword = 32 // bits
    word = constant(V32, 0)
    for number, vector in enumerate(read):
        here = sequence("i1", [place // per_dword == number for place in places])
        word = b.select(here, b.shuffle(vector, vector, lanes), word)
    shifts = sequence("i32", [place % per_dword * bits for place in places])
    return b.mask(b.binary("lshr", word, shifts), bits)


def _block(addressing: Addressing, store: bool) -> Emitter:
    """LOAD_BLOCK and STORE_BLOCK: register i of 32 and dword i of memory, where bit i of M0 is
    set."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        register = vector_register(instruction, "vdata" if store else "vdst")
        space, (*parts, base) = addressing(frame, instruction)
        chosen = frame.registers.scalar(M0)
        # Everything is read first: a load may overwrite its own address.
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
                frame.registers.write_vector(one.index, loaded, written)
            frame.access_mask = None

    return emit


def _moved(frame: Frame, address: Address, distance: int) -> Address:
    """Add bytes to an address. The base is the first value of a scalar one, the last of all
    others."""
    space, values = address
    place = 0 if space == "s" else len(values) - 1
    moved = list(values)
    moved[place] = frame.builder.add(values[place], constant(values[place].type, distance))
    return space, moved


def lane_offsets(frame: Frame) -> Value:
    """Return 4 * lane."""
    first = 4 * LANES * frame.registers.wave_half
    return sequence("i32", range(first, first + 4 * LANES, 4))


def _by_lane(frame: Frame, instruction: Instruction) -> Address:
    """SGPR pair + offset + 4 * lane."""
    saddr = register_of(instruction, "saddr")
    if saddr is None:
        raise Untranslatable(instruction, "an address by lane number needs a scalar base")
    b = frame.builder
    base = b.add(
        frame.scalar_operand(saddr, "b64", instruction),
        constant("i64", instruction.immediates["offset"]),
    )
    return "s", [base, lane_offsets(frame)]


def _load_by_lane(frame: Frame, instruction: Instruction) -> None:
    load_register(
        frame,
        instruction,
        _by_lane(frame, instruction),
        Width(4),
        vector_register(instruction, "vdst"),
    )


def _store_by_lane(frame: Frame, instruction: Instruction) -> None:
    values = stored_values(frame, vector_register(instruction, "vdata"), Width(4))
    store_vectors(frame, instruction, _by_lane(frame, instruction), 4, values)


TRANSPOSED_ACCESS: Mapping[str, Emitter] = {
    "global_load_tr_b128": _transposed(16, 16, source_of_half),
    "global_load_tr_b64": _transposed(8, 8, source_of_byte),
    "global_load_block": _block(global_address, False),
    "global_store_block": _block(global_address, True),
    "scratch_load_block": _block(private_address, False),
    "scratch_store_block": _block(private_address, True),
    "global_load_addtid_b32": _load_by_lane,
    "global_store_addtid_b32": _store_by_lane,
}
