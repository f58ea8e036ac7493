"""Every value worth trying in every field of an opcode, one field at a time, without and with
DPP."""

from __future__ import annotations

import random
from collections.abc import Iterator

from amdjit.isa.formats import Field, Format
from amdjit.isa.instruction_set import GFX12, InstructionSet
from amdjit.isa.operand_codes import DPP8, DPP8_FETCH_INACTIVE, DPP16, LITERAL, NULL
from tests.emulator.decoder.random_code import SIZE, Piece

_VECTORS = (0, 1, 2, 5, 126, 127, 128, 129, 130, 131, 200, 254, 255)
_SCALARS = (
    0,
    1,
    2,
    3,
    4,
    6,
    8,
    100,
    103,
    104,
    105,
    106,
    107,
    108,
    109,
    112,
    116,
    120,
    122,
    123,
    124,
    125,
    126,
    127,
)
_CONSTANTS = (*range(128, 132), 191, 192, 193, 207, 208, *range(209, 256))
_VALUES = {
    "v8": _VECTORS,
    "d8": (*_VECTORS, *_SCALARS),
    "s7": _SCALARS,
    "s8": (*_SCALARS, *_CONSTANTS),
    "s9": (*_SCALARS, *_CONSTANTS, *(256 + number for number in _VECTORS)),
    "b6": (0, 1, 2, 3, 4, 50, 51, 52, 53, 54, 60, 62, 63),
    "r9": (*_SCALARS, 128, 256),
    "q5": (*range(32),),
}
_LITERALS = (
    0,
    5,
    65,
    0xFFFFFFFF,
    0x3C00,
    0xBC00,
    0x3F80,
    0x3118,
    0x3E22,
    0x3F800000,
    0x3FF00000,
    0x3E22F983,
)
_MORE_LITERALS = (
    0x40000000,
    0x3C003C00,
    0x3F803F80,
    0xC400,
    0x12345678,
    0x80000000,
    0xFFF0,
    0x41,
    0x10041,
)
_ALL_LITERALS = (*_LITERALS, *_MORE_LITERALS)
_ROWS_SHIFTED = 0xFF000105
_EIGHT_LANES = 0xFAC68805
_CONTROLS = (0, 0x1B, 0xE4, 0xFF, *range(0x100, 0x170), 0x1FF)
# Every bit of a DPP16 word but those of the register, and the controls.
_DPP_WORDS = (
    *(_ROWS_SHIFTED & ~(0x1FF << 8) | control << 8 for control in _CONTROLS),
    *(_ROWS_SHIFTED ^ (1 << bit) for bit in (0, 6, 7, *range(17, 32))),
)
_EIGHT_WORDS = (_EIGHT_LANES, 0x00000085, 0xFFFFFF05)


_SDWA = 249
_SDWA_BASES = (0x06060605, 0x05041505, 0x02030C08)
_SDWA_WORDS = (
    *_SDWA_BASES,
    *(word ^ (1 << bit) for word in _SDWA_BASES for bit in range(32)),
)
# gfx9 has the segment of a flat access in bits 15:14, and 127 for no scalar address.
_OLDER_SEGMENT = 14
# A vector and a scalar register, an inline integer and float, a literal, null.
_CLASSES = (300, 40, 193, 242, LITERAL, NULL)

# The fields of an instruction by name, and the dword after it: a literal or a DPP word.
_Fields = tuple[dict[str, int], int]


def field_pieces(
    name: str,
    choose: random.Random | None = None,
    count: int = 0,
    sets: InstructionSet = GFX12,
) -> Iterator[Piece]:
    """Yield each opcode of a format with each field changed, in its plain and its DPP forms.

    With `choose` only `count` of them for each opcode that the tables have, and at most one for any
    other.
    """
    form = next(form for form in sets.formats.listed if form.name == name)
    for opcode in range(1 << form.opcode.bits):
        every = list(_field_values(sets, form, opcode))
        if choose is not None:
            listed = form.name == "VOPD" or opcode in sets.rows[form.name]
            every = choose.sample(every, min(len(every), count if listed else 1))
        for fields, tail in every:
            yield _piece(form, opcode, fields, tail)


def base_pieces(sets: InstructionSet) -> Iterator[Piece]:
    """Yield each opcode that the tables have as it looks when it is right."""
    for form in sets.formats.listed:
        for opcode in sets.rows[form.name]:
            (base,) = _bases(sets, form, opcode)
            yield _piece(form, opcode, base, _LITERALS[-1])


def source_pieces(sets: InstructionSet = GFX12) -> Iterator[Piece]:
    """Yield each opcode that the tables have with each class of operand in each of its sources."""
    for form in sets.formats.listed:
        for opcode in sets.rows.get(form.name, {}):
            (base,) = _bases(sets, form, opcode)
            for field in form.fields:
                for value in _CLASSES if field.kind == "s9" and field.name in base else ():
                    yield _piece(form, opcode, {**base, field.name: value}, _LITERALS[-1])


def _field_values(sets: InstructionSet, form: Format, opcode: int) -> Iterator[_Fields]:
    for base in _bases(sets, form, opcode):
        yield base, _LITERALS[-1]
        yield from _changed(form, base, _LITERALS[-1])
        if any(field.name == "src0" and field.kind == "s9" for field in form.fields):
            yield from _with_dpp(form, base)
            if not sets.has_dpp8 and form.size == 4:
                yield from _with_sdwa(form, base)


def _bases(sets: InstructionSet, form: Format, opcode: int) -> list[dict[str, int]]:
    """Return how the opcode looks when it is right; several guesses for one that the tables have
    not."""
    entry = sets.rows.get(form.name, {}).get(opcode)
    vectors = {
        field.name: 256 + 8 * number if field.kind == "s9" else 0
        for number, field in enumerate(form.fields)
    }
    none = 127 if form.segment_shift == _OLDER_SEGMENT else NULL
    soffset = 0 if form.find("soffset_en") else NULL
    absent = {"saddr": none, "soffset": soffset, "op_sel_hi": 3, "op_sel_hi_2": 1, "imm": 1}
    if form.name == "VOPD":
        return [
            {**vectors, "src1x": 3, "src1y": 4, "vdsty": 9, "vdstx": 16, "opy": other}
            for other in range(19)
        ]
    if entry is None:
        return [{**vectors, **absent}]
    base = {**absent}
    if form.name == "SMEM" and "sbase" not in entry[1]:
        base["imm"] = 0
    for number, text in enumerate(entry[1].split()):
        role, _, _, _, takes = text.split(":")[:5]
        base[role] = _telling(form, role, takes, 16 * (number + 1))
    return [base]


def _telling(form: Format, role: str, takes: str, number: int) -> int:
    """Return a register for an operand, another one for each."""
    if takes == "exec":
        return 126
    if role in ("saddr", "soffset") and form.name not in ("VBUFFER", "VTBUFFER"):
        if role == "soffset":
            return 0 if form.find("soffset_en") else NULL
        return 127 if form.segment_shift == _OLDER_SEGMENT else NULL
    kinds = {field.name: field.kind for field in form.fields}
    kind = kinds.get(role, "imm")
    if kind == "s9" and ("v" in takes or "a" in takes):
        return 256 + number
    return number // {"b6": 2, "q5": 4}.get(kind, 1)


def _changed(form: Format, base: dict[str, int], tail: int) -> Iterator[_Fields]:
    for field in form.fields:
        for value in _values_of(field):
            changed = {**base, field.name: value}
            if value == LITERAL and field.kind in ("s8", "s9"):
                yield from ((changed, literal) for literal in _ALL_LITERALS)
            else:
                yield changed, tail


def _values_of(field: Field) -> tuple[int, ...]:
    if field.kind != "imm":
        return _VALUES[field.kind]
    if field.bits <= 4:
        return tuple(range(1 << field.bits))
    return (0, 5, *(1 << bit for bit in range(field.bits)), (1 << field.bits) - 1)


def _with_dpp(form: Format, base: dict[str, int]) -> Iterator[_Fields]:
    rows = {**base, "src0": DPP16}
    yield from ((rows, word) for word in _DPP_WORDS)
    yield from _changed(form, rows, _ROWS_SHIFTED)
    for source in (DPP8, DPP8_FETCH_INACTIVE):
        yield from (({**base, "src0": source}, word) for word in _EIGHT_WORDS)
    yield from _changed(form, {**base, "src0": DPP8}, _EIGHT_LANES)


def _with_sdwa(form: Format, base: dict[str, int]) -> Iterator[_Fields]:
    halves = {**base, "src0": _SDWA}
    yield from ((halves, word) for word in _SDWA_WORDS)
    yield from _changed(form, halves, _SDWA_WORDS[0])


def _piece(form: Format, opcode: int, fields: dict[str, int], tail: int) -> Piece:
    bits = form.leading_bits | opcode << form.opcode.shift | form.constant
    for field in form.fields:
        # Where fields overlap (sdst with abs and op_sel) only one of them is given.
        bits |= (fields.get(field.name, 0) & ((1 << field.bits) - 1)) << field.shift
    code = bits.to_bytes(form.size, "little") + tail.to_bytes(4, "little")
    return Piece(form.name, opcode, code + bytes.fromhex("000080bf") * ((SIZE - len(code)) // 4))
