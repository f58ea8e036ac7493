"""Loads, stores and fills that stop at an edge: that of a partial fragment, and that of the matrix.

Loads read nothing behind the edge and give 0 there; stores write nothing there. Edges are (across, along), the number
of elements from the fragment's first one on that there are, of the axes of `FragmentKind`.
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix.memory import Edge, load_block, static_range, store_block


@device_function
def edges_of(kind, access, array, place, clip):
    """Return the edges: constants for a partial fragment that is not clipped further."""
    if access.edge is Edge.FRAGMENT:
        return kind.across, kind.along
    if access.edge is Edge.GIVEN:
        rows, columns = clip
        along = columns if kind.is_left else rows
        across = rows if kind.is_left else columns
    else:
        first, second = array.shape[0] - place[0], array.shape[1] - place[1]
        along = second if access.is_wide else first
        across = first if access.is_wide else second
    return min(across, kind.across), min(along * kind.unit, kind.along)


@device_function
def load_clipped_block(kind, access, array, place, ld, across, along, edges):
    """Return a lane's elements of a block whose first is at (along, across), 0 for those behind the edges.

    There is at least one element. Others are read instead of those behind the edges: that costs less than branches.
    """
    values, blank = kind.memory_type(), kind.memory_type()
    line = min(across, edges[0] - 1)
    if access.is_wide and along + kind.held <= edges[1]:
        values = load_block(kind, access, array, place, ld, line, along)
    else:
        for e in static_range(kind.held // kind.unit):
            position = along // kind.unit + e
            element = _element(access, array, place, ld, line, min(position, edges[1] // kind.unit - 1))
            values[e] = element if position < edges[1] // kind.unit else blank[e]
    return values if across < edges[0] else blank


@device_function
def _element(access, array, place, ld, across, position):
    if access.is_wide:
        return (
            array[place[0] + across, place[1] + position] if access.two_axes else array[place + across * ld + position]
        )
    return array[place[0] + position, place[1] + across] if access.two_axes else array[place + position * ld + across]


@device_function
def store_clipped_block(kind, access, array, place, ld, across, along, values, edges):
    """Write those of a lane's elements of a block that are before the edges."""
    if across < edges[0]:
        if access.is_wide and along + kind.held <= edges[1]:
            store_block(kind, access, array, place, ld, across, along, values)
        else:
            for e in static_range(kind.held // kind.unit):
                position = along // kind.unit + e
                major, minor = (across, position) if access.is_wide else (position, across)
                if position < edges[1] // kind.unit:
                    if access.two_axes:
                        array[place[0] + major, place[1] + minor] = values[e]
                    else:
                        array[place + major * ld + minor] = values[e]
