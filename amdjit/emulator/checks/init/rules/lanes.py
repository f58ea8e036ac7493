"""How undefined values pass through instructions that move them between lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from amdjit.emulator.checks.init.operands import Shadow, sources
from amdjit.emulator.checks.init.registers import ONES, ZERO, Halves
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.memory.transposed import Transposed, source_of_half
from amdjit.emulator.instructions.tables import emitter_of
from amdjit.emulator.instructions.whole_waves import in_each_half
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.register_numbers import EXEC_LO, HALF_LANES, HALF_VGPRS, is_vector, vector_number

# The bytes that a transposing load of 16-bit elements moves for each lane.
_HALVES = 16
_ELEMENT_BITS = 16
# Where an element of a lane comes from: a lane and its element.
Source = Callable[[int, int], tuple[int, int]]


def move_between_lanes(shadow: Shadow, instruction: Instruction) -> None:
    """Write the shadow of an instruction that moves one register between lanes: the same move of
    the shadow."""
    role = _moved_role(instruction)
    source = instruction.operand(role)
    target = instruction.operands[0]
    assert isinstance(target, Register)
    if not is_vector(source):
        return

    def each(read: Callable[[], Value]) -> list[Value]:
        if instruction.traits.once_per_wave:
            return in_each_half(shadow.frame, read)
        return [read()]

    masks = each(lambda: shadow.registers.whole(vector_number(source)))
    olds = each(lambda: shadow.registers.whole(vector_number(target)))
    new = wrong = each(lambda: _wrong_lanes(shadow, instruction, role))
    if any(mask != ZERO for mask in (*masks, *olds)):
        moved = _moved(shadow, instruction, masks, olds, each)
        new = [
            shadow.masks.either(mask, undefined)
            for mask, undefined in zip(moved, wrong, strict=True)
        ]
    results = iter(new)
    lanes = ONES if new is not wrong else None

    def write() -> Value:
        mask = next(results)
        shadow.registers.write_vector(vector_number(target), (mask, mask), lanes or shadow.lanes())
        return mask

    each(write)


def exchange_between_lanes(shadow: Shadow, instruction: Instruction) -> None:
    """Write the shadows of two registers whose lanes change places: the same exchange of the
    shadows."""
    operands = [operand for operand in instruction.operands if is_vector(operand)]
    numbers = [vector_number(operand) for operand in operands]
    registers = shadow.frame.registers

    def each(read: Callable[[], Value]) -> list[Value]:
        if instruction.traits.once_per_wave:
            return in_each_half(shadow.frame, read)
        return [read()]

    before = [each(partial(_as_lanes, shadow, number)) for number in numbers]
    values = {
        number + half * HALF_VGPRS: mask
        for number, masks in zip(numbers, before, strict=True)
        for half, mask in enumerate(masks)
    }
    with registers.stand_in(values):
        emitter = emitter_of(instruction)
        assert emitter is not None
        emitter(shadow.frame, instruction)
        after = [each(partial(_from_lanes, shadow, number)) for number in numbers]
    for number, masks in zip(numbers, after, strict=True):
        each(partial(_write_next, shadow, number, iter(masks)))


def _as_lanes(shadow: Shadow, number: int) -> Value:
    return shadow.as_lanes(shadow.registers.whole(number))


def _from_lanes(shadow: Shadow, number: int) -> Value:
    return shadow.from_lanes(shadow.frame.registers.vector(number))


def _write_next(shadow: Shadow, number: int, masks: Iterator[Value]) -> Value:
    mask = next(masks)
    shadow.registers.write_vector(number, (mask, mask), ONES)
    return mask


def _moved(
    shadow: Shadow,
    instruction: Instruction,
    masks: list[Value],
    olds: list[Value],
    each: Callable[[Callable[[], Value]], list[Value]],
) -> list[Value]:
    """Move masks as the instruction moves its source, through registers that it does not name."""
    registers, role = shadow.frame.registers, _moved_role(instruction)
    named = {vector_number(operand) for operand in instruction.operands if is_vector(operand)}
    source, target = (
        Register(RegisterFile.VGPR, index) for index in [n for n in range(5) if n not in named][:2]
    )
    operands = [
        target if index == 0 else source if _role(instruction, index) == role else operand
        for index, operand in enumerate(instruction.operands)
    ]
    values = {}
    for half, (mask, old) in enumerate(zip(masks, olds, strict=True)):
        values[vector_number(target) + half * HALF_VGPRS] = shadow.as_lanes(old)
        values[vector_number(source) + half * HALF_VGPRS] = shadow.as_lanes(mask)
    with registers.stand_in(values):
        emitter = emitter_of(instruction)
        assert emitter is not None
        emitter(shadow.frame, replace(instruction, operands=tuple(operands)))
        return each(lambda: shadow.from_lanes(registers.vector(vector_number(target))))


def _wrong_lanes(shadow: Shadow, instruction: Instruction, role: str) -> Value:
    """Return the active lanes whose index of another lane is undefined."""
    # What the target held stays in some lanes, but chooses none.
    indices = [
        shadow.any_of(instruction, i)
        for i in sources(instruction)
        if _role(instruction, i) not in (role, "vdst")
    ]
    return shadow.masks.both(shadow.masks.either(*indices), shadow.lanes())


def _moved_role(instruction: Instruction) -> str:
    role = instruction.traits.moved_role
    assert role is not None
    return role


def _role(instruction: Instruction, index: int) -> str:
    return instruction.opcode.operands[index].role


def swap(shadow: Shadow, instruction: Instruction) -> None:
    """v_swap_b32, and v_swap_b16, whose operands may be the halves of one register."""
    first, second = instruction.operands
    assert isinstance(first, Register)
    assert isinstance(second, Register)
    if first.half is not None:
        masks = [shadow.halves(instruction, index) for index in (0, 1)]
        shadow.write(instruction, 0, masks[1], shadow.lanes())
        shadow.write(instruction, 1, masks[0], shadow.lanes())
        return
    left, right = (
        shadow.registers.vector(vector_number(first)),
        shadow.registers.vector(vector_number(second)),
    )
    shadow.registers.write_vector(vector_number(first), right, shadow.lanes())
    shadow.registers.write_vector(vector_number(second), left, shadow.lanes())


def read_lane(shadow: Shadow, instruction: Instruction) -> None:
    """v_readlane, v_readfirstlane and v_s_*: the scalar register gets the state of one lane."""
    b = shadow.frame.builder
    masks = in_each_half(shadow.frame, lambda: shadow.any_of(instruction, 1))
    result = masks[0]
    if any(mask not in (ZERO, masks[0]) for mask in masks) or result not in (ZERO, ONES):
        result = b.sub(
            ZERO,
            b.mask(
                b.resize(b.shift("lshr", _wide(shadow, masks), _lane(shadow, instruction)), 32), 1
            ),
        )
    shadow.write(instruction, 0, (result, result), ONES)


def _wide(shadow: Shadow, masks: list[Value]) -> Value:
    """Return the masks of both halves of the wave as one integer."""
    return masks[0] if len(masks) == 1 else shadow.frame.builder.concat_bits(*masks)


def _lane(shadow: Shadow, instruction: Instruction) -> Value:
    """Return which lane is read, as an integer as wide as the wave; with no active lane, lane 0."""
    b, registers = shadow.frame.builder, shadow.frame.registers
    bits = 32 * registers.halves
    if len(instruction.operands) > 2:
        lane = b.resize(shadow.frame.scalar_source(instruction, 2, "b32"), bits)
    else:
        execution = _wide(
            shadow, [registers.scalar(EXEC_LO + half) for half in range(registers.halves)]
        )
        lane = b.intrinsic("cttz", execution, flags=[constant("i1", 0)])
    return b.mask(lane, bits.bit_length() - 1)


def write_lane(shadow: Shadow, instruction: Instruction) -> None:
    """v_writelane. Compilers keep scalar registers in lanes: a lane is undefined only if all its
    bits are."""
    b, frame = shadow.frame.builder, shadow.frame
    target = instruction.operands[0]
    assert isinstance(target, Register)
    bits = 32 * frame.registers.halves
    lane = b.mask(b.resize(frame.scalar_source(instruction, 2, "b32"), bits), bits.bit_length() - 1)
    chosen = b.shift("shl", constant(f"i{bits}", 1), lane)
    item = shadow.bits(instruction.operands[1])
    for half, bit in enumerate([chosen] if bits == 32 else b.split_bits(chosen)):
        frame.registers.select_half(half)
        new = ZERO if item == ZERO else b.select(b.compare("eq", item, ONES), bit, ZERO)
        low, high = (
            shadow.masks.either(shadow.masks.without(old, bit), new)
            for old in shadow.registers.vector(vector_number(target))
        )
        shadow.registers.write_vector(vector_number(target), (low, high), ONES)
    frame.registers.select_half(0)


def write_transposed(
    shadow: Shadow, instruction: Instruction, target: Register, read: list[Halves]
) -> None:
    """Write the registers of a transposing load. read: the lanes in which halves of the dwords are
    undefined.

    Elements of one byte count as defined: it is not known which byte of a half is undefined.
    """
    count = 2 * target.dwords
    for half in range(shadow.frame.registers.halves):
        shadow.frame.registers.select_half(half)
        for dword in range(target.dwords):
            new = (ZERO, ZERO)
            if instruction.access.size == _HALVES:
                first = half * count + 2 * dword
                new = _moved_halves(shadow, read, source_of_half, first)
            shadow.registers.write_vector(vector_number(target) + dword, new, shadow.lanes())
    shadow.frame.registers.select_half(0)


def write_columns(
    shadow: Shadow, instruction: Instruction, target: Register, read: list[Halves]
) -> None:
    """Write the registers of a transposing load of LDS, in one half of a wave64. Elements of less
    than 16 bits count as defined, as in `write_transposed`."""
    how = emitter_of(instruction)
    assert isinstance(how, Transposed)
    for dword in range(target.dwords):
        new = (ZERO, ZERO)
        if how.bits == _ELEMENT_BITS:
            new = _moved_halves(shadow, read, how.source, 2 * dword)
        shadow.registers.write_vector(vector_number(target) + dword, new, shadow.lanes())


def _moved_halves(shadow: Shadow, read: list[Halves], source: Source, first: int) -> Halves:
    """Return in which of 32 lanes two elements of a transposing load of 16-bit elements are
    undefined."""
    low, high = (
        _moved_element(shadow, read, [source(lane, element) for lane in range(HALF_LANES)])
        for element in (first, first + 1)
    )
    return low, high


def _moved_element(shadow: Shadow, read: list[Halves], places: list[tuple[int, int]]) -> Value:
    b = shadow.frame.builder
    found = ZERO
    for place, mask in enumerate(mask for halves in read for mask in halves):
        lanes = b.lane_mask(mask)
        moved = b.mask_bits(b.shuffle(lanes, lanes, [lane for lane, _ in places]))
        here = sum(1 << lane for lane, (_, wanted) in enumerate(places) if wanted == place)
        found = shadow.masks.either(found, b.and_(moved, constant("i32", here)))
    return found
