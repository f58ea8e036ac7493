"""How undefined values pass through instructions that move them between lanes."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.checks.shadow_operands import Shadow, sources
from amdjit.emulator.checks.shadow_registers import ONES, ZERO
from amdjit.emulator.decoder.instruction import Instruction, Register, RegisterFile
from amdjit.emulator.ir import constant
from amdjit.emulator.translate.tables import EMITTERS


def move_between_lanes(shadow: Shadow, instruction: Instruction) -> None:
    """Write the shadow of an instruction that moves one register between lanes: the same move of the shadow."""
    role = _MOVES[instruction.mnemonic]
    source = instruction.operand(role)
    target = instruction.operands[0]
    assert isinstance(target, Register)
    if not isinstance(source, Register) or source.file is not RegisterFile.VGPR:
        return
    mask, old = shadow.registers.whole(source.index), shadow.registers.whole(target.index)
    indices = [shadow.any_of(instruction, i) for i in sources(instruction) if _role(instruction, i) != role]
    wrong = shadow.masks.both(shadow.masks.either(*indices), shadow.lanes())
    if mask == ZERO and old == ZERO:
        shadow.registers.write_vector(target.index, (wrong, wrong), shadow.lanes())
        return
    registers = shadow.frame.registers
    with registers.stand_in({target.index: shadow.as_lanes(old), source.index: shadow.as_lanes(mask)}):
        EMITTERS[instruction.mnemonic](shadow.frame, instruction)
        moved = shadow.from_lanes(registers.vector(target.index))
    new = shadow.masks.either(moved, wrong)
    shadow.registers.write_vector(target.index, (new, new), ONES)


def _role(instruction: Instruction, index: int) -> str:
    return instruction.opcode.operands[index].role


def swap(shadow: Shadow, instruction: Instruction) -> None:
    """v_swap_b32."""
    first, second = instruction.operands
    assert isinstance(first, Register)
    assert isinstance(second, Register)
    left, right = shadow.registers.vector(first.index), shadow.registers.vector(second.index)
    shadow.registers.write_vector(first.index, right, shadow.lanes())
    shadow.registers.write_vector(second.index, left, shadow.lanes())


def read_lane(shadow: Shadow, instruction: Instruction) -> None:
    """v_readlane and v_readfirstlane: one lane's state becomes that of the scalar register."""
    b = shadow.frame.builder
    mask = shadow.any_of(instruction, 1)
    result = mask
    if mask not in (ZERO, ONES):
        if instruction.mnemonic == "v_readlane_b32":
            lane = b.mask(shadow.frame.scalar_source(instruction, 2, "b32"), 5)
        else:
            first = b.intrinsic("cttz", shadow.frame.registers.exec_bits(), flags=[constant("i1", 0)])
            lane = b.mask(first, 5)
        result = b.sub(ZERO, b.mask(b.shift("lshr", mask, lane), 1))
    shadow.write(instruction, 0, (result, result), ONES)


def write_lane(shadow: Shadow, instruction: Instruction) -> None:
    """v_writelane: compilers keep scalar registers in lanes; a lane is undefined if all bits are."""
    b = shadow.frame.builder
    target = instruction.operands[0]
    assert isinstance(target, Register)
    item = shadow.bits(instruction.operands[1])
    lane = b.mask(shadow.frame.scalar_source(instruction, 2, "b32"), 5)
    bit = b.shift("shl", constant("i32", 1), lane)
    new = ZERO
    if item != ZERO:
        new = b.select(b.compare("eq", item, ONES), bit, ZERO)
    low, high = (
        shadow.masks.either(shadow.masks.without(old, bit), new) for old in shadow.registers.vector(target.index)
    )
    shadow.registers.write_vector(target.index, (low, high), ONES)


_MOVES: Mapping[str, str] = {
    "v_permlane16_b32": "src0",
    "v_permlanex16_b32": "src0",
    "v_permlane16_var_b32": "src0",
    "v_permlanex16_var_b32": "src0",
    "ds_bpermute_b32": "data0",
    "ds_bpermute_fi_b32": "data0",
    "ds_permute_b32": "data0",
    "ds_swizzle_b32": "addr",
}
MOVES = frozenset(_MOVES)
