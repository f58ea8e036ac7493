"""How undefined values pass through vector instructions.

As a rule a result is undefined where any source is. The exceptions are the instructions with which
compilers split and join halves, and those that choose (v_cndmask) or move between lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.checks.init.operands import Shadow, results, sources
from amdjit.emulator.checks.init.registers import DEFINED, ZERO, Halves
from amdjit.emulator.host.builder import Value
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Literal,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.register_numbers import is_vector, scalar_slot, vector_number

Rule = Callable[[Shadow, Instruction], Halves]


def vector_results(
    shadow: Shadow, instruction: Instruction
) -> list[tuple[Instruction, int, Halves]]:
    """Return (instruction, operand, shadow) of each result, without writing it."""
    rule = _rule_of(instruction)
    new = rule(shadow, instruction)
    return [(instruction, index, new) for index in results(instruction)]


def _rule_of(instruction: Instruction) -> Rule:
    return _RULES.get(instruction.traits.operation) or (
        _packed if instruction.traits.is_packed else _any
    )


def _any(shadow: Shadow, instruction: Instruction) -> Halves:
    found = [
        shadow.any_of(instruction, index)
        for index in sources(instruction)
        if not _is_mask(instruction, index)
    ]
    carried = [
        shadow.mask(instruction.operands[i])
        for i in sources(instruction)
        if _is_mask(instruction, i)
    ]
    mask = shadow.masks.either(*found, *carried)
    return mask, mask


def _is_mask(instruction: Instruction, index: int) -> bool:
    return instruction.opcode.operands[index].type == "mask"


def _copy(shadow: Shadow, instruction: Instruction) -> Halves:
    return shadow.halves(instruction, 1)


def _choose(shadow: Shadow, instruction: Instruction) -> Halves:
    """v_cndmask: the condition counts, and the chosen source."""
    masks = shadow.masks
    no, yes = shadow.halves(instruction, 1), shadow.halves(instruction, 2)
    operand = instruction.operands[3] if len(instruction.operands) > 3 else None
    undefined = shadow.mask(operand)
    if no == DEFINED and yes == DEFINED:
        return undefined, undefined
    condition = shadow.frame.builder.mask_bits(shadow.frame.lane_conditions(operand))
    pairs = zip(no, yes, strict=True)
    low, high = (
        masks.either(masks.both(y, condition), masks.without(n, condition), undefined)
        for n, y in pairs
    )
    return low, high


def constant_of(shadow: Shadow, operand: Operand | None) -> int | None:
    """Return the 32 bits of an operand that is a constant, or a scalar register to which one was
    just moved."""
    if isinstance(operand, Literal):
        return operand.value
    if isinstance(operand, InlineConstant):
        return operand.value & 0xFFFFFFFF if isinstance(operand.value, int) else None
    if isinstance(operand, Register) and operand.file is RegisterFile.SGPR:
        slot = scalar_slot(operand)
        text = "" if slot is None else shadow.frame.registers.scalar(slot).text
        return int(text) & 0xFFFFFFFF if text.lstrip("-").isdigit() else None
    return None


def _and(shadow: Shadow, instruction: Instruction) -> Halves:
    return _masked(shadow, instruction, 1, 2)


def _masked(shadow: Shadow, instruction: Instruction, first: int, second: int) -> Halves:
    left, right = shadow.halves(instruction, first), shadow.halves(instruction, second)
    numbers = [constant_of(shadow, instruction.operands[index]) for index in (first, second)]
    number = numbers[0] if numbers[0] is not None else numbers[1]
    low, high = shadow.masks.either(left[0], right[0]), shadow.masks.either(left[1], right[1])
    if number is None:
        return low, high
    return low if number & 0xFFFF else ZERO, high if number >> 16 else ZERO


def _carries_up(shadow: Shadow, instruction: Instruction) -> Halves:
    """Sums and products: the low half, which is all that narrow integers need, depends only on low
    halves."""
    low, _ = _bitwise(shadow, instruction)
    return low, shadow.masks.either(*_any(shadow, instruction))


def _added_to(shadow: Shadow, instruction: Instruction) -> Halves:
    """Something is added to the last source: of it, the low half depends only on the low half."""
    *others, last = sources(instruction)
    added = shadow.masks.either(*(shadow.any_of(instruction, index) for index in others))
    low, high = shadow.halves(instruction, last)
    return shadow.masks.either(added, low), shadow.masks.either(added, low, high)


def _byte_of(half: int) -> Rule:
    """One byte of the source is converted."""

    def rule(shadow: Shadow, instruction: Instruction) -> Halves:
        mask = shadow.halves(instruction, 1)[half]
        return mask, mask

    return rule


def _bitwise(shadow: Shadow, instruction: Instruction) -> Halves:
    found = [shadow.halves(instruction, index) for index in sources(instruction)]
    return shadow.masks.either(*(half[0] for half in found)), shadow.masks.either(
        *(half[1] for half in found)
    )


def _shifted(shadow: Shadow, value: Halves, amount: int | None, to_left: bool) -> Halves:
    whole = shadow.masks.either(*value)
    if amount is None:
        return whole, whole
    amount &= 31
    if amount == 0:
        return value
    if to_left:
        return (ZERO if amount >= 16 else value[0]), value[
            0
        ] if amount == 16 else whole if amount < 16 else value[0]
    return (value[1] if amount >= 16 else whole), (ZERO if amount >= 16 else value[1])


def _shift(to_left: bool, signed: bool = False) -> Rule:
    def rule(shadow: Shadow, instruction: Instruction) -> Halves:
        value = shadow.halves(instruction, 2)
        by = shadow.halves(instruction, 1)[0]  # only the low bits of an amount count
        low, high = _shifted(shadow, value, constant_of(shadow, instruction.operands[1]), to_left)
        high = value[1] if signed else high
        return shadow.masks.either(low, by), shadow.masks.either(high, by)

    return rule


def _shift_or(shadow: Shadow, instruction: Instruction) -> Halves:
    value, other = shadow.halves(instruction, 1), shadow.halves(instruction, 3)
    moved = _shifted(shadow, value, constant_of(shadow, instruction.operands[2]), True)
    by = shadow.halves(instruction, 2)[0]
    low, high = (shadow.masks.either(m, o, by) for m, o in zip(moved, other, strict=True))
    return low, high


def _and_or(shadow: Shadow, instruction: Instruction) -> Halves:
    kept, other = _masked(shadow, instruction, 1, 2), shadow.halves(instruction, 3)
    low, high = (shadow.masks.either(k, o) for k, o in zip(kept, other, strict=True))
    return low, high


def _insert(shadow: Shadow, instruction: Instruction) -> Halves:
    """v_bfi: the bits of src0 choose those that come from src1; the others come from src2."""
    number = constant_of(shadow, instruction.operands[1])
    if number is None:
        return _any(shadow, instruction)
    chosen, other = shadow.halves(instruction, 2), shadow.halves(instruction, 3)
    parts = (number & 0xFFFF, number >> 16)
    low, high = (
        shadow.masks.either(c if part else ZERO, o if part != 0xFFFF else ZERO)
        for part, c, o in zip(parts, chosen, other, strict=True)
    )
    return low, high


def _extract(shadow: Shadow, instruction: Instruction) -> Halves:
    """v_bfe: only the halves that overlap the field count."""
    value = shadow.halves(instruction, 1)
    offset, width = (constant_of(shadow, instruction.operands[index]) for index in (2, 3))
    if offset is None or width is None:
        return _any(shadow, instruction)
    first, last = offset & 31, (offset & 31) + max((width & 31) - 1, 0)
    mask = shadow.masks.either(value[0] if first < 16 else ZERO, value[1] if last >= 16 else ZERO)
    return mask, mask


def _permute_bytes(shadow: Shadow, instruction: Instruction) -> Halves:
    """v_perm: a selector byte of 0..3 takes a byte of src1, one of 4..7 a byte of src0; others are
    signs or constants.

    If the selector is not known here, only values that are undefined as a whole count.
    """
    masks = shadow.masks
    first, second = shadow.halves(instruction, 1), shadow.halves(instruction, 2)
    selector = constant_of(shadow, instruction.operands[3])
    if selector is None:
        mask = masks.either(masks.both(*first), masks.both(*second), shadow.any_of(instruction, 3))
        return mask, mask
    bytes_ = [*(second[n // 2] for n in range(4)), *(first[n // 2] for n in range(4))]
    bytes_ += [second[0], second[1], first[0], first[1]]
    chosen = [selector >> 8 * n & 0xFF for n in range(4)]
    parts = [bytes_[n] if n < len(bytes_) else ZERO for n in chosen]
    return masks.either(*parts[:2]), masks.either(*parts[2:])


def _align(amount_of_half: int) -> Rule:
    """v_alignbit and v_alignbyte by a half: the low half of src0 over the high half of src1."""

    def rule(shadow: Shadow, instruction: Instruction) -> Halves:
        if constant_of(shadow, instruction.operands[3]) != amount_of_half:
            return _any(shadow, instruction)
        return shadow.halves(instruction, 2)[1], shadow.halves(instruction, 1)[0]

    return rule


def _pack(shadow: Shadow, instruction: Instruction) -> Halves:
    return shadow.any_of(instruction, 1), shadow.any_of(instruction, 2)


def _packed(shadow: Shadow, instruction: Instruction) -> Halves:
    """VOP3P: op_sel chooses the half for the low result, op_sel_hi that for the high one."""
    if instruction.modifiers.dpp is not None or instruction.opcode.encoding != "VOP3P":
        return _any(shadow, instruction)
    low: list[Value] = []
    high: list[Value] = []
    for index in sources(instruction):
        if not instruction.opcode.operands[index].role.startswith("src"):
            continue
        number = int(instruction.opcode.operands[index].role[3])
        value = shadow.halves(instruction, index)
        low.append(value[instruction.modifiers.op_sel >> number & 1])
        high.append(value[instruction.modifiers.op_sel_hi >> number & 1])
    return shadow.masks.either(*low), shadow.masks.either(*high)


def _mixed(shadow: Shadow, instruction: Instruction) -> Halves:
    """v_fma_mix: op_sel_hi says which sources are halves, op_sel which halves they are."""
    parts: list[Value] = []
    for number in range(3):
        value = shadow.halves(instruction, 1 + number)
        narrow = instruction.modifiers.op_sel_hi >> number & 1
        parts += [value[instruction.modifiers.op_sel >> number & 1]] if narrow else value
    mask = shadow.masks.either(*parts)
    return mask, mask


def _mixed_half(half: int) -> Rule:
    def rule(shadow: Shadow, instruction: Instruction) -> Halves:
        mask, _ = _mixed(shadow, instruction)
        target = instruction.operands[0]
        assert isinstance(target, Register)
        old = shadow.registers.vector(vector_number(target))
        new = (old[0], mask) if half else (mask, old[1])
        shadow.registers.write_vector(vector_number(target), new, shadow.lanes())
        return DEFINED

    return rule


def write_half_results(shadow: Shadow, instruction: Instruction) -> bool:
    """Write the result of v_fma_mixlo or v_fma_mixhi, whose operands name no half; return whether
    it is one of them."""
    half = {"v_fma_mixlo_f16": 0, "v_fma_mixhi_f16": 1}.get(instruction.traits.operation)
    if half is None:
        return False
    _mixed_half(half)(shadow, instruction)
    return True


def write_wide_results(shadow: Shadow, instruction: Instruction) -> bool:
    """Write the result of a 64-bit instruction whose low dword depends only on low dwords; return
    whether it is one.

    Compilers leave the high dword undefined if they need only the low one.
    """
    order = _WIDE.get(instruction.traits.operation)
    if order is None:
        return False
    masks, target = shadow.masks, instruction.operands[0]
    assert isinstance(target, Register)
    low, high = _dwords(shadow, instruction, order[0])
    others = masks.either(*(_other_source(shadow, instruction, index) for index in order[1:]))
    low = masks.either(low, others)
    high = masks.either(low, high)
    for number, mask in ((vector_number(target), low), (vector_number(target) + 1, high)):
        shadow.registers.write_vector(number, (mask, mask), shadow.lanes())
    for index in results(instruction):
        if index:
            shadow.write(instruction, index, (high, high), shadow.lanes())
    return True


def _other_source(shadow: Shadow, instruction: Instruction, index: int) -> Value:
    found = shadow.halves(instruction, index)
    # Only the low bits of the amount of a shift are used.
    is_shift = len(instruction.operands) == 3
    return found[0] if is_shift else shadow.masks.either(*found)


def _dwords(shadow: Shadow, instruction: Instruction, index: int) -> Halves:
    operand = instruction.operands[index]
    if is_vector(operand):
        first = vector_number(operand)
        return shadow.registers.whole(first), shadow.registers.whole(first + 1)
    mask = shadow.any_of(instruction, index)
    return mask, mask


# The 64-bit source, then the others.
_WIDE: Mapping[str, tuple[int, ...]] = {
    "v_mad_co_u64_u32": (4, 2, 3),
    "v_mad_co_i64_i32": (4, 2, 3),
    "v_lshlrev_b64": (2, 1),
}


_RULES: Mapping[str, Rule] = {
    "v_mov_b32": _copy,
    "v_cndmask_b32": _choose,
    "v_cndmask_b16": _choose,
    "v_and_b32": _and,
    "v_or_b32": _bitwise,
    "v_xor_b32": _bitwise,
    "v_xnor_b32": _bitwise,
    "v_not_b32": _bitwise,
    "v_or3_b32": _bitwise,
    "v_xor3_b32": _bitwise,
    "v_lshlrev_b32": _shift(True),
    "v_lshrrev_b32": _shift(False),
    "v_ashrrev_i32": _shift(False, True),
    "v_lshl_or_b32": _shift_or,
    "v_and_or_b32": _and_or,
    "v_bfi_b32": _insert,
    "v_bfe_u32": _extract,
    "v_bfe_i32": _extract,
    "v_perm_b32": _permute_bytes,
    "v_alignbit_b32": _align(16),
    "v_alignbyte_b32": _align(2),
    "v_pack_b32_f16": _pack,
    "v_fma_mix_f32": _mixed,
    **dict.fromkeys(("v_bcnt_u32_b32", "v_mad_u32_u16", "v_mad_i32_i16"), _added_to),
    **{f"v_cvt_f32_ubyte{byte}": _byte_of(byte // 2) for byte in range(4)},
    **dict.fromkeys(
        (
            "v_add_nc_u32",
            "v_sub_nc_u32",
            "v_subrev_nc_u32",
            "v_add_nc_i32",
            "v_sub_nc_i32",
            "v_xad_u32",
            "v_add3_u32",
            "v_lshl_add_u32",
            "v_add_lshl_u32",
            "v_mul_lo_u32",
            "v_mul_u32_u24",
            "v_mul_i32_i24",
            "v_mad_u32_u24",
            "v_mad_i32_i24",
        ),
        _carries_up,
    ),
}
