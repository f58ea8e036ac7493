"""The operands of an instruction by the letters that phrases have for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.checks.waits.counters import effect_of
from amdjit.isa.immediate_text import (
    hardware_register_text,
    message_text,
    program_text,
    short_text,
    swizzle_text,
    version_text,
)
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Literal,
    Opcode,
    Operand,
)
from amdjit.isa.operand_text import negated, operand_text
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.isa.traits import Immediate, MemoryKind, Result
from amdjit.isa.wait_counters import WaitEvent, WaitField

__all__ = ["Named", "named", "named_by_role"]

_READ = "abcms"
_WRITTEN = "de"
# What addresses memory, and is no data.
_ADDRESSES = frozenset({"vaddr", "saddr", "rsrc", "soffset", "sbase", "addr"})
_WORKGROUP = "-1, the workgroup's"


@dataclass(frozen=True, slots=True)
class Named:
    """An opcode with texts for its operands."""

    opcode: Opcode
    names: Mapping[str, str]
    """The text of each operand, by the letter that phrases have for it."""
    roles: Mapping[str, str]
    """By role, "" for an operand that is absent."""
    immediates: Mapping[str, int] | None
    """None if only the opcode is known."""
    target: str
    counters: str
    """The wait counters that count it, in words."""
    returns: bool | None
    """An atomic returns the old value; None if only the opcode is known."""

    def fill(self, phrase: str) -> str:
        """Return a phrase with the operands in their places."""
        return phrase.format_map({**self.names, "target": self.target})

    def reads(self, immediate: str) -> bool:
        """Whether what the instruction waits for is in an immediate."""
        return any(
            field.immediate == immediate and field.mask for field in self.opcode.traits.waits
        )

    def left(self, field: WaitField) -> str:
        """Return how many may be in flight after a wait."""
        if self.immediates is None:
            return "k"
        return str(field.left(self.immediates.get(field.immediate, 0)))


def named(instruction: Instruction) -> Named:
    """Return an instruction with its operands as the assembler writes them."""
    row = row_of(
        _table(instruction.opcode),
        instruction.opcode.code,
        instruction_set=instruction.opcode.instruction_set,
    )
    assert row is not None
    texts = [
        "" if value is None else _operand(row, operand, value, instruction)
        for operand, value in zip(row.operands, instruction.operands, strict=True)
    ]
    opcode = instruction.opcode
    if opcode.traits.barrier is not None:
        texts = [_WORKGROUP if text == "-1" else text for text in texts]
    names = {**_by_letter(opcode, texts), "k": _immediate(instruction)}
    counters = " and ".join(counter.name for counter in effect_of(instruction).counts)
    return Named(
        opcode,
        names,
        roles=_by_role(opcode, texts),
        immediates=instruction.immediates,
        target=_target(instruction),
        counters=counters,
        returns=effect_of(instruction).fills,
    )


def named_by_role(opcode: Opcode) -> Named:
    """Return an opcode with letters for its operands."""
    letters = _letters(opcode)
    counters = opcode.traits.event and _counters(opcode, opcode.traits.event)
    returns = None
    if opcode.traits.memory is not None and not _may_return(opcode):
        returns = opcode.traits.result is not Result.NONE
    return Named(
        opcode,
        {**_by_letter(opcode, letters), "k": "k"},
        roles=_by_role(opcode, letters),
        immediates=None,
        target="its target",
        counters=counters or "",
        returns=returns,
    )


def _may_return(opcode: Opcode) -> bool:
    access = opcode.traits.memory
    return (
        access is not None
        and access.kind is MemoryKind.ATOMIC
        and opcode.traits.event in (WaitEvent.VECTOR_STORE, WaitEvent.FLAT_STORE)
    )


def _counters(opcode: Opcode, event: WaitEvent) -> str:
    counted = opcode.instruction_set.wait_counters.counted
    text = " and ".join(counter.name for counter in counted[event])
    if not _may_return(opcode):
        return text
    loads = WaitEvent.FLAT_LOAD if event is WaitEvent.FLAT_STORE else WaitEvent.VECTOR_LOAD
    returned = " and ".join(counter.name for counter in counted[loads])
    return f"{text}, or on {returned} if it returns the old value"


def _table(opcode: Opcode) -> str:
    return "VOP3" if opcode.encoding == "VOP3SD" else opcode.encoding


def _letters(opcode: Opcode) -> list[str]:
    """Return letters for registers and data, roles for addresses."""
    letters = []
    written, read = iter(_WRITTEN), iter(_READ)
    for operand in opcode.operands:
        if operand.role in _ADDRESSES and not _is_data(opcode, operand.role):
            letters.append(operand.role)
        else:
            letters.append(next(written if operand.written else read))
    return letters


def _is_data(opcode: Opcode, role: str) -> bool:
    """Lane permutations have lane numbers, or data, where others have an address."""
    return role == "addr" and opcode.traits.memory is None


def _by_letter(opcode: Opcode, texts: list[str]) -> dict[str, str]:
    names = dict(zip(_letters(opcode), texts, strict=True))
    # An atomic on a buffer reads and writes one operand.
    names.setdefault("a", names.get("d", ""))
    names["m"] = names.get("m", "mem") if opcode.traits.memory is None else "mem"
    return names


def _by_role(opcode: Opcode, texts: list[str]) -> dict[str, str]:
    return {spec.role: text for spec, text in zip(opcode.operands, texts, strict=True)}


def _operand(row: Row, operand: OperandRow, value: Operand, instruction: Instruction) -> str:
    text = operand_text(
        value, operand.constants, operand.half and getattr(value, "half", None) == 1
    )
    signed = row.format.name != "VOP3P" or row.has("mix")
    if operand.source not in (0, 1, 2) or operand.spec.type == "mask" or not signed:
        return text
    bit = 1 << operand.source
    modifiers = instruction.modifiers
    constant = isinstance(value, InlineConstant | Literal)
    return negated(text, constant, bool(modifiers.neg & bit), bool(modifiers.abs & bit))


def _target(instruction: Instruction) -> str:
    offset = instruction.immediates.get("simm16")
    if offset is None:
        return ""
    signed = (offset & 0xFFFF ^ 0x8000) - 0x8000
    return f"{instruction.pc + instruction.size + 4 * signed:#x}"


def _immediate(instruction: Instruction) -> str:
    """Return the constant of a scalar or LDS instruction, as the assembler writes it."""
    immediates, kind = instruction.immediates, instruction.traits.immediate
    if "message" in immediates:
        return message_text(immediates["message"], instruction.opcode.instruction_set)
    if kind is Immediate.SWIZZLE:
        return swizzle_text(immediates["offset"]).strip().removeprefix("offset:") or "0"
    if kind is Immediate.ATTRIBUTE:
        return f"attr{immediates['attr']}.{'xyzw'[immediates['attr_chan']]}"
    value = immediates.get("simm16")
    return "" if value is None else _short_constant(instruction, value)


def _short_constant(instruction: Instruction, value: int) -> str:
    kind, sets = instruction.traits.immediate, instruction.opcode.instruction_set
    if instruction.traits.barrier is not None and value & 0xFFFF == 0xFFFF:
        return _WORKGROUP
    if kind is Immediate.HARDWARE_REGISTER:
        return hardware_register_text(value & 0xFFFF, sets.hardware_registers)
    if kind is Immediate.VERSION:
        return version_text(value & 0xFFFF)
    if kind is Immediate.SIGNED:
        return str((value & 0xFFFF ^ 0x8000) - 0x8000)
    is_plain = kind in (Immediate.BITS, Immediate.CLAUSE)
    return short_text(value) if is_plain else program_text(kind, value, sets)
