"""How undefined values pass through vector instructions.

What an instruction on integers or bits computes is a row (`isa/integer_rows.py`), and so is which
halves of its results depend on which of its sources (`dependence`). As a rule any other result is
undefined where any source is. The exceptions are instructions that choose by a condition, and those
whose modifiers name halves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from amdjit.emulator.checks.init.operands import Shadow, results, sources
from amdjit.emulator.checks.init.registers import DEFINED, ZERO, Halves
from amdjit.emulator.checks.init.rules.dependence import dependences, parts_of
from amdjit.emulator.host.builder import Value, bits_of
from amdjit.isa.arithmetic import element_type
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Literal,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.integer_rows import expression_of
from amdjit.isa.register_numbers import is_vector, scalar_slot, vector_number

# Of a result: the halves of each of its dwords, or one pair for all of them.
Dwords = Sequence[Halves]


def vector_results(
    shadow: Shadow, instruction: Instruction
) -> list[tuple[Instruction, int, Dwords]]:
    """Return (instruction, operand, shadow) of each result, without writing it."""
    traits = instruction.traits
    exception = _EXCEPTIONS.get(traits.operation)
    halves = None if exception is None else exception(shadow, instruction)
    if halves is None and expression_of(traits.operation) is not None:
        found = zip(results(instruction), _by_row(shadow, instruction), strict=True)
        return [(instruction, index, dwords) for index, dwords in found]
    rule = _packed if traits.is_packed else _any
    new = [halves or rule(shadow, instruction)]
    return [(instruction, index, new) for index in results(instruction)]


def _by_row(shadow: Shadow, instruction: Instruction) -> list[Dwords]:
    specs, order = instruction.opcode.operands, instruction.opcode.source_places
    places = [(index, element_type(specs[index].type)) for index in order]
    parts = [part for place in places for part in _parts(shadow, instruction, *place)]
    if all(part == ZERO for part in parts):
        return [[DEFINED] for _ in results(instruction)]
    operands = tuple((kind, _known(shadow, instruction, index, kind)) for index, kind in places)
    found = dependences(instruction.traits.operation, instruction.modifiers.clamp, operands)
    return [_dwords(shadow, [[parts[n] for n in numbers] for numbers in item]) for item in found]


def _parts(shadow: Shadow, instruction: Instruction, index: int, kind: str) -> list[Value]:
    """Return the masks of a source's parts, as `dependences` counts them."""
    operand = instruction.operands[index]
    if kind == "i1":
        return [shadow.mask(operand)]
    if kind == "i64" and is_vector(operand) and instruction.modifiers.dpp is None:
        first = vector_number(operand)
        return [*shadow.registers.vector(first), *shadow.registers.vector(first + 1)]
    halves = shadow.halves(instruction, index)
    return [*halves, *halves][: parts_of(kind)]


def _known(shadow: Shadow, instruction: Instruction, index: int, kind: str) -> int | None:
    """Return the bits of a source that is a constant."""
    operand = instruction.operands[index]
    if kind not in ("i16", "i32"):
        return None
    if isinstance(operand, Register) and (kind == "i16" or instruction.modifiers.sdwa):
        return None
    number = constant_of(shadow, operand)
    return None if number is None else number & (1 << bits_of(kind)) - 1


def _dwords(shadow: Shadow, halves: list[list[Value]]) -> Dwords:
    """Return the masks of a result from those that each half depends on."""
    masks: list[Value] = []
    before: list[Value] = []
    for found in halves:
        # What the low half of a sum depends on, its high one does, too.
        done = [masks[-1]] if masks and set(before) <= set(found) else []
        rest = [mask for mask in dict.fromkeys(found) if not done or mask not in before]
        masks.append(shadow.masks.either(*done, *rest))
        before = found
    return list(zip(masks[::2], masks[1::2] or masks, strict=True))


def _any(shadow: Shadow, instruction: Instruction) -> Halves:
    specs, operands = instruction.opcode.operands, instruction.operands
    found = [
        shadow.mask(operands[index])
        if specs[index].type == "mask"
        else shadow.any_of(instruction, index)
        for index in sources(instruction)
    ]
    mask = shadow.masks.either(*found)
    return mask, mask


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
        return None if slot is None else shadow.frame.registers.scalar(slot).known
    return None


def _permute_bytes(shadow: Shadow, instruction: Instruction) -> Halves | None:
    """v_perm. A selector that is not known here may choose any byte, but compilers let it choose
    defined ones: only values that are undefined as a whole count."""
    if constant_of(shadow, instruction.operands[3]) is not None:
        return None
    masks = shadow.masks
    values = [shadow.halves(instruction, index) for index in (1, 2)]
    found = [masks.both(*halves) for halves in values]
    mask = masks.either(*found, shadow.any_of(instruction, 3))
    return mask, mask


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


def write_half_results(shadow: Shadow, instruction: Instruction) -> bool:
    """Write the result of v_fma_mixlo or v_fma_mixhi, whose operands name no half; return whether
    it is one of them."""
    half = {"v_fma_mixlo_f16": 0, "v_fma_mixhi_f16": 1}.get(instruction.traits.operation)
    if half is None:
        return False
    mask, _ = _mixed(shadow, instruction)
    target = instruction.operands[0]
    assert isinstance(target, Register)
    old = shadow.registers.vector(vector_number(target))
    new = (old[0], mask) if half else (mask, old[1])
    shadow.registers.write_vector(vector_number(target), new, shadow.lanes())
    return True


# Where the row is not what is asked: a condition chooses between sources, which a row does not
# follow; v_perm is lenient; modifiers of v_fma_mix name halves. None: the row is to be read.
_EXCEPTIONS: Mapping[str, Callable[[Shadow, Instruction], Halves | None]] = {
    "v_cndmask_b32": _choose,
    "v_cndmask_b16": _choose,
    "v_perm_b32": _permute_bytes,
    "v_fma_mix_f32": _mixed,
}
