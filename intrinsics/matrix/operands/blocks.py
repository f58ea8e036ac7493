"""How a part of a matrix lies in the registers of a wave: in blocks of `side` by `depth` elements.

Lanes 0 to `side` - 1, 16 or on CDNA also 32, follow one axis of a block, called across: the rows of
A, the columns of the other operands. The elements of one lane follow the other axis, called along:
k of A and B, the rows of an accumulator. Registers hold whole blocks. Where an extent is no
multiple of a block's, the rest of the last block is padding, which is 0 and not in memory.

On gfx12 the groups of 16 lanes divide a block along. On gfx11 each group holds all of an A or B,
and an accumulator's rows go to the groups in turn. Those of CDNA follow below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from amdjit.intrinsics.matrix.operands.parameters import (
    ElementType,
    Nibble,
    Rounded,
    Use,
    is_left,
    stored_type,
)
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.intrinsics.models.mfma_instructions import mfma_instructions
from amdjit.types import (
    Scalar,
    Type,
    bf8,
    bf8_fnuz,
    bf16,
    f16,
    f32,
    f64,
    fp8,
    fp8_fnuz,
    i8,
    i16,
    i32,
    u8,
    vector,
)


@dataclass(frozen=True)
class Blocks:
    """Blocks of a matrix in registers, and the elements of memory that they come from."""

    use: Use
    """Which operand they belong to."""
    across: int
    """The extent of the part in the direction of `side`, in elements."""
    along: int
    """The extent of the part in the direction of `depth`, in elements."""
    depth: int
    """Extent of a block along."""
    held: int
    """Elements of a block that a lane holds."""
    steps: tuple[int, int]
    """How far along the first element of a lane moves in odd groups of 16 lanes, and in the upper
    32 lanes."""
    memory: Scalar
    """The type of an element in memory."""
    unit: int
    """How many elements share one."""
    item: Scalar
    """The type of an item of a fragment's `x`."""
    per_block: int = 1
    """Instructions that take a block of A or B one after the other."""
    per_instruction: int = 1
    """Blocks along that one instruction takes."""
    stride: int = 1
    """How far along a lane's next element is; 1 means that they are neighbours."""
    side: int = 16
    """Extent of a block across."""

    @property
    def is_left(self) -> bool:
        """Whether rows are across, as in A."""
        return is_left(self.use)

    @property
    def count_across(self) -> int:
        """Blocks side by side across."""
        return padded(self.across, self.side) // self.side

    @property
    def count_along(self) -> int:
        """Blocks one after the other along."""
        return padded(self.along, self.depth) // self.depth

    @property
    def count(self) -> int:
        """All blocks. Block n is number n % count_along along and n // count_along across."""
        return self.count_across * self.count_along

    @property
    def is_partial(self) -> bool:
        """Whether some of the elements in the registers are padding."""
        return self.across % self.side > 0 or self.along % self.depth > 0

    @property
    def lanes(self) -> int:
        """Lanes that hold different elements of a block, 16, 32 or 64; the others repeat them."""
        return self.side * self.depth // self.held

    @property
    def instruction_depth(self) -> int:
        """Extent along of the part of a block that one instruction takes."""
        return self.depth // self.per_block

    @property
    def is_nibble(self) -> bool:
        """Whether elements have 4 bits: eight share an item, two a byte of memory."""
        return self.unit == 2

    @property
    def stored(self) -> tuple[Scalar, ...]:
        """The element types that an array of them may have."""
        return (i8, u8) if self.is_nibble else (self.memory,)

    @property
    def memory_type(self) -> Type:
        """What a lane loads and stores of a block."""
        count = self.held // self.unit
        return vector(self.memory, count) if count > 1 else self.memory

    @property
    def access_bytes(self) -> int:
        """Bytes that a lane holds of a block."""
        return self.held // self.unit * self.memory.nbytes

    @property
    def items(self) -> int:
        """Items of `x` that a lane holds of a block."""
        return self.access_bytes // self.item.nbytes

    @property
    def operand_items(self) -> int:
        """Items of a block that a lane gives to one instruction."""
        return self.items // self.per_block

    @property
    def held_type(self) -> Type:
        """What a lane holds of a block, as items of `x`."""
        return vector(self.item, self.items) if self.items > 1 else self.item


def padded(extent: int, block: int) -> int:
    """Return an extent with the padding of its last block."""
    return -(-extent // block) * block


def blocks_of(
    use: Use,
    extents: tuple[int, int],
    k: int,
    dtype: ElementType,
    wave_size: int,
    wide_k: bool,
    generation: Generation = Generation.GFX12,
) -> Blocks:
    """Return the blocks of an operand. extents: across and along; k: of the whole product.

    With `wide_k`, a block of 8-bit or 4-bit elements is twice as deep: a lane then holds twice as
    many neighbours along k, the first half for one instruction and the rest for the next. That is
    another order of k, the same in A and B, so that the sum is the same up to rounding (AMD
    GPUOpen, "Wide WMMA").
    """
    is_nibble, is_sparse = isinstance(dtype, Nibble), use is Use.SPARSE_A
    memory = u8 if isinstance(dtype, Nibble) else stored_type(dtype)
    is_narrow = isinstance(dtype, Nibble) or memory.bits == 8
    per_block = 2 if wide_k and is_narrow else 1
    if generation is Generation.GFX11:
        return _repeated(
            use,
            extents,
            is_nibble=is_nibble,
            memory=memory,
            wave_size=wave_size,
            per_block=per_block,
        )
    # SWMMAC of 4-bit elements comes with k of 32 as well: one block, and not two.
    per_instruction = (1 if is_nibble and k % 64 else 2) if is_sparse else 1
    instruction_depth = _instruction_depth(use, k, is_nibble)
    is_short = per_instruction == 1 if is_sparse else instruction_depth == 16
    lanes = 32 if is_nibble and is_short else wave_size
    depth = instruction_depth * per_block
    held = 16 * depth // lanes
    item = memory if not is_nibble else i16 if held == 4 else i32
    steps = _steps(use, lanes, held, memory)
    return Blocks(
        use, *extents, depth, held, steps, memory, 2 if is_nibble else 1, item, per_block,
        per_instruction,
    )  # fmt: skip


def _repeated(
    use: Use,
    extents: tuple[int, int],
    is_nibble: bool,
    memory: Scalar,
    wave_size: int,
    per_block: int,
) -> Blocks:
    """Return the blocks of an operand of gfx11."""
    item, unit = (i32, 2) if is_nibble else (memory, 1)
    if use is Use.ACCUMULATOR:
        groups = wave_size // 16
        steps = (1, 2 if groups > 2 else 0)
        return Blocks(use, *extents, 16, 16 // groups, steps, memory, unit, item, stride=groups)
    depth = 16 * per_block
    return Blocks(use, *extents, depth, depth, (0, 0), memory, unit, item, per_block)


def _instruction_depth(use: Use, k: int, is_nibble: bool) -> int:
    """Return the extent along of what one instruction takes of a block."""
    if use is Use.ACCUMULATOR:
        return 16
    dense = 32 if is_nibble and padded(k, 16) % 32 == 0 else 16
    return dense // 2 if use is Use.SPARSE_A else dense


def _steps(use: Use, lanes: int, held: int, memory: Scalar) -> tuple[int, int]:
    """Return `Blocks.steps`.

    A and B of 16 bits hold k in another order than the instruction numbers it, the same in both, so
    that the product is the same up to rounding. A lane's elements are then neighbours in memory,
    and lie where those of an accumulator do.
    """
    if lanes == 32:
        return held, 0
    if use is Use.ACCUMULATOR or memory.bits != 16:
        return 2 * held, held
    return held, 2 * held


# How operands of MFMA and SMFMAC lie in registers: blocks of 16 or 32 by what one of them takes.
#
# Without `wide_k`, k is in the order of the instructions (`models.mfma_layouts`), one block of A or
# B for each. The lanes divide a block: with a side of 16, four groups of 16 lanes hold neighbours
# along, with one of 32 two groups of 32. The rows of an accumulator go to the groups in fours, and
# an accumulator of 32 by 32 is four blocks of 8 rows, which one instruction takes. One of f64 goes
# to the groups row by row.
#
# Sources: rocWMMA's documentation, "Supported data types", for the blocks of each type; CDNA3 ISA,
# 7.1, and the others of `models.mfma_layouts` for the places.

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
