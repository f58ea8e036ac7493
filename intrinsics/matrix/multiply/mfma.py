"""Which MFMA or SMFMAC multiplies which fragments on CDNA, and what there is instead of those that
a processor lacks."""

from __future__ import annotations

from amdjit.intrinsics.matrix.operands.blocks import INSTRUCTION_TYPES
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import ElementType, type_name
from amdjit.intrinsics.models.mfma_instructions import CDNA, MfmaInstruction, mfma_instructions
from amdjit.language.compile_time import Compilation, Refused
from amdjit.types import bf16, f16

# Accumulators that become f32 before a product, and again what they were after it.
_NARROW = (f16, bf16)


def described(a: FragmentKind, b: FragmentKind, c: FragmentKind, d: FragmentKind) -> str:
    """Return what a product is, for messages."""
    names = [type_name(kind.dtype) for kind in (a, b, c, d)]
    return f"product of {names[0]} and {names[1]} with {names[2]} added to give {names[3]}"


def mfma_of(
    compilation: Compilation, a: FragmentKind, b: FragmentKind, c: FragmentKind, d: FragmentKind
) -> MfmaInstruction:
    """Choose the instruction by the processor, the types and the blocks. Refused if there is
    none."""
    known = mfma_instructions(compilation.target.name).values()
    k = b.blocks.instruction_depth * a.blocks.per_instruction
    for instruction in known:
        shape = instruction.m, instruction.k, instruction.is_sparse
        is_whole = instruction.blocks == 1 and not instruction.is_scaled
        if is_whole and shape == (a.blocks.side, k, a.is_sparse) and _fits(instruction, a, b, c, d):
            return instruction
    others = [each for each in processors_with(a, b, c, d) if each != compilation.target.name]
    problem = f"{compilation.target.name} has no {described(a, b, c, d)}"
    nearest = _nearest(compilation.target.name, a)
    if others:
        raise Refused(problem, f"compile for {' or '.join(others)}; on {nearest}")
    raise Refused(problem, f"on {nearest}")


def _fits(
    instruction: MfmaInstruction,
    a: FragmentKind,
    b: FragmentKind,
    c: FragmentKind,
    d: FragmentKind,
) -> bool:
    """Return whether an instruction multiplies the types, where sums of 16 bits are converted."""
    factors = INSTRUCTION_TYPES.get(a.dtype), INSTRUCTION_TYPES.get(b.dtype)
    if (instruction.a, instruction.b) != factors or c.dtype != d.dtype:
        return False
    if INSTRUCTION_TYPES.get(c.dtype) == instruction.result:
        return True
    return c.dtype in _NARROW and a.dtype == b.dtype == c.dtype and instruction.result == "f32"


def processors_with(
    a: FragmentKind, b: FragmentKind, c: FragmentKind, d: FragmentKind
) -> list[str]:
    """Return the processors of CDNA that multiply these types."""
    return [
        target
        for target in CDNA
        if any(_fits(each, a, b, c, d) for each in mfma_instructions(target).values())
    ]


def _nearest(target: str, a: FragmentKind) -> str:
    """Return the products that a processor has with A's type, or all that it has if there are
    none."""
    known = [
        each
        for each in mfma_instructions(target).values()
        if each.blocks == 1 and not each.is_scaled and not each.is_sparse
    ]
    same = [each for each in known if each.a == INSTRUCTION_TYPES.get(a.dtype)] or known
    texts = dict.fromkeys(f"{_shown(each.a)} x {_shown(each.b)} in {_sums(each)}" for each in same)
    return f"{target} there are: {', '.join(texts)}; c and d have one type"


def _sums(instruction: MfmaInstruction) -> str:
    is_half = instruction.a in ("f16", "bf16")
    return f"f32 or {instruction.a}" if is_half else instruction.result


def _shown(name: str) -> str:
    types: dict[str, ElementType] = {each: type for type, each in INSTRUCTION_TYPES.items()}
    return type_name(types[name])
