"""Random instructions of one opcode: every field filled, with a leaning towards values that are
legal."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from amdjit.isa.formats import Field, Format
from amdjit.isa.instruction_set import GFX12, InstructionSet

_CONTROLS = (0x1B, 0x101, 0x11F, 0x128, 0x140, 0x141, 0x150, 0x16F)
_ABSENT_IN_LDS = (
    ("data0", "data1"),
    ("data1", "vdst"),
    ("vdst",),
    ("data1",),
    ("addr", "data0", "data1"),
    ("addr", "data1", "vdst"),
    ("addr", "data0", "data1", "vdst"),
)
# gfx9 has the segment of a flat access in bits 15:14, and 127 for no scalar address.
_OLDER_SEGMENT = 14
_LITERALS = (0x3F800000, 0x3C00, 0x3C003C00, 0x3FF00000, 5, 0xFFFFFFFF, 0x3E22F983)
# Bytes of one piece of code: the longest instruction and a word to spare.
SIZE = 16


@dataclass(frozen=True)
class Piece:
    """Some bytes that start with an instruction of that format and opcode number."""

    format: str
    opcode: int
    code: bytes


def pieces(
    generator: random.Random,
    known: int,
    unknown: int,
    names: tuple[str, ...] = (),
    sets: InstructionSet = GFX12,
) -> Iterator[Piece]:
    """Yield `known` pieces for each opcode in the tables and `unknown` for every other opcode
    number."""
    for form in sets.formats.listed:
        if names and form.name not in names:
            continue
        for opcode in range(1 << form.opcode.bits):
            listed = form.name == "VOPD" or opcode in sets.rows[form.name]
            for _ in range(known if listed else unknown):
                yield Piece(form.name, opcode, _code(generator, form, opcode))


def _code(generator: random.Random, form: Format, opcode: int) -> bytes:
    bits = form.leading_bits | opcode << form.opcode.shift | form.constant
    if generator.random() < 0.97:
        for field in form.fields:
            bits |= _value(generator, field) << field.shift
    if form.name == "VOP3P" and generator.random() < 0.8:
        bits |= 3 << 59 | 1 << 14
    if form.name == "VOP3P" and generator.random() < 0.5:
        # Matrix opcodes take VGPRs and few modifiers.
        bits = bits & ~(7 << 61 | 0xBF00) | 1 << 40 | 1 << 49 | 1 << 58
    if form.name in ("DS", "SMEM", "VFLAT", "VGLOBAL") and generator.random() < 0.5:
        bits = _without_optional(generator, form, bits)
    if form.name == "VOPD":
        bits |= generator.randrange(19) << 17
        bits &= ~generator.choice((0, 0xFF << 9, 0xFF << 41))
    if form.name == "VOP3" and 0x80 <= opcode < 0x100:
        bits = bits & ~0xFF | 126
    if generator.random() < 0.05:
        bits ^= 1 << generator.randrange(8 * form.size)
    code = bits.to_bytes(form.size, "little") + _tail(generator).to_bytes(4, "little")
    return code + bytes.fromhex("000080bf") * ((SIZE - len(code)) // 4)


def _without_optional(generator: random.Random, form: Format, bits: int) -> int:
    """Leave out the fields that not every opcode has: those formats want them to be 0, or null."""
    if form.name == "SMEM":
        return bits & ~(0x7F << 57) | 124 << 57
    if form.name == "DS":
        for name in generator.choice(_ABSENT_IN_LDS):
            field = form.field(name)
            bits &= ~(((1 << field.bits) - 1) << field.shift)
        return bits
    saddr, sve = form.find("saddr"), form.find("sve")
    if sve:
        bits &= ~(1 << sve.shift)
    off = 127 if form.segment_shift == _OLDER_SEGMENT else 124
    return bits & ~(0x7F << saddr.shift) | off << saddr.shift if saddr else bits


def _value(generator: random.Random, field: Field) -> int:
    small, even = generator.randrange(100), 4 * generator.randrange(24)
    choices = {
        "v8": (small, generator.randrange(256)),
        "d8": (small, even, generator.randrange(256)),
        "s7": (even, 2 * generator.randrange(52), generator.randrange(128), 124),
        "s8": (even, generator.randrange(128, 209), generator.randrange(240, 249), 255, 106, 126),
        "s9": (
            256 + small,
            256 + generator.randrange(256),
            even,
            generator.randrange(512),
            255,
            250,
            106,
        ),
        "b6": (2 * generator.randrange(24), generator.randrange(64)),
        "r9": (even,),
        "q5": (even // 4, small & 31),
        "imm": (0, 0, 0, generator.getrandbits(field.bits)),
    }
    return generator.choice(choices[field.kind])


def _tail(generator: random.Random) -> int:
    word = generator.getrandbits(32)
    dpp = word & 0xFF0C00FF | generator.choice(_CONTROLS) << 8
    return generator.choice(
        (word, dpp, dpp | generator.getrandbits(4) << 20, generator.choice(_LITERALS))
    )
