"""Loads and stores of the blocks of a fragment: all of them, or every wave's own where waves share
them.

If the blocks do not divide evenly, some waves have one less than others; the last block is then
handled in a branch that the whole wave takes.

The loops over blocks contain all the work for a block: a function called with a block's number
would be typed and compiled once per number.
"""

from __future__ import annotations

from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix.transfers.memory import (
    Edge,
    bitcast,
    blank,
    first_along,
    index_of,
    load_block,
    load_elements,
    place_of,
    put_registers,
    static_range,
    store_block,
    store_elements,
)
from amdjit.intrinsics.matrix.transfers.nibbles import (
    load_clipped_turned,
    load_turned,
    store_clipped_turned,
    store_turned,
    turned_within,
)
from amdjit.intrinsics.wave import lane_id
from amdjit.language.compile_time import Compilation, compile_time


@device_function
def load_blocks(fragment, access, array, index, ld, clip, turn):
    """Read blocks of a fragment. turn: (first, step, count) of their numbers."""
    blocks = fragment.kind.blocks
    place, pitch = place_of(access, index, ld)
    if access.edge is Edge.FRAGMENT and not blocks.is_partial:
        _load_whole(fragment, access, array, place, pitch, turn)
    else:
        edges = edges_of(blocks, access, array, place, clip)
        if is_whole(blocks, edges):
            _load_whole(fragment, access, array, place, pitch, turn)
        elif edges[0] > edges[2] and edges[1] > edges[3]:
            start, within = _start(blocks, turn), _within(blocks, access)
            for number in static_range(turn[2]):
                if (
                    is_everybodys(blocks, number, turn[1])
                    or number * turn[1] + turn[0] < blocks.count
                ):
                    shift, far = (
                        _shift(blocks, turn, number, start),
                        distance(blocks, number, turn[1]),
                    )
                    across, along = far[0] + shift[0] + within[0], far[1] + shift[1] + within[1]
                    values = load_clipped_block(
                        blocks, access, array, place, pitch, across, along, edges
                    )
                    put_registers(fragment, number, values)
        else:
            for number in static_range(turn[2]):
                put_registers(fragment, number, blank(blocks))


@device_function
def store_blocks(fragment, access, array, index, ld, clip, turn):
    """Write blocks of a fragment. turn: (first, step, count) of their numbers."""
    blocks = fragment.kind.blocks
    place, pitch = place_of(access, index, ld)
    if access.edge is Edge.FRAGMENT and not blocks.is_partial:
        _store_whole(fragment, access, array, place, pitch, turn)
    else:
        edges = edges_of(blocks, access, array, place, clip)
        if is_whole(blocks, edges):
            _store_whole(fragment, access, array, place, pitch, turn)
        elif edges[0] > edges[2] and edges[1] > edges[3]:
            start, within = _start(blocks, turn), _within(blocks, access)
            for number in static_range(turn[2]):
                if (
                    is_everybodys(blocks, number, turn[1])
                    or number * turn[1] + turn[0] < blocks.count
                ):
                    shift, far = (
                        _shift(blocks, turn, number, start),
                        distance(blocks, number, turn[1]),
                    )
                    across, along = far[0] + shift[0] + within[0], far[1] + shift[1] + within[1]
                    x = fragment.x
                    held = (
                        x[number]
                        if blocks.items == 1
                        else x.load(blocks.items * number, blocks.items)
                    )
                    values = bitcast(held, blocks.memory_type)
                    store_clipped_block(
                        blocks, access, array, place, pitch, across, along, values, edges
                    )


@device_function
def fill_blocks(fragment, value, turn):
    """Set the elements of a partial fragment to a value, its padding to 0. value: an item of
    memory."""
    blocks = fragment.kind.blocks
    start, within = _start(blocks, turn), _within(blocks, None)
    for number in static_range(turn[2]):
        shift, far = _shift(blocks, turn, number, start), distance(blocks, number, turn[1])
        across, along = far[0] + shift[0] + within[0], far[1] + shift[1] + within[1]
        values, zeros = blank(blocks), blank(blocks)
        for e in static_range(blocks.held // blocks.unit):
            is_element = (
                along // blocks.unit + e * blocks.stride < blocks.along // blocks.unit
                and across < blocks.across
            )
            if blocks.held == 1:
                values = value if is_element else zeros
            else:
                values[e] = value if is_element else zeros[e]
        put_registers(fragment, number, values)


@compile_time
def is_everybodys(compilation: Compilation, blocks: Any, number: int, step: Any) -> bool:
    """Whether every wave has a block of this number among its own."""
    return isinstance(step, int) and (number + 1) * step <= blocks.count


@compile_time
def goes_evenly(compilation: Compilation, blocks: Any, step: Any) -> bool:
    """Whether a wave's blocks lie at constant distances from its first."""
    if not isinstance(step, int):
        return False
    return step % blocks.count_along == 0 or blocks.count_along % step == 0


@compile_time
def distance(compilation: Compilation, blocks: Any, number: int, step: Any) -> tuple[int, int]:
    """Return the distance of a wave's block from its first, (across, along), or 0 where it is not
    constant."""
    if not isinstance(step, int) or (step % blocks.count_along and blocks.count_along % step):
        return 0, 0
    block = number * step
    return blocks.side * (block // blocks.count_along), blocks.depth * (block % blocks.count_along)


@device_function
def is_whole(blocks, edges):
    """Whether no edge cuts the blocks."""
    ends = (
        edges[0] >= blocks.side * blocks.count_across
        and edges[1] >= blocks.depth * blocks.count_along
    )
    return ends and edges[2] == 0 and edges[3] == 0


@device_function
def _start(blocks, turn):
    """Return where a wave's first block begins, (across, along)."""
    across = blocks.side * (turn[0] // blocks.count_along)
    return across, blocks.depth * (turn[0] % blocks.count_along)


@device_function
def _shift(blocks, turn, number, start):
    """Return what must be added to a block's distance."""
    if goes_evenly(blocks, turn[1]):
        return start
    return _start(blocks, (number * turn[1] + turn[0], 0, 0))


@device_function
def _within(blocks, access):
    """Return where a lane's first element in memory is within a block, (across, along); it is the
    same in all blocks."""
    lane = lane_id()
    if access is not None and access.is_turned:
        return turned_within(blocks, lane)
    return lane % blocks.side, first_along(blocks, lane)


@device_function
def _places(blocks, access, place, ld, start, within):
    """Return (base, index) of accesses, without the constant part.

    In global memory the base is the part that all lanes share. LDS has no scalar addresses, but
    offsets in the instruction: there the base is everything but the constant.
    """
    if access.is_wide:
        corner, lane = (start[0], start[1] // blocks.unit), (within[0], within[1] // blocks.unit)
    else:
        corner, lane = (start[1], start[0]), (within[1], within[0])
    if access.two_axes:
        first = place[0] + corner[0], place[1] + corner[1]
        return (
            ((first[0] + lane[0], first[1] + lane[1]), (0, 0))
            if access.is_in_lds
            else (first, lane)
        )
    first, own = place + (corner[0] * ld + corner[1]), lane[0] * ld + lane[1]
    return (first + own, 0) if access.is_in_lds else (first, own)


@device_function
def _load_whole(fragment, access, array, place, ld, turn):
    blocks = fragment.kind.blocks
    start, within = _start(blocks, turn), _within(blocks, access)
    base, own = _places(blocks, access, place, ld, start, within)
    for number in static_range(turn[2]):
        if is_everybodys(blocks, number, turn[1]) or number * turn[1] + turn[0] < blocks.count:
            if not goes_evenly(blocks, turn[1]):
                start = _shift(blocks, turn, number, start)
                base, own = _places(blocks, access, place, ld, start, within)
            far = distance(blocks, number, turn[1])
            if access.is_wide and blocks.stride == 1:
                minor, width = far[1] // blocks.unit, blocks.held // blocks.unit
                if access.two_axes and access.is_in_lds:
                    values = array.load((far[0], minor), width, access.alignment, base)
                elif access.two_axes:
                    values = array.load(
                        own, width, access.alignment, (base[0] + far[0], base[1] + minor)
                    )
                elif access.is_in_lds:
                    values = array.load(far[0] * ld + minor, width, access.alignment, base)
                else:
                    values = array.load(own, width, access.alignment, base + (far[0] * ld + minor))
            elif access.is_turned:
                across, along = far[0] + start[0] + within[0], far[1] + start[1] + within[1]
                values = load_turned(blocks, access, array, place, ld, across, along)
            else:
                values = load_elements(blocks, access, array, base, own, ld, far)
            if blocks.items == 1:
                fragment.x[number] = bitcast(values, blocks.item)
            else:
                fragment.x.store(blocks.items * number, bitcast(values, blocks.held_type))


@device_function
def _store_whole(fragment, access, array, place, ld, turn):
    blocks = fragment.kind.blocks
    start, within = _start(blocks, turn), _within(blocks, access)
    base, own = _places(blocks, access, place, ld, start, within)
    for number in static_range(turn[2]):
        if is_everybodys(blocks, number, turn[1]) or number * turn[1] + turn[0] < blocks.count:
            if not goes_evenly(blocks, turn[1]):
                start = _shift(blocks, turn, number, start)
                base, own = _places(blocks, access, place, ld, start, within)
            far = distance(blocks, number, turn[1])
            held = (
                fragment.x[number]
                if blocks.items == 1
                else fragment.x.load(blocks.items * number, blocks.items)
            )
            values = bitcast(held, blocks.memory_type)
            if access.is_wide and blocks.stride == 1:
                minor = far[1] // blocks.unit
                if access.two_axes and access.is_in_lds:
                    array.store((far[0], minor), values, access.alignment, base)
                elif access.two_axes:
                    array.store(own, values, access.alignment, (base[0] + far[0], base[1] + minor))
                elif access.is_in_lds:
                    array.store(far[0] * ld + minor, values, access.alignment, base)
                else:
                    array.store(own, values, access.alignment, base + (far[0] * ld + minor))
            elif access.is_turned:
                across, along = far[0] + start[0] + within[0], far[1] + start[1] + within[1]
                store_turned(blocks, access, array, place, ld, across, along, values)
            else:
                store_elements(blocks, access, array, base, own, ld, far, values)


# Loads and stores that stop at an edge: of a partial fragment, or of the matrix.
#
# Loads read nothing outside and return 0 there; stores write nothing there. Edges are (across,
# along, first across, first along): where the elements end and where they begin along the axes of
# `Blocks`, counted from the fragment's first element. They begin after it where a fragment starts
# before its array.


@device_function
def edges_of(blocks, access, array, place, clip):
    """Return the edges: constants for a partial fragment that is not clipped further."""
    if access.edge is Edge.FRAGMENT:
        return blocks.across, blocks.along, 0, 0
    across_unit, along_unit = (blocks.unit, 1) if access.is_turned else (1, blocks.unit)
    if access.edge is Edge.GIVEN:
        rows, columns = clip
        along = columns if blocks.is_left else rows
        across = rows if blocks.is_left else columns
        return min(across * across_unit, blocks.across), min(along * along_unit, blocks.along), 0, 0
    major, minor = array.shape[0] - place[0], array.shape[1] - place[1]
    first_major, first_minor = max(-place[0], 0), max(-place[1], 0)
    across, along = (major, minor) if access.is_wide else (minor, major)
    first_across, first_along = (
        (first_major, first_minor) if access.is_wide else (first_minor, first_major)
    )
    return (
        min(across * across_unit, blocks.across), min(along * along_unit, blocks.along),
        first_across * across_unit, first_along * along_unit,
    )  # fmt: skip


@device_function
def load_clipped_block(blocks, access, array, place, ld, across, along, edges):
    """Return a lane's elements of a block, with 0 for those beyond the edges; the first is at
    (along, across).

    There is at least one element within the edges. Other elements are read in place of those
    outside, which costs less than branches.
    """
    if access.is_turned:
        return load_clipped_turned(blocks, access, array, place, ld, across, along, edges)
    values, zeros = blank(blocks), blank(blocks)
    line = max(min(across, edges[0] - 1), edges[2])
    is_vector = access.is_wide and blocks.stride == 1
    if is_vector and along >= edges[3] and along + blocks.held <= edges[1]:
        values = load_block(blocks, access, array, place, ld, line, along)
    else:
        first, end = edges[3] // blocks.unit, edges[1] // blocks.unit
        for e in static_range(blocks.held // blocks.unit):
            position = along // blocks.unit + e * blocks.stride
            near = max(min(position, end - 1), first)
            element = array[index_of(access, place, ld, line, near)]
            is_inside = first <= position and position < end
            if blocks.held == 1:
                values = element if is_inside else zeros
            else:
                values[e] = element if is_inside else zeros[e]
    return values if edges[2] <= across and across < edges[0] else zeros


@device_function
def store_clipped_block(blocks, access, array, place, ld, across, along, values, edges):
    """Write those of a lane's elements of a block that are within the edges."""
    if access.is_turned:
        store_clipped_turned(blocks, access, array, place, ld, across, along, values, edges)
    elif edges[2] <= across and across < edges[0]:
        is_vector = access.is_wide and blocks.stride == 1
        if is_vector and along >= edges[3] and along + blocks.held <= edges[1]:
            store_block(blocks, access, array, place, ld, across, along, values)
        else:
            for e in static_range(blocks.held // blocks.unit):
                position = along // blocks.unit + e * blocks.stride
                if edges[3] // blocks.unit <= position and position < edges[1] // blocks.unit:
                    held = values if blocks.held == 1 else values[e]
                    array[index_of(access, place, ld, across, position)] = held
