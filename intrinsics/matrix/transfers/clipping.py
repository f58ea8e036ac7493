"""Loads and stores that stop at an edge: of a partial fragment, or of the matrix.

Loads read nothing outside and return 0 there; stores write nothing there. Edges are (across, along,
first across, first along): where the elements end and where they begin along the axes of `Blocks`,
counted from the fragment's first element. They begin after it where a fragment starts before its
array.
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix.transfers.memory import (
    Edge,
    blank,
    index_of,
    load_block,
    static_range,
    store_block,
)
from amdjit.intrinsics.matrix.transfers.nibbles import load_clipped_turned, store_clipped_turned


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
