"""Rows of the opcode tables, each read when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from amdjit.isa.formats import Field, Format, format_named
from amdjit.isa.instruction import Opcode, OperandSpec
from amdjit.isa.instruction_set import GFX11, GFX12, InstructionSet
from amdjit.isa.matrix_products import MatrixProduct
from amdjit.isa.mnemonics import traits_of
from amdjit.isa.operand_codes import LITERAL
from amdjit.isa.traits import Traits
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class OperandRow:
    """How to read one operand: the bits at `shift` under `mask`, and what they may hold."""

    spec: OperandSpec
    kind: str
    """What the number in the field stands for."""
    shift: int
    mask: int
    takes: str
    """Letters v s i l n (VGPR, scalar, inline constant, literal, null where no other scalar is
    taken), or a word for an operand without a plain field: vcc, exec, literal, returned (the result
    of an atomic), off, null."""
    constants: str
    """How the disassembler prints constants here."""
    half: bool
    """The operand names either half of a VGPR."""
    hidden: bool
    """Whether the disassembler leaves the operand out."""
    source: int
    """n for srcn, 3 for vdst, -1 otherwise."""
    dwords: int
    plain: str
    """See `_plain_kind`."""


@dataclass(frozen=True, slots=True)
class Row:
    """One opcode."""

    opcode: Opcode
    format: Format
    operands: tuple[OperandRow, ...]
    suffixed: bool
    """The text has a suffix for the encoding."""
    flags: dict[str, int]
    """Modifier name -> bits that the opcode has."""
    fixed: tuple[tuple[int, int, int], ...]
    """(shift, mask, value) of bits that may not change."""
    selects: str
    """The op_sel bit at each place of op_sel:[...]."""
    words: frozenset[str]
    """Bare flags (dpp16, dpp8, mix, ...)."""
    literal: bool
    """A literal always follows."""
    select_mask: int
    """The op_sel bits that have a meaning, or are accepted without one."""
    source_fields: tuple[tuple[int, int], ...]
    """(shift, mask) of each source that may announce a literal."""
    dpp_shift: int
    """Where src0 may announce a DPP word, -1 for nowhere."""

    def uses_literal(self, bits: int) -> bool:
        """Whether a literal follows: always, or because a source announces it."""
        for shift, mask in self.source_fields:
            if (bits >> shift) & mask == LITERAL:
                return True
        return self.literal

    def has(self, word: str) -> bool:
        """Whether the row has a bare flag (dpp16, dpp8, mix, ...)."""
        return word in self.words

    def has_operand(self, role: str) -> bool:
        """Whether an operand has a role."""
        return any(operand.spec.role == role for operand in self.operands)


# v8f16 or b128: the number to halve.
_MATRIX_TYPE = re.compile(r"^([vb])(\d+)")
_DPP_SHIFTS = {"VOP1": 0, "VOP2": 0, "VOPC": 0, "VOP3": 32, "VOP3P": 32}
_SOURCES = {"src0": 0, "src1": 1, "src2": 2, "vdst": 3}


@cache
def row_of(
    format_name: str, code: int, wave_size: int = 32, instruction_set: InstructionSet = GFX12
) -> Row | None:
    """Return the row of an opcode, or None if there is none; the table is for wave32."""
    entry = instruction_set.rows[format_name].get(code)
    if entry is None:
        return None
    mnemonic, operand_text, flag_text = entry
    texts, flags = operand_text.split(), flag_text.split()
    traits = traits_of(instruction_set, format_name, mnemonic, list(map(_operand_facts, texts)))
    if wave_size != 32 and instruction_set.has_wave32:
        spread = instruction_set.spread_factors
        texts = [_operand_for_wave64(traits, text, spread) for text in texts]
        flags = _flags_for_wave64(traits.matrix, flags)
    form = format_named(
        instruction_set.formats, "VOPD" if format_name.startswith("VOPD") else format_name
    )
    operands = tuple(_operand_row(form, text) for text in texts)
    encoding = format_name
    if form.name == "VOP3" and any(operand.spec.role == "sdst" for operand in operands):
        encoding = "VOP3SD"
    specs = tuple(operand.spec for operand in operands)
    # Elsewhere such halves are operands.
    selects = format_name == "VOP3" and not instruction_set.keeps_high_halves
    selects = selects and any(flag.startswith("op_sel=") for flag in flags)
    opcode = Opcode(
        mnemonic,
        encoding,
        code=code,
        operands=specs,
        traits=traits,
        instruction_set=instruction_set,
        selects_halves=selects,
    )
    return _with_flags(opcode, form, operands, flags)


def opcodes(instruction_set: InstructionSet = GFX12) -> Iterator[Opcode]:
    """Yield all opcodes of a family, in the order of its tables."""
    for format_name, entries in instruction_set.rows.items():
        for code in entries:
            row = row_of(format_name, code, instruction_set=instruction_set)
            assert row is not None
            yield row.opcode


def _operand_facts(text: str) -> tuple[str, str, bool, str]:
    role, kind, _, access, takes, _, _ = text.split(":")
    return role, kind, "w" in access, takes


def _operand_for_wave64(traits: Traits, text: str, spread_factors: bool) -> str:
    """Lane masks are pairs; a lane holds half as much of a matrix."""
    role, kind, dwords, rest = text.split(":", 3)
    spreads = traits.matrix or (traits.memory and traits.memory.is_transposed)
    if kind == "mask":
        dwords = "2"
    elif (
        spreads
        and int(dwords) > 1
        and role in (("vdst", "src0", "src1", "src2") if spread_factors else ("vdst", "src2"))
    ):
        dwords = str(int(dwords) // 2)
        kind = _MATRIX_TYPE.sub(lambda match: f"{match[1]}{int(match[2]) // 2}", kind, count=1)
    return f"{role}:{kind}:{dwords}:{rest}"


def _flags_for_wave64(matrix: MatrixProduct | None, flags: list[str]) -> list[str]:
    """An index of a sparse matrix has twice as many sets."""
    if matrix is None or not matrix.sparse:
        return flags
    sets = 1 if matrix.a == "iu4" else 3
    kept = [word for word in flags if "op_sel=" not in word and word != "index_key"]
    return [*kept, f"op_sel={sets}", f"!op_sel={7 & ~sets}", "index_key"]


def _with_flags(
    opcode: Opcode, form: Format, operands: tuple[OperandRow, ...], words: list[str]
) -> Row:
    flags: dict[str, int] = {}
    fixed: list[tuple[int, int, int]] = []
    selects = ""
    for word in words:
        name, _, value = word.partition("=")
        if name == "sel":
            selects = value
        elif name.startswith("!"):
            fixed.append(_fixed_bits(form, name[1:], int(value, 16)))
        elif value:
            flags[name] = int(value, 16)
    bare = frozenset(word for word in words if "=" not in word)
    halves = sum(
        1 << operand.source for operand in operands if operand.half and operand.source >= 0
    )
    sources = tuple(
        (operand.shift, operand.mask) for operand in operands if operand.kind in ("s8", "s9")
    )
    return Row(
        opcode,
        form,
        operands=operands,
        suffixed="e" in bare,
        flags=flags,
        fixed=tuple(fixed),
        selects=selects,
        words=bare,
        literal=any(operand.takes == "literal" for operand in operands),
        select_mask=flags.get("op_sel", 0) | flags.get("unused_op_sel", 0) | halves,
        source_fields=sources,
        dpp_shift=_DPP_SHIFTS.get(form.name, -1) if operands or "dpp16" in bare else -1,
    )


def _fixed_bits(form: Format, name: str, mask: int) -> tuple[int, int, int]:
    """Return (shift, mask, required value): op_sel_hi must be all ones where it may not change,
    others 0."""
    return form.field(name).shift, mask, mask if name.startswith("op_sel_hi") else 0


def _operand_row(form: Format, text: str) -> OperandRow:
    role, kind, dwords, access, takes, constants, marks = text.split(":")
    spec = OperandSpec(role, kind, int(dwords), "w" in access, "r" in access)
    fields = {field.name: field for field in form.fields}
    field = fields.get(role)
    return OperandRow(
        spec,
        field.kind if field and takes not in ("vcc", "exec", "literal") else "implied",
        shift=field.shift if field else 0,
        mask=(1 << field.bits) - 1 if field else 0,
        takes=takes,
        constants=constants,
        half="h" in marks,
        hidden="-" in marks,
        source=_SOURCES.get(role, -1),
        dwords=int(dwords),
        plain=_plain_kind(field, takes, "h" in marks),
    )


def _plain_kind(field: Field | None, takes: str, half: bool) -> str:
    """Return "vector" or "source" if the field's number alone determines the operand, else ""."""
    if field is None or half or takes in ("a", "vcc", "exec", "literal"):
        return ""
    if field.kind == "v8" or (field.kind == "d8" and takes == "v"):
        return "vector"
    return "source" if field.kind in ("s8", "s9") else ""


# Opcodes by mnemonic, for what is made of an instruction without its machine code.


_NEWEST = (GFX12, GFX11)


def opcode_named(mnemonic: str, *sets: InstructionSet) -> Opcode:
    """Return an instruction's opcode in the first of its encodings, for wave32.

    sets: where to look for it, by default in the newest family that has it. Operand types do not
    depend on the encoding. KeyError if there is no such instruction.
    """
    encoding, code, found = _first_encodings(sets or _NEWEST)[mnemonic]
    row = row_of(encoding, code, instruction_set=found)
    assert row is not None
    return row.opcode


def mnemonics(sets: InstructionSet) -> Iterable[str]:
    """Return the names of all instructions of a set."""
    return _first_encodings((sets,)).keys()


@cache
def _first_encodings(
    order: tuple[InstructionSet, ...],
) -> dict[str, tuple[str, int, InstructionSet]]:
    found: dict[str, tuple[str, int, InstructionSet]] = {}
    for sets in order:
        for encoding, codes in sets.rows.items():
            for code, (mnemonic, _, _) in codes.items():
                found.setdefault(mnemonic, (encoding, code, sets))
    return found
