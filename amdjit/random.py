"""Random numbers: functions of the host that make the states of generators, and functions that
kernels call.

xoroshiro128+ has the names and results of `numba.cuda.random`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amdjit.arrays.creation import empty
from amdjit.arrays.device_array import DeviceArray
from amdjit.intrinsics.random import (
    normal_pair_float32,
    normal_pair_float64,
    philox4x32,
    philox4x64,
    uniform_float32,
    uniform_float64,
    xoroshiro128p_jump,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)
from amdjit.runtime.streams import Stream

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "normal_pair_float32",
    "normal_pair_float64",
    "philox4x32",
    "philox4x64",
    "uniform_float32",
    "uniform_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]


# The states of xoroshiro128+ generators, made on the host.
#
# State i is the first one advanced by i * 2**64 steps. A step is linear in the bits of a state, so
# any number of steps is a matrix of 128 * 128 bits. It is stored as a table of what each value of
# each of the 16 bytes of a state contributes. States are made by doubling: the second half is
# computed from the first, by twice as many steps each time.


xoroshiro128p_dtype: np.dtype[Any] = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
"""The state of a generator."""

_Words = npt.NDArray[np.uint64]
# xoroshiro128plus.c, `jump`: the polynomial of 2**64 steps.
_JUMP = 0xD86B048B86AA9922BEAC0467EBA5FACB
_WORD = 2**64 - 1
# How many states are made at once, so that their bytes and tables stay in the caches.
_CHUNK = 1 << 14


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Stream | None = None
) -> DeviceArray:
    """Return the states of `n` generators in a device array of `xoroshiro128p_dtype`.

    The generators' sequences are parts of one sequence, 2**64 numbers apart, and so never overlap.
    They are those of `numba.cuda.random` for the same seed. seed: an integer, taken modulo 2**64.
    subsequence_start: the number of the first part. stream: for the copy to the device.
    """
    if n < 0:
        raise ValueError(f"n={n}: give a number of generators")
    states = empty(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


def init_xoroshiro128p_states(
    states: DeviceArray, seed: int, subsequence_start: int = 0, stream: Stream | None = None
) -> None:
    """Write the states of as many generators as a device array has elements; the rest as in
    `create_xoroshiro128p_states`."""
    if states.dtype != xoroshiro128p_dtype or states.ndim != 1:
        raise ValueError(
            f"states is an array of {states.ndim} dimensions of {states.dtype}; make it with "
            "amdjit.empty(n, amdjit.random.xoroshiro128p_dtype)"
        )
    if subsequence_start < 0:
        raise ValueError(f"subsequence_start={subsequence_start}: give 0 or more")
    made = _states(states.shape[0], seed, subsequence_start)
    if made.size:
        states.copy_from_host(made.view(xoroshiro128p_dtype).reshape(-1), stream or None)


def _states(n: int, seed: int, start: int) -> _Words:
    """Return n states of two words each."""
    words = np.empty((n, 2), np.uint64)
    if n == 0:
        return words
    words[0] = _first_state(seed)
    jump = _jump_table()
    for step in (jump if start & 1 else None, *_powers(jump, start)):
        if step is not None:
            words[:1] = _advanced(step, words[:1])
    made, table = 1, jump
    while made < n:
        more = min(made, n - made)
        for first in range(0, more, _CHUNK):
            last = min(first + _CHUNK, more)
            words[made + first : made + last] = _advanced(table, words[first:last])
        made += more
        if made < n:
            table = _twice(table)
    return words


def _powers(table: _Words, count: int) -> list[_Words]:
    """Return the tables of the powers of two in a number of jumps, except for 1."""
    found = []
    while count > 1:
        count >>= 1
        table = _twice(table)
        if count & 1:
            found.append(table)
    return found


def _first_state(seed: int) -> list[int]:
    """Splitmix64 of the seed, in both words: numba.cuda's `init_xoroshiro128p_state`."""
    z = (seed + 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    z ^= z >> 31
    return [z, z]


def _advanced(table: _Words, states: _Words) -> _Words:
    """Return states after the steps of a table."""
    parts = states.astype("<u8", order="C").view(np.uint8).reshape(len(states), 16)
    # Both words of an entry at once, which `take` copies seven times as fast as a row of two.
    pairs = table.view("V16")[..., 0]
    result = np.zeros(2 * len(states), np.uint64)
    for place in range(16):
        result ^= pairs[place].take(parts[:, place]).view(np.uint64)
    return result.reshape(-1, 2)


def _table(images: _Words) -> _Words:
    """Return [byte, value, word] from the images of the 128 states of one bit each."""
    table = np.zeros((16, 256, 2), np.uint64)
    for bit in range(8):
        values = np.arange(256) >> bit & 1 == 1
        table[:, values] ^= images[bit::8][:, None]
    return table


def _images(table: _Words) -> _Words:
    """Return the images of the 128 states of one bit each."""
    places = np.arange(128)
    images: _Words = table[places // 8, 1 << places % 8]
    return images


def _twice(table: _Words) -> _Words:
    """Return the table of twice as many steps."""
    return _table(_advanced(table, _images(table)))


def _jump_table() -> _Words:
    """Return the table of 2**64 steps: the sum of those states on the way that the polynomial
    names."""
    places = np.arange(128)
    state = np.zeros((2, 128), np.uint64)
    state[places // 64, places] = np.uint64(1) << (places % 64).astype(np.uint64)
    s0, s1 = state
    sums = np.zeros((2, 128), np.uint64)
    for bit in range(128):
        if _JUMP >> bit & 1:
            sums ^= (s0, s1)
        mixed = s0 ^ s1
        s0, s1 = _rotated(s0, 55) ^ mixed ^ (mixed << np.uint64(14)), _rotated(mixed, 36)
    return _table(sums.T)


def _rotated(words: _Words, count: int) -> _Words:
    rotated: _Words = (words << np.uint64(count)) | (words >> np.uint64(64 - count))
    return rotated
