"""S_BUFFER_STORE and S_BUFFER_ATOMIC of gfx9: what is outside the buffer is not written."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.buffers.access import resource_words, scalar_length
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.scalar.stores import (
    SCALAR_ATOMICS,
    scalar_atomic,
    scalar_store,
)
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction, Register


def _place(frame: Frame, instruction: Instruction, size: int) -> tuple[Value, Value]:
    """Return the address, and a lane if all of the data are inside the buffer."""
    b = frame.builder
    sbase, soffset = instruction.operand("sbase"), instruction.operand("soffset")
    assert isinstance(sbase, Register)
    words = resource_words(frame, sbase)
    offset = constant("i64", instruction.immediates["offset"])
    if soffset is not None:
        offset = b.add(offset, b.resize(frame.scalar_operand(soffset, "b32", instruction), 64))
    offset = b.and_(offset, constant("i64", -4))
    length = scalar_length(frame, instruction, words)
    end = b.add(offset, constant("i64", size))
    inside = b.and_(b.compare("ult", offset, length), b.compare("ule", end, length))
    base = b.concat_bits(words[0], b.mask(words[1], 16))
    return b.add(base, offset), b.resize(inside, 32)


SCALAR_BUFFER_STORES: Mapping[str, Emitter] = {
    **{f"s_buffer_store_b{32 * count}": scalar_store(_place, count) for count in (1, 2, 4)},
    **{
        f"s_buffer_atomic_{name}": scalar_atomic(_place, operation)
        for name, operation in SCALAR_ATOMICS.items()
    },
}
