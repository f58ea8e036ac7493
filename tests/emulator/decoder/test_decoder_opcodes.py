"""Every opcode number of every format, with random fields: the decoder and llvm-objdump agree."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import dataclass, replace

import pytest

from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import GFX11, GFX12, GFX115, InstructionSet
from amdjit.isa.text import disassemble
from tests.emulator.decoder import generate_tables
from tests.emulator.decoder.assembler import Assembled, assemble_each
from tests.emulator.decoder.field_code import field_pieces, source_pieces
from tests.emulator.decoder.objdump import Line, asking_about, disassemble_each, missing_tools
from tests.emulator.decoder.random_code import Piece, pieces

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")

_AT_ONCE = 20000
# The disassembler writes much that is no instruction: registers that do not exist, misaligned ones,
# those of another class, bits that mean nothing. What the decoder refuses must be such text: the
# assembler does not make those bytes from it. The exceptions are instructions outside of what the
# emulator covers, v_illegal, whose meaning is to fault, and src_lds_direct, which gfx12 has not
# (ISA document, section 15.3): the assembler forgets that in dual-issue instructions.
BEYOND = re.compile(
    r"^(image \(|export|interpolation|lone V_MFMA_LD_SCALE_B32|BVH|global data share).* "
    r"instructions are not supported$|"
    r"^a flat access has no negative offset$|"
    r"^unknown VOP2 opcode 0$|^source code 254 is unknown$"
)


@dataclass(frozen=True)
class Doubt:
    """Where decoder and disassembler disagree: the assembler says whose text means the piece's
    bytes."""

    piece: Piece
    features: str
    mine: str | None
    theirs: str | None
    reason: str = ""

    def verdict(self, mine: Assembled | None, theirs: Assembled | None) -> str | None:
        """Return what is wrong if the assembler makes those of the texts, or None."""
        right = theirs is not None and self.piece.code.startswith(theirs.code)
        if self.mine is None:
            return (
                f"{self.piece.code.hex()}: refused ({self.reason}), but it is {self.theirs!r}"
                if right
                else None
            )
        if mine is None or (self.theirs and (right or not self.piece.code.startswith(mine.code))):
            return f"{self.piece.code.hex()}: {self.mine!r}, oracle {self.theirs!r}"
        return None


def judged(doubts: list[Doubt], features: str) -> list[str]:
    """Let the assembler decide; return what is wrong."""
    mine, theirs = (
        iter(assemble_each([text for text in texts if text is not None], features))
        for texts in ([doubt.mine for doubt in doubts], [doubt.theirs for doubt in doubts])
    )
    verdicts = [
        doubt.verdict(next(mine) if doubt.mine else None, next(theirs) if doubt.theirs else None)
        for doubt in doubts
    ]
    return [text for text in verdicts if text]


def rejected_by_oracle(line: Line) -> bool:
    """s_delay_alu is a hint: an unknown value in it is written as a comment and is harmless."""
    return line.rejected and "/* invalid inst" not in line.text


def text_doubts(
    piece: Piece, instruction: Instruction, lines: tuple[Line, Line], names: tuple[str, str]
) -> list[Doubt]:
    """Compare the text in both syntaxes; the default one cannot name every half."""
    default, halves = (None if rejected_by_oracle(line) else line.text for line in lines)
    mine, mine_halves = (disassemble(instruction, true16) for true16 in (False, True))
    is_older_product = (
        mine.startswith("v_wmma_") and not instruction.opcode.instruction_set.spread_factors
    )
    if is_older_product and default is not None:
        # It writes the literals of gfx11's products as lit(...) in waves of 64 only.
        default = halves = re.sub(r"lit\((0x[0-9a-f]+)\)", r"\1", default)
    found = (
        [Doubt(piece, names[1], mine_halves, halves)] if halves and mine_halves != halves else []
    )
    selects_more = mine == mine_halves and re.search(r"\.h|op_sel", mine)
    if default and mine != default and not selects_more:
        found.append(Doubt(piece, names[0], mine, default))
    return found


def of_other_class(
    piece: Piece, instruction: Instruction, line: Line, features: str, true16: bool
) -> Doubt:
    """Return the doubt about an operand's class: the assembler must take the text."""
    mine = disassemble(instruction, true16)
    return Doubt(
        piece, features, mine, None if mine == line.of_other_class else line.of_other_class
    )


def is_misread(instruction: Instruction) -> bool:
    """Return whether the disassembler takes the DPP control for a source: 2 for 130, the code of
    that constant.

    It takes a literal, too, where src2 announces one, which V_CVT_PK_FP8_F32 and V_CVT_PK_BF8_F32
    have not.
    """
    keeps_a_half = re.fullmatch(
        r"v_cvt_pk_(fp8|bf8)_f32|v_fma_mix(lo|hi)_f16", instruction.mnemonic
    )
    return (
        keeps_a_half is not None
        and "VOP3" in instruction.opcode.encoding
        and instruction.modifiers.dpp is not None
    )


def without_control(text: str) -> str:
    """Leave out what DPP does; test_decoder_assembly.py compares it for the instructions that are
    misread."""
    return re.sub(r" (quad_perm|dpp8):\[[\d,]+\]| row_(?!mask)\w+(:\d+)?", "", text)


def compare(
    piece: Piece,
    lines: tuple[Line, Line],
    names: tuple[str, str],
    wave_size: int,
    sets: InstructionSet,
) -> list[str | Doubt]:
    """Return what is wrong with the decoding of a piece, and what the assembler must decide."""
    accepted = [index for index in (0, 1) if not rejected_by_oracle(lines[index])]
    # Without real 16-bit registers a half is a register of another class: the other syntax has it.
    others = [] if accepted else [index for index in (0, 1) if lines[index].of_other_class]
    try:
        instruction = decode(piece.code, 0, 0, wave_size, sets)
    except UndecodableInstruction as error:
        if BEYOND.match(error.reason):
            return []
        texts = [lines[index].of_other_class or lines[index].text for index in (0, 1)]
        return [
            Doubt(piece, names[index], None, texts[index], error.reason)
            for index in accepted or others
        ]
    if others:
        return [
            of_other_class(piece, instruction, lines[index], names[index], bool(index))
            for index in others
        ]
    if not accepted:
        return [Doubt(piece, names[1], disassemble(instruction, True), None)]
    if is_misread(instruction):
        texts = [disassemble(instruction, true16) for true16 in (False, True)]
        same = [
            without_control(texts[index]) == without_control(lines[index].text)
            for index in accepted
        ]
        return (
            []
            if all(same)
            else [Doubt(piece, names[index], texts[index], lines[index].text) for index in accepted]
        )
    if any(lines[index].size != instruction.size for index in accepted):
        return [f"{piece.code.hex()}: {instruction.size} bytes, oracle {lines[accepted[0]].size}"]
    return [*text_doubts(piece, instruction, lines, names)]


def check(chosen: list[Piece], wave_size: int = 32, sets: InstructionSet = GFX12) -> None:
    """Decoder and llvm-mc agree on what is an instruction, its length and its text in both
    syntaxes."""
    with asking_about(sets.processor):
        _check(chosen, wave_size, sets)


def _check(chosen: list[Piece], wave_size: int, sets: InstructionSet) -> None:
    codes = [piece.code for piece in chosen]
    names = f"+wavefrontsize{wave_size}", f"+wavefrontsize{wave_size},+real-true16"
    listings = zip(*(disassemble_each(codes, features) for features in names), strict=True)
    found = [
        outcome
        for piece, lines in zip(chosen, listings, strict=True)
        for outcome in compare(piece, lines, names, wave_size, sets)
    ]
    wrong = [outcome for outcome in found if isinstance(outcome, str)]
    for features in names:
        wrong += judged(
            [item for item in found if isinstance(item, Doubt) and item.features == features],
            features,
        )
    assert not wrong, f"{len(wrong)} of {len(codes)} differ:\n" + "\n".join(wrong[:20])


SETS = {sets.name: sets for sets in (GFX12, GFX11, GFX115)}
# What gfx11.5 has beyond gfx11: scalar floats, and scalars with DPP.
_NEW = ("SOP1", "SOP2", "SOPC", "VOP3")
EVERY_FORMAT = [
    pytest.param(
        sets,
        form.name,
        id=f"{sets.name}-{form.name}",
        marks=() if sets is not GFX115 or form.name in _NEW else pytest.mark.exhaustive,
    )
    for sets in SETS.values()
    for form in sets.formats.listed
]


@pytest.mark.sample(18)
@pytest.mark.parametrize(("sets", "name"), EVERY_FORMAT)
def test_random_fields_of_every_opcode_decode_as_objdump_does(
    sets: InstructionSet, name: str
) -> None:
    chosen = pieces(random.Random(name), 2 if sets is GFX12 else 1, 1, (name,), sets)
    check(list(chosen), sets=sets)


@pytest.mark.sample(22)
@pytest.mark.parametrize(("sets", "name"), EVERY_FORMAT)
def test_fields_of_every_opcode_decode_as_objdump_does(sets: InstructionSet, name: str) -> None:
    count = 2 if sets is GFX12 else 1
    check(list(field_pieces(name, random.Random(name), count, sets)), sets=sets)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("family", "wave_size"), [("gfx12", 32), ("gfx12", 64), ("gfx11", 64)])
def test_each_class_of_operand_in_each_source_decodes_as_objdump_does(
    family: str, wave_size: int
) -> None:
    check(list(source_pieces(SETS[family])), wave_size, SETS[family])


@pytest.mark.exhaustive
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize(("sets", "name"), EVERY_FORMAT)
def test_all_fields_of_every_opcode_decode_as_objdump_does(
    sets: InstructionSet, name: str, wave_size: int
) -> None:
    every = field_pieces(name, sets=sets)
    while chosen := list(itertools.islice(every, _AT_ONCE)):
        check(chosen, wave_size, sets)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["VOPC", "VOP2", "VOP3", "VOP3P", "VGLOBAL"])
def test_random_fields_decode_as_objdump_does_in_wave64(name: str) -> None:
    """These formats have lane masks or matrices, which cover other registers in wave64."""
    check(list(pieces(random.Random(f"{name}64"), known=4, unknown=0, names=(name,))), 64)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sets", "name"), EVERY_FORMAT)
@pytest.mark.parametrize("seed", range(4))
def test_many_random_fields_of_every_opcode_decode_as_objdump_does(
    sets: InstructionSet, name: str, seed: int
) -> None:
    check(list(pieces(random.Random(f"{name}{seed}"), 60, 4, (name,), sets)), sets=sets)


_Rows = set[tuple[str, int]]


def missed(sets: InstructionSet, listed: _Rows, rounds: int) -> _Rows:
    """Return the listed table rows that no random piece decodes to, in rounds of 12 for each that
    is left."""
    among = sets
    for number in range(rounds):
        listed = listed - reached(sets, 12, number, among)
        if not listed:
            break
        rows = {name: [] for name in sets.rows} | _by_name(listed)
        among = replace(
            sets, rows={name: {code: sets.rows[name][code] for code in rows[name]} for name in rows}
        )
    return listed


def _by_name(rows: _Rows) -> dict[str, list[int]]:
    return {key: [code for name, code in sorted(rows) if name == key] for key, _ in rows}


def reached(sets: InstructionSet, known: int, seed: int, among: InstructionSet) -> _Rows:
    """Return the table rows that random pieces, `known` of each opcode of `among`, decode to; check
    their mnemonics."""
    seen: _Rows = set()
    # Halves of dual instructions have tables of their own.
    names = {
        "VOPD" if name.startswith("VOPD") else name for name, rows in among.rows.items() if rows
    }
    for piece in pieces(random.Random(seed), known, 0, tuple(sorted(names)), among):
        try:
            instruction = decode(piece.code, 0, 0, 32, sets)
        except UndecodableInstruction:
            continue
        for half in (instruction, instruction.pair):
            if half is not None:
                name = half.opcode.encoding.replace("VOP3SD", "VOP3")
                assert half.mnemonic == sets.rows[name][half.opcode.code][0]
                seen.add((name, half.opcode.code))
    return seen


@pytest.mark.sample(1)
@pytest.mark.parametrize("sets", [GFX12, GFX11], ids=["gfx12", "gfx11"])
def test_the_random_fields_reach_every_opcode_of_the_tables(sets: InstructionSet) -> None:
    """Otherwise the tests above could pass with an opcode that is always refused."""
    listed = {(name, code) for name, rows in sets.rows.items() for code in rows}
    assert sorted(missed(sets, listed, rounds=40)) == []


def test_the_random_fields_reach_what_gfx11_5_has_beyond_gfx11() -> None:
    """Scalar floats: 15 with one operand, 15 with two, 28 comparisons."""
    new = {
        name: {code: row for code, row in rows.items() if code not in GFX11.rows[name]}
        for name, rows in GFX115.rows.items()
    }
    counts = {name: len(rows) for name, rows in new.items() if rows}
    assert counts == {"SOP1": 15, "SOP2": 15, "SOPC": 28}
    only = replace(GFX115, rows={name: new.get(name, {}) for name in new})
    listed = {(name, code) for name, rows in new.items() for code in rows}
    assert reached(only, 60, 5, only) == listed


@pytest.mark.exhaustive
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_the_checked_in_tables_are_what_the_generator_writes(sets: InstructionSet) -> None:
    assert generate_tables.table_text(sets) == generate_tables.TARGETS[sets].read_text()
