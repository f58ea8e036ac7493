"""Random numbers: bit for bit those of Numba and NumPy, and of models in Python integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import random, u32, u64

WORD = 2**64 - 1

# What numba 0.68.1 (numba.cuda.random, its functions compiled for the CPU) gives for
# `init_xoroshiro128p_states_cpu(states, 42, 3)` with four states, and then for three calls of each
# function on states[1], in this order.
STATES = [
    (0xEF6261E44FD8ABC9, 0x0C6EBFA4759A0F22), (0x965712E7AC28B9B1, 0xC5FDD9C6A44F58A6),
    (0x83301600D4232C74, 0xE168D4FC5D8EE374), (0x240CB06D8A5D612F, 0x1035688D4850CEB7),
]  # fmt: skip
NEXT = [0x5C54ECAE50781257, 0xC027B426BEA0E75B, 0x8C42BEFFBDCAF98C]
UNIFORM_32 = ["0x1.01fbfa0000000p-3", "0x1.2b9be00000000p-3", "0x1.b864fa0000000p-1"]
UNIFORM_64 = ["0x1.d6cd5747ab99ep-1", "0x1.fd6d2e97a3d76p-2", "0x1.f3eca9e05cb30p-5"]
NORMAL_32 = [0.7860002517700195, -0.23384274542331696, -0.8839691281318665]
NORMAL_64 = [1.116153112736028, -0.9638981035340588, 1.4913208056939387]

# Known answers of Random123 1.14.0, tests/kat_vectors, "philox4x32 10" and "philox4x64 10".
PHILOX_32 = [
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@amdjit.kernel
def draw(states, following, single, double, normal, normal_64):
    i = amdjit.grid(1)
    if i == 1:
        for k in range(3):
            following[k] = random.xoroshiro128p_next(states, i)
        for k in range(3):
            single[k] = random.xoroshiro128p_uniform_float32(states, i)
        for k in range(3):
            double[k] = random.xoroshiro128p_uniform_float64(states, i)
        for k in range(3):
            normal[k] = random.xoroshiro128p_normal_float32(states, i)
        for k in range(3):
            normal_64[k] = random.xoroshiro128p_normal_float64(states, i)
    if i == 2:
        random.xoroshiro128p_jump(states, i)


def test_xoroshiro_gives_numbas_numbers() -> None:
    states = random.create_xoroshiro128p_states(4, 42, 3)
    assert states.dtype == random.xoroshiro128p_dtype
    np.testing.assert_array_equal(states.copy_to_host(), np.array(STATES, states.dtype))
    following, single, double = np.zeros(3, np.uint64), np.zeros(3, np.float32), np.zeros(3)
    normal, normal_64 = np.zeros(3, np.float32), np.zeros(3)
    draw[1, 32](states, following, single, double, normal, normal_64)
    assert following.tolist() == NEXT
    assert [float(x).hex() for x in single] == UNIFORM_32
    assert [float(x).hex() for x in double] == UNIFORM_64
    # The logarithm and the cosine of Numba's C library are another's.
    np.testing.assert_array_max_ulp(normal, np.array(NORMAL_32, np.float32), 4)
    np.testing.assert_allclose(normal_64, NORMAL_64, rtol=2**-23)
    # A jump is one state further; the other states were not drawn from.
    assert states.copy_to_host()[2] == states.copy_to_host()[3]


def _next(state: list[int]) -> int:
    s0, s1 = state
    mixed = s0 ^ s1
    state[0] = _rotated(s0, 55) ^ mixed ^ (mixed << 14 & WORD)
    state[1] = _rotated(mixed, 36)
    return (s0 + s1) & WORD


def _rotated(x: int, count: int) -> int:
    return (x << count | x >> 64 - count) & WORD


def _jump(state: list[int]) -> None:
    """xoroshiro128plus.c, `jump`."""
    sums = [0, 0]
    for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
        for bit in range(64):
            if word >> bit & 1:
                sums = [sums[0] ^ state[0], sums[1] ^ state[1]]
            _next(state)
    state[:] = sums


def _first(seed: int) -> list[int]:
    """splitmix64.c, of which both words are the same, as in Numba."""
    z = (seed + 0x9E3779B97F4A7C15) & WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return [z ^ z >> 31] * 2


@pytest.mark.parametrize(("n", "seed", "start"), [(1, 0, 0), (37, -5, 0), (5, 2**64 - 1, 6)])
def test_states_are_those_of_the_reference(n: int, seed: int, start: int) -> None:
    state = _first(seed)
    for _ in range(start):
        _jump(state)
    expected = []
    for _ in range(n):
        expected.append(tuple(state))
        _jump(state)
    states = amdjit.empty(n, random.xoroshiro128p_dtype)
    random.init_xoroshiro128p_states(states, seed, start, stream=amdjit.Stream())
    np.testing.assert_array_equal(
        states.copy_to_host(), np.array(expected, random.xoroshiro128p_dtype)
    )


def test_many_states_go_on_where_few_end() -> None:
    """The parts that are made at once meet: all states are one jump from their neighbours."""
    many = random.create_xoroshiro128p_states(40_000, 9).copy_to_host()
    for first in (0, 16_383, 16_384, 32_767, 32_768, 39_998):
        state = [int(many[first]["s0"]), int(many[first]["s1"])]
        _jump(state)
        assert state == [int(many[first + 1]["s0"]), int(many[first + 1]["s1"])]
    assert len(np.unique(many)) == 40_000
    far = random.create_xoroshiro128p_states(1, 9, 30_000).copy_to_host()
    assert far[0] == many[30_000]


def test_wrong_states_are_refused() -> None:
    with pytest.raises(ValueError, match="number of generators"):
        random.create_xoroshiro128p_states(-1, 0)
    with pytest.raises(ValueError, match="subsequence_start=-1"):
        random.create_xoroshiro128p_states(1, 0, -1)
    with pytest.raises(ValueError, match="make it with"):
        random.init_xoroshiro128p_states(amdjit.zeros(4), 0)
    assert random.create_xoroshiro128p_states(0, 0).size == 0


def test_each_work_item_draws_from_its_own_state() -> None:
    @amdjit.kernel(warnings=False)
    def fill(states, out):
        i = amdjit.grid(1)
        if i < out.shape[0]:
            for k in range(out.shape[1]):
                out[i, k] = random.xoroshiro128p_uniform_float64(states, i)

    n, count = 100, 5
    states = random.create_xoroshiro128p_states(n, 1)
    start = states.copy_to_host()
    out = np.zeros((n, count))
    fill[2, 64](states, out)
    for i in range(0, n, 7):
        state = [int(start[i]["s0"]), int(start[i]["s1"])]
        assert out[i].tolist() == [(_next(state) >> 11) * 2.0**-53 for _ in range(count)]
    assert abs(out.mean() - 0.5) < 0.05


@amdjit.kernel
def blocks_32(counters, keys, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        counter = counters[i, 0], counters[i, 1], counters[i, 2], counters[i, 3]
        words = random.philox4x32(counter, (keys[i, 0], keys[i, 1]))
        for k in amdjit.static_range(4):
            out[i, k] = words[k]


@amdjit.kernel
def blocks_64(counters, keys, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        counter = counters[i, 0], counters[i, 1], counters[i, 2], counters[i, 3]
        words = random.philox4x64(counter, (keys[i, 0], keys[i, 1]))
        for k in amdjit.static_range(4):
            out[i, k] = words[k]


def _philox(counter: Any, key: Any, bits: int) -> tuple[int, ...]:
    """Random123, philox.h, in Python's integers."""
    narrow = bits == 32
    multipliers = (0xD2511F53, 0xCD9E8D57) if narrow else (0xD2E7470EE14C6C93, 0xCA5A826395121157)
    steps = (0x9E3779B9, 0xBB67AE85) if narrow else (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
    c, k, mask = list(map(int, counter)), list(map(int, key)), (1 << bits) - 1
    for _ in range(10):
        first, second = multipliers[0] * c[0], multipliers[1] * c[2]
        c = [
            second >> bits ^ c[1] ^ k[0], second & mask,
            first >> bits ^ c[3] ^ k[1], first & mask,
        ]  # fmt: skip
        k = [(k[0] + steps[0]) & mask, (k[1] + steps[1]) & mask]
    return tuple(c)


def test_philox_gives_the_known_answers() -> None:
    counters, keys, expected = (np.array(part, np.uint32) for part in zip(*PHILOX_32, strict=True))
    out = np.zeros_like(expected)
    blocks_32[1, 32](counters, keys, out)
    np.testing.assert_array_equal(out, expected)
    for counter, key, words in PHILOX_32:
        assert _philox(counter, key, 32) == words


@pytest.mark.parametrize(("kernel", "kind"), [(blocks_32, np.uint32), (blocks_64, np.uint64)])
def test_philox_of_random_counters(kernel: Any, kind: Any) -> None:
    rng = np.random.default_rng(4)
    top = int(np.iinfo(kind).max)
    counters = rng.integers(0, top, (50, 4), kind, endpoint=True)
    keys = rng.integers(0, top, (50, 2), kind, endpoint=True)
    out = np.zeros_like(counters)
    kernel[1, 64](counters, keys, out)
    bits = 8 * np.dtype(kind).itemsize
    expected = [_philox(*pair, bits) for pair in zip(counters, keys, strict=True)]
    np.testing.assert_array_equal(out, np.array(expected, kind))


def test_philox_and_its_floats_are_numpys() -> None:
    @amdjit.kernel
    def floats(key0, key1, double, single):
        i = amdjit.grid(1)
        words = random.philox4x64((i + 1, 0, 0, 0), (key0, key1))
        for k in amdjit.static_range(4):
            double[4 * i + k] = random.uniform_float64(words[k])
            single[8 * i + 2 * k] = random.uniform_float32(u32(words[k]))
            single[8 * i + 2 * k + 1] = random.uniform_float32(u32(words[k] >> u64(32)))

    key = np.array([7, 2**63 + 5], np.uint64)
    double, single = np.zeros(64), np.zeros(128, np.float32)
    floats[1, 16](key[0], key[1], double, single)
    whole = np.random.Generator(np.random.Philox(key=key))
    np.testing.assert_array_equal(double, whole.random(64))
    halves = np.random.Generator(np.random.Philox(key=key))
    np.testing.assert_array_equal(single, halves.random(128, np.float32))


def test_normal_numbers_are_box_mullers() -> None:
    @amdjit.kernel
    def pairs(words, wide, out, out_64):
        i = amdjit.grid(1)
        out[i, 0], out[i, 1] = random.normal_pair_float32(words[i, 0], words[i, 1])
        out_64[i, 0], out_64[i, 1] = random.normal_pair_float64(wide[i, 0], wide[i, 1])

    rng = np.random.default_rng(8)
    words = rng.integers(0, 2**32, (256, 2), np.uint32)
    wide = rng.integers(0, 2**64 - 1, (256, 2), np.uint64)
    words[0], wide[0] = (2**32 - 1, 0), (2**64 - 1, 0)
    words[1], wide[1] = (0, 2**31), (0, 2**63)
    out, out_64 = np.zeros((256, 2), np.float32), np.zeros((256, 2))
    pairs[4, 64](words, wide, out, out_64)
    for found, raw, bits, digits in ((out, words, 24, 2e-6), (out_64, wide, 53, 1e-14)):
        size = 8 * raw.itemsize
        u1 = 1 - np.ldexp((raw[:, 0] >> np.asarray(size - bits, raw.dtype)).astype(float), -bits)
        u2 = np.ldexp((raw[:, 1] >> np.asarray(size - bits, raw.dtype)).astype(float), -bits)
        radius = np.sqrt(-2 * np.log(u1))
        angle = 2 * math.pi * u2
        expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        np.testing.assert_allclose(found, expected, rtol=digits, atol=digits * 6)
    assert out[0, 0] == pytest.approx(math.sqrt(-2 * math.log(2**-24)), rel=1e-6)
