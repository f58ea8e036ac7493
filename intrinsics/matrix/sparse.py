"""The index of a sparse A: which two elements of every four neighbours in a row are kept.

    held, index = matrix.compress_2to4(a)                           # on the host
    multiply[grid, 32](held, matrix.pack_index(index), b, d)

    left = matrix.fragment(matrix.sparse_a, 16, 16, 32, f16, matrix.row_major)
    matrix.load_matrix_sync(left, held, (row, k // 2))
    matrix.load_index_sync(left, index, (row, k // 8))

A row of the index is the same for all types and both wave sizes: 2 bits per element, the first in
the lowest bits. A lane reads whole words of the index and keeps the bits of the elements that it
holds: SWMMAC's operand.

Source: RDNA4 ISA, 7.12 "Wave Matrix Multiply Accumulate", on the index of sparse products.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.declarations import device_function
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.matrix.fragments import Fragment, move_in_layout
from amdjit.intrinsics.matrix.operands.blocks import Blocks
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import DataLayout
from amdjit.intrinsics.matrix.transfers.blocks import load_blocks
from amdjit.intrinsics.matrix.transfers.memory import first_along
from amdjit.intrinsics.matrix.transfers.memory import static_range as _static_range
from amdjit.intrinsics.numbers.integers import perm
from amdjit.intrinsics.wave import lane_id
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import u8, u32


@dataclass(frozen=True)
class IndexKind:
    """The index of a sparse A, read as a matrix of bytes: each lane holds all of its rows."""

    layout: DataLayout | None
    blocks: Blocks

    def __str__(self) -> str:
        return f"the index of a sparse_a of {self.blocks.across} rows"


@compile_time
def _index_kind(compilation: Compilation, kind: FragmentKind) -> IndexKind:
    if not kind.is_sparse:
        raise Refused(f"{kind} has no index", "load the index of a fragment of matrix.sparse_a")
    if kind.turns is not None:
        raise Refused(
            f"{kind} is shared by waves", "load the index into the fragments that are multiplied"
        )
    # A block is a word of 4 bytes, which says where the elements of k = 32 stand.
    blocks = Blocks(
        use=kind.use, across=kind.m, along=kind.k // 8, depth=4, held=4, steps=(0, 0), memory=u8,
        unit=1, item=u32, side=kind.blocks.side
    )  # fmt: skip
    return IndexKind(kind.layout, blocks)


@device_function
def load_index_sync(fragment, array, index=None, ld=None, layout=None, clip=None):
    """Read the index of a sparse A from an array of u8 [rows, k / 8], made by `matrix.pack_index`.

    The other arguments are those of `load_matrix_sync`, in bytes, each of which stands for 8
    elements of the dense row.
    """
    kind = fragment.kind
    lying = _index_kind(kind)
    count = lying.blocks.count
    rows = Fragment(lying, local.array(count, u32), None)
    move_in_layout(
        load_blocks, "load_index_sync", rows, array, index, ld, layout, clip, (0, 1, count)
    )
    first = u32(2 * first_along(kind.blocks, lane_id()))
    for word in _static_range(count):
        rows.x[word] = rows.x[word] >> first
    if kind.wave_size == 32 and not kind.blocks.is_nibble:
        _gather_bytes(fragment, rows.x, lying.blocks.count_along)
    else:
        _gather_bits(fragment, rows.x)


@device_function
def _gather_bytes(fragment, words, words_of_row):
    """Join bytes 0 and 2 of each word, which are the lane's bits for one instruction."""
    per_row = fragment.kind.index_words
    for word in _static_range(len(fragment.index)):
        low = word // per_row * words_of_row + 2 * (word % per_row)
        high = min(low + 1, len(words) - 1)
        fragment.index[word] = perm(words[high], words[low], u32(0x06040200))


@device_function
def _gather_bits(fragment, words):
    """Join the lane's bits of all blocks."""
    kind = fragment.kind
    for word in _static_range(len(fragment.index)):
        fragment.index[word] = u32(0)
    for block in _static_range(kind.blocks.count):
        bit = 2 * kind.blocks.depth * block
        held = (words[bit // 32] >> u32(bit % 32)) & u32((1 << 2 * kind.blocks.held) - 1)
        place = 2 * kind.blocks.held * (block % kind.blocks.count_along)
        word = block // kind.blocks.count_along * kind.index_words + place // 32
        fragment.index[word] = fragment.index[word] | held << u32(place % 32)
