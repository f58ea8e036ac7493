"""How undefined bits pass through scalar instructions: exactly through bitwise logic, which
combines lane masks and conditions; as a whole through arithmetic.

Rows are not read here: which bits a mask's other operand lets pass is known only when it runs.
"""

from __future__ import annotations

from amdjit.emulator.checks.init.operands import Shadow, results, sources
from amdjit.emulator.checks.init.registers import ZERO
from amdjit.emulator.host.builder import Value, constant
from amdjit.isa.instruction import Instruction, Operand, Register, RegisterFile
from amdjit.isa.register_numbers import EXEC_HI, EXEC_LO, SCC_SLOT, scalar_slot
from amdjit.isa.traits import Arithmetic, Destination, Flag, Operator, ScalarLogic

_EXEC = Register(RegisterFile.EXEC, 0)


def apply_scalar(shadow: Shadow, instruction: Instruction) -> Value:
    """Write the shadows of a scalar instruction's results; return the undefined bits of EXEC that
    it makes."""
    traits = instruction.traits
    if traits.logic is not None:
        return _logic(shadow, instruction, traits.logic)
    if traits.arithmetic is Arithmetic.MOVE:
        dwords = instruction.opcode.operands[0].dwords
        parts = [shadow.bits(instruction.operands[1], part) for part in range(dwords)]
        return _write(shadow, instruction.operands[0], parts)
    if traits.arithmetic is Arithmetic.SELECT:
        return _choice(shadow, instruction)
    return _other(shadow, instruction)


def _other(shadow: Shadow, instruction: Instruction) -> Value:
    masks = shadow.masks
    whole = masks.either(
        *(shadow.scalar(instruction.operands[index]) for index in sources(instruction))
    )
    if instruction.traits.reads_scc:
        whole = masks.either(whole, shadow.registers.scalar(SCC_SLOT))
    undefined = ZERO
    for index in results(instruction):
        operand = instruction.operands[index]
        dwords = operand.dwords if isinstance(operand, Register) else 1
        undefined = masks.either(undefined, _write(shadow, operand, [whole] * dwords))
    if instruction.traits.writes_scc and not instruction.traits.scc_is_late:
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


def _logic(shadow: Shadow, instruction: Instruction, logic: ScalarLogic) -> Value:
    """and: a bit is undefined unless a defined 0 decides it; or: unless a defined 1 does; xor:
    always."""
    dwords = instruction.opcode.operands[0].dwords
    into_exec = logic.destination is not Destination.REGISTER
    pair: list[Operand | None] = [*instruction.operands[1:], *([_EXEC] if into_exec else [])]
    parts = []
    for part in range(dwords):
        bits = [shadow.bits(operand, part) for operand in pair]
        parts.append(_combined(shadow, instruction, logic=logic, pair=pair, bits=bits, part=part))
    if not into_exec:
        undefined = _write(shadow, instruction.operands[0], parts)
        _condition(shadow, parts)
        return undefined
    is_saved = logic.destination is Destination.EXEC
    _write(shadow, instruction.operands[0], [ZERO] * dwords if is_saved else parts)
    shadow.registers.write_scalar(SCC_SLOT, ZERO)
    return shadow.masks.either(*parts)


def _combined(
    shadow: Shadow,
    instruction: Instruction,
    logic: ScalarLogic,
    pair: list[Operand | None],
    bits: list[Value],
    part: int,
) -> Value:
    masks = shadow.masks
    both = masks.either(*bits)
    if both == ZERO or logic.operator is Operator.XOR:
        return both
    values = [_value(shadow, instruction, operand, part) for operand in pair]
    b = shadow.frame.builder
    if logic.complemented is not None:
        values[logic.complemented] = b.not_(values[logic.complemented])
    if logic.operator is Operator.OR:
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
    yes, no = (instruction.operands[1] if len(instruction.operands) > 1 else None, target)
    if len(instruction.operands) > 2:  # s_cmov keeps what the register holds
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
    condition = instruction.traits.condition
    if condition is None or condition.flag is Flag.EXEC:
        return ZERO
    if condition.flag is Flag.SCC:
        return shadow.registers.scalar(SCC_SLOT)
    masks, b, sure = shadow.masks, shadow.frame.builder, ZERO
    parts = [Register(RegisterFile.VCC, half) for half in range(shadow.frame.registers.halves)]
    undefined = masks.either(*(shadow.bits(part) for part in parts))
    if undefined == ZERO:
        return ZERO
    for part in parts:
        value = shadow.frame.scalar_operand(part, "b32", instruction)
        sure = masks.either(sure, masks.without(value, shadow.bits(part)))
    return undefined if sure == ZERO else b.select(b.compare("eq", sure, ZERO), undefined, ZERO)
