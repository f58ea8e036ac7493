"""Transposing loads of global memory and of LDS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import LANES, Value, constant, sequence
from amdjit.emulator.instructions.memory.access import (
    global_address,
    load_vectors,
)
from amdjit.emulator.instructions.memory.lds import lds_address
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.whole_waves import require_all_lanes
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number
from amdjit.late_methods import dataclass


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


# Transposing loads of LDS: DS_READ_B64_TR_B16, _B8 and _B4, and DS_READ_B96_TR_B6.
#
# The CDNA 4 ISA document says only that they transpose a matrix. The map is that of rocRoller's
# test, which runs on the GPU (`TransposeLoadsTest` in rocRoller): the elements that the 16 lanes of
# a row read, one lane after the other, are a matrix with 16 columns, and each lane gets a column.
#
# AMD's emulator rocjitsu agrees for 16 bits and has other maps for fewer (`ds_transpose.h`).


_ROW = 16


@dataclass(frozen=True, slots=True)
class Transposed:
    """A load of `size` bytes for each lane, in elements of some bits."""

    size: int
    bits: int

    @property
    def elements(self) -> int:
        """How many elements a lane has."""
        return 8 * self.size // self.bits

    def source(self, lane: int, element: int) -> tuple[int, int]:
        """Return the (lane, element) that comes to a lane of 32."""
        row, column = divmod(lane, _ROW)
        other, place = divmod(_ROW * element + column, self.elements)
        return _ROW * row + other, place

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction, for both halves of the wave."""
        require_all_lanes(frame, instruction)
        target = vector_number(vector_register(instruction, "vdst"))
        offset = instruction.immediates["offset"]
        for half in range(frame.registers.halves):
            frame.registers.select_half(half)
            address = lds_address(frame, instruction, offset)
            read = load_vectors(frame, instruction, address, self.size)
            for index, value in enumerate(self._columns(frame, read)):
                frame.registers.write_vector(target + index, value, frame.mask())
        frame.registers.select_half(0)

    def _columns(self, frame: Frame, read: list[Value]) -> list[Value]:
        b = frame.builder
        dwords = [constant(V32, 0)] * (self.size // 4)
        for element in range(self.elements):
            number, start = divmod(element * self.bits, 32)
            moved = self._element(frame, read, element)
            dwords[number] = b.or_(dwords[number], b.shift("shl", moved, start))
            if start + self.bits > 32:
                dwords[number + 1] = b.shift("lshr", moved, 32 - start)
        return dwords

    def _element(self, frame: Frame, read: list[Value], element: int) -> Value:
        """Return an element of all lanes. Lanes whose sources stand at the same place share a
        shift."""
        b = frame.builder
        sources = [self.source(lane, element) for lane in range(LANES)]
        lanes = [lane for lane, _ in sources]
        starts = [place * self.bits for _, place in sources]
        low = self._chosen(frame, read, lanes, [start // 32 for start in starts])
        shifted = b.binary("lshr", low, sequence("i32", [start % 32 for start in starts]))
        if 32 % self.bits:
            last = len(read) - 1
            nexts = [min(start // 32 + 1, last) for start in starts]
            high = self._chosen(frame, read, lanes, nexts)
            # In two steps, because 32 is no shift.
            up = b.binary("shl", high, sequence("i32", [31 - start % 32 for start in starts]))
            up = b.shift("shl", up, 1)
            shifted = b.or_(shifted, up)
        return b.mask(shifted, self.bits)

    def _chosen(
        self, frame: Frame, read: list[Value], lanes: list[int], numbers: list[int]
    ) -> Value:
        """Return for each lane a dword, by its number, of another lane."""
        b = frame.builder
        chosen = b.shuffle(read[0], read[0], lanes)
        for number, vector in enumerate(read[1:], 1):
            here = sequence("i1", [each == number for each in numbers])
            chosen = b.select(here, b.shuffle(vector, vector, lanes), chosen)
        return chosen


LDS_TRANSPOSED: Mapping[str, Emitter] = {
    "ds_load_b64_tr_b16": Transposed(8, 16),
    "ds_load_b64_tr_b8": Transposed(8, 8),
    "ds_load_b96_tr_b6": Transposed(12, 6),
    "ds_load_b64_tr_b4": Transposed(8, 4),
}
