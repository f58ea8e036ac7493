"""Loads of all lanes from addresses of their own, combined as if the elements had been consecutive
in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.memory.contiguous import ROW_TYPE


def lane_pointer(function: NativeFunction, addresses: Value, lane: Value | int) -> Value:
    """Return a lane's pointer from the array of addresses."""
    scaled = lane * 8 if isinstance(lane, int) else function.shift("shl", lane, 3)
    return function.load("ptr", function.offset(addresses, scaled), 8)


def _gather_rows_1(function: NativeFunction, addresses: Value) -> list[Value]:
    rows = []
    for first in (0, 16):
        row = Value(ROW_TYPE, "poison")
        for slot in range(16):
            item = function.load("i32", lane_pointer(function, addresses, first + slot))
            row = function.insert(row, item, slot)
        rows.append(row)
    return rows


def _gather_rows_2(function: NativeFunction, addresses: Value) -> list[Value]:
    rows = []
    for first in range(0, 32, 8):
        row = Value("<8 x i64>", "poison")
        for slot in range(8):
            item = function.load("i64", lane_pointer(function, addresses, first + slot))
            row = function.insert(row, item, slot)
        rows.append(function.cast("bitcast", row, ROW_TYPE))
    return rows


def _gather_rows_4(function: NativeFunction, addresses: Value) -> list[Value]:
    rows = []
    for first in range(0, 32, 4):
        items = [
            function.load("<4 x i32>", lane_pointer(function, addresses, first + slot))
            for slot in range(4)
        ]
        left = function.shuffle(items[0], items[1], range(8))
        right = function.shuffle(items[2], items[3], range(8))
        rows.append(function.shuffle(left, right, range(16)))
    return rows


# By the bytes of a lane's element.
GATHER_ROWS: Mapping[int, Callable[[NativeFunction, Value], list[Value]]] = {
    4: _gather_rows_1,
    8: _gather_rows_2,
    16: _gather_rows_4,
}
