"""How undefined bits pass through scalar instructions: exactly through bitwise logic, which
combines lane masks and conditions; as a whole through arithmetic."""

from __future__ import annotations

import re
from collections.abc import Mapping

from amdjit.emulator.analysis.scalar_slots import scalar_slot
from amdjit.emulator.checks.init.operands import Shadow, results, sources
from amdjit.emulator.checks.init.registers import ZERO
from amdjit.emulator.checks.waits.condition_code import reads_scc, writes_scc
from amdjit.emulator.decoder.instruction import Instruction, Operand, Register, RegisterFile
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.layout import EXEC_HI, EXEC_LO, SCC_SLOT

_LOGIC = re.compile(
    r"s_(and|or|xor|nand|nor|xnor|and_not0|and_not1|or_not0|or_not1)(_saveexec|_wrexec)?_b(32|64)"
)
_CHOICE = re.compile(r"s_(cselect|cmov|cmovk)_")
# The operand that a logic instruction complements before it combines both. To complement the result
# changes nothing.
_COMPLEMENTED: Mapping[str, int] = {"and_not0": 0, "and_not1": 1, "or_not0": 0, "or_not1": 1}
_EXEC = Register(RegisterFile.EXEC, 0)


def apply_scalar(shadow: Shadow, instruction: Instruction) -> Value:
    """Write the shadows of a scalar instruction's results; return the undefined bits of EXEC that
    it makes."""
    name = instruction.mnemonic
    logic = _LOGIC.fullmatch(name)
    if logic:
        return _logic(
            shadow, instruction, logic.group(1), logic.group(2), int(logic.group(3)) // 32
        )
    if name in ("s_mov_b32", "s_mov_b64"):
        parts = [
            shadow.bits(instruction.operands[1], part)
            for part in range(2 if name.endswith("64") else 1)
        ]
        return _write(shadow, instruction.operands[0], parts)
    if _CHOICE.match(name):
        return _choice(shadow, instruction)
    return _other(shadow, instruction)


def _other(shadow: Shadow, instruction: Instruction) -> Value:
    masks = shadow.masks
    whole = masks.either(
        *(shadow.scalar(instruction.operands[index]) for index in sources(instruction))
    )
    if reads_scc(instruction.mnemonic):
        whole = masks.either(whole, shadow.registers.scalar(SCC_SLOT))
    undefined = ZERO
    for index in results(instruction):
        operand = instruction.operands[index]
        dwords = operand.dwords if isinstance(operand, Register) else 1
        undefined = masks.either(undefined, _write(shadow, operand, [whole] * dwords))
    if writes_scc(instruction.mnemonic):
        shadow.registers.write_scalar(SCC_SLOT, whole)
    return undefined


def _write(shadow: Shadow, operand: Operand | None, parts: list[Value]) -> Value:
    """Write the shadow of a scalar register; return the bits of it that are EXEC's."""
    if not isinstance(operand, Register):
        return ZERO
    slot = scalar_slot(operand)
    if slot is None:
        return ZERO
    if slot == EXEC_LO:
        return shadow.masks.either(*parts[: shadow.frame.registers.halves])
    if slot == EXEC_HI:
        return parts[0] if shadow.frame.registers.halves == 2 else ZERO
    for part, bits in enumerate(parts[: operand.dwords]):
        shadow.registers.write_scalar(slot + part, bits)
    return ZERO


def _value(shadow: Shadow, instruction: Instruction, operand: Operand | None, part: int) -> Value:
    """Return the value of a scalar operand's dword."""
    dwords = operand.dwords if isinstance(operand, Register) else 1
    if dwords == 1:
        value = shadow.frame.scalar_operand(operand, "b32", instruction)
        # A 64-bit constant's high half is its sign, or 0: what the bits are does not matter much
        # here.
        return value if part == 0 else constant("i32", 0)
    whole = shadow.frame.scalar_operand(operand, "b64", instruction)
    return shadow.frame.builder.split_bits(whole)[part]


def _logic(
    shadow: Shadow, instruction: Instruction, operation: str, into_exec: str | None, dwords: int
) -> Value:
    """and: a bit is undefined unless a defined 0 decides it; or: unless a defined 1 does; xor:
    always."""
    pair: list[Operand | None] = [*instruction.operands[1:], *([_EXEC] if into_exec else [])][:2]
    complemented = _COMPLEMENTED.get(operation)
    parts = []
    for part in range(dwords):
        bits = [shadow.bits(operand, part) for operand in pair]
        parts.append(_combined(shadow, instruction, operation, pair, bits, complemented, part))
    if not into_exec:
        undefined = _write(shadow, instruction.operands[0], parts)
        _condition(shadow, parts)
        return undefined
    _write(shadow, instruction.operands[0], [ZERO] * dwords if into_exec == "_saveexec" else parts)
    shadow.registers.write_scalar(SCC_SLOT, ZERO)
    return shadow.masks.either(*parts)


def _combined(
    shadow: Shadow,
    instruction: Instruction,
    operation: str,
    pair: list[Operand | None],
    bits: list[Value],
    complemented: int | None,
    part: int,
) -> Value:
    masks = shadow.masks
    both = masks.either(*bits)
    if both == ZERO or "x" in operation:
        return both
    values = [_value(shadow, instruction, operand, part) for operand in pair]
    b = shadow.frame.builder
    if complemented is not None:
        values[complemented] = b.not_(values[complemented])
    if "or" in operation:
        values = [b.not_(value) for value in values]
    # `values` now has a 1 where the other operand's bit passes through.
    left = masks.both(bits[0], masks.either(values[1], bits[1]))
    right = masks.both(bits[1], masks.either(values[0], bits[0]))
    return masks.either(left, right)


def _condition(shadow: Shadow, parts: list[Value]) -> None:
    """SCC is whether the result is not 0."""
    shadow.registers.write_scalar(SCC_SLOT, shadow.masks.spread(shadow.masks.either(*parts)))


def _choice(shadow: Shadow, instruction: Instruction) -> Value:
    """s_cselect and s_cmov: SCC counts, and the chosen source."""
    masks, b = shadow.masks, shadow.frame.builder
    condition = shadow.registers.scalar(SCC_SLOT)
    target = instruction.operands[0]
    keeps = instruction.mnemonic.startswith("s_cmov")
    yes, no = (instruction.operands[1] if len(instruction.operands) > 1 else None, target)
    if not keeps:
        no = instruction.operands[2]
    parts = []
    for part in range(target.dwords if isinstance(target, Register) else 1):
        if_set, if_clear = shadow.bits(yes, part), shadow.bits(no, part)
        chosen = if_set
        if if_set != if_clear:
            chosen = b.select(shadow.frame.registers.condition_code, if_set, if_clear)
        parts.append(masks.either(chosen, condition))
    return _write(shadow, target, parts)


def branch_condition(shadow: Shadow, instruction: Instruction) -> Value:
    """Return the undefined bits of a branch's condition as a mask.

    A mask with a defined 1 is not zero, whatever its undefined bits are.
    """
    name = instruction.mnemonic
    if name.startswith("s_cbranch_scc"):
        return shadow.registers.scalar(SCC_SLOT)
    if not name.startswith("s_cbranch_vcc"):
        return ZERO
    masks, b, sure = shadow.masks, shadow.frame.builder, ZERO
    parts = [Register(RegisterFile.VCC, half) for half in range(shadow.frame.registers.halves)]
    undefined = masks.either(*(shadow.bits(part) for part in parts))
    if undefined == ZERO:
        return ZERO
    for part in parts:
        value = shadow.frame.scalar_operand(part, "b32", instruction)
        sure = masks.either(sure, masks.without(value, shadow.bits(part)))
    return undefined if sure == ZERO else b.select(b.compare("eq", sure, ZERO), undefined, ZERO)
