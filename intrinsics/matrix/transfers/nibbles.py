"""4-bit elements that lie across k: A by columns, B by rows. The two elements of a byte then have
the same k, and belong to two lanes.

A lane reads neighbours in memory, 8 or 16 elements of one k, in one access; the lanes with as many
different k then transpose them among each other (`exchanges`). A store does the same in reverse
order.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.declarations import device_function
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.matrix.operands.blocks import Blocks
from amdjit.intrinsics.matrix.transfers.exchanges import Place, Swap, exchange
from amdjit.intrinsics.matrix.transfers.memory import bitcast, first_along, static_range
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import Type, u8, u16, u32, vector


@dataclass(frozen=True)
class Square:
    """What lanes transpose: `size` by `size` elements."""

    size: int
    parts: int
    """Squares along that a lane holds of a block."""
    swaps: tuple[Swap, ...]
    read: Type
    """The type of a lane's bytes of a square in memory."""
    held: Type
    """The same bytes as words, or as half a word."""
    words: int
    """How many a lane has in a block."""


@compile_time
def square_of(compilation: Compilation, blocks: Blocks) -> Square:
    """Return what a block consists of."""
    size = min(blocks.held, 16)
    swaps = tuple(
        Swap(Place(True, bit), Place(False, 2 + bit)) for bit in range(size.bit_length() - 1)
    )
    held = {4: u16, 8: u32, 16: vector(u32, 2)}[size]
    return Square(
        size,
        blocks.held // size,
        swaps=swaps,
        read=vector(u8, size // 2),
        held=held,
        words=-(-blocks.held // 8),
    )


@device_function
def turned_within(blocks, lane):
    """Return where in a block the first element is that a lane reads: (across, along)."""
    size = min(blocks.held, 16)
    return lane % blocks.side // size * size, first_along(blocks, lane) + lane % size


@device_function
def load_turned(blocks, access, array, place, ld, across, along):
    """Return a lane's elements of a block. across, along: where the first element is that the lane
    reads."""
    square = square_of(blocks)
    words = local.array(square.words, u32)
    for part in static_range(square.parts):
        index = _index(access, place, ld, across, along + square.size * part)
        _put(words, square, part, array.load(index, square.size // 2, access.alignment))
    exchange(words, square.swaps)
    return _all(blocks, words)


@device_function
def load_clipped_turned(blocks, access, array, place, ld, across, along, edges):
    """Return a lane's elements of a block, with 0 for those beyond the edges. At least one element
    is within them."""
    square = square_of(blocks)
    words = local.array(square.words, u32)
    for part in static_range(square.parts):
        values, blank = square.read(), square.read()
        row = along + square.size * part
        line = max(min(row, edges[1] - 1), edges[3])
        if across >= edges[2] and across + square.size <= edges[0]:
            values = array.load(
                _index(access, place, ld, across, line), square.size // 2, access.alignment
            )
        else:
            for e in static_range(square.size // 2):
                position = across // 2 + e
                near = max(min(position, edges[0] // 2 - 1), edges[2] // 2)
                element = array[_index(access, place, ld, 2 * near, line)]
                values[e] = element if near == position else blank[e]
        _put(words, square, part, values if edges[3] <= row and row < edges[1] else blank)
    exchange(words, square.swaps)
    return _all(blocks, words)


@device_function
def store_turned(blocks, access, array, place, ld, across, along, values):
    """Write a lane's elements of a block, after an exchange."""
    square = square_of(blocks)
    words = _words(blocks, values)
    exchange(words, square.swaps)
    for part in static_range(square.parts):
        index = _index(access, place, ld, across, along + square.size * part)
        array.store(index, _part(words, square, part), access.alignment)


@device_function
def store_clipped_turned(blocks, access, array, place, ld, across, along, values, edges):
    """Write those of a lane's elements of a block that are within the edges, after an exchange."""
    square = square_of(blocks)
    words = _words(blocks, values)
    exchange(words, square.swaps)
    for part in static_range(square.parts):
        line, held = along + square.size * part, _part(words, square, part)
        if edges[3] <= line and line < edges[1]:
            if across >= edges[2] and across + square.size <= edges[0]:
                array.store(_index(access, place, ld, across, line), held, access.alignment)
            else:
                for e in static_range(square.size // 2):
                    if edges[2] <= across + 2 * e and across + 2 * e < edges[0]:
                        array[_index(access, place, ld, across + 2 * e, line)] = held[e]


@device_function
def _index(access, place, ld, across, along):
    """Return the index of the byte with an element."""
    if access.two_axes:
        return place[0] + along, place[1] + across // 2
    return place + along * ld + across // 2


@device_function
def _put(words, square, part, bytes):
    """Set the words of a square to a lane's bytes of it."""
    held = bitcast(bytes, square.held)
    if square.size == 16:
        words[2 * part], words[2 * part + 1] = held[0], held[1]
    else:
        words[part] = u32(held)


@device_function
def _part(words, square, part):
    """Return a lane's bytes of a square."""
    if square.size == 16:
        return bitcast(words.load(2 * part, 2), square.read)
    return bitcast(words[part] if square.size == 8 else u16(words[part]), square.read)


@device_function
def _all(blocks, words):
    """Return words as what a lane holds of a block."""
    if len(words) > 1:
        return bitcast(words.load(0, len(words)), blocks.memory_type)
    return bitcast(words[0] if blocks.held == 8 else u16(words[0]), blocks.memory_type)


@device_function
def _words(blocks, values):
    """Return what a lane holds of a block as words."""
    count = square_of(blocks).words
    words = local.array(count, u32)
    if count > 1:
        held = bitcast(values, vector(u32, count))
        for i in static_range(count):
            words[i] = held[i]
    else:
        words[0] = u32(bitcast(values, u32 if blocks.held == 8 else u16))
    return words
