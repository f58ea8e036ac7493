"""C whose work-items work together (LDS, atomics, votes, moves between lanes), in both wave sizes,
against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.building import compile_kernel, emulate
from tests.emulator.c_programs import words
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

GRID, BLOCK = 2, 256
Words = NDArray[np.uint32]
Expected = Callable[[Words, Words, int], tuple[Words, Words]]


def sums_before(x: Words, y: Words, n: int) -> tuple[Words, Words]:
    return x, (np.cumsum(x, axis=1, dtype=np.uint32) - x + np.uint32(n)).astype(np.uint32)


def sorted_together(x: Words, y: Words, n: int) -> tuple[Words, Words]:
    return np.sort(x, axis=1), y


def kept_values(x: Words, y: Words, n: int) -> tuple[Words, Words]:
    kept = x % 3 == n % 3
    return np.where(kept, x ^ np.uint32(1 << 31), x), np.repeat(
        kept.sum(1, dtype=np.uint32)[:, None], BLOCK, axis=1
    )


def counted_values(x: Words, y: Words, n: int) -> tuple[Words, Words]:
    """The first 64 words of y gain the sums of all groups."""
    found = y.copy()
    for row in x:
        box = np.zeros(64, np.uint32)
        np.add.at(box, row & 15, 1)
        np.maximum.at(box, 16 + (row & 7), row >> 8)
        box[32] = np.bitwise_xor.reduce(row)
        found.reshape(-1)[:64] += box
    return x, found


def wide_atomics(x: Words, y: Words, n: int) -> tuple[Words, Words]:
    wide = x.astype(np.uint64)
    sums = np.stack(
        [(wide[:, k::4] << np.uint64(20)).sum(1, dtype=np.uint64) for k in range(4)], axis=1
    )
    every = (wide * np.uint64(3)).sum(1, dtype=np.uint64) >> np.uint64(2)
    result = (sums >> np.uint64(18)).astype(np.uint32)[:, np.arange(BLOCK) & 3] + every.astype(
        np.uint32
    )[:, None]
    return x, result.astype(np.uint32)


def votes_and_moves(x: Words, y: Words, n: int) -> tuple[Words, Words]:
    lane = np.arange(BLOCK)
    row = lane & 15
    shifted = np.where(row > 0, x[:, np.maximum(lane - 1, 0)], 0).astype(np.uint32)
    mirrored, pulled, swapped = x[:, lane ^ 15], x[:, lane ^ 5], x[:, lane ^ 1]
    odd = (x & 1).reshape(GRID, -1, 16) << np.arange(16, dtype=np.uint32)
    neighbours = np.repeat(odd.sum(2, dtype=np.uint32), 16, axis=1)
    parts = (
        shifted,
        3 * mirrored,
        5 * pulled,
        7 * swapped,
        11 * neighbours,
        np.broadcast_to(row, x.shape),
    )
    return x, np.sum([part.astype(np.uint32) for part in parts], axis=0, dtype=np.uint32)


def first_lanes(x: Words, y: Words, n: int) -> tuple[Words, Words]:
    index = np.arange(GRID * BLOCK).reshape(x.shape)
    key = x & 3 | (index // 16 << 2).astype(np.uint32)
    return x, (key * np.uint32(3) + np.uint32(1) + (index % 16).astype(np.uint32)).astype(np.uint32)


PROGRAMS: tuple[Expected, ...] = (
    sums_before,
    sorted_together,
    kept_values,
    counted_values,
    wide_atomics,
    votes_and_moves,
    first_lanes,
)


def cases() -> list[Any]:
    """Each program at one level and wave size in every run, at all of them in the exhaustive
    one."""
    found = []
    for index, expected in enumerate(PROGRAMS):
        for number in range(8):
            level, wave_size = number % 4, 32 if number < 4 else 64
            marks = () if number in (3 * index % 4, 4 + (index + 2) % 4) else pytest.mark.exhaustive
            name = f"{expected.__name__}-O{level}-{wave_size}"
            found.append(pytest.param(expected, f"-O{level}", wave_size, marks=marks, id=name))
    return found


@pytest.mark.sample(4)
@pytest.mark.parametrize(("expected", "level", "wave_size"), cases())
def test_groups_give_what_numpy_does(expected: Expected, level: str, wave_size: int) -> None:
    code = compile_kernel("groups", level, *(["-mwavefrontsize64"] if wave_size == 64 else []))
    for number in (3, 14):
        x, y = (words(seed)[: GRID * BLOCK].reshape(GRID, BLOCK) for seed in (1, 2))
        right = expected(x.copy(), y.copy(), number)
        given = [x.copy(), y.copy(), np.uint32(number)]
        emulate(code, expected.__name__, GRID, BLOCK, given)
        for mine, wanted in zip(given, right, strict=False):
            np.testing.assert_array_equal(mine, wanted)
