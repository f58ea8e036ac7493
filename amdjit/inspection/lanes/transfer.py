"""What an instruction changes of what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from amdjit.inspection.lanes.operations import CONSTANTS, LANE_COUNTS, computed
from amdjit.inspection.lanes.sets import ALL, ANY, NO_LANES, LaneSet, combined
from amdjit.inspection.lanes.state import Carry, Half, Pair, State, read
from amdjit.inspection.lanes.values import UNIFORM, Value, sum_of_steps, uniform, widened
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Modifiers,
    Operand,
    OperandSpec,
    Register,
    RegisterFile,
)
from amdjit.isa.integer_rows import expression_of
from amdjit.isa.register_numbers import scalar_slot
from amdjit.isa.traits import Arithmetic, Destination, Result, ScalarLogic, SingleLane, Unit

__all__ = ["pass_instruction"]


_COMPUTES = (Unit.VALU, Unit.TRANSCENDENTAL)
_PLAIN = Modifiers()
_UNTRACKED = (RegisterFile.EXEC, RegisterFile.SCC, RegisterFile.AGPR)
_NO_MASKS = (RegisterFile.VGPR, RegisterFile.AGPR, RegisterFile.NULL, RegisterFile.SCC)
_CONSTANT_LANES = {0: NO_LANES, -1: LaneSet(ALL, exact=True)}


def pass_instruction(state: State, instruction: Instruction, wave_size: int) -> None:
    """Change a state to the one after an instruction."""
    traits = instruction.traits
    if traits.result is Result.NONE and not traits.writes_scc:
        # Waits, branches, stores: a third of most kernels.
        return
    parts = (instruction, instruction.pair) if instruction.pair else (instruction,)
    # Both halves of a dual-issue instruction read before one writes.
    values = [_result(state, part, wave_size) for part in parts]
    wide = wide_result(state, instruction)
    carry = carry_of(state, instruction)
    lanes = _lanes(state, instruction, wave_size)
    for part, value in zip(parts, values, strict=True):
        _write(state, part, value)
    if wide is not None:
        state.pairs[wide[0]] = wide[1]
    if carry is not None:
        state.carries[carry[0]] = carry[1]
    for slot, mask in lanes:
        _write_mask(state, slot, mask, instruction.pc)
    if instruction.traits.is_relative:
        state.vectors.clear()
        state.pairs.clear()
        state.carries.clear()
    if instruction.traits.moves_relative_scalars:
        state.scalars.clear()
        state.masks.clear()
        state.carries.clear()


def _operands(instruction: Instruction) -> Iterator[tuple[OperandSpec, Operand | None]]:
    return zip(instruction.opcode.operands, instruction.operands, strict=True)


def _result(state: State, instruction: Instruction, wave_size: int) -> Value | None:
    """Return what an instruction writes into each of its results, None if that is not known."""
    traits = instruction.traits
    specs, operands = instruction.opcode.operands, instruction.operands
    places = instruction.opcode.source_places
    sources = [(specs[place], read(state, operands[place])) for place in places]
    if any(value is None for _, value in sources):
        return None
    values = [value for spec, value in sources if spec.type != "mask" and value is not None]
    if traits.unit is Unit.SALU:
        return _scalar_result(instruction, values)
    if traits.unit not in _COMPUTES or traits.memory is not None:
        return None
    plain, counts = instruction.modifiers == _PLAIN, LANE_COUNTS.get(traits.operation)
    if counts is not None:
        return counts(values[0], values[1], wave_size) if plain else None
    # What each lane computes of the same numbers is the same, and what one lane has.
    same, masks = all(value.steps is None for value in values), len(values) < len(sources)
    if traits.single_lane is not None:
        is_first = traits.single_lane is SingleLane.READ and len(values) == 1
        return values[0] if same and plain and is_first else None
    if plain and not masks and expression_of(traits.operation) is not None:
        return _by_row(instruction, values)
    moved = instruction.modifiers.dpp or instruction.modifiers.sdwa
    alike = traits.lane_by_lane and moved is None and not traits.is_relative
    return UNIFORM if same and alike and not masks else None


def _by_row(instruction: Instruction, values: list[Value]) -> Value | None:
    """Return what is known of each register of a result."""
    found = computed(instruction, values)
    is_part = found is not None and found.width != UNIFORM.width
    return uniform(UNIFORM.width, found) if found is not None and is_part else found


def _scalar_result(instruction: Instruction, values: list[Value]) -> Value | None:
    traits = instruction.traits
    of_constant = CONSTANTS.get(traits.operation)
    if of_constant is not None:
        return of_constant(instruction.immediates["simm16"])
    # All lanes have the same SCC, too.
    has_row = expression_of(traits.operation) is not None and not traits.reads_scc
    return (_by_row(instruction, values) if has_row else None) or UNIFORM


def _write(state: State, instruction: Instruction, value: Value | None) -> None:
    single = len([spec for spec in instruction.opcode.operands if spec.written]) == 1
    for index, (spec, operand) in enumerate(_operands(instruction)):
        if not spec.written or not isinstance(operand, Register):
            continue
        if operand.file is RegisterFile.VGPR:
            found = value if spec.role == "vdst" else None
            if instruction.keeps_part(index):
                old = state.vector(operand.index)
                found = uniform(UNIFORM.width, found, old) if found and old else None
            elif operand.dwords > 1 and found is not None:
                found = uniform(UNIFORM.width, found)
            for number in range(operand.index, operand.index + operand.dwords):
                state.write_vector(number, found)
        elif operand.file not in _UNTRACKED:
            slot = scalar_slot(operand)
            known = value if single and operand.dwords == 1 else None
            for number in range(slot, slot + operand.dwords) if slot is not None else ():
                state.write_scalar(number, known)


def _lanes(
    state: State, instruction: Instruction, wave_size: int
) -> list[tuple[int | None, LaneSet]]:
    """Return the masks that an instruction writes, by the ISA's operand code; None is EXEC."""
    dwords, logic = wave_size // 32, instruction.traits.logic
    found: list[tuple[int | None, LaneSet]] = []
    for spec, operand in _operands(instruction):
        if not spec.written or not isinstance(operand, Register) or operand.file in _NO_MASKS:
            continue
        lanes = _written_lanes(state, instruction, spec) if operand.dwords == dwords else ANY
        is_exec = operand.file is RegisterFile.EXEC
        if is_exec or lanes != ANY:
            found.append((None if is_exec else scalar_slot(operand), lanes))
    if logic is not None and logic.destination is not Destination.REGISTER:
        whole = instruction.opcode.operands[0].dwords == dwords
        found.append((None, _logic(state, instruction, logic) if whole else ANY))
    return found


def _written_lanes(state: State, instruction: Instruction, spec: OperandSpec) -> LaneSet:
    """Return the lanes of the mask that an instruction puts into a register."""
    traits = instruction.traits
    if traits.compares and spec.type == "mask":
        return LaneSet(state.exec)
    if traits.logic is not None:
        if traits.logic.destination is Destination.EXEC:
            return LaneSet(state.exec, exact=True)
        return _logic(state, instruction, traits.logic)
    if traits.arithmetic is Arithmetic.MOVE and traits.unit is Unit.SALU:
        return _mask(state, instruction.operands[1])
    return ANY


def _logic(state: State, instruction: Instruction, logic: ScalarLogic) -> LaneSet:
    sources = [_mask(state, operand) for spec, operand in _operands(instruction) if spec.read]
    if logic.destination is not Destination.REGISTER:
        sources.append(LaneSet(state.exec, exact=True))
    return combined(logic, sources) if len(sources) == 2 else ANY


def _mask(state: State, operand: Operand | None) -> LaneSet:
    if isinstance(operand, InlineConstant):
        number = operand.value
        return _CONSTANT_LANES.get(number, ANY) if isinstance(number, int) else ANY
    if not isinstance(operand, Register):
        return ANY
    if operand.file is RegisterFile.EXEC:
        return LaneSet(state.exec, exact=True)
    slot = scalar_slot(operand) if operand.file is not RegisterFile.SCC else None
    return ANY if slot is None else state.masks.get(slot, ANY)


def _write_mask(state: State, slot: int | None, lanes: LaneSet, place: int) -> None:
    if slot is None:
        state.activate(lanes, place)
    else:
        state.masks[slot] = lanes


# 64-bit numbers in two vector registers, such as addresses: what each lane adds to them.
#
# A sum is made in two steps, of which the first leaves its carries in a mask:
#
#     v_add_co_u32 v0, vcc_lo, s2, v0
#     v_add_co_ci_u32_e64 v1, null, s3, v1, vcc_lo


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
