"""From a mnemonic and operands, in the assembler's order, to an instruction of the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from amdjit.isa.encoding.encode import (
    byte_selection,
    encode,
    immediates_in,
    plain_modifiers,
)
from amdjit.isa.encoding.operands import EXEC, EXEC_LO, VCC, VCC_LO, Value, constant, literal
from amdjit.isa.errors import EncodingError
from amdjit.isa.instruction import (
    Instruction,
    Modifiers,
    Operand,
    Register,
)
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.isa.traits import Immediate
from amdjit.late_methods import dataclass

__all__ = ["Choice", "assemble", "assemble_row", "rows_named", "without_suffix"]

_MODIFIERS = frozenset(each.name for each in fields(Modifiers))
# The suffixes of mnemonics, and the formats that each may be.
_SHORT = ("VOP1", "VOP2", "VOPC")
_SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "_e64_dpp": ("VOP3", "VOP3P"),
    "_e64": ("VOP3", "VOP3P"),
    "_e32": _SHORT,
    "_dpp": (*_SHORT, "VOP3P"),
    "_sdwa": _SHORT,
}
_RETURNING = ("th", "glc", "sc0")
_POSITIONAL = {"SOPP": "simm16", "SOPK": "simm16", "SOP1": "message", "SMEM": "offset"}


@dataclass(frozen=True)
class Choice:
    """An instruction and its bytes."""

    instruction: Instruction
    code: bytes

    @property
    def is_branch(self) -> bool:
        """Whether the immediate is a distance in the code."""
        return self.instruction.traits.immediate is Immediate.BRANCH


def without_suffix(mnemonic: str) -> tuple[str, str]:
    """Return a mnemonic and the suffix that names its encoding, or an empty one."""
    for suffix in _SUFFIXES:
        if mnemonic.endswith(suffix):
            return mnemonic.removesuffix(suffix), suffix
    return mnemonic, ""


@cache
def rows_named(mnemonic: str, sets: InstructionSet, wave_size: int) -> tuple[Row, ...]:
    """Return the rows of a mnemonic, which may have a suffix (_e32, _e64, _dpp, _sdwa, _e64_dpp),
    the shortest encoding first; EncodingError if there are none."""
    name, suffix = without_suffix(mnemonic)
    allowed = _SUFFIXES.get(suffix)
    found = []
    for format_name, entries in sets.rows.items():
        if format_name.startswith("VOPD") or (allowed and format_name not in allowed):
            continue
        for code, entry in entries.items():
            if entry[0] == name:
                row = row_of(format_name, code, wave_size, sets)
                assert row is not None
                found.append(row)
    if not found:
        raise EncodingError(f"{sets.name} has no instruction {mnemonic}")
    return tuple(sorted(found, key=lambda row: row.format.size))


def assemble(
    mnemonic: str,
    values: Sequence[Value],
    given: Mapping[str, Any],
    sets: InstructionSet,
    wave_size: int,
) -> Choice:
    """Return the shortest instruction of that mnemonic that takes the operands and modifiers.

    values: operands in the assembler's order, without what the encoding implies (VCC, EXEC) if
    that is wished; numbers become inline constants or literals, of which there may be one. given:
    fields of `Modifiers`, and immediates by their names. EncodingError if there is no such
    instruction, with the reason of each encoding.
    """
    reasons = []
    for row in rows_named(mnemonic, sets, wave_size):
        try:
            return assemble_row(row, values, given, wave_size)
        except EncodingError as error:
            reasons.append(f"{row.format.name}: {error}")
    raise EncodingError(f"{mnemonic} cannot be written so: {'; '.join(reasons)}")


def assemble_row(
    row: Row, values: Sequence[Value], given: Mapping[str, Any], wave_size: int
) -> Choice:
    """Return the instruction of one encoding; EncodingError if it does not take that."""
    instruction = _instruction(row, values, given, wave_size)
    return Choice(instruction, encode(instruction, wave_size))


def _instruction(
    row: Row, values: Sequence[Value], given: Mapping[str, Any], wave_size: int
) -> Instruction:
    operands, rest = _placed(row, values, wave_size)
    modifiers = replace(
        plain_modifiers(row), **{name: given[name] for name in _MODIFIERS & given.keys()}
    )
    operands, modifiers = _with_halves(row, operands, modifiers)
    wanted = {name: int(given[name]) for name in given.keys() - _MODIFIERS}
    wanted |= _positional(row, rest)
    draft = Instruction(
        0, 0, opcode=row.opcode, operands=operands, immediates={}, modifiers=modifiers
    )
    draft = replace(draft, immediates=_implied_immediates(row, operands))
    immediates = immediates_in(draft, wave_size) | draft.immediates
    unknown = wanted.keys() - immediates.keys()
    if unknown:
        raise EncodingError(f"it has no {', '.join(sorted(unknown))}")
    immediates |= wanted
    draft = replace(draft, modifiers=_with_selections(row, modifiers, wanted))
    if row.opcode.traits.immediate is Immediate.HARDWARE_REGISTER:
        immediates |= hardware_register(immediates["simm16"])
    return replace(draft, immediates=immediates)


def _with_selections(row: Row, modifiers: Modifiers, wanted: Mapping[str, int]) -> Modifiers:
    """Say in op_sel, too, what is said in immediates that share its bits."""
    select = wanted.get("index_key", 0)
    if "byte_sel" in wanted:
        select |= byte_selection(row, wanted["byte_sel"])
    return replace(modifiers, op_sel=modifiers.op_sel | select) if select else modifiers


def _implied_immediates(row: Row, operands: tuple[Operand | None, ...]) -> dict[str, int]:
    """Return the immediates that are not 0 unless they are given: gfx9's scalar accesses have an
    offset, typed buffer accesses a format, and atomics with a result say so."""
    found = {}
    if row.format.name == "SMEM" and row.format.find("imm") and row.opcode.traits.memory:
        found["imm"] = 1
    if row.format.name in ("VBUFFER", "VTBUFFER") and row.format.find("format") and row.operands:
        found["format"] = 1
    for operand, value in zip(row.operands, operands, strict=True):
        if operand.takes == "returned" and value is not None:
            found[next(name for name in _RETURNING if row.format.find(name))] = 1
    return found


def _positional(row: Row, rest: Sequence[Value]) -> dict[str, int]:
    """Return the immediate that assemblers write as the last operand."""
    if not rest:
        return {}
    name = _POSITIONAL.get(row.format.name)
    if name is None or len(rest) > 1 or not isinstance(rest[0], int):
        raise EncodingError(f"it takes {len(row.operands)} operands")
    return {name: rest[0]}


def _with_halves(
    row: Row, operands: tuple[Operand | None, ...], modifiers: Modifiers
) -> tuple[tuple[Operand | None, ...], Modifiers]:
    """Write which halves of registers are meant both into op_sel and into the operands."""
    if row.format.name not in ("VOP3", "VINTERP"):
        return operands, modifiers
    placed, select = list(operands), modifiers.op_sel
    for number, (operand, value) in enumerate(zip(row.operands, operands, strict=True)):
        if operand.half and isinstance(value, Register):
            half = value.half or select >> operand.source & 1
            select |= half << operand.source
            placed[number] = replace(value, half=half)
    return tuple(placed), replace(modifiers, op_sel=select)


def hardware_register(value: int) -> dict[str, int]:
    """Return what the immediate of S_GETREG and S_SETREG names."""
    return {
        "hwreg_id": value & 63,
        "hwreg_offset": value >> 6 & 31,
        "hwreg_size": (value >> 11 & 31) + 1,
    }


def _placed(
    row: Row, values: Sequence[Value], wave_size: int
) -> tuple[tuple[Operand | None, ...], list[Value]]:
    """Give each operand of the row its value; return the values that are left, too."""
    shown = [operand for operand in row.operands if not operand.hidden]
    missing = len(shown) - len(values)
    queue = list(values)
    placed: list[Operand | None] = []
    for operand in row.operands:
        if _is_offset_given(row, operand, queue):
            placed.append(None)
        elif operand.hidden or (missing > 0 and _may_be_left_out(operand)):
            missing -= not operand.hidden
            placed.append(_left_out(operand, wave_size))
        elif not queue:
            raise EncodingError(f"it takes {len(shown)} operands, not {len(values)}")
        else:
            placed.append(_operand(operand, queue.pop(0)))
    return tuple(placed), queue


def _is_offset_given(row: Row, operand: OperandRow, queue: list[Value]) -> bool:
    """Whether a number stands where a scalar access may have a register: its offset."""
    is_offset = row.format.name == "SMEM" and operand.spec.role == "soffset"
    return is_offset and bool(queue) and isinstance(queue[0], int)


def _may_be_left_out(operand: OperandRow) -> bool:
    return operand.takes in ("returned", "vcc", "exec") or operand.spec.role == "soffset"


def _left_out(operand: OperandRow, wave_size: int) -> Operand | None:
    if operand.takes == "vcc":
        return VCC if wave_size == 64 else VCC_LO
    if operand.takes == "exec":
        return EXEC if wave_size == 64 else EXEC_LO
    return None


def _operand(operand: OperandRow, value: Value) -> Operand | None:
    if isinstance(value, int | float):
        find = literal if operand.takes == "literal" else constant
        return find(value, operand.spec.type)
    return value
