"""Instructions to bytes: the decoder's tables read the other way.

`encode` is the inverse of `decode`, and asks it: what does not read back as it was written has no
encoding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from amdjit.isa.decode import decode
from amdjit.isa.encoding.operands import VCC_LO, Value, code_of, constant, literal, without_half
from amdjit.isa.errors import EncodingError, UndecodableInstruction
from amdjit.isa.formats import Format, format_named
from amdjit.isa.instruction import (
    Dpp,
    Instruction,
    Literal,
    Modifiers,
    Operand,
    Register,
    RegisterFile,
    Sdwa,
)
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.operand_codes import DPP8, DPP8_FETCH_INACTIVE, DPP16, VGPR_BASE
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.isa.text import disassemble

__all__ = [
    "Half",
    "assemble_dual",
    "byte_selection",
    "encode",
    "immediates_in",
    "plain_modifiers",
    "row_of_instruction",
]


_SDWA = 249
_EXEC = 126
_MOVE_OPERANDS = 2
# Moves of accumulation VGPRs have op_sel_hi's bits as those of VOP3P that mean nothing.
_PACKED_DEFAULTS = 1 << 14 | 3 << 59
_FLAT = ("VFLAT", "VGLOBAL", "VSCRATCH")


def row_of_instruction(instruction: Instruction, wave_size: int) -> Row:
    """Return the opcode's row in the decoder's tables."""
    opcode = instruction.opcode
    name = "VOP3" if opcode.encoding == "VOP3SD" else opcode.encoding
    row = row_of(name, opcode.code, wave_size, opcode.instruction_set)
    assert row is not None
    return row


def encode(instruction: Instruction, wave_size: int) -> bytes:
    """Return the bytes of an instruction, whose `pc` and `size` do not matter; EncodingError if
    it has no encoding, or one that reads as another instruction."""
    encode_one = _encode_single if instruction.pair is None else _encode_dual
    code = encode_one(instruction, wave_size)
    sets = instruction.opcode.instruction_set
    try:
        found = decode(code, 0, instruction.pc, wave_size, sets)
    except UndecodableInstruction as error:
        raise EncodingError(f"{instruction.mnemonic} has no such form: {error}") from None
    if found.size != len(code) or _essence(found) != _essence(instruction):
        wanted = disassemble(instruction)
        raise EncodingError(
            f"{wanted!r} has no encoding on {sets.name}: its bits say {disassemble(found)!r}"
        )
    return code


def immediates_in(instruction: Instruction, wave_size: int) -> dict[str, int]:
    """Return the immediates of an instruction as its bits say, if it names none; EncodingError if
    it has no encoding."""
    sets = instruction.opcode.instruction_set
    try:
        return decode(_encode_single(instruction, wave_size), 0, 0, wave_size, sets).immediates
    except UndecodableInstruction as error:
        raise EncodingError(error.reason) from None


def _essence(instruction: Instruction) -> object:
    """Return what two instructions must have in common to be the same."""
    pair = instruction.pair
    return (
        instruction.opcode,
        tuple(map(without_half, instruction.operands)),
        instruction.immediates,
        instruction.modifiers,
        pair and _essence(pair),
    )


class _Bits:
    """An instruction that is being put together."""

    def __init__(self, form: Format, opcode: int) -> None:
        self.form = form
        self.value = form.leading_bits | form.constant | opcode << form.opcode.shift

    def put(self, shift: int, bits: int) -> None:
        self.value |= bits << shift

    def field(self, name: str, value: int) -> None:
        """Fill a field, if the format has it."""
        field = self.form.find(name)
        if field is not None:
            self.value |= (value & ((1 << field.bits) - 1)) << field.shift

    def written(self, tail: int | None) -> bytes:
        code = self.value.to_bytes(self.form.size, "little")
        return code if tail is None else code + tail.to_bytes(4, "little")


def _encode_single(instruction: Instruction, wave_size: int) -> bytes:
    row = row_of_instruction(instruction, wave_size)
    bits = _Bits(row.format, instruction.opcode.code)
    for shift, _, required in row.fixed:
        bits.put(shift, required)
    if row.format.name == "MAI" and len(row.operands) == _MOVE_OPERANDS:
        bits.put(0, _PACKED_DEFAULTS)
    _put_absent(bits, row, instruction)
    for operand, value in zip(row.operands, instruction.operands, strict=True):
        if value is not None:
            _put_operand(bits, row, operand, value, instruction)
    _put_modifiers(bits, row, instruction)
    _put_immediates(bits, row, instruction)
    return bits.written(_tail(bits, row, instruction))


def _put_absent(bits: _Bits, row: Row, instruction: Instruction) -> None:
    """Fill the fields of operands that are left out, where that is not a zero."""
    sets = instruction.opcode.instruction_set
    values = dict(zip((each.spec.role for each in row.operands), instruction.operands, strict=True))
    if row.format.name in _FLAT and values.get("saddr") is None:
        bits.field("saddr", sets.codes.no_address)
    if row.format.name == "VSCRATCH" and values.get("vaddr") is not None:
        bits.field("sve", 1)
    if row.format.name == "SMEM" and row.opcode.traits.memory:
        bits.field("soffset", (sets.codes.null or 0) if values.get("soffset") is None else 0)


def _put_gfx9_scalar_offset(bits: _Bits, instruction: Instruction, code: int) -> None:
    """Put the number of the register where it belongs: beside an offset, or in its place."""
    if instruction.immediates.get("imm"):
        bits.field("soffset_en", 1)
        bits.field("soffset", code)
    else:
        bits.field("offset", code)


def _put_operand(
    bits: _Bits, row: Row, operand: OperandRow, value: Operand, instruction: Instruction
) -> None:
    if operand.kind == "implied":
        # On gfx9 EXEC is written beside the operand.
        if row.format.name == "VOP3" and operand.takes == "exec":
            bits.field(operand.spec.role, _EXEC)
        return
    sets = row.opcode.instruction_set
    code = code_of(value, sets)
    if operand.spec.role == "soffset" and bits.form.find("soffset_en") is not None:
        _put_gfx9_scalar_offset(bits, instruction, code)
        return
    if isinstance(value, Register) and value.file is RegisterFile.AGPR:
        _mark_accumulation(bits, operand)
    if operand.half and isinstance(value, Register):
        code = _with_half(bits, row, operand, value, code)
    bits.put(operand.shift, _in_field(operand.kind, code) & operand.mask)


def _in_field(kind: str, code: int) -> int:
    if kind == "b6":
        return code >> 1
    if kind == "q5":
        return code >> 2
    return code - VGPR_BASE if kind in ("v8", "d8") and code >= VGPR_BASE else code


def _with_half(bits: _Bits, row: Row, operand: OperandRow, register: Register, code: int) -> int:
    half = register.half or 0
    if row.format.name in ("VOP3", "VINTERP"):
        bits.put(11 + operand.source, half)
        return code
    if register.file is not RegisterFile.VGPR:
        return code
    if register.index > 127:
        raise EncodingError(f"halves of v{register.index} need the VOP3 form")
    return code | half << 7


def _mark_accumulation(bits: _Bits, operand: OperandRow) -> None:
    """Say that an operand lies in accumulation VGPRs, if it need not."""
    if operand.takes and "v" not in operand.takes:
        return
    if operand.spec.role in ("src0", "src1"):
        bits.field("acc", 1 << operand.source)
    elif bits.form.find("acc_cd") is not None:
        bits.field("acc_cd", 1)
    else:
        bits.field("acc", 1)


def _put_modifiers(bits: _Bits, row: Row, instruction: Instruction) -> None:
    given = instruction.modifiers
    if row.format.name not in ("VOP3", "VOP3P", "VINTERP"):
        return
    if row.format.name == "VOP3P":
        bits.field("neg_hi", given.abs if row.has("mix") else given.neg_hi)
        _put_high_selections(bits, row, given.op_sel_hi)
    elif given.abs:
        bits.field("abs", given.abs)
    bits.field("neg", given.neg)
    if given.op_sel:
        bits.field("op_sel", given.op_sel)
    if given.clamp:
        bits.field("clamp", 1)
    bits.field("omod", given.omod)


def _put_high_selections(bits: _Bits, row: Row, selection: int) -> None:
    """Fill op_sel_hi; its bits are set where they mean nothing, as assemblers set them."""
    if not row.has("mix"):
        known = row.flags.get("op_sel_hi", 0) | row.flags.get("op_sel_hi_2", 0) << 2
        has_third = any(operand.source == 2 for operand in row.operands)
        selection |= 7 if not known else 0 if has_third else 4
    bits.field("op_sel_hi", selection & 3)
    bits.field("op_sel_hi_2", selection >> 2)


def byte_selection(row: Row, value: int) -> int:
    """Return op_sel: bits 1:0, swapped, for a source, bits 3:2 for the destination."""
    is_source = row.flags.get("op_sel", 0) & 3
    return (value & 1) << 1 | value >> 1 if is_source else value << 2


_SPECIAL_IMMEDIATES: dict[str, Callable[[_Bits, Row, int], None]] = {
    "sdata": lambda bits, row, value: bits.field("sdst", value),
    "message": lambda bits, row, value: bits.field("src0", value),
    "index_mode": lambda bits, row, value: bits.field("src1", value),
    "index_key": lambda bits, row, value: bits.field("op_sel", value),
    "byte_sel": lambda bits, row, value: bits.field("op_sel", byte_selection(row, value)),
    "wait_exp": lambda bits, row, value: bits.field("wait_exp", value),
}


def _put_immediates(bits: _Bits, row: Row, instruction: Instruction) -> None:
    for name, value in instruction.immediates.items():
        if name == "offset" and row.format.name == "DS":
            bits.field("offset0", value & 0xFF)
            bits.field("offset1", value >> 8)
        elif name in _SPECIAL_IMMEDIATES:
            _SPECIAL_IMMEDIATES[name](bits, row, value)
        elif name not in ("hwreg_id", "hwreg_offset", "hwreg_size"):
            bits.field(name, value)


def _tail(bits: _Bits, row: Row, instruction: Instruction) -> int | None:
    """Return the word that follows: a literal, DPP or SDWA; and say so in the first source."""
    given = instruction.modifiers
    if given.dpp is not None:
        return _dpp_word(bits, row, instruction, given.dpp)
    if given.sdwa is not None:
        return _sdwa_word(bits, row, instruction, given.sdwa)
    literals = {value.value for value in instruction.operands if isinstance(value, Literal)}
    if len(literals) > 1:
        raise EncodingError(f"{instruction.mnemonic} takes one literal, not {len(literals)}")
    return literals.pop() if literals else None


def _replace_source(bits: _Bits, code: int) -> int:
    """Put an announcement into src0; return the VGPR, or the scalar, that was there."""
    field = bits.form.field("src0")
    before = field.read(bits.value)
    bits.value &= ~(0x1FF << field.shift)
    bits.field("src0", code)
    return before


def _dpp_word(bits: _Bits, row: Row, instruction: Instruction, dpp: Dpp) -> int:
    if dpp.lanes is not None:
        announced = DPP8_FETCH_INACTIVE if dpp.fetch_inactive else DPP8
        word = _replace_source(bits, announced) & 0xFF
        return word | sum(lane << 8 + 3 * i for i, lane in enumerate(dpp.lanes))
    assert dpp.control is not None
    word = _replace_source(bits, DPP16) & 0xFF | dpp.control << 8
    word |= int(dpp.fetch_inactive) << 18 | int(dpp.bound_control) << 19
    word |= dpp.bank_mask << 24 | dpp.row_mask << 28
    if row.format.name in ("VOP1", "VOP2", "VOPC"):
        neg, absolute = instruction.modifiers.neg, instruction.modifiers.abs
        word |= (neg & 1) << 20 | (absolute & 1) << 21
        word |= (neg >> 1 & 1) << 22 | (absolute >> 1 & 1) << 23
    return word


def _sdwa_word(bits: _Bits, row: Row, instruction: Instruction, sdwa: Sdwa) -> int:
    pairs = zip(row.operands, instruction.operands, strict=True)
    values = {each.source: value for each, value in pairs}
    word = _replace_source(bits, _SDWA) & 0xFF
    for source in (0, 1):
        value = values.get(source)
        is_scalar = value is not None and code_of(value, row.opcode.instruction_set) < VGPR_BASE
        word |= sdwa.sources[source] << 16 + 8 * source | int(is_scalar) << 23 + 8 * source
        for marks, shift in (
            (sdwa.extended, 19), (instruction.modifiers.neg, 20), (instruction.modifiers.abs, 21),
        ):  # fmt: skip
            word |= (marks >> source & 1) << shift + 8 * source
    if row.format.name == "VOPC":
        mask = instruction.operand("vdst")
        if isinstance(mask, Register) and mask.file is not RegisterFile.VCC:
            word |= 1 << 15 | code_of(mask, row.opcode.instruction_set) << 8
        return word
    whole = 6 if sdwa.destination is None else sdwa.destination
    word |= whole << 8 | sdwa.unused << 11
    return word | int(instruction.modifiers.clamp) << 13 | instruction.modifiers.omod << 14


def _encode_dual(instruction: Instruction, wave_size: int) -> bytes:
    pair = instruction.pair
    assert pair is not None
    sets = instruction.opcode.instruction_set
    bits = _Bits(format_named(sets.formats, "VOPD"), instruction.opcode.code)
    bits.field("opy", pair.opcode.code)
    literals = set()
    for half, suffix in ((instruction, "x"), (pair, "y")):
        for spec, value in zip(half.opcode.operands, half.operands, strict=True):
            assert value is not None
            if isinstance(value, Literal):
                literals.add(value.value)
            if spec.role in ("src0", "src1", "vdst"):
                _put_dual_operand(bits, spec.role + suffix, value, sets)
    if len(literals) > 1:
        raise EncodingError("the halves of a dual-issue instruction share one literal")
    return bits.written(literals.pop() if literals else None)


def _put_dual_operand(bits: _Bits, name: str, value: Operand, sets: InstructionSet) -> None:
    code = code_of(value, sets)
    if name == "vdsty":
        bits.field(name, (code - VGPR_BASE) >> 1)
    else:
        bits.field(name, _in_field("s9" if name.startswith("src0") else "v8", code))


def plain_modifiers(row: Row) -> Modifiers:
    """Return the modifiers of an instruction that names none."""
    high = row.flags.get("op_sel_hi", 0) | row.flags.get("op_sel_hi_2", 0) << 2
    return replace(Modifiers(), op_sel_hi=0 if row.has("mix") else high)


# Dual-issue instructions (VOPD) from their two halves.


Half = tuple[Any, ...]
"""A mnemonic (v_dual_...) and its operands in the assembler's order."""
_WAVE_SIZE = 32


def assemble_dual(first: Half, second: Half, sets: InstructionSet) -> bytes:
    """Return the bytes of a dual-issue instruction; EncodingError if the halves do not go
    together, as when both destinations are even."""
    halves = [
        _half(_row(half[0], table, sets), half[1:])
        for half, table in ((first, "VOPDX"), (second, "VOPDY"))
    ]
    return encode(replace(halves[0], pair=halves[1]), _WAVE_SIZE)


def _row(mnemonic: str, table: str, sets: InstructionSet) -> Row:
    for code, entry in sets.rows.get(table, {}).items():
        if entry[0] == mnemonic:
            row = row_of(table, code, _WAVE_SIZE, sets)
            assert row is not None
            return row
    raise EncodingError(f"{sets.name} has no {table[-1]} half {mnemonic}")


def _half(row: Row, values: tuple[Value, ...]) -> Instruction:
    queue = list(values)
    operands: list[Operand | None] = []
    for operand in row.operands:
        if operand.takes == "vcc" and len(queue) < len(row.operands) - len(operands):
            operands.append(VCC_LO)
            continue
        if not queue:
            raise EncodingError(f"{row.opcode.mnemonic} takes {len(row.operands)} operands")
        value = queue.pop(0)
        if isinstance(value, int | float):
            find = literal if operand.takes == "literal" else constant
            value = find(value, operand.spec.type)
        operands.append(value)
    return Instruction(0, 0, row.opcode, tuple(operands), {})
