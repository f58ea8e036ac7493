"""How fragments move between registers and memory: a lane's elements in one access where they are
neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from amdjit.declarations import Form, SpecialForm, device_function
from amdjit.intrinsics.matrix.operands.blocks import Blocks
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import DataLayout
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import AddressSpace, Array, Scalar

bitcast = SpecialForm(Form.BITCAST, "The same bits read as another type.")
static_range = SpecialForm(Form.STATIC_RANGE, "A range whose rounds are typed one by one.")


class Edge(Enum):
    """Where an access ends: at the fragment's end, or also at the array's, or also after given rows
    and columns."""

    FRAGMENT = "fragment"
    ARRAY = "array"
    GIVEN = "given"


@dataclass(frozen=True)
class Access:
    """How an array is read or written for a fragment."""

    is_wide: bool
    """Whether a row of the array goes along; the elements of a lane are then neighbours, unless the
    blocks have a stride."""
    two_axes: bool
    """Whether the array has rows of its own."""
    has_place: bool
    """Whether an index is given; otherwise the access starts at the first element, and with one
    axis the index is ld."""
    alignment: int | None
    """Bytes that the addresses of wide accesses are multiples of; None means the size of the
    vector."""
    is_in_lds: bool
    """Whether the array is in LDS rather than global memory."""
    edge: Edge
    """What is clipped besides the padding of a partial fragment."""
    is_turned: bool
    """Whether the two 4-bit elements that share a byte are of the same k."""


@compile_time
def access_of(
    compilation: Compilation,
    function: str,
    kind: FragmentKind,
    array: Any,
    index: Any,
    ld: Any,
    layout: Any,
    clip: Any,
) -> Access:
    """Check an access. Values known only at run time are given as their types. Refused if the
    access does not fit."""
    if not isinstance(array, Array):
        raise Refused(
            f"{function} was given no array", f"write {function}(fragment, array, index, ld)"
        )
    if array.element not in kind.blocks.stored:
        wanted = " or ".join(map(str, kind.blocks.stored)) + (
            ", two elements a byte" if kind.blocks.is_nibble else ""
        )
        raise Refused(
            f"{kind} is in an array of {array.element}", f"its array has elements of {wanted}"
        )
    chosen = _layout(kind, layout)
    is_wide = (chosen is DataLayout.ROW_MAJOR) == kind.blocks.is_left
    if kind.blocks.is_nibble and not is_wide and kind.blocks.across % 2:
        name = "m" if kind.blocks.is_left else "n"
        problem = (
            f"{name} of {kind} is {kind.blocks.across}, and two neighbours of {name} share a byte"
        )
        raise Refused(problem, f"give an even {name}, or let its matrix lie along k")
    _check_place(function, array, index, ld)
    two_axes = array.ndim == 2
    has_place = index is not None and (two_axes or ld is not None)
    alignment = _alignment(kind.blocks, array, ld if has_place else index)
    is_in_lds = array.address_space is AddressSpace.LDS
    is_turned = kind.blocks.is_nibble and not is_wide
    return Access(
        is_wide,
        two_axes,
        has_place=has_place,
        alignment=alignment,
        is_in_lds=is_in_lds,
        edge=_edge(array, clip),
        is_turned=is_turned,
    )


def _edge(array: Array, clip: Any) -> Edge:
    if clip is None or clip is False:
        return Edge.FRAGMENT
    if isinstance(clip, tuple) and len(clip) == 2 and all(map(_is_integer, clip)):
        return Edge.GIVEN
    if clip is not True:
        raise Refused(
            f"clip is {clip}",
            "write clip=True, or how many rows and columns there are: clip=(rows, columns)",
        )
    if array.ndim != 2:
        remedy = (
            "write how many rows and columns there are from the first element on: "
            "clip=(rows, columns)"
        )
        raise Refused("an array of one axis does not say where the matrix ends", remedy)
    return Edge.ARRAY


def _layout(kind: FragmentKind, layout: Any) -> DataLayout:
    if isinstance(layout, int) and not isinstance(layout, bool) and layout in (0, 1):
        return DataLayout.COL_MAJOR if layout else DataLayout.ROW_MAJOR
    if layout is not None and not isinstance(layout, DataLayout):
        raise Refused(f"the layout is {layout}", "write matrix.row_major or matrix.col_major")
    return layout or kind.layout or DataLayout.ROW_MAJOR


def _check_place(function: str, array: Array, index: Any, ld: Any) -> None:
    if array.ndim == 2:
        if ld is not None:
            raise Refused(
                "an array of two axes has its own leading dimension",
                "leave out ld, or flatten the array",
            )
        if index is not None and not (
            isinstance(index, tuple) and len(index) == 2 and all(map(_is_integer, index))
        ):
            raise Refused(
                "a place in an array of two axes is a pair of integers",
                f"write {function}(..., (i, j))",
            )
    elif array.ndim == 1:
        if not _is_integer(index) or not (ld is None or _is_integer(ld)):
            remedy = (
                "give the offset and ld, in elements, or ld alone; a pair of indices needs "
                "an array of two axes"
            )
            raise Refused(
                "a place in an array of one axis is an offset and a leading dimension", remedy
            )
    else:
        raise Refused(
            f"an array of {array.ndim} axes does not hold a single matrix", "index it first: `a[i]`"
        )


def _is_integer(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, Scalar) and value.is_integer
    )


def _alignment(blocks: Blocks, array: Array, ld: Any) -> int | None:
    """Return the alignment of wide accesses. Global memory takes them from any element; LDS only
    where rows are multiples of the access."""
    assert isinstance(array.element, Scalar)
    if array.address_space is AddressSpace.LDS:
        pitch = array.shape[-1] if array.ndim == 2 and array.shape is not None else ld
        if (
            isinstance(pitch, int)
            and pitch * array.element.nbytes % min(blocks.access_bytes, 16) == 0
        ):
            return None
    return array.element.nbytes


@device_function
def place_of(access, index, ld):
    """Return the place of the first element, and ld."""
    if access.two_axes:
        return index if access.has_place else (0, 0), None
    return (index, ld) if access.has_place else (0, index)


@device_function
def blank(blocks):
    """Return what a lane holds of a block of zeros."""
    return blocks.memory_type(0) if blocks.held == 1 else blocks.memory_type()


@device_function
def load_block(blocks, access, array, place, ld, across, along):
    """Return a lane's elements of a block as a vector; the first is at (along, across)."""
    if access.is_wide and blocks.stride == 1:
        minor = along // blocks.unit
        index = (
            (place[0] + across, place[1] + minor)
            if access.two_axes
            else place + across * ld + minor
        )
        return array.load(index, blocks.held // blocks.unit, access.alignment)
    if blocks.held == 1:
        return array[index_of(access, place, ld, across, along)]
    values = blocks.memory_type()
    for e in static_range(blocks.held):
        values[e] = array[index_of(access, place, ld, across, along + e * blocks.stride)]
    return values


@device_function
def store_block(blocks, access, array, place, ld, across, along, values):
    """Write a lane's elements of a block; the first is at (along, across)."""
    if access.is_wide and blocks.stride == 1:
        minor = along // blocks.unit
        index = (
            (place[0] + across, place[1] + minor)
            if access.two_axes
            else place + across * ld + minor
        )
        array.store(index, values, access.alignment)
    elif blocks.held == 1:
        array[index_of(access, place, ld, across, along)] = values
    else:
        for e in static_range(blocks.held):
            array[index_of(access, place, ld, across, along + e * blocks.stride)] = values[e]


@device_function
def index_of(access, place, ld, across, along):
    """Return the index of an element, or of a byte of two, where along is counted in bytes."""
    major, minor = (across, along) if access.is_wide else (along, across)
    if access.two_axes:
        return place[0] + major, place[1] + minor
    return place + major * ld + minor


@device_function
def load_elements(blocks, access, array, base, own, ld, far):
    """Read a lane's elements of a block one by one. base, own: of the first block. far: this
    block's distance from it."""
    if blocks.held == 1:
        index, start = _element(access, base, own, ld, far, 0)
        return array.load(index, 1, None, start)
    values = blocks.memory_type()
    for e in static_range(blocks.held):
        index, start = _element(access, base, own, ld, far, e * blocks.stride)
        values[e] = array.load(index, 1, None, start)
    return values


@device_function
def store_elements(blocks, access, array, base, own, ld, far, values):
    """Write a lane's elements of a block one by one."""
    for e in static_range(blocks.held):
        index, start = _element(access, base, own, ld, far, e * blocks.stride)
        array.store(index, values if blocks.held == 1 else values[e], None, start)


@device_function
def _element(access, base, own, ld, far, e):
    """Return (index, base) of an element. The index is the same in all blocks, so that they share
    its registers. e: how far along it is from the lane's first."""
    if access.is_wide:
        if access.two_axes:
            if access.is_in_lds:
                return (far[0], far[1] + e), base
            return (own[0], own[1] + e), (base[0] + far[0], base[1] + far[1])
        if access.is_in_lds:
            return far[0] * ld + far[1] + e, base
        return own + e, base + (far[0] * ld + far[1])
    if access.two_axes:
        if access.is_in_lds:
            return (far[1] + e, far[0]), base
        return (own[0] + e, own[1]), (base[0] + far[1], base[1] + far[0])
    if access.is_in_lds:
        return (far[1] + e) * ld + far[0], base
    return own + e * ld, base + (far[1] * ld + far[0])


@device_function
def first_along(blocks, lane):
    """Return how far along a lane's first element of a block is."""
    odd, upper = blocks.steps
    first = lane // 16 % 2 * odd
    return first + lane // 32 * upper if upper > 0 else first


@device_function
def registers(fragment, block, type):
    """Return the lane's registers of a block as another type of as many bits."""
    items = fragment.kind.blocks.items
    if items == 1:
        return bitcast(fragment.x[block], type)
    return bitcast(fragment.x.load(items * block, items), type)


@device_function
def put_registers(fragment, block, value):
    """Set the lane's registers of a block."""
    items, item = fragment.kind.blocks.items, fragment.kind.blocks.item
    if items == 1:
        fragment.x[block] = bitcast(value, item)
    else:
        fragment.x.store(items * block, bitcast(value, fragment.kind.blocks.held_type))
