"""Source and result modifiers, and the DPP words that follow vector instructions.

Source: RDNA 4 ISA document, section 15.3 (VOP3, VOP3P) and section 15.4 (DPP8, DPP16).
"""

from __future__ import annotations

from functools import cache

from amdjit.isa.errors import InvalidField
from amdjit.isa.hardware_names import QUAD_PERMUTATIONS
from amdjit.isa.instruction import Dpp, Modifiers
from amdjit.isa.operand_codes import DPP8_FETCH_INACTIVE, DPP16
from amdjit.isa.rows import Row

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
    modifiers = _vop3p(row, bits) if name == "VOP3P" else _vop3(row, bits)
    if dpp is None:
        return modifiers
    return Modifiers(
        modifiers.neg,
        modifiers.neg_hi,
        modifiers.abs,
        modifiers.op_sel,
        modifiers.op_sel_hi,
        modifiers.clamp,
        modifiers.omod,
        dpp,
    )


def _vop3(row: Row, bits: int) -> Modifiers:
    flags = row.flags
    neg = (bits >> 61) & flags.get("neg", 0)
    absolute = (bits >> 8) & flags.get("abs", 0)
    select = (bits >> 11) & row.select_mask
    clamp = (bits >> 15) & flags.get("clamp", 0)
    omod = (bits >> 59) & flags.get("omod", 0)
    if not (neg or absolute or select or clamp or omod):
        return _NONE
    return _modifiers(neg, 0, absolute, select, 0, bool(clamp), omod)


def _vop3p(row: Row, bits: int) -> Modifiers:
    """In the mixed-precision opcodes the neg_hi bits mean abs."""
    flags = row.flags
    neg = (bits >> 61) & flags.get("neg", 0)
    high = (bits >> 8) & flags.get("neg_hi", 0)
    select = (bits >> 11) & row.select_mask
    select_hi = (bits >> 59) & flags.get("op_sel_hi", 0)
    select_hi |= ((bits >> 14) & flags.get("op_sel_hi_2", 0)) << 2
    clamp = bool((bits >> 15) & flags.get("clamp", 0))
    if "mix" in row.words:
        return _modifiers(neg, 0, high, select, select_hi, clamp, 0)
    return _modifiers(neg, high, 0, select, select_hi, clamp, 0)


# Calls of it have no keywords: with them, `cache` and so decoding take half as long again.
@cache
def _modifiers(
    neg: int, neg_hi: int, absolute: int, op_sel: int, op_sel_hi: int, clamp: bool, omod: int
) -> Modifiers:
    return Modifiers(neg, neg_hi, absolute, op_sel, op_sel_hi, clamp, omod)


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
