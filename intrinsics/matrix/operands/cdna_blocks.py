"""How operands of MFMA and SMFMAC lie in registers: blocks of 16 or 32 by what one of them takes.

Without `wide_k`, k is in the order of the instructions (`models.mfma_layouts`), one block of A or B
for each. The lanes divide a block: with a side of 16, four groups of 16 lanes hold neighbours
along, with one of 32 two groups of 32. The rows of an accumulator go to the groups in fours, and an
accumulator of 32 by 32 is four blocks of 8 rows, which one instruction takes. One of f64 goes to
the groups row by row.

Sources: rocWMMA's documentation, "Supported data types", for the blocks of each type; CDNA3 ISA,
7.1, and the others of `models.mfma_layouts` for the places.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amdjit.intrinsics.matrix.operands.blocks import Blocks
from amdjit.intrinsics.matrix.operands.parameters import (
    ElementType,
    Nibble,
    Rounded,
    Use,
    stored_type,
)
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.intrinsics.models.mfma_instructions import mfma_instructions
from amdjit.types import Scalar, bf8, bf8_fnuz, bf16, f16, f32, f64, fp8, fp8_fnuz, i8, i32, u8

_LANES = 64
# The most bytes of one access.
_WIDEST = 16
# Extents along k of a block with a side of 16, by the bits of an element; a side of 32 has half.
_DEPTHS: Mapping[int, int] = MappingProxyType({64: 4, 32: 4, 16: 16, 8: 32})
INSTRUCTION_TYPES: Mapping[ElementType, str] = MappingProxyType(
    {
        f16: "f16", bf16: "bf16", f32: "f32", f64: "f64", i8: "i8", i32: "i32", fp8: "fp8",
        bf8: "bf8", fp8_fnuz: "fp8_fnuz", bf8_fnuz: "bf8_fnuz", Rounded.XF32: "xf32",
    }
)  # fmt: skip
"""The names of types in MFMA instructions."""


def cdna_side(m: int, n: int, dtype: ElementType) -> int:
    """Return the rows and columns of a block: 32 where m and n are multiples of 32, and 16 where
    they are not and for elements of 64 bits, of which no product has 32."""
    is_long = isinstance(dtype, Scalar) and dtype.bits == 64
    return 16 if is_long or m % 32 or n % 32 else 32


def cdna_depth(dtype: ElementType, k: int, side: int, generation: Generation) -> int:
    """Return the extent along k of what one dense product takes; of types that have no products, of
    what those of the same size take."""
    if isinstance(dtype, Nibble):
        return 32 * 16 // side
    depth = 8 if dtype is Rounded.XF32 else _DEPTHS[stored_type(dtype).bits]
    is_old = generation in (Generation.GFX908, Generation.GFX90A)
    if (dtype is bf16 and generation is Generation.GFX908) or (depth == 32 and is_old):
        depth //= 2
    deeper = 2 * depth * 16 // side
    if generation is Generation.GFX950 and dtype in (f16, bf16, i8) and k % deeper == 0:
        return deeper
    return depth * 16 // side


def cdna_blocks(
    use: Use,
    extents: tuple[int, int],
    k: int,
    dtype: ElementType,
    side: int,
    wide_k: bool,
    generation: Generation,
) -> Blocks:
    """Return the blocks of an operand; the parameters are those of `blocks_of`.

    With `wide_k`, a block of A or B is as deep as lets a lane hold 16 bytes of neighbours along k,
    if that divides k: they are for several instructions.
    """
    is_nibble = isinstance(dtype, Nibble)
    memory: Scalar = u8 if is_nibble else stored_type(dtype)
    item, unit = (i32, 2) if is_nibble else (memory, 1)
    if use is Use.ACCUMULATOR:
        return _accumulator(extents, memory, side)
    depth = cdna_depth(dtype, k, side, generation)
    per_instruction = 1
    if use is Use.SPARSE_A:
        per_instruction = sparse_group(dtype, k, side, generation)
        depth //= 2
    held = side * depth // _LANES
    per_block = 1
    if wide_k and not is_nibble:
        most = _WIDEST // (held * memory.nbytes)
        per_block = next(p for p in (4, 2, 1) if p == 1 or (p <= most and k % (depth * p) == 0))
    depth, held = depth * per_block, held * per_block
    steps = (held, 2 * held) if side == 16 else (0, held)
    if is_nibble and side == 16 and cdna_depth(f16, k, side, generation) < depth:
        # One exchange of lanes less in a conversion to f16.
        steps = (2 * held, held)
    return Blocks(
        use, *extents, depth, held, steps, memory, unit, item, per_block, per_instruction, side=side
    )  # fmt: skip


def _accumulator(extents: tuple[int, int], memory: Scalar, side: int) -> Blocks:
    if memory.bits == 64:
        return Blocks(
            Use.ACCUMULATOR, *extents, 16, 4, (1, 2), memory, 1, memory, stride=4, side=side
        )
    depth, steps = (16, (4, 8)) if side == 16 else (8, (0, 4))
    return Blocks(Use.ACCUMULATOR, *extents, depth, 4, steps, memory, 1, memory, side=side)


def sparse_depths(dtype: ElementType, side: int, generation: Generation) -> list[int]:
    """Return the k of the instructions that take a sparse A, the least first."""
    name = INSTRUCTION_TYPES.get(dtype)
    known = mfma_instructions(generation.value).values()
    return sorted({each.k for each in known if each.is_sparse and (each.m, each.a) == (side, name)})


def sparse_group(dtype: ElementType, k: int, side: int, generation: Generation) -> int:
    """Return how many blocks of a sparse A one instruction takes, the most that divide k; 0 if no
    instruction does."""
    depth, depths = cdna_depth(dtype, k, side, generation), sparse_depths(dtype, side, generation)
    found = (each for each in (2, 1) if each * depth in depths and k % (each * depth) == 0)
    return next(found, 0)
