"""The forms of a vector instruction that are tried: modifiers, constants, DPP, SDWA, masked lanes.

The controls of DPP and SDWA are the same for all opcodes, so an opcode is tried only with some of
them, chosen by its number. Moves and additions are tried with all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from amdjit.isa.instruction import Dpp, InlineConstant, Literal, Register, Sdwa
from amdjit.isa.operands import inline_constant
from amdjit.isa.rows import OperandRow, Row
from amdjit.probe.machine_code import s

__all__ = ["Extent", "Form", "forms_of"]

# No ISA document says what op_sel does to these instructions on CDNA, and SDWA to this one.
_WITHOUT_SELECTION = ("v_alignbit_b32", "v_alignbyte_b32")
_WITHOUT_PARTS = ("v_sat_pk_u8_i16",)
# gfx950's own conversions. No ISA document says what most of their modifiers do.
_PLAIN_ON_CDNA = (
    "v_cvt_scalef32_",
    "v_ashr_pk_",
    "v_cvt_sr_f16_f32",
    "v_cvt_sr_bf16_f32",
    "v_cvt_pk_bf16_f32",
)
_FULLY_TRIED = ("v_mov_b32", "v_add_f32", "v_add_f16")
_QUADS = (0x1B, 0x4E, 0xB1, 0x00, 0xFF)
_ROWS = (0x101, 0x10F, 0x111, 0x11F, 0x121, 0x12C, 0x140, 0x141)
_RDNA = (0x150, 0x15F, 0x161, 0x16F)
_GFX9 = (0x130, 0x134, 0x138, 0x13C, 0x142, 0x143)
_NEW_BROADCASTS = (0x150, 0x15F)
_LANES = ((7, 6, 5, 4, 3, 2, 1, 0), (1, 2, 3, 4, 5, 6, 7, 0), (0, 0, 5, 5, 3, 3, 7, 1))
_SELECTIONS = (
    (0, 4, 5),
    (1, 5, 4),
    (2, 0, 3),
    (3, 1, 2),
    (4, 6, 0),
    (5, 2, 1),
    (6, 3, 6),
    (6, 5, 5),
)
_INVERSE_TWO_PI, _MINUS_FOUR, _HALF = 248, 247, 240
_LITERALS = {"f16": 0x3E02, "bf16": 0x3FC1, "f64": 0x400921FB}


class Extent(Enum):
    """Which forms of an opcode are tried: all of them, the plain form and those about lanes, or
    only the plain form."""

    ALL = "all"
    LANES = "lanes"
    PLAIN = "plain"


@dataclass(frozen=True)
class Form:
    """One way to write an instruction."""

    name: str
    """The part of a trial's name that says which form it is."""
    modifiers: Mapping[str, Any] = field(default_factory=dict)
    """Modifiers as `Program.add` takes them."""
    replaced: Mapping[str, Register | InlineConstant | Literal] = field(default_factory=dict)
    """The operands that are not the usual VGPRs, by role."""
    is_partial: bool = False
    """Whether only some lanes are active."""

    @property
    def is_about_lanes(self) -> bool:
        """Whether lanes are inactive or exchange values."""
        return self.is_partial or "dpp" in self.modifiers


def forms_of(row: Row) -> Iterator[Form]:
    """Yield the forms of an opcode. The opcode may not have all of them."""
    yield Form("")
    yield Form("some lanes", is_partial=True)
    yield from _with_constants(row)
    if row.format.name == "VOP3P":
        yield from _packed_forms(row)
    elif row.format.name == "VOP3" and not (
        _is_gfx9(row) and row.opcode.mnemonic.startswith(_PLAIN_ON_CDNA)
    ):
        yield from _long_forms(row)
    yield from _dpp_forms(row)
    # No ISA document says what SDWA's selections mean for two halves.
    no_parts = row.opcode.traits.is_packed or row.opcode.mnemonic in _WITHOUT_PARTS
    if row.has("sdwa") and not no_parts:
        yield from _sdwa_forms(row)


def _is_gfx9(row: Row) -> bool:
    return row.opcode.instruction_set.family == "gfx9"


def _with_constants(row: Row) -> Iterator[Form]:
    for operand in row.operands:
        if operand.source not in (0, 1, 2) or operand.spec.type == "mask":
            continue
        role = operand.spec.role
        if "v" in operand.takes and "s" in operand.takes and operand.dwords <= 2:
            yield Form(f"{role} scalar", replaced={role: s(24, operand.dwords)})
        # No ISA document says what the upper dword of a constant is here.
        if "i" in operand.takes and operand.spec.type not in ("v2f32", "v2b32"):
            for constant in _constants(operand):
                yield Form(f"{role} {constant.value}", replaced={role: constant})
        if "l" in operand.takes:
            value = _LITERALS.get(operand.spec.type, 0x40490FDB)
            yield Form(f"{role} literal", replaced={role: Literal(value)})


def _constants(operand: OperandRow) -> Iterator[InlineConstant]:
    codes = {0: (_INVERSE_TWO_PI, 208), 1: (_HALF, 192), 2: (_MINUS_FOUR,)}[operand.source]
    for code in codes:
        constant = inline_constant(code)
        assert constant is not None
        yield constant


def _long_forms(row: Row) -> Iterator[Form]:
    flags = row.flags
    neg, absolute = flags.get("neg", 0), flags.get("abs", 0)
    if neg:
        yield Form("neg", {"neg": neg})
    if absolute:
        yield Form("abs", {"abs": absolute})
        yield Form("neg abs", {"neg": neg & 0b101, "abs": absolute & 0b110})
    if flags.get("clamp"):
        yield Form("clamp", {"clamp": True})
    if flags.get("omod"):
        omods = (1, 2, 3) if row.opcode.mnemonic in _FULLY_TRIED else (1 + row.opcode.code % 3,)
        for omod in omods:
            yield Form(f"omod {omod}", {"omod": omod, "clamp": False})
    yield from _selecting_forms(row)


def _selecting_forms(row: Row) -> Iterator[Form]:
    if row.has("byte_sel"):
        for byte in (1, 2, 3):
            yield Form(f"byte_sel {byte}", {"byte_sel": byte})
    elif row.select_mask and not (_is_gfx9(row) and row.opcode.mnemonic in _WITHOUT_SELECTION):
        for select in dict.fromkeys(row.select_mask & bits for bits in (1, 2, 4, 8, 15)):
            if select:
                yield Form(f"op_sel {select:04b}", {"op_sel": select})


def _packed_forms(row: Row) -> Iterator[Form]:
    flags = row.flags
    # No ISA document says what neg does to integers on CDNA.
    if not _is_gfx9(row) or _has_floats(row):
        yield from _negated_forms(row)
    if flags.get("clamp"):
        yield Form("clamp", {"clamp": True})
    for select in dict.fromkeys(row.select_mask & bits for bits in (1, 2, 4, 15)):
        if select:
            yield Form(f"op_sel {select:03b}", {"op_sel": select})
    high = flags.get("op_sel_hi", 0) | flags.get("op_sel_hi_2", 0) << 2
    for select in dict.fromkeys(high & bits for bits in (0, 1, 2, 5, 7)):
        if high and select != (0 if row.has("mix") else high):
            yield Form(f"op_sel_hi {select:03b}", {"op_sel_hi": select})


def _has_floats(row: Row) -> bool:
    return any("f" in operand.spec.type for operand in row.operands)


def _negated_forms(row: Row) -> Iterator[Form]:
    flags = row.flags
    for name in ("neg", "neg_hi"):
        if flags.get(name):
            yield Form(
                name, {("abs" if row.has("mix") and name == "neg_hi" else name): flags[name]}
            )
    if flags.get("neg") and flags.get("neg_hi") and not row.has("mix"):
        yield Form("neg mixed", {"neg": flags["neg"] & 1, "neg_hi": flags["neg_hi"] & 2})


def _dpp_forms(row: Row) -> Iterator[Form]:
    """Yield DPP16 and DPP8 forms. Every second one has inactive lanes."""
    is_gfx9 = _is_gfx9(row)
    everything = row.opcode.mnemonic in _FULLY_TRIED
    turn = row.opcode.code
    if row.has("dpp16") or row.has("dpp_newbcast"):
        controls = (*_QUADS, *_ROWS, *(_GFX9 if is_gfx9 else _RDNA))
        if not row.has("dpp16"):
            controls = _NEW_BROADCASTS
        for number in range(len(controls)) if everything else (turn, turn + 5):
            control = controls[number % len(controls)]
            for bound in (False, True) if everything else (bool(number % 2),):
                yield _dpp_form(row, control, bound, number, is_gfx9)
    if row.has("dpp8"):
        for number in range(len(_LANES)) if everything else (turn,):
            lanes = _LANES[number % len(_LANES)]
            dpp = Dpp(lanes=lanes, fetch_inactive=bool(number // 3 % 2))
            yield Form(
                f"dpp8 {''.join(map(str, lanes))}{' fi' if dpp.fetch_inactive else ''}",
                {"dpp": dpp},
                is_partial=bool(number % 2),
            )


def _dpp_form(row: Row, control: int, bound: bool, number: int, is_gfx9: bool) -> Form:
    row_mask = 0xF if number % 3 else 0x5 | number % 2 << 1
    bank_mask = 0xF if number % 4 else 0xA
    inactive = not is_gfx9 and number % 5 == 1
    dpp = Dpp(control, row_mask, bank_mask, bound, inactive)
    marks = f"{' bound' if bound else ''}{' fi' if inactive else ''}"
    modifiers: dict[str, Any] = {"dpp": dpp}
    if row.has("dneg0") and number % 2:
        modifiers["neg"] = 1
        marks += " neg"
    name = f"dpp {control:#x} rows {row_mask:x} banks {bank_mask:x}{marks}"
    return Form(name, modifiers, is_partial=number % 2 == 0)


def _sdwa_forms(row: Row) -> Iterator[Form]:
    everything = row.opcode.mnemonic in _FULLY_TRIED
    turn = row.opcode.code
    for number in range(len(_SELECTIONS)) if everything else (turn, turn + 3):
        to, first, second = _SELECTIONS[number % len(_SELECTIONS)]
        for unused in (0, 1, 2) if everything else (number % 3,):
            yield from _sdwa_form(row, (to, first, second), unused, number)


def _sdwa_form(row: Row, parts: tuple[int, int, int], unused: int, number: int) -> Iterator[Form]:
    to, first, second = parts
    is_whole = row.format.name == "VOPC" or row.has("swhole")
    two = any(operand.source == 1 for operand in row.operands)
    extended = 1 if row.has("ssext0") and number % 2 else 0
    sdwa = Sdwa(
        None if is_whole else to, 0 if is_whole else unused, (first, second if two else 0), extended
    )
    name = f"sdwa {to}.{unused} {first} {second}{' sext' if extended else ''}"
    yield Form(name, {"sdwa": sdwa})
    if row.has("sneg0") and number % 2 == 0:
        yield Form(f"{name} neg", {"sdwa": sdwa, "neg": 1})
    if row.has("somod") and number % 3 == 0:
        yield Form(f"{name} omod", {"sdwa": sdwa, "omod": 1})
