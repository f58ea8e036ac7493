"""The decoder's entry points: bytes in, instructions out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amdjit.isa.alu import decode_alu, decode_dual, decode_matrix, scaled_row
from amdjit.isa.errors import InvalidField, NotDecoded, UndecodableInstruction
from amdjit.isa.formats import format_of, refused_class
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import GFX12, InstructionSet
from amdjit.isa.memory import decode_memory
from amdjit.isa.rows import Row, row_of

_LONGEST = 16
_Decoder = Callable[[Row, int, int, int], Instruction]
_MEMORY = ("SMEM", "DS", "VFLAT", "VGLOBAL", "VSCRATCH", "VBUFFER", "VTBUFFER", "LDSDIR")
_DECODERS: dict[str, _Decoder] = {
    **dict.fromkeys(_MEMORY, decode_memory),
    **dict.fromkeys(("MAI", "MAIX"), decode_matrix),
}


def decode(
    code: bytes,
    offset: int,
    pc: int,
    wave_size: int = 32,
    instruction_set: InstructionSet = GFX12,
) -> Instruction:
    """Decode the instruction at byte `offset` of `code`.

    pc: that byte's address, which the result keeps. wave_size: 32 or 64; lane masks and matrices
    cover different numbers of registers.

    UndecodableInstruction if the instruction is unknown, malformed or cut off, or if it is an
    image, BVH or export instruction, which the emulator does not cover.
    """
    window = code[offset : offset + _LONGEST] if offset >= 0 else b""
    bits = int.from_bytes(window, "little")
    try:
        return _decode_bits(bits, len(window), pc, wave_size, instruction_set)
    except InvalidField as error:
        words = tuple(
            int.from_bytes(window[start : start + 4], "little")
            for start in range(0, len(window) & ~3, 4)
        )
        raise UndecodableInstruction(pc, words, str(error), error.size) from None


def decode_all(
    code: bytes, base: int, wave_size: int = 32, instruction_set: InstructionSet = GFX12
) -> Iterator[Instruction]:
    """Decode all of `code`, whose first byte is at address `base`.

    UndecodableInstruction as in `decode`.
    """
    offset = 0
    while offset < len(code):
        instruction = decode(code, offset, base + offset, wave_size, instruction_set)
        yield instruction
        offset += instruction.size


def _decode_bits(
    bits: int, available: int, pc: int, wave_size: int, instruction_set: InstructionSet
) -> Instruction:
    if available < 4:
        raise InvalidField("the code ends inside the instruction")
    top = (bits >> 23) & 0x1FF
    formats = instruction_set.formats
    form = format_of(formats, top, (bits >> formats.segment_shift) & 3)
    if form is None:
        other = refused_class(formats, top)
        if other is None:
            raise InvalidField("unknown format")
        raise NotDecoded(other.name, other.sizes[bits & 1])
    if form.name == "VOPD":
        if wave_size != 32:
            raise InvalidField("dual-issue instructions exist in wave32 only")
        return decode_dual(bits, available, pc, instruction_set)
    code = (bits >> form.opcode.shift) & ((1 << form.opcode.bits) - 1)
    row = row_of(form.name, code, wave_size, instruction_set)
    if row is None and form.alternative:
        row = row_of(form.alternative, code, wave_size, instruction_set)
        row = row or scaled_row(bits, instruction_set)
    if row is None:
        refused = instruction_set.refused.get((form.name, code))
        if refused is None:
            raise InvalidField(f"unknown {form.name} opcode {code}")
        raise NotDecoded(refused, form.size)
    return _DECODERS.get(row.format.name, decode_alu)(row, bits, available, pc)
