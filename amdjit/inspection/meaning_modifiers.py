"""Modifiers of an instruction, in words."""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.isa.instruction import Instruction, Modifiers
from amdjit.isa.text import dpp_text

__all__ = ["modifier_notes"]

_OUTPUT = ("", "the result times 2", "the result times 4", "the result divided by 2")


def modifier_notes(instruction: Instruction) -> tuple[str, ...]:
    """Return what modifiers change that the operands' texts do not show."""
    modifiers = instruction.modifiers
    notes = [_OUTPUT[modifiers.omod], _packed(instruction, modifiers)]
    if modifiers.clamp:
        notes.append(_clamp(instruction))
    if modifiers.dpp is not None:
        controls = instruction.opcode.instruction_set.dpp_controls
        text = dpp_text(modifiers.dpp, controls).strip()
        notes.append(f"with the first source from other lanes ({text})")
    return tuple(note for note in notes if note)


def _clamp(instruction: Instruction) -> str:
    written = next((spec for spec in instruction.opcode.operands if spec.written), None)
    is_float = written is not None and "f" in written.type
    return "limited to 0..1" if is_float else "limited to what its type holds"


def _packed(instruction: Instruction, modifiers: Modifiers) -> str:
    """VOP3P: signs and choices of halves. For iu4 and iu8, neg says that a source is signed."""
    if instruction.opcode.encoding != "VOP3P" or instruction.traits.is_mixed:
        return ""
    sources = [spec for spec in instruction.opcode.operands if spec.role.startswith("src")]
    if any("iu" in spec.type for spec in sources):
        words = ["signed" if modifiers.neg >> n & 1 else "unsigned" for n in (0, 1)]
        return f"with {words[0]} A and {words[1]} B"
    notes = []
    if modifiers.neg or modifiers.neg_hi:
        notes.append("with signs changed as neg_lo and neg_hi say")
    if modifiers.op_sel or (
        instruction.traits.is_packed and modifiers.op_sel_hi != _halves(sources)
    ):
        notes.append("with halves chosen as op_sel and op_sel_hi say")
    return ", ".join(notes)


def _halves(sources: Sequence[object]) -> int:
    """The high halves of all sources, for the high half of the result."""
    return (1 << len(sources)) - 1
