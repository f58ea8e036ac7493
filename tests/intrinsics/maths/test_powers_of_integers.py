"""Powers, bits and counts of integers, compared with Python's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics import CompileError

N = 256
DTYPES = [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]


def computed(function: Any, out_type: Any, *arrays: np.ndarray) -> list[int]:
    """Apply a function to the elements of arrays on the emulator."""
    if len(arrays) == 1:

        def apply(x, out):
            i = amdjit.grid(1)
            out[i] = function(x[i])
    elif len(arrays) == 2:

        def apply(x, y, out):
            i = amdjit.grid(1)
            out[i] = function(x[i], y[i])
    else:

        def apply(x, y, z, out):
            i = amdjit.grid(1)
            out[i] = function(x[i], y[i], z[i])

    out = np.zeros(arrays[0].size, out_type)
    amdjit.kernel(apply)[1, out.size](*arrays, out)
    return [int(value) for value in out]


def cut(value: int, dtype: Any) -> int:
    return int(np.uint64(value % 2**64).astype(dtype))


def numbers(dtype: Any, seed: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    found = random.integers(limits.min, limits.max, N, dtype, endpoint=True)
    found[: N // 2] = random.integers(max(limits.min, -9), 10, N // 2)
    found[:4] = limits.min, limits.max, 0, 1
    return found


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_power_of_integers_has_the_low_bits_of_pythons(dtype: Any) -> None:
    x = numbers(dtype, 1)
    n = np.random.default_rng(2).integers(0, 90, N).astype(dtype)
    found = computed(lambda a, b: a**b, dtype, x, n)
    assert found == [cut(int(a) ** int(b), dtype) for a, b in zip(x, n, strict=True)]
    assert computed(lambda a: a**100, dtype, x) == [cut(int(a) ** 100, dtype) for a in x]


def test_a_power_to_a_negative_number_rounds_towards_0() -> None:
    x = np.array([0, 1, -1, -1, 2, -3, 2**31 - 1, -(2**31)], np.int32)
    n = np.array([-1, -5, -3, -4, -1, -1, -2, -2], np.int32)
    assert computed(lambda a, b: a**b, np.int32, x, n) == [0, 1, -1, 1, 0, 0, 0, 0]


def test_a_power_of_two_signs_has_the_common_type() -> None:
    x, n = np.full(4, 10, np.uint64), np.array([0, 3, 19, -1], np.int32)
    assert computed(lambda a, b: a**b, np.uint64, x, n) == [1, 1000, 10**19, 0]
    base, exponent = np.full(3, -3, np.int32), np.array([0, 3, 21], np.uint32)
    found = computed(lambda a, b: a**b, np.int64, base, exponent)
    assert found == [1, -27, (-3) ** 21]


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_modular_power_is_pythons(dtype: Any) -> None:
    x, m = numbers(dtype, 3), numbers(dtype, 4)
    n = np.random.default_rng(5).integers(0, 100, N).astype(dtype)
    found = computed(pow, dtype, x, n, m)
    expected = [pow(int(a), int(b), int(c)) if c else 0 for a, b, c in zip(x, n, m, strict=True)]
    assert found == expected


def test_a_modular_power_holds_products_of_more_than_64_bits() -> None:
    m = np.array([2**32 - 1, 2**32, 2**32 + 15, 2**33 + 9, 2**39 + 3, 2**63 + 29], np.uint64)
    x = np.full(m.size, 2**64 - 59, np.uint64)
    n = np.full(m.size, 65537, np.uint64)
    expected = [pow(int(a), 65537, int(b)) for a, b in zip(x, m, strict=True)]
    assert computed(pow, np.uint64, x, n, m) == expected


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_counted_as_python_counts_them(dtype: Any) -> None:
    x = numbers(dtype, 6)
    assert computed(lambda a: a.bit_length(), np.int32, x) == [int(a).bit_length() for a in x]
    # The magnitude of the smallest number is itself, with as many bits as Python's.
    assert computed(lambda a: a.bit_count(), np.uint8, x) == [
        bin(a).count("1") for a in map(int, x)
    ]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
def test_choices_and_arrangements_are_pythons(dtype: Any) -> None:
    n, k = (array.ravel().astype(dtype) for array in np.mgrid[0:30, 0:8])
    for function in (math.comb, math.perm):
        found = computed(function, dtype, n, k)
        expected = [function(int(a), int(b)) for a, b in zip(n, k, strict=True)]
        limit = np.iinfo(dtype).max
        assert all(a == b for a, b in zip(found, expected, strict=True) if b <= limit)
    few = np.arange(21 if dtype != np.int32 else 13).astype(dtype)
    assert computed(math.factorial, dtype, few) == [math.factorial(int(a)) for a in few]


def test_large_choices_do_not_overflow_on_the_way() -> None:
    n, k = np.array([60, 61, 62, 66], np.int64), np.array([30, 30, 31, 33], np.int64)
    assert computed(math.comb, np.int64, n, k) == [
        math.comb(a, b) for a, b in zip(n, k, strict=True)
    ]


def test_a_negative_constant_exponent_is_refused() -> None:
    def invert(x, out):
        out[0] = x[0] ** -1

    with pytest.raises(CompileError, match=r"f32\(x\) \*\* n"):
        amdjit.kernel(invert).compile(amdjit.i32[:], amdjit.f32[:])
