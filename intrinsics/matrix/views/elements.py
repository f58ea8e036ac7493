"""The elements of a lane: where each is in the matrix, which share a row or column, and reductions
over these.

    peak = matrix.reduce(scores, 0, "max")  # of each column with elements in the lane
    for i in static_range(scores.num_elements):
        scores.x[i] = exp(scores.x[i] - peak[matrix.column_of(scores, i)])

Rows and columns of a lane have numbers that are known when compiling. `column_of` numbers the
columns of all accumulators of the same width in the same way, as does `row_of` the rows of all of
the same height, so a reduction of one fragment can be used with another.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.declarations import device_function
from amdjit.intrinsics.lanes.combinations import neutral
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.math import fmax, fmin
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.transfers.exchanges import of_lane
from amdjit.intrinsics.matrix.transfers.memory import first_along, static_range
from amdjit.intrinsics.wave import lane_id
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar

_OPERATIONS = ("add", "mul", "min", "max", "minimum", "maximum")


@dataclass(frozen=True)
class Lines:
    """The rows or the columns of a lane. elements: the numbers of each one's elements; neutral: the
    value that changes nothing.

    goes_along: whether the elements of a line lie in all groups of 16 lanes, rather than within
    one.
    """

    elements: tuple[tuple[int, ...], ...]
    goes_along: bool
    neutral: int | float


@compile_time
def _lines(compilation: Compilation, kind: FragmentKind, axis: int, operation: str) -> Lines:
    if axis not in (0, 1) or isinstance(axis, bool):
        raise Refused(
            f"the axis is {axis}",
            "give 0 to combine the elements of each column, 1 for those of each row",
        )
    if operation not in _OPERATIONS:
        raise Refused(f"the operation is {operation!r}", f"give one of {', '.join(_OPERATIONS)}")
    if kind.blocks.item.is_float and kind.blocks.item.bits == 8:
        raise Refused(
            f"{kind.blocks.item} has no arithmetic",
            "convert x[i] one by one into a fragment of f32 or f16",
        )
    numbers = [_line.function(compilation, kind, number, axis == 1) for number in range(kind.size)]
    elements = tuple(
        tuple(element for element, own in enumerate(numbers) if own == line)
        for line in range(max(numbers) + 1)
    )
    return Lines(elements, kind.is_left == (axis == 1), neutral(kind.blocks.item, operation))


@compile_time
def _line(compilation: Compilation, kind: FragmentKind, element: int, is_row: bool) -> int:
    """Return which of the lane's rows or columns an element is in. Refused if elements are not
    items of `x`."""
    if kind.blocks.is_nibble or kind.is_sparse or kind.turns is not None:
        what = (
            "has several elements in an item of x"
            if kind.blocks.is_nibble
            else "holds a part of the matrix only"
        )
        raise Refused(f"{kind} {what}", "ask about a fragment of all elements, of 8 bits or more")
    if not isinstance(element, int) or not 0 <= element < kind.size:
        raise Refused(
            f"element {element} of {kind}",
            f"give a number from 0 to {kind.size - 1}, known when compiling",
        )
    block = element // kind.blocks.held
    if kind.is_left == is_row:
        return block // kind.blocks.count_along
    return block % kind.blocks.count_along * kind.blocks.held + element % kind.blocks.held


@device_function
def row_of(fragment, i):
    """Return the number of the row that `x[i]` is in, among the rows with elements in the lane.

    The number is known when compiling. It is not a row of the matrix, which `place_of` returns.
    """
    return _line(fragment.kind, i, True)


@device_function
def column_of(fragment, i):
    """Return the number of the column that `x[i]` is in, among the columns with elements in the
    lane."""
    return _line(fragment.kind, i, False)


@device_function
def place_of(fragment, i):
    """Return (row, column) of `x[i]` in the fragment, which differs from lane to lane: for masks
    and biases."""
    kind = fragment.kind
    across_line, along_line = _line(kind, i, kind.is_left), _line(kind, i, not kind.is_left)
    lane = lane_id()
    across = kind.blocks.side * across_line + lane % kind.blocks.side
    along = (
        kind.blocks.depth * (along_line // kind.blocks.held)
        + along_line % kind.blocks.held * kind.blocks.stride
        + first_along(kind.blocks, lane)
    )
    return (across, along) if kind.is_left else (along, across)


@device_function
def reduce(fragment, axis, operation="add"):
    """Return the combination of the elements of each column (axis 0) or row (axis 1), as an array
    with an item for each column or row of the lane.

    operation: as in `wave.reduce`: "add", "mul", "min" and "max", which ignore NaN, and "minimum"
    and "maximum", which propagate it. It is computed in the elements' type, without the padding of
    partial fragments. The items are in the order of `column_of` and `row_of`, and the same in all
    lanes with elements of that column or row.
    """
    lines, side = _lines(fragment.kind, axis, operation), fragment.kind.blocks.side
    result = local.array(len(lines.elements), fragment.kind.blocks.item)
    for line in static_range(len(lines.elements)):
        total = _unpadded(fragment, lines.elements[line][0], lines.neutral)
        for number in static_range(1, len(lines.elements[line])):
            total = _combined(
                operation, total, _unpadded(fragment, lines.elements[line][number], lines.neutral)
            )
        if lines.goes_along:
            for bit in static_range(
                side.bit_length() - 1, fragment.kind.blocks.lanes.bit_length() - 1
            ):
                total = _combined(operation, total, of_lane(total, 1 << bit))
        else:
            for bit in static_range(side.bit_length() - 1):
                total = _combined(operation, total, of_lane(total, 1 << bit))
        result[line] = total
    return result


@device_function
def _unpadded(fragment, i, neutral):
    """Return an element; for padding, the value that changes nothing."""
    kind = fragment.kind
    if not kind.blocks.is_partial:
        return fragment.x[i]
    row, column = place_of(fragment, i)
    return (
        fragment.x[i]
        if row < kind.shape[0] and column < kind.shape[1]
        else kind.blocks.item(neutral)
    )


@device_function
def _combined(operation, a, b):
    if operation == "add":
        return a + b
    if operation == "mul":
        return a * b
    if passes_over_nan(a, operation):
        return fmin(a, b) if operation == "min" else fmax(a, b)
    return min(a, b) if operation[:3] == "min" else max(a, b)


@compile_time
def passes_over_nan(compilation: Compilation, type: Scalar, operation: str) -> bool:
    """Whether an operation ignores NaN that the type may have."""
    return type.is_float and operation in ("min", "max")
