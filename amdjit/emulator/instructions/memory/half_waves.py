"""Accesses of LDS in which each half of the wave (16 lanes) follows a pattern that whole waves
often follow.

Tiles with 16 columns are read this way: each half reads a row, or all its lanes the same element.
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value, constant, sequence
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import Context

HALF = 16
_FIRSTS = [0] * HALF + [HALF] * HALF


def full_and_equal(function: NativeFunction, left: Value, right: Value) -> Value:
    """Return an i1: whether EXEC is full and the lanes of two vectors are equal."""
    same = function.compare("eq", function.mask_bits(function.compare("eq", left, right)), i32(-1))
    return function.and_(same, function.compare("eq", function.parameter("exec"), i32(-1)))


def are_stepped(function: NativeFunction, offsets: Value, size: int) -> Value:
    """Return an i1: whether the lanes of each half access consecutive elements of `size` bytes, all
    within LDS."""
    steps = sequence("i32", [lane * size for _ in range(2) for lane in range(HALF)])
    expected = function.add(function.shuffle(offsets, offsets, _FIRSTS), steps)
    return function.and_(
        full_and_equal(function, offsets, expected), _fit(function, offsets, HALF * size)
    )


def are_uniform(function: NativeFunction, offsets: Value, size: int) -> Value:
    """Return an i1: whether all lanes of each half access the same element of `size` bytes, within
    LDS."""
    firsts = function.shuffle(offsets, offsets, _FIRSTS)
    return function.and_(full_and_equal(function, offsets, firsts), _fit(function, offsets, size))


def _fit(function: NativeFunction, offsets: Value, width: int) -> Value:
    room = function.sub(function.context(Context.LDS_SIZE), i64(width))
    low, high = (function.resize(function.extract(offsets, lane), 64) for lane in (0, HALF))
    return function.and_(function.compare("sle", low, room), function.compare("sle", high, room))


def _pointers(function: NativeFunction, offsets: Value) -> tuple[Value, Value]:
    base = function.context_pointer(Context.LDS)
    low, high = (function.resize(function.extract(offsets, lane), 64) for lane in (0, HALF))
    return function.offset(base, low), function.offset(base, high)


def load_stepped(function: NativeFunction, offsets: Value) -> Value:
    """Load a dword for each lane where `are_stepped` holds."""
    halves = [function.load(f"<{HALF} x i32>", pointer) for pointer in _pointers(function, offsets)]
    return function.shuffle(halves[0], halves[1], range(2 * HALF))


def store_stepped(function: NativeFunction, offsets: Value, value: Value) -> None:
    """Store a dword of each lane where `are_stepped` holds; the upper lanes win where the halves
    overlap."""
    for first, pointer in zip((0, HALF), _pointers(function, offsets), strict=True):
        function.store(function.shuffle(value, value, range(first, first + HALF)), pointer)


def load_uniform(function: NativeFunction, offsets: Value, dwords: int) -> list[Value]:
    """Load dwords for each lane where `are_uniform` holds."""
    low, high = _pointers(function, offsets)
    values = []
    for dword in range(dwords):
        pair = constant("<2 x i32>", 0)
        for index, pointer in enumerate((low, high)):
            pair = function.insert(
                pair, function.load("i32", function.offset(pointer, 4 * dword)), index
            )
        values.append(function.shuffle(pair, pair, [0] * HALF + [1] * HALF))
    return values
