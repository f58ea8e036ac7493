"""A wave's 32 consecutive elements in memory as vectors, one for each dword of the element, and
back."""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.emulator.host.builder import Builder, Value, vector

ROW = 16
ROW_TYPE = vector("i32", ROW)
WAVE = range(32)


def join_halves(builder: Builder, low: Value, high: Value) -> Value:
    """Concatenate two vectors."""
    lanes = int(low.type[1 : low.type.index(" ")])
    return builder.shuffle(low, high, range(2 * lanes))


def rows_to_dwords(builder: Builder, rows: Sequence[Value], dwords: int) -> list[Value]:
    """Deinterleave vectors of 16 dwords in memory order; each result holds one dword of 32
    lanes."""
    half = len(rows) // 2
    low = _SPLIT[dwords](builder, rows[:half])
    high = _SPLIT[dwords](builder, rows[half:])
    return [join_halves(builder, left, right) for left, right in zip(low, high, strict=True)]


def dwords_to_rows(builder: Builder, values: Sequence[Value]) -> list[Value]:
    """Interleave: the inverse of `rows_to_dwords`."""
    rows: list[Value] = []
    for first in (0, ROW):
        halves = [builder.shuffle(value, value, range(first, first + ROW)) for value in values]
        rows += _MERGE[len(values)](builder, halves)
    return rows


def _split_1(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    return list(rows)


def _split_2(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    return [builder.shuffle(rows[0], rows[1], range(part, 32, 2)) for part in (0, 1)]


def _split_3(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    results = []
    for part in range(3):
        places = [3 * lane + part for lane in range(ROW)]
        start = builder.shuffle(rows[0], rows[1], [place if place < 32 else -1 for place in places])
        final = [lane if place < 32 else ROW + place - 32 for lane, place in enumerate(places)]
        results.append(builder.shuffle(start, rows[2], final))
    return results


def _split_4(builder: Builder, rows: Sequence[Value]) -> list[Value]:
    results = []
    for part in (0, 2):
        order = [*range(part, 32, 4), *range(part + 1, 32, 4)]
        left = builder.shuffle(rows[0], rows[1], order)
        right = builder.shuffle(rows[2], rows[3], order)
        results.append(builder.shuffle(left, right, [*range(8), *range(16, 24)]))
        results.append(builder.shuffle(left, right, [*range(8, 16), *range(24, 32)]))
    return results


def _merge_1(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    return list(halves)


def _merge_2(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    order = [part * ROW + lane for lane in range(ROW) for part in (0, 1)]
    return [builder.shuffle(halves[0], halves[1], order[start : start + ROW]) for start in (0, ROW)]


def _merge_3(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    rows = []
    for row in range(3):
        places = [divmod(row * ROW + slot, 3) for slot in range(ROW)]
        start = [part * ROW + lane if part < 2 else -1 for lane, part in places]
        pair = builder.shuffle(halves[0], halves[1], start)
        final = [slot if part < 2 else ROW + lane for slot, (lane, part) in enumerate(places)]
        rows.append(builder.shuffle(pair, halves[2], final))
    return rows


def _merge_4(builder: Builder, halves: Sequence[Value]) -> list[Value]:
    pairs = [_merge_2(builder, halves[:2]), _merge_2(builder, halves[2:])]
    order = [place + 2 * lane for lane in range(8) for place in (0, 1, 16, 17)]
    rows = []
    for part in (0, 1):
        rows += [
            builder.shuffle(pairs[0][part], pairs[1][part], order[start : start + ROW])
            for start in (0, ROW)
        ]
    return rows


_SPLIT = {1: _split_1, 2: _split_2, 3: _split_3, 4: _split_4}
_MERGE = {1: _merge_1, 2: _merge_2, 3: _merge_3, 4: _merge_4}


def load_block(builder: Builder, pointer: Value, size: int) -> list[Value]:
    """Load 32 consecutive elements of `size` bytes; elements below a dword are zero-extended."""
    if size < 4:
        narrow = builder.load(vector(f"i{size * 8}"), pointer)
        return [builder.resize(narrow, 32)]
    rows = [
        builder.load(ROW_TYPE, builder.offset(pointer, row * ROW * 4))
        for row in range(2 * (size // 4))
    ]
    return rows_to_dwords(builder, rows, size // 4)


def store_block(builder: Builder, pointer: Value, size: int, values: Sequence[Value]) -> None:
    """Store 32 consecutive elements of `size` bytes."""
    if size < 4:
        builder.store(builder.resize(values[0], size * 8), pointer)
        return
    for row, value in enumerate(dwords_to_rows(builder, values)):
        builder.store(value, builder.offset(pointer, row * ROW * 4))
