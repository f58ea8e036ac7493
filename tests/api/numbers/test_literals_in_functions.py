"""Variables that begin as literals keep their weakness in the functions that they are passed to."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, f64, i32, u8, u32, u64
from amdjit.intrinsics import wave
from amdjit.intrinsics.maths.native_math import fast_exp2

DEVICE = "emulator:gfx1201"
THREES = 3**36


def run(function: Callable[..., None], *arguments: Any) -> None:
    """Run a kernel of which nothing is to be warned."""
    with amdjit.use(DEVICE), warnings.catch_warnings():
        warnings.simplefilter("error")
        amdjit.kernel(function)[1, 1](*arguments)


def with_bit(t, k):
    return t | (1 << k)


def square(v):
    return v * v


def store(array, i, value):
    array[i] = value


def changed(t, k):
    t *= 3
    if k > 100:
        t = 7
    return t


def through_square(v):
    half = v + v
    return square(half)


def two(a, b):
    return a + b, a * 3


def by_position(pair):
    return pair[0] * 3 + pair[1]


@amdjit.device_function
def doubled(value):
    return value + value


def bits(out, n):
    t = 0
    for k in range(n):
        t = with_bit(t, k)
    out[0] = t


def stored(out, n):
    t = 1
    for _ in range(n):
        t *= 3
    store(out, 0, t)


def assigned_in_there(out, n):
    t = 1
    for k in range(n):
        t = changed(t, k)
    out[0] = t


def two_deep(out, n):
    t = 1
    for _ in range(n):
        t *= 3
    out[0] = through_square(t)


def of_two_results(out, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = two(a, b)
    out[0] = a


def of_one_of_two_results(out, n):
    t = 1
    for _ in range(n):
        t *= 3
    _, product = two(t, 1)
    out[0] = product


def in_a_tuple(out, n):
    a, b = 1, 1
    for _ in range(n):
        a = by_position((a, b))
    out[0] = a


def of_a_lambda(out, n):
    triple = lambda v: v * 3  # noqa: E731
    t = 1
    for _ in range(n):
        t = triple(t)
    out[0] = t


def of_an_inner_function(out, n):
    t = 1
    for _ in range(n):
        t *= 3

    def plus(other):
        return t + other

    out[0] = plus(n)


def of_a_device_function(out, n):
    t = 1
    for _ in range(n):
        t = doubled(t)
    out[0] = t


def counters(out, n):
    for i in range(n):
        out[0] = square(i * 100003)


def by_keyword(out, n):
    t = 0
    for k in range(n):
        t = with_bit(k=k, t=t)
    out[0] = t


INTEGERS = (
    bits, stored, assigned_in_there, two_deep, of_two_results, of_one_of_two_results, in_a_tuple,
    of_a_lambda,
    of_an_inner_function, of_a_device_function, counters, by_keyword,
)  # fmt: skip


@pytest.mark.sample(12)
@pytest.mark.parametrize("function", INTEGERS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_given_to_functions_are_computed_in_64_bits_for_64_bit_arrays(
    function: Callable[..., None], dtype: Any
) -> None:
    expected, out = [0, 0], np.zeros(2, dtype)
    function(expected, 36)
    run(function, out, 36)
    assert out.tolist() == [
        value % 2**64 if dtype is np.uint64 else np.int64(value % 2**64) for value in expected
    ]


@pytest.mark.parametrize("function", INTEGERS, ids=lambda function: function.__name__)
def test_functions_compute_in_32_bits_where_nothing_has_64(function: Callable[..., None]) -> None:
    compiled = amdjit.kernel(warnings=False)(function).compile(i32[:], int, target="gfx1201")
    assert "i64" not in compiled.typed_tree


def test_floats_given_to_functions_are_computed_in_f64_for_f64_arrays_only() -> None:
    def kernel(out, n):
        s = 0.1
        for _ in range(n):
            s = square(s) + 0.3
        out[0] = s
        store(out, 1, s / 3)
        out[2], out[3] = two(s, 0.1)

    expected, out = [0.0] * 4, np.zeros(4)
    kernel(expected, 5)
    run(kernel, out, 5)
    assert out.tolist() == expected
    assert "f64" not in amdjit.kernel(kernel).compile(f32[:], int, target="gfx1201").typed_tree


def test_a_function_stays_narrow_for_calls_beside_narrow_types() -> None:
    def mixed(v, x):
        return v * x

    def kernel(wide, narrow, x, y):
        v = 0.1
        for _ in range(2):
            v += 0.1
        wide[0] = mixed(v, x[0])
        narrow[0] = mixed(v, y[0])

    tree = (
        amdjit.kernel(kernel).compile(f64[:], f32[:], f64[:], f32[:], target="gfx1201").typed_tree
    )
    assert "x: f64" in tree
    assert "x: f32" in tree
    typed = amdjit.kernel(bits).compile(u64[:], u8, target="gfx1201").typed_tree
    assert "t: i64, k: i32" in typed


def test_values_of_a_type_keep_it_in_functions() -> None:
    def kernel(out, x):
        out[0] = square(x[0])
        t: i32 = 3
        for _ in range(30):
            t = square(t)
        out[1] = t

    tree = (
        amdjit.kernel(warnings=False)(kernel).compile(u64[:], i32[:], target="gfx1201").typed_tree
    )
    assert "v: i32" in tree
    assert "v: i64" not in tree


def test_functions_of_one_lane_and_of_the_wave_are_as_wide_as_what_their_results_meet() -> None:
    def kernel(out, floats, n):
        t, s = 1, 0.1
        for _ in range(n):
            t *= 3
            s += 0.1
        out[0] = wave.readfirstlane(t)
        floats[0] = wave.readfirstlane(s)
        floats[1] = wave.readfirstlane(value=s / 7)
        largest = wave.reduce_max(t)
        out[1] = largest

    out, floats = np.zeros(2, np.int64), np.zeros(2)
    run(kernel, out, floats, 36)
    s = 0.1
    for _ in range(36):
        s += 0.1
    assert out.tolist() == [THREES, THREES]
    assert floats.tolist() == [s, s / 7]


def test_what_has_no_64_bit_form_is_warned_of_with_its_line() -> None:
    def kernel(out, n):
        s = 0.1
        for _ in range(n):
            s += 0.1
        out[0] = fast_exp2(s)
        out[1] = f32(fast_exp2(s))

    out = np.zeros(2)
    with (
        amdjit.use(DEVICE),
        pytest.warns(
            amdjit.CompileWarning, match=r"`fast_exp2` is computed in f32 and then converted to f64"
        ) as caught,
    ):
        amdjit.kernel(kernel)[1, 1](out, 3)
    assert [warning.lineno - kernel.__code__.co_firstlineno for warning in caught] == [4]
    assert math.isclose(out[0], 2**0.4, rel_tol=1e-6)


def test_weak_numbers_that_come_from_functions_meet_unsigned_types_as_literals_do() -> None:
    def kernel(out, x, n):
        t = 0
        for k in range(n):
            t = with_bit(t, k)
        out[0] = x[0] ^ with_bit(t, 20)

    out = np.zeros(1, np.uint64)
    run(kernel, out, np.array([2**63], np.uint64), 5)
    assert out[0] == 2**63 ^ (2**20 | 31)
    assert (
        "i64" not in amdjit.kernel(kernel).compile(u32[:], u32[:], int, target="gfx1201").typed_tree
    )
