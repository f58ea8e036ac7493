"""Every opcode number of every format of gfx9, with chosen and random fields: the decoder and
llvm-objdump agree."""

from __future__ import annotations

import itertools
import random

import pytest

from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.formats import Format
from amdjit.isa.instruction_set import (
    GFX90A,
    GFX906,
    GFX908,
    GFX942,
    GFX950,
    InstructionSet,
)
from amdjit.isa.operand_codes import LITERAL
from amdjit.isa.text import disassemble
from tests.emulator.decoder import generate_gfx9_tables
from tests.emulator.decoder.assembler import assemble_each
from tests.emulator.decoder.field_code import base_pieces, field_pieces
from tests.emulator.decoder.objdump import asking_about, disassemble_each, missing_tools
from tests.emulator.decoder.random_code import Piece, pieces
from tests.emulator.decoder.test_decoder_opcodes import BEYOND, Doubt, judged

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")

_AT_ONCE = 20000
_SETS = {sets.name: sets for sets in (GFX906, GFX908, GFX90A, GFX942, GFX950)}
_FORMATS = [
    pytest.param(sets, form, id=f"{sets.name}-{form.name}")
    for sets in _SETS.values()
    for form in sets.formats.listed
]
# The others have the same formats, but for rows that the exhaustive test compares.
_ALIKE = ("SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "SMEM", "VOP2", "VOPC", "VOP3", "VFLAT")
_SLICE = [
    pytest.param(sets, form, id=f"{sets.name}-{form.name}")
    for sets in _SETS.values()
    for form in sets.formats.listed
    if sets is GFX942 or form.name not in _ALIKE
]


# A literal that is written as a float, or wider than the operand; more SGPRs than may be read.
_NOT_AS_WRITTEN = ("s_setreg_imm32_b32", "v_madmk_f16", "v_madak_f16", "v_writelane_b32")


def has_literal_without_room(form: Format, piece: Piece) -> bool:
    """Whether a source announces a literal that the encoding has not: objdump crashes."""
    bits = int.from_bytes(piece.code, "little")
    sources = [field for field in form.fields if field.kind in ("s8", "s9")]
    return form.size > 4 and any(field.read(bits) == LITERAL for field in sources)


def doubts_of(piece: Piece, sets: InstructionSet, text: str | None, size: int) -> list[Doubt]:
    """Compare the decoding of a piece with objdump's text, None if that is no instruction."""
    try:
        instruction = decode(piece.code, 0, 0, 64, sets)
    except UndecodableInstruction as error:
        if BEYOND.match(error.reason) or text is None:
            return []
        return [Doubt(piece, "", None, text, error.reason)]
    mine = disassemble(instruction)
    if mine == text and instruction.size == size:
        return []
    return [Doubt(piece, "", mine, text)]


def check(chosen: list[Piece], form: Format, sets: InstructionSet) -> int:
    """Compare the pieces; return of how many both say that they are instructions."""
    kept = [piece for piece in chosen if not has_literal_without_room(form, piece)]
    with asking_about(sets.processor):
        lines = disassemble_each(piece.code for piece in kept)
        doubts = []
        agreed = 0
        for piece, line in zip(kept, lines, strict=True):
            text = line.of_other_class or (None if line.rejected else line.text)
            found = doubts_of(piece, sets, text, line.size)
            doubts += found
            agreed += text is not None and not found
        wrong = judged(doubts, "")
    assert not wrong, f"{len(wrong)} of {len(kept)} differ:\n" + "\n".join(wrong[:20])
    return agreed


@pytest.mark.sample(22)
@pytest.mark.parametrize(("sets", "form"), _SLICE)
def test_fields_of_every_opcode_of_gfx9_decode_as_objdump_does(
    sets: InstructionSet, form: Format
) -> None:
    count = 10 if form.name == "MAIX" else 1  # there are two products with scales
    chosen = field_pieces(form.name, random.Random(form.name), count, sets)
    assert check(list(chosen), form, sets) > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sets", "form"), _FORMATS)
def test_all_fields_of_every_opcode_of_gfx9_decode_as_objdump_does(
    sets: InstructionSet, form: Format
) -> None:
    every = field_pieces(form.name, sets=sets)
    while chosen := list(itertools.islice(every, _AT_ONCE)):
        check(chosen, form, sets)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sets", "form"), _FORMATS)
def test_random_fields_of_every_opcode_of_gfx9_decode_as_objdump_does(
    sets: InstructionSet, form: Format
) -> None:
    check(list(pieces(random.Random(form.name), 20, 2, (form.name,), sets)), form, sets)


@pytest.mark.parametrize("sets", _SETS.values(), ids=_SETS)
def test_a_literal_in_a_long_encoding_is_refused(sets: InstructionSet) -> None:
    """v_add3_u32 v1, 0x12345678, v2, v3: gfx9 has no room for it."""
    code = bytes.fromhex("0100ffd1ff040e0478563412")
    with pytest.raises(UndecodableInstruction, match="no literal"):
        decode(code, 0, 0, 64, sets)


@pytest.mark.parametrize("sets", _SETS.values(), ids=_SETS)
def test_every_row_of_gfx9_is_reached(sets: InstructionSet) -> None:
    """Otherwise the tests above could pass with an opcode that is always refused."""
    for piece in base_pieces(sets):
        instruction = decode(piece.code, 0, 0, 64, sets)
        assert instruction.opcode.encoding.replace("VOP3SD", "VOP3") == piece.format
        assert instruction.mnemonic == sets.rows[piece.format][piece.opcode][0]


@pytest.mark.parametrize("sets", _SETS.values(), ids=_SETS)
def test_the_text_of_every_row_is_assembled_to_what_decodes_to_it(sets: InstructionSet) -> None:
    listed = (disassemble(decode(piece.code, 0, 0, 64, sets)) for piece in base_pieces(sets))
    texts = [text for text in listed if not text.startswith(_NOT_AS_WRITTEN)]
    with asking_about(sets.processor):
        made = assemble_each(texts)
    again = [one and disassemble(decode(one.code + b"\0" * 8, 0, 0, 64, sets)) for one in made]
    assert [pair for pair in zip(texts, again, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.exhaustive
def test_the_tables_of_gfx9_are_what_the_generator_writes() -> None:
    assert generate_gfx9_tables.table_text() == generate_gfx9_tables.TARGET.read_text()
