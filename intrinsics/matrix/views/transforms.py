"""Fragments as other fragments: transposed, for another layout in memory, as another operand, as
plain registers.

Where the lanes already hold the same elements in the same order, the result is the fragment itself
under another kind: it shares the registers, and nothing moves. Otherwise `apply_fragment` returns a
new fragment, whose elements the lanes have exchanged.

Source: rocWMMA's API reference, rocwmma_transforms.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.matrix.fragments import Fragment
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind, fragment_kind
from amdjit.intrinsics.matrix.operands.parameters import (
    DataLayout,
    Use,
    stored_type,
    type_name,
)
from amdjit.intrinsics.matrix.transfers.exchanges import (
    Swap,
    exchange,
    places_of,
    repeat_words,
    repeated,
    swaps_between,
)
from amdjit.intrinsics.matrix.transfers.memory import put_registers, registers, static_range
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Type, u32, vector


@dataclass(frozen=True)
class Transform:
    """How a fragment becomes one of another kind, tile by tile. A tile consists of whole blocks of
    both."""

    kind: FragmentKind
    swaps: tuple[Swap, ...] | None
    """What the lanes exchange, None where nothing moves."""
    is_turned: bool = False
    tiles: tuple[int, int] = (0, 0)
    """How many there are (across, along) the source's axes."""
    source: tuple[int, int] = (0, 0)
    """The blocks of a tile (across, along) in the source."""
    target: tuple[int, int] = (0, 0)
    """The blocks of a tile (across, along) in the target."""
    words: tuple[int, int] = (0, 0)
    """Words of a lane's elements of a block, in the source and in the target."""
    copies: int = 1
    """How many groups of 16 lanes get each other's elements before that, because each holds all of
    the target."""

    @property
    def word_type(self) -> Type:
        """A lane's elements of a block of the source."""
        return vector(u32, self.words[0]) if self.words[0] > 1 else u32


@compile_time
def _transposed(compilation: Compilation, kind: FragmentKind) -> FragmentKind:
    opposite = {Use.MATRIX_A: Use.MATRIX_B, Use.MATRIX_B: Use.MATRIX_A}.get(kind.use)
    if opposite is None:
        raise Refused(
            f"{kind} cannot be transposed without moves",
            "write matrix.transpose(fragment), which moves it",
        )
    layout = DataLayout.COL_MAJOR if kind.layout is DataLayout.ROW_MAJOR else DataLayout.ROW_MAJOR
    return replace(kind, use=opposite, m=kind.n, n=kind.m, layout=layout)


@compile_time
def _laid_out(compilation: Compilation, kind: FragmentKind, layout: Any) -> FragmentKind:
    if not isinstance(layout, DataLayout):
        raise Refused(f"the layout is {layout}", "write matrix.row_major or matrix.col_major")
    return replace(kind, layout=layout)


@compile_time
def _register_file(compilation: Compilation, kind: FragmentKind) -> FragmentKind:
    if kind.is_sparse:
        raise Refused(
            f"{kind} has an index beside its elements", "store it, and load it and its index again"
        )
    if kind.generation.is_cdna:
        return _divided_file(kind)
    # An accumulator of gfx11 is divided among the lanes, which an A or B is not: it has the
    # registers of a B of gfx12.
    is_divided = kind.use is Use.ACCUMULATOR
    return FragmentKind(
        Use.MATRIX_B,
        16,
        n=16 * kind.share.blocks,
        k=kind.blocks.depth,
        dtype=kind.dtype,
        layout=DataLayout.COL_MAJOR,
        wave_size=kind.wave_size,
        generation=Generation.GFX12 if is_divided else kind.generation,
    )


def _divided_file(kind: FragmentKind) -> FragmentKind:
    """Return the register file of a fragment of CDNA, which all lanes divide: a B of gfx12, whose
    lanes hold four neighbours (or eight of 4 bits), or one of the fragment's own processor where a
    lane has less."""
    elements = kind.blocks.held * kind.share.blocks
    held = 8 if kind.blocks.is_nibble else 4
    is_short = elements % held > 0
    return FragmentKind(
        Use.MATRIX_B,
        16,
        n=16 * (1 if is_short else elements // held),
        k=4 * (elements if is_short else held),
        dtype=kind.dtype,
        layout=DataLayout.COL_MAJOR,
        wave_size=kind.wave_size,
        generation=kind.generation if is_short else Generation.GFX12,
    )


@compile_time
def _from_register_file(
    compilation: Compilation, held: FragmentKind, *parameters: Any
) -> FragmentKind:
    kind: FragmentKind = fragment_kind.function(compilation, *parameters)
    file: FragmentKind = _register_file.function(compilation, kind)
    if file != held:
        raise Refused(f"{kind} is not what {held} was made of", f"its register file is {file}")
    return kind


@compile_time
def _transform(compilation: Compilation, kind: FragmentKind, *parameters: Any) -> Transform:
    """Choose how a fragment becomes another one. Refused unless that is a fragment of the same
    matrix."""
    wanted: FragmentKind = fragment_kind.function(compilation, *parameters)
    if stored_type(wanted.dtype) != stored_type(kind.dtype):
        remedy = f"convert x[i] one by one into a fragment of {type_name(wanted.dtype)}"
        raise Refused(f"{kind} does not hold {type_name(wanted.dtype)}", remedy)
    if wanted.shape != kind.shape or wanted.turns != kind.turns:
        shapes = (" x ".join(map(str, each.shape)) for each in (kind, wanted))
        problem = (
            "{}, not {}".format(*shapes) if wanted.turns == kind.turns else "other waves share it"
        )
        raise Refused(
            f"{kind} is not {wanted}: {problem}",
            "give the same rows and columns, shared by the same waves",
        )
    return plan(kind, wanted, False)


@compile_time
def _transpose(compilation: Compilation, kind: FragmentKind) -> Transform:
    """Choose how a fragment becomes its transpose. Refused if that is not a fragment."""
    m, n, k = kind.m, kind.n, kind.k
    m, n, k = {Use.ACCUMULATOR: (n, m, k), Use.MATRIX_B: (m, k, n)}.get(kind.use, (k, n, m))
    if kind.blocks.is_nibble and k % 2:
        raise Refused(
            f"the transpose of {kind} has a k of {k}",
            "two neighbours of k share a byte: give an even size",
        )
    return plan(kind, replace(kind, m=m, n=n, k=k), True)


def _check_movable(kind: FragmentKind, wanted: FragmentKind) -> None:
    """Refuse what the lanes of a wave cannot exchange among themselves."""
    lanes = kind.blocks.lanes, wanted.blocks.lanes
    are_held = min(lanes) == kind.wave_size
    if kind.generation is Generation.GFX11:
        are_held = lanes[0] >= lanes[1]
    if kind.is_sparse or wanted.is_sparse or kind.share.count != 1 or not are_held:
        what = (
            "elements that all groups of 16 lanes hold"
            if kind.generation is Generation.GFX11
            else "4-bit blocks with k of 16 in waves of 64 lanes"
            if kind.blocks.is_nibble
            else "sparse or shared fragments"
        )
        raise Refused(
            f"the lanes cannot exchange {what}: {kind} to {wanted}",
            "store it to LDS and load it from there",
        )


def plan(kind: FragmentKind, wanted: FragmentKind, is_transposed: bool) -> Transform:
    """Choose what moves. is_transposed: whether the rows of the source are the columns of the
    target."""
    is_turned = (kind.is_left != wanted.is_left) != is_transposed
    own, other = (
        (each.blocks.steps, each.blocks.stride, each.blocks.depth, each.blocks.side)
        for each in (kind, wanted)
    )
    if not is_turned and own == other:
        return Transform(wanted, None)
    _check_movable(kind, wanted)
    sides = (
        (kind.blocks.side, kind.blocks.depth),
        (wanted.blocks.depth, wanted.blocks.side)
        if is_turned
        else (wanted.blocks.side, wanted.blocks.depth),
    )
    across, along = max(side[0] for side in sides), max(side[1] for side in sides)
    rows, columns = (across, along) if kind.is_left else (along, across)
    copies = kind.blocks.lanes // wanted.blocks.lanes
    words = kind.blocks.access_bytes // 4, wanted.blocks.access_bytes // 4
    source = across // kind.blocks.side, along // kind.blocks.depth
    held = places_of(kind.blocks, rows, columns)
    if copies > 1:
        held = repeated(held, source[0] * source[1] * words[0])
    swaps = swaps_between(held, places_of(wanted.blocks, rows, columns, is_transposed), copies > 1)
    if swaps is None:
        raise Refused(
            f"the lanes cannot exchange {kind} to {wanted}",
            "store it to LDS and load it from there",
        )
    tiles = (
        -(-kind.blocks.count_across * kind.blocks.side // across),
        -(-kind.blocks.count_along * kind.blocks.depth // along),
    )
    target = (
        (along // wanted.blocks.side, across // wanted.blocks.depth)
        if is_turned
        else (across // wanted.blocks.side, along // wanted.blocks.depth)
    )
    return Transform(
        wanted,
        swaps,
        is_turned=is_turned,
        tiles=tiles,
        source=source,
        target=target,
        words=words,
        copies=copies,
    )


@device_function
def apply_transpose(fragment):
    """Return A as the B of its transpose, or B as the A of its transpose, with the opposite layout
    and the same registers."""
    return Fragment(_transposed(fragment.kind), fragment.x, fragment.index)


@device_function
def apply_data_layout(fragment, layout):
    """Return the fragment, with the same registers, as one that lies row_major or col_major in
    memory.

    Which lane holds which element does not depend on the layout, so nothing moves.
    """
    return Fragment(_laid_out(fragment.kind, layout), fragment.x, fragment.index)


@device_function
def to_register_file(fragment):
    """Return the fragment as a `matrix_b` of the same registers, which is stored and loaded in
    their order.

    It has 16 rows (for 4-bit elements, as many as a block of the fragment is deep) and 16 columns
    for each block. It is col_major: an LDS array of (columns, rows) takes it in wide accesses
    without conflicts, whatever the fragment's own layout. Loading into it loads the fragment.
    """
    return Fragment(_register_file(fragment.kind), fragment.x, None)


@device_function
def from_register_file(fragment, use, m, n, k, dtype, layout=None, schedule=None):
    """Return the fragment that `to_register_file` was given, with the same registers. The
    parameters are those of `matrix.fragment`."""
    kind = _from_register_file(fragment.kind, use, m, n, k, dtype, layout, schedule)
    return Fragment(kind, fragment.x, None)


@device_function
def apply_fragment(fragment, use, m, n, k, dtype, layout=None, schedule=None, wide_k=False):
    """Return the same matrix as a fragment of another kind; the parameters are those of
    `matrix.fragment`.

    The matrix is m by k of `matrix_a`, k by n of `matrix_b`, m by n of accumulators. The registers
    stay the same where the lanes hold the same elements: always for the same use; between
    accumulators and B in wave32, and in wave64 unless the elements have 16 bits. Otherwise the
    lanes exchange elements: from A to B or to an accumulator, each block is transposed.
    """
    return moved(fragment, _transform(fragment.kind, use, m, n, k, dtype, layout, schedule, wide_k))


@device_function
def transpose(fragment):
    """Return the transpose as a new fragment of the same use, type and layout, whose elements have
    moved.

    An accumulator of m by n becomes one of n by m, a `matrix_a` of m by k one of k by m, a
    `matrix_b` of k by n one of n by k. `apply_transpose` turns an A into a B without moves.
    """
    return moved(fragment, _transpose(fragment.kind))


@device_function
def moved(fragment, transform):
    """Return the fragment of another kind, tile by tile; blocks that a tile lacks are 0."""
    kind, tile = transform.kind, transform.source[0] * transform.source[1]
    if transform.swaps is None:
        return Fragment(kind, fragment.x, fragment.index)
    result = Fragment(kind, local.array(kind.size, kind.blocks.item), None)
    words = local.array(tile * transform.words[0] * transform.copies, u32)
    for across in static_range(transform.tiles[0]):
        for along in static_range(transform.tiles[1]):
            for place in static_range(tile):
                number = _number_in(fragment.kind, transform.source, (across, along), place)
                held = registers(fragment, max(number, 0), transform.word_type)
                for i in static_range(transform.words[0]):
                    word = held[i] if transform.words[0] > 1 else held
                    words[place * transform.words[0] + i] = word if number >= 0 else u32(0)
            if transform.copies > 1:
                repeat_words(words, tile * transform.words[0])
            exchange(words, transform.swaps)
            for place in static_range(transform.target[0] * transform.target[1]):
                where = (along, across) if transform.is_turned else (across, along)
                number = _number_in(kind, transform.target, where, place)
                if number >= 0:
                    count = transform.words[1]
                    moved = words[place] if count == 1 else words.load(place * count, count)
                    put_registers(result, number, moved)
    return result


@compile_time
def _number_in(
    compilation: Compilation,
    kind: FragmentKind,
    tile: tuple[int, int],
    where: tuple[int, int],
    place: int,
) -> int:
    """Return the number of a tile's block, or -1 if it is beyond the fragment's end."""
    across, along = tile[0] * where[0] + place // tile[1], tile[1] * where[1] + place % tile[1]
    is_there = across < kind.blocks.count_across and along < kind.blocks.count_along
    return across * kind.blocks.count_along + along if is_there else -1
