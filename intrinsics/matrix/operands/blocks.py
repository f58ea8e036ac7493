"""How a part of a matrix lies in the registers of a wave: in blocks of `side` by `depth` elements.

Lanes 0 to `side` - 1, 16 or on CDNA also 32, follow one axis of a block, called across: the rows of
A, the columns of the other operands. The elements of one lane follow the other axis, called along:
k of A and B, the rows of an accumulator. Registers hold whole blocks. Where an extent is no
multiple of a block's, the rest of the last block is padding, which is 0 and not in memory.

On gfx12 the groups of 16 lanes divide a block along. On gfx11 each group holds all of an A or B,
and an accumulator's rows go to the groups in turn. Those of CDNA are in `cdna_blocks`.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.intrinsics.matrix.operands.parameters import (
    ElementType,
    Nibble,
    Use,
    is_left,
    stored_type,
)
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.types import Scalar, Type, i8, i16, i32, u8, vector


@dataclass(frozen=True)
class Blocks:
    """Blocks of a matrix in registers, and the elements of memory that they come from.

    use: which operand they belong to. across, along: extents of the part, in elements. depth:
    extent of a block along. held: elements of a block that a lane holds. steps: how far along the
    first element of a lane moves in odd groups of 16 lanes, and in the upper 32 lanes. stride: how
    far along a lane's next element is; 1 means that they are neighbours. memory: the type of an
    element in memory; unit: how many elements share one. item: the type of an item of a fragment's
    `x`. per_block: instructions that take a block of A or B one after the other. per_instruction:
    blocks along that one instruction takes. side: extent of a block across.
    """

    use: Use
    across: int
    along: int
    depth: int
    held: int
    steps: tuple[int, int]
    memory: Scalar
    unit: int
    item: Scalar
    per_block: int = 1
    per_instruction: int = 1
    stride: int = 1
    side: int = 16

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
        return _repeated(use, extents, is_nibble, memory, wave_size, per_block)
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
