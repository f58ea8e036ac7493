"""The index of a sparse A: where in each four neighbours of a row its two kept elements stand.

    held, index = matrix.compress_2to4(a)                           # on the host
    multiply[grid, 32](held, matrix.pack_index(index), b, d)

    left = matrix.fragment(matrix.sparse_a, 16, 16, 32, f16, matrix.row_major)
    matrix.load_matrix_sync(left, held, (row, k // 2))
    matrix.load_index_sync(left, index, (row, k // 8))

A row of the index is the same for all types and both sizes of waves: 2 bits an element, the first
in the lowest bits. A lane reads whole words of it and keeps the bits of the elements that it holds:
SWMMAC's operand.

Source: RDNA4 ISA, 7.12 "Wave Matrix Multiply Accumulate", on the index of sparse products.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.declarations import device_function
from amdjit.intrinsics.arithmetic import perm
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.matrix.fragments import Fragment, move_in_layout
from amdjit.intrinsics.matrix.operands.kinds import DataLayout, FragmentKind, Use
from amdjit.intrinsics.matrix.transfers.blocks import load_blocks
from amdjit.intrinsics.matrix.transfers.memory import first_along
from amdjit.intrinsics.matrix.transfers.memory import static_range as _static_range
from amdjit.intrinsics.wave import lane_id
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar, Type, u8, u32, vector

U8X4 = vector(u8, 4)


@dataclass(frozen=True)
class IndexKind:
    """The rows of an index as if they were a fragment of bytes, of which each lane holds all of its
    row.

    blocks_across: of 16 rows; blocks_along: of 4 bytes, that is of k = 32.
    """

    use: Use
    across: int
    along: int
    layout: DataLayout | None
    blocks_across: int
    blocks_along: int
    depth: int = 4
    held: int = 4
    unit: int = 1
    items: int = 1
    access_bytes: int = 4
    item: Scalar = u32
    stored: tuple[Scalar, ...] = (u8,)
    steps: tuple[int, int] = (0, 0)
    is_nibble: bool = False
    is_left: bool = True
    memory_type: Type = U8X4
    held_type: Type = u32

    def __str__(self) -> str:
        return f"the index of a sparse_a of {self.across} rows"

    @property
    def is_partial(self) -> bool:
        """Whether some of the rows are padding."""
        return self.across % 16 > 0

    @property
    def blocks(self) -> int:
        """Words of a lane."""
        return self.blocks_across * self.blocks_along


@compile_time
def _index_kind(compilation: Compilation, kind: FragmentKind) -> IndexKind:
    if not kind.is_sparse:
        raise Refused(f"{kind} has no index", "load the index of a fragment of matrix.sparse_a")
    if kind.turns is not None:
        raise Refused(
            f"{kind} is shared by waves", "load the index into the fragments that are multiplied"
        )
    return IndexKind(kind.use, kind.m, kind.k // 8, kind.layout, kind.blocks_across, kind.k // 32)


@device_function
def load_index_sync(fragment, array, index=None, ld=None, layout=None, clip=None):
    """Read the index of a sparse A from an array of u8, as `matrix.pack_index` has made it: [rows,
    k / 8].

    The other arguments are those of `load_matrix_sync`, in bytes: 8 elements of the dense row each.
    """
    kind = fragment.kind
    lying = _index_kind(kind)
    rows = Fragment(lying, local.array(lying.blocks, u32), None)
    move_in_layout(
        load_blocks, "load_index_sync", rows, array, index, ld, layout, clip, (0, 1, lying.blocks)
    )
    first = u32(2 * first_along(kind, lane_id()))
    for word in _static_range(lying.blocks):
        rows.x[word] = rows.x[word] >> first
    if kind.wave_size == 32 and not kind.is_nibble:
        _gather_bytes(fragment, rows.x, lying.blocks_along)
    else:
        _gather_bits(fragment, rows.x)


@device_function
def _gather_bytes(fragment, words, words_of_row):
    """Put bytes 0 and 2 of each word, the lane's bits for one instruction, side by side."""
    per_row = fragment.kind.index_words
    for word in _static_range(len(fragment.index)):
        low = word // per_row * words_of_row + 2 * (word % per_row)
        high = min(low + 1, len(words) - 1)
        fragment.index[word] = perm(words[high], words[low], u32(0x06040200))


@device_function
def _gather_bits(fragment, words):
    """Put the lane's bits of each block side by side."""
    kind = fragment.kind
    for word in _static_range(len(fragment.index)):
        fragment.index[word] = u32(0)
    for block in _static_range(kind.blocks):
        bit = 2 * kind.depth * block
        held = (words[bit // 32] >> u32(bit % 32)) & u32((1 << 2 * kind.held) - 1)
        place = 2 * kind.held * (block % kind.blocks_along)
        word = block // kind.blocks_along * kind.index_words + place // 32
        fragment.index[word] = fragment.index[word] | held << u32(place % 32)
