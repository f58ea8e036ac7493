"""Which instruction multiplies which fragments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from amdjit.declarations import Intrinsic
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.matrix.operands.blocks import INSTRUCTION_TYPES
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import ElementType, Nibble, Use, type_name
from amdjit.intrinsics.models.matrix_layouts import (
    GFX11_INSTRUCTIONS,
    INSTRUCTIONS,
    Generation,
    MatrixInstruction,
    instructions_with,
)
from amdjit.intrinsics.models.mfma_instructions import CDNA, MfmaInstruction, mfma_instructions
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Type, bf8, bf16, f16, f32, fp8, i8, i32, u8

_INSTRUCTION_TYPES: dict[Any, str] = {
    f16: "f16", bf16: "bf16", fp8: "fp8", bf8: "bf8", i8: "iu8", u8: "iu8", f32: "f32", i32: "i32",
    Nibble.I4: "iu4", Nibble.U4: "iu4",
}  # fmt: skip
_SIGNED = (i8, Nibble.I4)


@dataclass(frozen=True)
class Product:
    """What `mma_sync` does for four kinds of fragments."""

    builtin: Intrinsic
    rows: int
    columns: int
    steps: int
    group: int
    """Blocks of A and B that an instruction takes."""
    index_bits: int
    """Bits of a lane's index that an instruction takes, 0 for dense products."""
    is_integer: bool
    a_signed: bool
    b_signed: bool
    a_type: Type
    """The type of the builtin's A."""
    b_type: Type
    """The type of the builtin's B."""
    c_type: Type
    """The type of the builtin's C."""
    is_spread: bool = False
    """Whether elements of C have 16 bits and a register each; c_type then has twice as many."""
    is_mfma: bool = False
    """Whether it is CDNA's, which takes modifiers, all 0."""
    c_blocks: int = 1
    """Blocks of C that it takes."""
    converts: bool = False
    """Whether C becomes c_type and D what it was, because the instruction adds in f32."""


def _check_waves(compilation: Compilation) -> None:
    """Refuse a workgroup whose last wave lacks lanes: a matrix instruction needs them all."""
    most = compilation.options.max_workgroup_size
    size = math.prod(compilation.block or (most if most < compilation.wave_size else 0,))
    if size % compilation.wave_size:
        waves = f"a multiple of {compilation.wave_size}"
        raise Refused(
            f"mma_sync in workgroups of {size} work-items: not all waves are whole",
            f"give `block=` {waves} work-items",
        )


@compile_time
def product_of(
    compilation: Compilation, d: FragmentKind, a: FragmentKind, b: FragmentKind, c: FragmentKind
) -> Product:
    """Choose the instruction for d = a b + c. Refused if the fragments do not fit together."""
    _check_waves(compilation)
    left = Use.SPARSE_A if a.is_sparse else Use.MATRIX_A
    uses = (Use.ACCUMULATOR, left, Use.MATRIX_B, Use.ACCUMULATOR)
    given = (d, a, b, c)
    if any(kind.use is not use for kind, use in zip(given, uses, strict=True)):
        found = ", ".join(kind.use.value for kind in given)
        remedy = "give accumulator, matrix_a or sparse_a, matrix_b, accumulator"
        raise Refused(f"mma_sync(d, a, b, c) was given {found}", remedy)
    for kind in given:
        if kind.turns is not None:
            remedy = (
                "store it to LDS, synchronize_workgroup(), and multiply fragments without a "
                "schedule"
            )
            raise Refused(f"{kind} is shared by waves, and each has a part of it only", remedy)
    sizes = {(kind.m, kind.n, kind.k) for kind in given}
    if len(sizes) > 1:
        texts = ", ".join(
            f"{name} {kind.m} x {kind.n} x {kind.k}"
            for name, kind in zip("dabc", given, strict=True)
        )
        raise Refused(
            f"the fragments are of products of other sizes: {texts}", "give all the same m, n and k"
        )
    if a.blocks.per_block != b.blocks.per_block:
        raise Refused(
            f"{a} and {b} have k in different orders", "give wide_k=True to both, or to neither"
        )
    if a.generation.is_cdna:
        return _mfma_product(compilation, d, a, b, c)
    instruction = _instruction(compilation, d, a, b, c)
    builtin = getattr(amdgcn, instruction.name)
    types = [
        _first(parameter.type) for parameter in builtin.parameters if parameter.immediate is None
    ]
    group = a.blocks.per_instruction
    steps = a.blocks.count_along * a.blocks.per_block // group
    return Product(
        builtin, a.blocks.count_across, b.blocks.count_across, steps, group, index_bits(a),
        instruction.is_integer, a.dtype in _SIGNED, b.dtype in _SIGNED, types[0], types[1],
        types[2], instruction.layout("c").is_spread,
    )  # fmt: skip


def _mfma_product(
    compilation: Compilation, d: FragmentKind, a: FragmentKind, b: FragmentKind, c: FragmentKind
) -> Product:
    """Return what `mma_sync` does on CDNA."""
    group = a.blocks.per_instruction
    instruction = mfma_of(compilation, a, b, c, d)
    builtin = getattr(amdgcn, instruction.name)
    types = [
        _first(parameter.type) for parameter in builtin.parameters if parameter.immediate is None
    ]
    return Product(
        builtin, a.blocks.count_across, b.blocks.count_across,
        a.blocks.count_along * a.blocks.per_block // group, group, index_bits(a), False, True, True,
        types[0], types[1], types[2], is_mfma=True,
        c_blocks=max(1, instruction.m // c.blocks.depth), converts=c.dtype in (f16, bf16),
    )  # fmt: skip


def index_bits(kind: FragmentKind) -> int:
    """Return how many bits of its index a lane gives to an instruction: 2 for each element of A
    that it holds."""
    return 2 * kind.blocks.held * kind.blocks.per_instruction if kind.is_sparse else 0


def _first(type: Any) -> Type:
    """Return the type that clang declares where an operand takes several."""
    constraints = getattr(type, "constraints", (type,))
    return constraints[0]


def _instruction(
    compilation: Compilation, d: FragmentKind, a: FragmentKind, b: FragmentKind, c: FragmentKind
) -> MatrixInstruction:
    wanted = (_name(d), _name(a), _name(b))
    k = b.blocks.instruction_depth * a.blocks.per_instruction
    for instruction in instructions_with(compilation.target.features).values():
        shape = (instruction.k, instruction.wave_size, instruction.is_sparse) == (
            k,
            a.wave_size,
            a.is_sparse,
        )
        types = (instruction.result, instruction.a, instruction.b)
        if shape and types == wanted and c.dtype == d.dtype:
            return instruction
    what = described(a, b, c, d)
    if any(wanted == (each.result, each.a, each.b) for each in INSTRUCTIONS.values()):
        raise Refused(
            f"{compilation.target.name} has no {what}",
            f"compile for gfx1200 or gfx1201; on {compilation.target.name} {_allowed(a)}",
        )
    having = " or ".join(processors_with(a, b, c, d))
    if having:
        name = compilation.target.name
        remedy = f"compile for {having}; on {name} {_allowed(a)}"
        raise Refused(f"{name} has no {what}", remedy)
    raise Refused(f"there is no {what}", _allowed(a))


def _name(kind: FragmentKind) -> str:
    return _INSTRUCTION_TYPES.get(kind.dtype, "")


@cache
def _allowed(a: FragmentKind) -> str:
    """Return the products that exist with A's type, or all that exist if there are none."""
    known = GFX11_INSTRUCTIONS if a.generation is Generation.GFX11 else INSTRUCTIONS
    dense = [each for each in known.values() if not each.is_sparse and each.wave_size == 32]
    same = [each for each in dense if each.a == _name(a)]
    texts = dict.fromkeys(
        f"{_shown(each.a)} x {_shown(each.b)} in {each.result}" for each in same or dense
    )
    return f"there are: {', '.join(texts)}; c and d have one type"


def _shown(name: str) -> str:
    return {"iu8": "i8 or u8", "iu4": "matrix.i4 or matrix.u4"}.get(name, name)


# Which MFMA or SMFMAC multiplies which fragments on CDNA, and what there is instead of those that a
# processor lacks.


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
    texts = dict.fromkeys(
        f"{_shown_type(each.a)} x {_shown_type(each.b)} in {_sums(each)}" for each in same
    )
    return f"{target} there are: {', '.join(texts)}; c and d have one type"


def _sums(instruction: MfmaInstruction) -> str:
    is_half = instruction.a in ("f16", "bf16")
    return f"f32 or {instruction.a}" if is_half else instruction.result


def _shown_type(name: str) -> str:
    types: dict[str, ElementType] = {each: type for type, each in INSTRUCTION_TYPES.items()}
    return type_name(types[name])
