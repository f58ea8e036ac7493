"""Every opcode number of every format, with random fields: the decoder and llvm-objdump agree."""

from __future__ import annotations

import random
import re

import generate_tables
import pytest
from objdump import Line, disassemble_each, missing_tools
from random_code import Piece, pieces

from amdjit.emulator.decoder import UndecodableInstruction, decode, disassemble
from amdjit.emulator.decoder.formats import FORMATS
from amdjit.emulator.decoder.opcode_tables import ROWS

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")

# The oracle writes these; the decoder refuses them. Each is refused by the assembler, by the ISA document, or
# by the scope of the emulator.
REFUSALS = {
    r"misaligned": "the oracle drops the low bits of a misaligned scalar register; the ISA forbids it",
    r"out of range|past v255": "the oracle writes registers that do not exist",
    r"not supported": "image, BVH and export instructions are outside of the emulator's scope",
    r"is no scalar destination": "the oracle lets read-only sources be destinations",
    r"is not allowed for this operand": "the oracle does not check the class of special sources and masks",
    r"takes no literal": "the oracle reads a DPP word as a literal as well",
    r"reserved bit": "nv and scale_offset exist on gfx1250 only",
    r"254 is unknown": "gfx12 has no src_lds_direct",
    r"has not that op_sel": "the oracle ignores op_sel bits of operands that are not there",
    r"must be a VGPR with DPP": "the oracle marks it in the text, or drops the operand",
    r"has not the modifier .*_dpp ": "in DPP forms the oracle ignores op_sel bits that it refuses without DPP",
    r"unknown VOP2 opcode 0": "v_illegal has no meaning but to fault",
}
# In the other direction: what the oracle writes as a comment in an otherwise sound instruction.
_HINT = "/* invalid inst"


def rejected_by_oracle(line: Line) -> bool:
    """s_delay_alu is a hint: an unknown value in it is written as a comment and is harmless."""
    return line.rejected and _HINT not in line.text


def disagreement(piece: Piece, default: Line, halves: Line, wave_size: int) -> str | None:
    """Return what is wrong with the decoding of a piece, or None."""
    try:
        instruction = decode(piece.code, 0, 0, wave_size)
    except UndecodableInstruction as error:
        excused = any(re.search(pattern, f"{error.reason} | {default.text}") for pattern in REFUSALS)
        if rejected_by_oracle(default) or excused:
            return None
        return f"{piece.code.hex()}: refused ({error.reason}), oracle {default.text!r}"
    mine = (disassemble(instruction), instruction.size)
    theirs = [(line.text, line.size) for line in (default, halves) if not rejected_by_oracle(line)]
    return None if mine in theirs else f"{piece.code.hex()}: {mine}, oracle {theirs or default.text!r}"


def check(chosen: list[Piece], wave_size: int = 32) -> None:
    codes = [piece.code for piece in chosen]
    wave = f"+wavefrontsize{wave_size}"
    default, halves = disassemble_each(codes, wave), disassemble_each(codes, f"{wave},+real-true16")
    found = [disagreement(*item, wave_size) for item in zip(chosen, default, halves, strict=True)]
    wrong = [text for text in found if text]
    assert not wrong, f"{len(wrong)} of {len(codes)} differ:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("name", [form.name for form in FORMATS])
def test_random_fields_of_every_opcode_decode_as_objdump_does(name: str) -> None:
    check(list(pieces(random.Random(name), known=6, unknown=1, names=(name,))))


@pytest.mark.parametrize("name", ["VOPC", "VOP2", "VOP3", "VOP3P", "VGLOBAL"])
def test_random_fields_decode_as_objdump_does_in_wave64(name: str) -> None:
    """These formats have lane masks or matrices, which cover other registers in wave64."""
    check(list(pieces(random.Random(f"{name}64"), known=4, unknown=0, names=(name,))), 64)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [form.name for form in FORMATS])
@pytest.mark.parametrize("seed", range(4))
def test_many_random_fields_of_every_opcode_decode_as_objdump_does(name: str, seed: int) -> None:
    check(list(pieces(random.Random(f"{name}{seed}"), known=60, unknown=4, names=(name,))))


def reached(known: int) -> set[tuple[str, int]]:
    """Return the table rows that random pieces, `known` of each, decode to; check their mnemonics."""
    seen: set[tuple[str, int]] = set()
    for piece in pieces(random.Random(5), known=known, unknown=0):
        try:
            instruction = decode(piece.code, 0, 0)
        except UndecodableInstruction:
            continue
        for half in (instruction, instruction.pair):
            if half is not None:
                name = half.opcode.encoding.replace("VOP3SD", "VOP3")
                assert half.mnemonic == ROWS[name][half.opcode.code][0]
                seen.add((name, half.opcode.code))
    return seen


def test_the_random_fields_reach_every_opcode_of_the_tables() -> None:
    """Otherwise the tests above could pass with an opcode that is always refused."""
    listed = {(name, code) for name, rows in ROWS.items() for code in rows}
    assert sorted(listed - reached(120)) == []


@pytest.mark.exhaustive
def test_the_checked_in_tables_are_what_the_generator_writes() -> None:
    assert generate_tables.table_text() == generate_tables.TARGET.read_text()
