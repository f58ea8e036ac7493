"""Transposing loads of global memory.

The ISA document does not say which elements `global_load_tr` moves where (11.6.2). The maps of
wave32 used here were measured on gfx1201 and published: that of 8-bit elements by two projects
independently, that of 16-bit ones by one; AMD's page "RDNA4 WMMA transpose load builtins" agrees.
They make fragments of WMMA (RDNA 4 ISA, 7.12) from matrices in the other order.

EXEC must be all ones; with 0 nothing happens, and for other values the ISA document defines no
result (11.6.2).

In wave64 only the addresses of lanes 0 to 31 count, and half as many registers are written (RDNA 4
ISA, 11.6.2). The upper half of the registers of wave32 goes to lanes 32 to 63, as in AMD's emulator
rocjitsu (ds_transpose.h), and as the operands of WMMA lie in 64 lanes. rocjitsu's map of bytes
differs from the measured one in both wave sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.memory.access import (
    global_address,
    load_vectors,
)
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.whole_waves import require_all_lanes
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number


def source_of_half(lane: int, element: int) -> tuple[int, int]:
    """Return the (lane, element) that GLOBAL_LOAD_TR_B128 moves there, of eight 16-bit elements for
    each lane; 8 lanes transpose 8 x 8."""
    return lane // 8 * 8 + element, lane % 8


def source_of_byte(lane: int, element: int) -> tuple[int, int]:
    """Return the (lane, element) that GLOBAL_LOAD_TR_B64 moves there, of eight bytes for each
    lane."""
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
            frame.registers.write_vector(vector_number(target) + place, result, frame.mask())
        frame.registers.select_half(0)

    return emit


def _dword(
    frame: Frame,
    read: list[Value],
    bits: int,
    source: Callable[[int, int], tuple[int, int]],
    dword: int,
) -> Value:
    """Return the elements of one register for all lanes of a wave32."""
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
    """Return element `element` of all lanes. Its place in the source lane is lane % 8, so that is
    selected last."""
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


TRANSPOSED_ACCESS: Mapping[str, Emitter] = {
    "global_load_tr_b128": _transposed(16, 16, source_of_half),
    "global_load_tr_b64": _transposed(8, 8, source_of_byte),
}
