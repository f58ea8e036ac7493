"""The blocks of a fragment that a wave loads and stores: all, or each of its turn where waves share them."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix.clipping import edges_of, load_clipped_block, store_clipped_block
from amdjit.intrinsics.matrix.memory import (
    Edge,
    first_along,
    load_block,
    place_of,
    put_registers,
    registers,
    static_range,
    store_block,
)
from amdjit.intrinsics.wave import lane_id


@device_function
def load_blocks(fragment, access, array, index, ld, clip, turn):
    """Read blocks of a fragment. turn: (first, step, count) of their numbers."""
    kind = fragment.kind
    place, pitch = place_of(access, index, ld)
    if access.edge is Edge.FRAGMENT and not kind.is_partial:
        _load_whole(fragment, access, array, place, pitch, turn)
    else:
        edges = edges_of(kind, access, array, place, clip)
        if edges[0] >= 16 * kind.blocks_across and edges[1] >= kind.depth * kind.blocks_along:
            _load_whole(fragment, access, array, place, pitch, turn)
        elif edges[0] > 0 and edges[1] > 0:
            for number in static_range(turn[2]):
                across, along = _position(kind, number, turn)
                values = load_clipped_block(kind, access, array, place, pitch, across, along, edges)
                put_registers(fragment, number, values)
        else:
            for number in static_range(turn[2]):
                put_registers(fragment, number, kind.memory_type())


@device_function
def store_blocks(array, fragment, access, index, ld, clip, turn):
    """Write blocks of a fragment. turn: (first, step, count) of their numbers."""
    kind = fragment.kind
    place, pitch = place_of(access, index, ld)
    if access.edge is Edge.FRAGMENT and not kind.is_partial:
        _store_whole(array, fragment, access, place, pitch, turn)
    else:
        edges = edges_of(kind, access, array, place, clip)
        if edges[0] >= 16 * kind.blocks_across and edges[1] >= kind.depth * kind.blocks_along:
            _store_whole(array, fragment, access, place, pitch, turn)
        elif edges[0] > 0 and edges[1] > 0:
            for number in static_range(turn[2]):
                across, along = _position(kind, number, turn)
                values = registers(fragment, number, kind.memory_type)
                store_clipped_block(kind, access, array, place, pitch, across, along, values, edges)


@device_function
def fill_blocks(fragment, value, turn):
    """Set the elements of a partial fragment to a value, its padding to 0. value: an item of memory."""
    kind = fragment.kind
    for number in static_range(turn[2]):
        across, along = _position(kind, number, turn)
        values, blank = kind.memory_type(), kind.memory_type()
        for e in static_range(kind.held // kind.unit):
            is_element = along // kind.unit + e < kind.along // kind.unit and across < kind.across
            values[e] = value if is_element else blank[e]
        put_registers(fragment, number, values)


@device_function
def _position(kind, number, turn):
    """Return where a lane's first element of its block of a number is: (across, along)."""
    known, shift = _start(kind, number, turn)
    within = _within(kind)
    return known[0] + shift[0] + within[0], known[1] + shift[1] + within[1]


@device_function
def _start(kind, number, turn):
    """Return where a wave's block of a number begins, (across, along): a constant, and what is to be added to it."""
    first, step, _ = turn
    if step % kind.blocks_along == 0 or kind.blocks_along % step == 0:
        return _block(kind, number * step), _block(kind, first)
    return (0, 0), _block(kind, number * step + first)


@device_function
def _block(kind, block):
    return 16 * (block // kind.blocks_along), kind.depth * (block % kind.blocks_along)


@device_function
def _within(kind):
    """Return where in a block a lane's first element is: (across, along), the same for all blocks."""
    lane = lane_id()
    return lane % 16, first_along(kind, lane)


@device_function
def _load_whole(fragment, access, array, place, ld, turn):
    kind = fragment.kind
    for number in static_range(turn[2]):
        values = load_block(kind, access, array, place, ld, _start(kind, number, turn), _within(kind))
        put_registers(fragment, number, values)


@device_function
def _store_whole(array, fragment, access, place, ld, turn):
    kind = fragment.kind
    for number in static_range(turn[2]):
        values = registers(fragment, number, kind.memory_type)
        store_block(kind, access, array, place, ld, _start(kind, number, turn), _within(kind), values)
