"""Scalar and vector ALU instructions, with literals, DPP and SDWA words; matrix instructions and
dual-issue instructions.

Sources: RDNA 4 ISA document, section 15.3; CDNA 3 ISA document, sections "Scalar ALU Formats",
"Vector ALU Formats" and "VOP3P-MAI"; the scaled products of gfx950 are LLVM's VOP3PX.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from amdjit.isa.errors import InvalidField
from amdjit.isa.formats import format_named
from amdjit.isa.hardware_names import QUAD_PERMUTATIONS
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
from amdjit.isa.operand_codes import (
    DPP8,
    DPP8_FETCH_INACTIVE,
    DPP16,
    LITERAL,
    SDWA,
    VGPR_BASE,
    OperandCodes,
)
from amdjit.isa.operands import scalar_register, source_operand, vector_register
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.isa.traits import Immediate, SingleLane, Traits

_WORD_SOURCES = (DPP16, DPP8, DPP8_FETCH_INACTIVE, SDWA)
_EXEC = 126
_VCC = Register(RegisterFile.VCC, 0), Register(RegisterFile.VCC, 0, 2)
_EXEC_MASK = Register(RegisterFile.EXEC, 0), Register(RegisterFile.EXEC, 0, 2)
_WIDE_HALVES = ("VOP3", "VINTERP")
# v_nop and v_pipeflush: the bits of the operands must be 0.
_WITHOUT_OPERANDS = {"VOP1": 0x01FE0000, "VOP3": 0xFF}
_UNKNOWN_SELECTION = 7
# All of the result; nothing of the register is left.
_WHOLE_RESULT = 6
# FP8, BF8, FP6, BF6, FP4: 32 elements take as many registers.
_FORMAT_DWORDS = (8, 8, 6, 6, 4)
_MATRIX_CONTROLS = ("cbsz", "abid", "blgp")
_SCALE_SELECTIONS = ("op_sel", "op_sel_hi")
_SCALED = "MAIX"


def decode_alu(row: Row, bits: int, available: int, pc: int) -> Instruction:
    """Decode a SOP, VOP1/2/C/3/3P or VINTERP instruction of a known opcode; InvalidField if it is
    wrong."""
    base = row.format.size
    if available < base:
        raise InvalidField("the code ends inside the instruction")
    size, literal, dpp, word = base, None, None, 0
    if not row.operands and bits & _WITHOUT_OPERANDS.get(row.format.name, 0):
        raise InvalidField(f"{row.opcode.mnemonic} has no operands")
    if row.fixed:
        check_fixed_bits(row, bits)
    following = (bits >> (8 * base)) & 0xFFFFFFFF
    source = (bits >> row.dpp_shift) & 0x1FF if row.dpp_shift >= 0 else 0
    if source in _WORD_SOURCES:
        size, word = base + 4, following
        if available < size:
            raise InvalidField("the code ends before the DPP or SDWA word")
        if source == SDWA:
            return Instruction(pc, size, row.opcode, *_with_sdwa(row, bits, word))
        dpp = read_dpp(row, source, word)
    elif row.uses_literal(bits):
        size, literal = base + 4, Literal(following)
        if available < size:
            raise InvalidField("the code ends before the literal")
    if dpp is None:
        codes = row.opcode.instruction_set.codes
        operands = tuple(
            [_read_plain(row, codes, operand, bits, literal) for operand in row.operands]
        )
    else:
        operands = tuple([_read(row, operand, bits, literal, word) for operand in row.operands])
        _check_dpp_operands(row, operands)
    immediates = immediates_of(row, bits)
    return Instruction(
        pc,
        size,
        opcode=row.opcode,
        operands=operands,
        immediates=immediates,
        modifiers=read_modifiers(row, bits, dpp, word),
    )


def immediates_of(row: Row, bits: int) -> dict[str, int]:
    """Return the fields of an instruction that are no operands."""
    read = _IMMEDIATES.get(row.format.name)
    return read(row, bits) if read else {}


def _read_plain(
    row: Row, codes: OperandCodes, operand: OperandRow, bits: int, literal: Literal | None
) -> Operand:
    """Read an operand of an instruction without DPP. The common cases come first."""
    value = (bits >> operand.shift) & operand.mask
    if operand.plain == "vector":
        return vector_register(codes, value, operand.dwords)
    if operand.plain == "source" and value != LITERAL:
        return source_operand(codes, value, operand.dwords, operand.takes)
    return _read(row, operand, bits, literal, None)


def _read(
    row: Row, operand: OperandRow, bits: int, literal: Literal | None, dpp: int | None
) -> Operand:
    kind = operand.kind
    value = (bits >> operand.shift) & operand.mask
    if kind == "implied":
        return _implied(operand, literal)
    if dpp is not None and operand.source == 0:
        value = VGPR_BASE + (dpp & 0xFF)
    if operand.half:
        return _read_half(row, operand, bits, value, literal)
    dwords, codes = operand.dwords, row.opcode.instruction_set.codes
    if operand.takes == "a":
        if kind == "s9" and value < VGPR_BASE:
            raise InvalidField(f"{operand.spec.role} must be an accumulation VGPR")
        return vector_register(codes, value & 0xFF, dwords, accumulates=True)
    if kind == "v8" or (kind == "d8" and operand.takes == "v"):
        return vector_register(codes, value, dwords)
    if kind in ("s7", "d8"):
        if value > 0x7F or _is_no_destination(row.opcode.traits, codes, value):
            raise InvalidField(f"{value} is not a scalar destination")
        return scalar_register(codes, value, dwords)
    if value == LITERAL:
        return _literal(operand, literal)
    return source_operand(codes, value, dwords, operand.takes)


def _is_no_destination(traits: Traits, codes: OperandCodes, code: int) -> bool:
    """LLVM's register classes: V_S_* do not write EXEC, V_READLANE and V_READFIRSTLANE not M0."""
    return (code >= _EXEC and traits.is_pseudo_scalar) or (
        code == codes.m0 and traits.single_lane is SingleLane.READ
    )


def _check_dpp_operands(row: Row, operands: tuple[Operand, ...]) -> None:
    """Some VOP3P opcodes take scalars and constants as further sources, but not with DPP; the
    second source of any other one is a VGPR on gfx11.0."""
    only_vectors = not row.opcode.instruction_set.dpp_takes_scalars
    for operand, value in zip(row.operands, operands, strict=True):
        if row.has(f"dpp_v{operand.source}") or (only_vectors and operand.source == 1):
            vector = isinstance(value, Register) and value.file is RegisterFile.VGPR
            if not vector:
                raise InvalidField(f"{operand.spec.role} must be a VGPR with DPP")


def _literal(operand: OperandRow, literal: Literal | None) -> Literal:
    if literal is None or "l" not in operand.takes:
        raise InvalidField(f"{operand.spec.role} takes no literal here")
    return literal


def _read_half(
    row: Row, operand: OperandRow, bits: int, value: int, literal: Literal | None
) -> Operand:
    """Read a 16-bit operand: op_sel picks the half in VOP3, bit 7 of the VGPR number elsewhere."""
    codes = row.opcode.instruction_set.codes
    vector = operand.kind in ("v8", "d8") or value >= VGPR_BASE
    number = value & 0xFF
    is_wide = row.format.name in _WIDE_HALVES
    half = (bits >> (11 + operand.source)) & 1
    if vector:
        place = (number, half) if is_wide else (number & 0x7F, number >> 7)
        return vector_register(codes, place[0], 1, place[1])
    if value == LITERAL:
        return _literal(operand, literal)
    plain = source_operand(codes, value, 1, operand.takes)
    if is_wide and isinstance(plain, Register):
        return Register(plain.file, plain.index, 1, half)
    return plain


def _implied(operand: OperandRow, literal: Literal | None) -> Operand:
    if operand.takes == "literal":
        assert literal is not None
        return literal
    return (_VCC if operand.takes == "vcc" else _EXEC_MASK)[operand.dwords - 1]


def _with_sdwa(
    row: Row, bits: int, word: int
) -> tuple[tuple[Operand, ...], dict[str, int], Modifiers]:
    if not row.has("sdwa"):
        raise InvalidField(f"{row.opcode.mnemonic} takes no SDWA")
    operands = tuple(_sdwa_operand(row, operand, bits, word) for operand in row.operands)
    is_whole = row.format.name == "VOPC" or row.has("swhole")
    if row.has("swhole") and (word >> 8) & 0x1F != _WHOLE_RESULT:
        raise InvalidField(f"{row.opcode.mnemonic} writes no part of a register")
    sdwa = Sdwa(
        destination=None if is_whole else (word >> 8) & 7,
        unused=0 if is_whole else (word >> 11) & 3,
        sources=((word >> 16) & 7, (word >> 24) & 7),
        extended=_marked(row, word, "sext", 19),
    )
    if _UNKNOWN_SELECTION in (sdwa.destination, *sdwa.sources) or sdwa.unused == 3:
        raise InvalidField("the selection of SDWA is unknown")
    modifiers = Modifiers(
        neg=_marked(row, word, "neg", 20),
        abs=_marked(row, word, "abs", 21),
        clamp=row.has("sclamp") and bool((word >> 13) & 1),
        omod=(word >> 14) & 3 if row.has("somod") else 0,
        sdwa=sdwa,
    )
    return operands, {}, modifiers


def _marked(row: Row, word: int, name: str, shift: int) -> int:
    """Return the sources for which a modifier is set; InvalidField if one cannot take it."""
    marks = 0
    for source in (0, 1):
        if (word >> (shift + 8 * source)) & 1:
            if not row.has(f"s{name}{source}"):
                raise InvalidField(f"{row.opcode.mnemonic} takes no {name} of source {source}")
            marks |= 1 << source
    return marks


def _sdwa_operand(row: Row, operand: OperandRow, bits: int, word: int) -> Operand:
    codes = row.opcode.instruction_set.codes
    if operand.spec.role == "vdst" and row.format.name == "VOPC":
        is_named = (word >> 15) & 1
        return scalar_register(codes, (word >> 8) & 0x7F, 2) if is_named else _VCC[1]
    if operand.kind == "implied" or operand.source not in (0, 1):
        return _read(row, operand, bits, None, None)
    value = word & 0xFF if operand.source == 0 else (bits >> operand.shift) & 0xFF
    if (word >> (23 + 8 * operand.source)) & 1:
        return source_operand(codes, value, operand.dwords, "sv")
    return vector_register(codes, value, operand.dwords)


def _signed16(value: int) -> int:
    return value - 0x10000 if value & 0x8000 else value


def _hardware_register(value: int) -> dict[str, int]:
    return {
        "hwreg_id": value & 63,
        "hwreg_offset": (value >> 6) & 31,
        "hwreg_size": (value >> 11) + 1,
    }


def _sopk(row: Row, bits: int) -> dict[str, int]:
    value = bits & 0xFFFF
    immediate = row.opcode.traits.immediate
    if immediate is Immediate.HARDWARE_REGISTER:
        return {"simm16": value, **_hardware_register(value)}
    return {"simm16": value if immediate is Immediate.VERSION else _signed16(value)}


def _sopp(row: Row, bits: int) -> dict[str, int]:
    value = bits & 0xFFFF
    immediate = row.opcode.traits.immediate
    if immediate is Immediate.NONE:
        # A value there makes another, unknown instruction.
        if value:
            raise InvalidField(f"{row.opcode.mnemonic} takes no immediate")
        return {}
    return {"simm16": _signed16(value) if immediate is Immediate.BRANCH else value}


def _sop1(row: Row, bits: int) -> dict[str, int]:
    return {"message": bits & 0xFF} if row.opcode.traits.immediate is Immediate.MESSAGE else {}


def _sopc(row: Row, bits: int) -> dict[str, int]:
    if row.opcode.traits.immediate is not Immediate.INDEX_MODE:
        return {}
    mode = (bits >> 8) & 0xFF
    if mode > 15:
        raise InvalidField("there are four kinds of operands to index")
    return {"index_mode": mode}


def _vinterp(row: Row, bits: int) -> dict[str, int]:
    return {"wait_exp": (bits >> 8) & 7}


def _vop3(row: Row, bits: int) -> dict[str, int]:
    """byte_sel is part of op_sel: bits 1:0, swapped, for a source, bits 3:2 for the destination."""
    if not row.has("byte_sel"):
        return {}
    select = (bits >> 11) & 15
    if row.flags.get("op_sel", 0) & 3:
        return {"byte_sel": (select & 1) << 1 | (select >> 1) & 1}
    return {"byte_sel": select >> 2}


def _vop3p(row: Row, bits: int) -> dict[str, int]:
    """Sparse matrix opcodes: op_sel picks the half of the index register."""
    if not row.has("index_key"):
        return {}
    return {"index_key": (bits >> 11) & row.flags.get("op_sel", 0)}


_IMMEDIATES: dict[str, Callable[[Row, int], dict[str, int]]] = {
    "SOPK": _sopk,
    "SOPP": _sopp,
    "SOPC": _sopc,
    "SOP1": _sop1,
    "VOP3P": _vop3p,
    "VINTERP": _vinterp,
    "VOP3": _vop3,
}


def scaled_row(bits: int, instruction_set: InstructionSet) -> Row | None:
    """Return the row of a product with scales, None if the instruction is none."""
    if _SCALED not in instruction_set.rows:
        return None
    form = format_named(instruction_set.formats, _SCALED)
    if bits & (form.constant | form.reserved) != form.constant:
        return None
    return row_of(_SCALED, form.opcode.read(bits), 64, instruction_set)


def decode_matrix(row: Row, bits: int, available: int, pc: int) -> Instruction:
    """Decode an instruction with accumulation VGPRs; InvalidField if it is wrong."""
    size = row.format.size
    if available < size:
        raise InvalidField("the code ends inside the instruction")
    check_fixed_bits(row, bits)
    operands = tuple(_matrix_operand(row, operand, bits) for operand in row.operands)
    immediates = {
        name: field.read(bits) & row.flags.get(name, 0)
        for name in _MATRIX_CONTROLS
        if (field := row.format.find(name)) is not None
    }
    if row.format.name == _SCALED:
        immediates.update({name: row.format.field(name).read(bits) for name in _SCALE_SELECTIONS})
    return Instruction(pc, size, row.opcode, operands, immediates)


def _matrix_operand(row: Row, operand: OperandRow, bits: int) -> Operand:
    codes = row.opcode.instruction_set.codes
    value = (bits >> operand.shift) & operand.mask
    dwords = _matrix_dwords(row, operand, bits)
    vector = operand.spec.role == "vdst" or value >= VGPR_BASE
    if vector:
        accumulates = _accumulates(row, operand, bits)
        return vector_register(codes, value & 0xFF, dwords, None, accumulates)
    if value == LITERAL:
        raise InvalidField(f"{operand.spec.role} takes no literal here")
    return source_operand(codes, value, dwords, operand.takes)


def _accumulates(row: Row, operand: OperandRow, bits: int) -> bool:
    if "a" not in operand.takes or "v" not in operand.takes:
        return "a" in operand.takes
    if operand.spec.role in ("vdst", "src2"):
        return bool(row.format.field("acc_cd").read(bits))
    return bool((row.format.field("acc").read(bits) >> operand.source) & 1)


def _matrix_dwords(row: Row, operand: OperandRow, bits: int) -> int:
    """Return how many registers an operand has; those of narrow floats depend on the format."""
    if not row.has("formats") or operand.source not in (0, 1):
        return operand.dwords
    number = row.format.field("blgp" if operand.source else "cbsz").read(bits)
    if number >= len(_FORMAT_DWORDS):
        raise InvalidField(f"the format {number} of {operand.spec.role} is unknown")
    return _FORMAT_DWORDS[number]


def decode_dual(bits: int, available: int, pc: int, instruction_set: InstructionSet) -> Instruction:
    """Decode a VOPD instruction: the X half, with the Y half as its `pair`; InvalidField if it is
    wrong. Both share one code and one literal.

    RDNA 4 ISA document, section 15.3.5 (VOPD): the low bit of vdstY is the opposite of vdstX's.
    """
    x_row = row_of("VOPDX", (bits >> 22) & 15, 32, instruction_set)
    y_row = row_of("VOPDY", (bits >> 17) & 31, 32, instruction_set)
    if x_row is None or y_row is None:
        raise InvalidField("unknown VOPD opcode")
    first, second = bits & 0x1FF, (bits >> 32) & 0x1FF
    needs_literal = x_row.literal or y_row.literal or first == LITERAL or second == LITERAL
    size = 12 if needs_literal else 8
    if available < size:
        raise InvalidField("the code ends inside the instruction")
    literal = Literal((bits >> 64) & 0xFFFFFFFF) if needs_literal else None
    x_destination = (bits >> 56) & 0xFF
    y_destination = (bits >> 49) & 0x7F
    y_destination = y_destination << 1 | (~x_destination & 1)
    x_values = {"vdst": x_destination, "src0": first, "src1": (bits >> 9) & 0xFF}
    y_values = {"vdst": y_destination, "src0": second, "src1": (bits >> 41) & 0xFF}
    y_half = Instruction(pc, size, y_row.opcode, _dual_operands(y_row, y_values, literal), {})
    return Instruction(
        pc, size, x_row.opcode, _dual_operands(x_row, x_values, literal), {}, pair=y_half
    )


def _dual_operands(
    row: Row, values: dict[str, int], literal: Literal | None
) -> tuple[Operand, ...]:
    if values["src1"] and all(operand.spec.role != "src1" for operand in row.operands):
        raise InvalidField(f"{row.opcode.mnemonic} has no second source")
    codes = row.opcode.instruction_set.codes
    return tuple(_dual_operand(operand, codes, values, literal) for operand in row.operands)


def _dual_operand(
    operand: OperandRow, codes: OperandCodes, values: dict[str, int], literal: Literal | None
) -> Operand:
    if operand.takes == "vcc":
        return _VCC[0]
    if operand.takes == "literal":
        assert literal is not None
        return literal
    value = values[operand.spec.role]
    if operand.spec.role != "src0":
        return vector_register(codes, value, operand.dwords)
    if value == LITERAL:
        assert literal is not None
        return literal
    return source_operand(codes, value, operand.dwords, operand.takes)


# Source and result modifiers, and the DPP words that follow vector instructions.
#
# Source: RDNA 4 ISA document, section 15.3 (VOP3, VOP3P) and section 15.4 (DPP8, DPP16).


_NONE = Modifiers()
# The controls of DPP that opcodes with two dwords have on gfx90a.
_ROW_BROADCASTS = range(0x150, 0x160)
_WITH_MODIFIERS = ("VOP3", "VOP3P", "VINTERP")
# Bits 20 to 23 of a DPP16 word after a 32-bit encoding.
_DPP_MODIFIERS = ("dneg0", "dabs0", "dneg1", "dabs1")


def check_fixed_bits(row: Row, bits: int) -> None:
    """Raise InvalidField if a modifier is set that the opcode does not have."""
    for shift, mask, required in row.fixed:
        if (bits >> shift) & mask != required:
            raise InvalidField(f"{row.opcode.mnemonic} does not have the modifier at bit {shift}")
    implied = row.format.name == "VOP3" and row.select_mask and "op_sel" not in row.flags
    if implied and (bits >> 11) & 15 & ~row.select_mask:
        raise InvalidField(f"{row.opcode.mnemonic} does not have that op_sel")


def read_modifiers(row: Row, bits: int, dpp: Dpp | None, dpp_word: int) -> Modifiers:
    """Return the modifiers of an instruction; bits that the opcode ignores read as 0."""
    name = row.format.name
    if name not in _WITH_MODIFIERS:
        return dpp_modifiers(row, dpp, dpp_word) if dpp else _NONE
    modifiers = _vop3p_modifiers(row, bits) if name == "VOP3P" else _vop3_modifiers(row, bits)
    if dpp is None:
        return modifiers
    return Modifiers(
        modifiers.neg,
        modifiers.neg_hi,
        abs=modifiers.abs,
        op_sel=modifiers.op_sel,
        op_sel_hi=modifiers.op_sel_hi,
        clamp=modifiers.clamp,
        omod=modifiers.omod,
        dpp=dpp,
    )


def _vop3_modifiers(row: Row, bits: int) -> Modifiers:
    flags = row.flags
    neg = (bits >> 61) & flags.get("neg", 0)
    absolute = (bits >> 8) & flags.get("abs", 0)
    select = (bits >> 11) & row.select_mask
    clamp = (bits >> 15) & flags.get("clamp", 0)
    omod = (bits >> 59) & flags.get("omod", 0)
    if not (neg or absolute or select or clamp or omod):
        return _NONE
    return _modifiers(
        neg, 0, absolute=absolute, op_sel=select, op_sel_hi=0, clamp=bool(clamp), omod=omod
    )


def _vop3p_modifiers(row: Row, bits: int) -> Modifiers:
    """In the mixed-precision opcodes the neg_hi bits mean abs."""
    flags = row.flags
    neg = (bits >> 61) & flags.get("neg", 0)
    high = (bits >> 8) & flags.get("neg_hi", 0)
    select = (bits >> 11) & row.select_mask
    select_hi = (bits >> 59) & flags.get("op_sel_hi", 0)
    select_hi |= ((bits >> 14) & flags.get("op_sel_hi_2", 0)) << 2
    clamp = bool((bits >> 15) & flags.get("clamp", 0))
    if "mix" in row.words:
        return _modifiers(
            neg, 0, absolute=high, op_sel=select, op_sel_hi=select_hi, clamp=clamp, omod=0
        )
    return _modifiers(
        neg, high, absolute=0, op_sel=select, op_sel_hi=select_hi, clamp=clamp, omod=0
    )


# Calls of it have no keywords: with them, `cache` and so decoding take half as long again.
@cache
def _modifiers(
    neg: int, neg_hi: int, absolute: int, op_sel: int, op_sel_hi: int, clamp: bool, omod: int
) -> Modifiers:
    return Modifiers(
        neg, neg_hi, abs=absolute, op_sel=op_sel, op_sel_hi=op_sel_hi, clamp=clamp, omod=omod
    )


def dpp_modifiers(row: Row, dpp: Dpp, word: int) -> Modifiers:
    """Return the modifiers of a DPP word after a 32-bit encoding."""
    if dpp.lanes is not None:
        return Modifiers(dpp=dpp)
    given = (word >> 20) & 15
    if given & _bits_of(row, "no_"):
        raise InvalidField(f"{row.opcode.mnemonic} takes no source modifiers")
    given &= _bits_of(row, "")
    return Modifiers(
        neg=(given & 1) | (given >> 1) & 2, abs=(given >> 1) & 1 | (given >> 2) & 2, dpp=dpp
    )


def _bits_of(row: Row, prefix: str) -> int:
    return sum(1 << bit for bit, name in enumerate(_DPP_MODIFIERS) if row.has(prefix + name))


def read_dpp(row: Row, source: int, word: int) -> Dpp:
    """Return the DPP of the following word, which `source`, the code in src0, announces."""
    if source == DPP16:
        instruction_set = row.opcode.instruction_set
        control = (word >> 8) & 0x1FF
        is_broadcast = row.has("dpp_newbcast") and control in _ROW_BROADCASTS
        if not (row.has("dpp16") or is_broadcast):
            raise InvalidField(f"{row.opcode.mnemonic} takes no DPP16")
        if control > QUAD_PERMUTATIONS and control not in instruction_set.dpp_controls:
            raise InvalidField(f"DPP control 0x{control:x} is unknown")
        return Dpp(
            control,
            (word >> 28) & 0xF,
            (word >> 24) & 0xF,
            bool((word >> 19) & 1),
            instruction_set.has_dpp8 and bool((word >> 18) & 1),
        )
    if not row.has("dpp8"):
        raise InvalidField(f"{row.opcode.mnemonic} takes no DPP8")
    lanes = tuple((word >> (8 + 3 * lane)) & 7 for lane in range(8))
    return Dpp(lanes=lanes, fetch_inactive=source == DPP8_FETCH_INACTIVE)
