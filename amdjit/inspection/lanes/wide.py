"""64-bit numbers in two vector registers, such as addresses: what each lane adds to them.

A sum is made in two steps, of which the first leaves its carries in a mask:

    v_add_co_u32 v0, vcc_lo, s2, v0
    v_add_co_ci_u32_e64 v1, null, s3, v1, vcc_lo
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from amdjit.inspection.lanes.operands import read
from amdjit.inspection.lanes.operations import computed
from amdjit.inspection.lanes.state import Carry, Half, Pair, State
from amdjit.inspection.lanes.values import Value, sum_of_steps, widened
from amdjit.isa.instruction import (
    Instruction,
    Modifiers,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.integer_rows import expression_of
from amdjit.isa.register_numbers import scalar_slot

__all__ = ["carry_of", "wide_result"]

_PLAIN = Modifiers()
# Whether the sources of the first step are exchanged, and the sign of the second one's.
_LOWER: Mapping[str, tuple[bool, int]] = {
    "v_add_co_u32": (False, 1),
    "v_sub_co_u32": (False, -1),
    "v_subrev_co_u32": (True, -1),
}


def carry_of(state: State, instruction: Instruction) -> tuple[int, Carry] | None:
    """Return the mask of carries that an instruction writes, by the ISA's operand code."""
    order = _LOWER.get(instruction.traits.operation)
    if order is None or instruction.modifiers != _PLAIN:
        return None
    low, mask, *sources = instruction.operands
    if not isinstance(low, Register) or not isinstance(mask, Register):
        return None
    slot = scalar_slot(mask)
    halves = [_half(state, source) for source in (sources[::-1] if order[0] else sources)]
    if slot is None or None in halves:
        return None
    one, other = halves
    assert one is not None
    assert other is not None
    return slot, Carry(low.index, (one, other), order[1], state.exec)


def _half(state: State, operand: Operand | None) -> Half | None:
    """Return the lower half of a number that an operand is."""
    if isinstance(operand, Register) and operand.file is RegisterFile.VGPR:
        pair = state.pairs.get(operand.index)
        if pair is not None:
            return Half(pair.high, pair.steps)
    value = read(state, operand)
    return None if value is None else Half(None, widened(value.steps))


def wide_result(state: State, instruction: Instruction) -> tuple[int, Pair] | None:
    """Return the 64-bit number that an instruction completes, with its lower register."""
    traits, target = instruction.traits, instruction.operands[0]
    if instruction.modifiers != _PLAIN or not isinstance(target, Register):
        return None
    completes = _COMPLETING.get(traits.operation)
    if completes is not None:
        return completes(state, instruction)
    is_wide = target.file is RegisterFile.VGPR and target.dwords == 2
    if not is_wide or expression_of(traits.operation) is None:
        return None
    result = computed(instruction, list(_sources(state, instruction)))
    pair = None if result is None else Pair(target.index + 1, result.steps, state.exec)
    return None if pair is None else (target.index, pair)


def _sources(state: State, instruction: Instruction) -> Iterator[Value | None]:
    for place in instruction.opcode.source_places:
        spec, operand = instruction.opcode.operands[place], instruction.operands[place]
        is_vector = isinstance(operand, Register) and operand.file is RegisterFile.VGPR
        if spec.dwords == 1 or not is_vector:
            yield read(state, operand)
            continue
        assert isinstance(operand, Register)
        known, steps = state.wide_steps(operand.index)
        yield Value(steps=steps, width=64) if known else None


def _sum(swaps: bool, sign: int, state: State, instruction: Instruction) -> tuple[int, Pair] | None:
    high, _, *sources, mask = instruction.operands
    slot = scalar_slot(mask) if isinstance(mask, Register) else None
    carry = None if slot is None else state.carries.get(slot)
    if carry is None or carry.sign != sign or not isinstance(high, Register):
        return None
    upper = sources[::-1] if swaps else sources
    orders = (upper, upper[::-1]) if sign > 0 else (upper,)
    for order in orders:
        pairs = zip(carry.halves, order, strict=True)
        if all(_completes(state, half, operand) for half, operand in pairs):
            one, other = (half.steps for half in carry.halves)
            steps = sum_of_steps(one, other, sign)
            return carry.low, Pair(high.index, steps, state.exec)
    return None


def _completes(state: State, half: Half, operand: Operand | None) -> bool:
    """Whether an operand is the upper half of a number."""
    if half.high is not None:
        return (
            isinstance(operand, Register)
            and operand.file is RegisterFile.VGPR
            and operand.index == half.high
        )
    value = read(state, operand)
    return value is not None and value.steps is None


def _extended(state: State, instruction: Instruction) -> tuple[int, Pair] | None:
    """The upper half is the sign of the lower one, which was a number of 32 bits."""
    high, count, low = instruction.operands
    places, value = read(state, count), read(state, low)
    is_sign = places is not None and places.constant == 31
    if not is_sign or value is None or not isinstance(high, Register):
        return None
    if not isinstance(low, Register) or low.file is not RegisterFile.VGPR:
        return None
    if low.index == high.index:
        return None
    return low.index, Pair(high.index, widened(value.steps), state.exec)


# What completes a 64-bit number one half of which stands already. Of sums: whether the sources are
# exchanged, and the sign of the second one.
_COMPLETING: Mapping[str, Callable[[State, Instruction], tuple[int, Pair] | None]] = {
    "v_add_co_ci_u32": partial(_sum, False, 1),
    "v_sub_co_ci_u32": partial(_sum, False, -1),
    "v_subrev_co_ci_u32": partial(_sum, True, -1),
    "v_ashrrev_i32": _extended,
}
