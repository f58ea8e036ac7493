"""rocWMMA's fragments in kernels: parts of matrices that a wave holds in its registers.

    acc = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.fill_fragment(acc, 0.0)
    matrix.load_matrix_sync(a, A, (row, k))
    matrix.mma_sync(acc, a, b, acc)
    matrix.store_matrix_sync(D, acc, (row, column))

All lanes of a wave must reach each call together. `mma_sync` multiplies all blocks of 16 (on CDNA
of 32, if m and n are multiples of it); where m, n or k is no multiple, the fragment is partial:
loads and `fill_fragment` pad it with 0, which adds nothing to products, and stores write only
elements of the matrix. Operations on `x[i]` of a partial A or B must therefore keep 0 as it is.
Which lane holds which element is not part of the interface: `x[i]` is for operations that treat all
elements in the same way.

Source: rocWMMA's API reference (rocwmma.hpp); where elements lie: `matrix_layouts`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from amdjit.declarations import Form, SpecialForm, device_function
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.matrix.multiply.mma import product_of
from amdjit.intrinsics.matrix.operands.kinds import fragment_kind
from amdjit.intrinsics.matrix.operands.maps import chosen_when_running, mem_row_major
from amdjit.intrinsics.matrix.operands.parameters import DataLayout, Nibble, Rounded, Use
from amdjit.intrinsics.matrix.operands.schedules import number_of_wave, takes_part
from amdjit.intrinsics.matrix.transfers.blocks import fill_blocks, load_blocks, store_blocks
from amdjit.intrinsics.matrix.transfers.memory import access_of, bitcast
from amdjit.intrinsics.matrix.transfers.memory import static_range as _static_range
from amdjit.intrinsics.sync import syncthreads
from amdjit.types import i32, u8, u32, vector

matrix_a, matrix_b, accumulator, sparse_a = (
    Use.MATRIX_A,
    Use.MATRIX_B,
    Use.ACCUMULATOR,
    Use.SPARSE_A,
)
xf32 = Rounded.XF32
row_major, col_major = DataLayout.ROW_MAJOR, DataLayout.COL_MAJOR
i4, u4 = Nibble.I4, Nibble.U4
_shuffle = SpecialForm(Form.SHUFFLE, "Elements of two vectors, picked by number.")
synchronize_workgroup = syncthreads


class Fragment(NamedTuple):
    """A fragment in a kernel. kind: its parameters; x: the elements that the lane holds (4-bit
    elements: eight per item).

    index: words that say where the elements of a `sparse_a` stand, None for other fragments.
    """

    kind: Any
    x: Any
    index: Any

    @property
    def num_elements(self):
        """Items of `x`."""
        return self.kind.size

    @property
    def height(self):
        """Rows of the matrix."""
        return self.kind.shape[0]

    @property
    def width(self):
        """Columns of the matrix; for a `sparse_a`, kept or not."""
        return self.kind.shape[1]


@device_function
def fragment(use, m, n, k, dtype, layout=None, schedule=None, wide_k=False):
    """Return a fragment of a product of m by k and k by n; what it holds is undefined.

    use: `matrix_a`, `matrix_b`, `accumulator`, or `sparse_a`, which holds the two kept elements of
    every four of an A. m, n, k: known when compiling, of any size (k of `sparse_a`: a multiple of
    32); sizes that are no multiple of 16 (4-bit elements: of 32 along k; on CDNA of what an
    instruction takes) are padded in the registers. dtype: the elements' type, `matrix.i4` and
    `matrix.u4` for 4 bits, `matrix.xf32` for f32 that products of gfx942 round first. layout:
    `row_major` or `col_major` in memory; accumulators need none. schedule: which waves share the
    fragment, such as `coop_row_major_2d(64, 2)`; each then holds, loads and stores its own blocks.
    wide_k: for 8-bit and 4-bit A and B together: blocks are twice as deep, so that lanes load up to
    16 bytes at once, and their order of k is no longer that of an accumulator's rows. On RDNA wider
    elements are always loaded this way; on CDNA `wide_k` is for all types.
    """
    kind = fragment_kind(use, m, n, k, dtype, layout, schedule, wide_k)
    words = kind.blocks.count_across * kind.index_words
    return Fragment(
        kind,
        local.array(kind.size, kind.blocks.item),
        local.array(words, u32) if words > 0 else None,
    )


@device_function
def fill_fragment(fragment, value):
    """Set all elements to a value, converted to their type, and the padding of a partial fragment
    to 0.

    The elements of a `sparse_a` become the first two of every four.
    """
    kind = fragment.kind
    if kind.is_sparse:
        for word in _static_range(len(fragment.index)):
            fragment.index[word] = u32(0x44444444)
    if kind.blocks.is_partial:
        first = number_of_wave(kind.turns) if kind.share.count > 1 else 0
        item = u8((value & 15) * 17) if kind.blocks.is_nibble else kind.blocks.item(value)
        fill_blocks(fragment, item, (first, kind.share.count, kind.share.blocks))
    else:
        item = (
            kind.blocks.item(i32(value & 15) * i32(0x11111111))
            if kind.blocks.is_nibble
            else kind.blocks.item(value)
        )
        for i in _static_range(kind.size):
            fragment.x[i] = item


@device_function
def load_matrix_sync(fragment, array, index=None, ld=None, layout=None, clip=None):
    """Read the fragment's part of a matrix, in global memory or LDS; the padding of a partial
    fragment becomes 0.

    array: with one axis, index is the offset of the first element and ld the distance from one row
    (row_major) or column (col_major) to the next, in elements; with ld alone, the offset is 0. With
    two axes, index is the first element's pair of indices, and the array's rows are the matrix's
    rows or columns. 4-bit elements are addressed as bytes, two in each. layout: overrides the
    fragment's own; an accumulator's default is row_major. Where only the launch knows the layout,
    pass an integer: `mem_row_major`, 0, or `mem_col_major`, 1. clip: read nothing outside the
    matrix; elements there become 0. With True the matrix is the array, and the first element may
    also lie before it, at negative indices. (rows, columns) is how many the matrix has from the
    fragment's first element on, counted in items of the array along its rows: bytes of 4-bit
    elements, kept elements of a `sparse_a`. It may exceed the fragment's size, or be 0 or negative.
    Wide accesses of LDS need the first element of each row at a multiple of 16 bytes.
    """
    _transfer(load_blocks, "load_matrix_sync", fragment, array, index, ld, layout, clip)


@device_function
def store_matrix_sync(array, fragment, index=None, ld=None, layout=None, clip=None):
    """Write the fragment's part of a matrix, without padding; the arguments are those of
    `load_matrix_sync`."""
    _transfer(store_blocks, "store_matrix_sync", fragment, array, index, ld, layout, clip)


@device_function
def _transfer(move, call, fragment, array, index, ld, layout, clip):
    """Load or store each block of the wave. move: `load_blocks` or `store_blocks`; call: the name
    for error messages."""
    kind = fragment.kind
    if takes_part(kind):
        first = number_of_wave(kind.turns) if kind.share.count > 1 else 0
        move_in_layout(
            move,
            call,
            fragment,
            array,
            index,
            ld,
            layout,
            clip,
            (first, kind.share.count, kind.share.blocks),
        )


@device_function
def move_in_layout(move, call, fragment, array, index, ld, layout, clip, turn):
    """Load or store blocks, in a layout known when compiling or only at run time. turn: (first,
    step, count) of the blocks."""
    kind = fragment.kind
    if not chosen_when_running(layout):
        move(
            fragment,
            access_of(call, kind, array, index, ld, layout, clip),
            array,
            index,
            ld,
            clip,
            turn,
        )
    elif layout == mem_row_major:
        move(
            fragment,
            access_of(call, kind, array, index, ld, row_major, clip),
            array,
            index,
            ld,
            clip,
            turn,
        )
    else:
        move(
            fragment,
            access_of(call, kind, array, index, ld, col_major, clip),
            array,
            index,
            ld,
            clip,
            turn,
        )


@device_function
def mma_sync(d, a, b, c):
    """Compute d = a b + c, block by block; d may be c. Refused, with a list of what exists, if the
    types do not fit.

    f16 and bf16 multiply with their own type; fp8 and bf8, i8 and u8, i4 and u4 also with each
    other; on CDNA also f32 and f64. With a `sparse_a` the instruction is SWMMAC or SMFMAC, for the
    same types at twice the rate.
    """
    product = product_of(d.kind, a.kind, b.kind, c.kind)
    a_items, b_items, c_items = (
        a.kind.blocks.operand_items * product.group,
        b.kind.blocks.operand_items * product.group,
        c.kind.blocks.items * product.c_blocks,
    )
    for i in _static_range(product.rows):
        for j in _static_range(product.columns):
            held = c.x.load(c_items * (j * product.rows + i), c_items)
            if product.converts:
                total = product.c_type(held)
            else:
                total = bitcast(_spread(held) if product.is_spread else held, product.c_type)
            for step in _static_range(product.steps):
                n, m = i * product.steps + step, j * product.steps + step
                left = bitcast(
                    a.x[n] if a_items == 1 else a.x.load(n * a_items, a_items), product.a_type
                )
                right = bitcast(
                    b.x[m] if b_items == 1 else b.x.load(m * b_items, b_items), product.b_type
                )
                if product.index_bits > 0:
                    bit = step * product.index_bits
                    word = a.index[i * a.kind.index_words + bit // 32]
                    total = _sparse_product(
                        product, left, right, total, bitcast(word >> u32(bit % 32), i32)
                    )
                else:
                    total = _dense_product(product, left, right, total)
            place = c_items * (j * product.rows + i)
            if product.is_mfma:
                d.x.store(place, vector(d.kind.blocks.item, c_items)(total))
            else:
                result = _gathered(d.kind, total) if product.is_spread else total
                d.x.store(place, bitcast(result, d.kind.blocks.held_type))


@device_function
def _dense_product(product, left, right, total):
    """Return total + left right, by one instruction."""
    if product.is_mfma:
        return product.builtin(left, right, total, 0, 0, 0)
    if product.is_integer:
        return product.builtin(product.a_signed, left, product.b_signed, right, total, False)
    if product.is_spread:
        return product.builtin(left, right, total, False)
    return product.builtin(left, right, total)


@device_function
def _spread(held):
    """Return elements of 16 bits with a register for each, its lower half."""
    return (
        _shuffle(held, held, (0, 0, 1, 1, 2, 2, 3, 3))
        if len(held) == 4
        else _shuffle(held, held, (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7))
    )


@device_function
def _gathered(kind, total):
    """Return the lower halves of registers."""
    words = bitcast(total, vector(kind.blocks.item, len(total)))
    return (
        _shuffle(words, words, (0, 2, 4, 6))
        if len(words) == 8
        else _shuffle(words, words, (0, 2, 4, 6, 8, 10, 12, 14))
    )


@device_function
def _sparse_product(product, left, right, total, index):
    """Return SWMMAC's or SMFMAC's result. index: the lane's, from its lowest bit on."""
    if product.is_mfma:
        return product.builtin(left, right, total, index, 0, 0)
    if product.is_integer:
        return product.builtin(product.a_signed, left, product.b_signed, right, total, index, False)
    return product.builtin(left, right, total, index)
