"""Variables that begin as literals are as wide as the values they meet: nothing is computed in 32
bits for a 64-bit place."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, f64, i32, i64, u8, u64

DEVICE = "emulator:gfx1201"


def run(kernel: Any, *arguments: Any) -> None:
    with amdjit.use(DEVICE):
        kernel[1, 1](*arguments)


def bits(out, n):
    t = 0
    for i in range(n):
        if i % 3 == 0:
            t |= 1 << i
    out[0] = t


def counted_by_the_array(out, n):
    t = 0
    for i in range(out.shape[0] * 0 + i32(n)):
        t |= 1 << i
    out[0] = t


def fibonacci(out, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    out[0] = a


def while_loop(out, n):
    k, product = n, 1
    while k > 0:
        product *= k % 20 + 1
        k -= 3
    out[0] = product


def in_branches(out, n):
    if out[1] == 0:  # noqa: SIM108
        t = 7
    else:
        t = 9
    t = t * 1000003
    for _ in range(2):
        t *= n
    out[0] = t


def conditional(out, n):
    out[0] = (3 if out[1] == 0 else 5) * 1000000007


def through_names(out, n):
    for i in range(n):
        square = i * i
        cube = square * 1000003
        out[0] = cube


def helper(n):
    total = 0
    for i in range(n):
        total += 1 << i
    return total


def from_a_helper(out, n):
    out[0] = helper(n)


def beside_elements(out, n):
    t = 1
    for _ in range(n):
        t *= 3
    out[0] = out[1] + t


def element_updated(out, n):
    t = 1
    for _ in range(n):
        t += t
    out[0] += t


def converted(out, n):
    out[0] = int(out[1] + 5) * 1000000007


INTEGER_KERNELS = (
    bits, counted_by_the_array, fibonacci, while_loop, in_branches, conditional, through_names,
    from_a_helper,
    beside_elements, element_updated, converted,
)  # fmt: skip


@pytest.mark.sample(11)
@pytest.mark.parametrize("function", INTEGER_KERNELS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_are_computed_in_64_bits_for_64_bit_arrays(
    function: Callable[..., None], dtype: Any
) -> None:
    expected, out = [0, 0], np.zeros(2, dtype)
    names = dict(function.__globals__, i32=int)
    if function is counted_by_the_array:
        bits_of_python = [sum(1 << i for i in range(60)), 0]
        run(amdjit.kernel(function), out, 60)
        assert out.tolist() == bits_of_python
        return
    type(function)(function.__code__, names)(expected, 60)
    run(amdjit.kernel(warnings=False)(function), out, 60)
    assert int(out[0]) == expected[0] % 2**64 - (
        2**64 if dtype is np.int64 and expected[0] % 2**64 >= 2**63 else 0
    )


@pytest.mark.parametrize("function", INTEGER_KERNELS[:-1], ids=lambda function: function.__name__)
def test_kernels_without_64_bit_types_compute_in_32_bits(function: Callable[..., None]) -> None:
    compiled = amdjit.kernel(warnings=False)(function).compile(i32[:], int, target="gfx1201")
    assert "i64" not in compiled.typed_tree


def test_floats_are_computed_in_f64_for_f64_arrays_only() -> None:
    @amdjit.kernel
    def series(out):
        total = 0.0
        scale = 1
        for i in range(1, 30):
            scale *= -1
            total -= scale / (2 * i - 1)
        out[0] = total * 4

    total = 0.0
    for i in range(1, 30):
        total -= (-1) ** i / (2 * i - 1)
    out = np.zeros(1)
    run(series, out)
    assert out[0] == total * 4
    assert "f64" not in series.compile(f32[:], target="gfx1201").typed_tree


def test_a_float_variable_beside_64_bit_integers_is_an_f64() -> None:
    @amdjit.kernel
    def mean(out, x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        out[0] = total / x.shape[0]

    x = np.array([2**53 - 1, 2**30 + 1], np.int64)
    out = np.zeros(1)
    run(mean, out, x)
    assert out[0] == float(2**53 - 1 + 2**30 + 1) / 2


def test_asking_for_a_type_keeps_it() -> None:
    @amdjit.kernel
    def asked(out):
        t: i32 = 1
        for _ in range(40):
            t = t + t
        out[0] = t
        out[1] = i32(2**31 - 1) + i32(1)
        for i in range(3):
            out[2] = i32(i * 2**30)

    out = np.ones(3, np.int64)
    run(asked, out)
    assert out.tolist() == [0, -(2**31), -(2**31)]


def unsigned(x, y, out):
    n = x[0]
    out[0] = max(0, n - 1)
    out[0] = min(0, n - 1)
    if n - 1 < 0:
        out[1] = 1
    if n - y[0] >= 0:
        out[2] = abs(n - y[0])


def signed(x, y, out):
    n = i32(x[0])
    out[0] = max(0, n - 1)
    if n - 1 < 0:
        out[1] = 1
    if x[0] >= 0:
        out[2] = abs(n - y[0])


def test_unsigned_numbers_tested_for_signs_are_warned_of_with_their_lines() -> None:
    arrays = (np.zeros(1, np.uint8), np.zeros(1, np.uint8), np.zeros(3, np.uint8))
    with pytest.warns(amdjit.CompileWarning) as caught:
        run(amdjit.kernel(unsigned), *arrays)
    first = unsigned.__code__.co_firstlineno
    assert sorted(warning.lineno - first for warning in caught) == [2, 3, 4, 6, 7]
    assert "u8: 0 - 1 is 255 there" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(amdjit.kernel(signed), *arrays)
        run(amdjit.kernel(warnings=False)(unsigned), *arrays)


def test_narrow_products_that_go_to_64_bits_are_warned_of() -> None:
    def narrow(x, out):
        out[0] = x[0] * x[1]
        out[1] = x[0] << 5
        out[2] = out[3] + x[0] * 7
        out[3] = i64(x[0] * x[1])
        out[4] = i64(x[0]) * x[1]
        out[5] = x[0] + x[1]

    x, out = np.array([2**20, 2**20], np.int32), np.zeros(6, np.int64)
    with pytest.warns(
        amdjit.CompileWarning, match="computed in i32 and then converted to i64"
    ) as caught:
        run(amdjit.kernel(narrow), x, out)
    first = narrow.__code__.co_firstlineno
    assert [warning.lineno - first for warning in caught] == [1, 2, 3]


def test_python_numbers_are_no_narrow_products() -> None:
    def wide(x, out, n):
        for i in range(n):
            out[i] = i * n * 1000003

    x, out = np.zeros(1, np.int32), np.zeros(4, np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(amdjit.kernel(wide), x, out, 4)
    assert out.tolist() == [i * 4 * 1000003 for i in range(4)]


def test_widening_does_not_change_what_other_types_ask_for() -> None:
    compiled = amdjit.kernel(bits).compile(u64[:], u8, target="gfx1201")
    assert "t: i64" in compiled.typed_tree
    assert "for i: i32" in compiled.typed_tree
    accumulate = amdjit.kernel(sums).compile(f64[:], f64[:], target="gfx1201")
    assert accumulate.typed_tree.count("s: f64 = f64(0.0)") == 1
    assert "f32" not in accumulate.typed_tree


def sums(x, out):
    s = 0
    for i in range(x.shape[0]):
        s += x[i]
    out[0] = s


def test_floats_that_integers_and_literals_make_are_as_wide_as_what_they_meet() -> None:
    @amdjit.kernel
    def made(out, indices, a):
        i = amdjit.grid(1) + 3
        out[0] = i * 0.1
        x = indices[0] / 7
        out[1] = x
        out[2] = math.sqrt(i * 0.3) * 2
        for k in range(3, 5):
            out[3] = math.sin(2 * math.pi * k / 16)
            out[4] = float(i) * a + k
        y = math.exp(-i * a)
        out[5] = y * y
        out[6] = math.hypot(i, 0.1)
        out[7] = abs(i - 0.3) // 0.1

    out = np.zeros(8)
    run(made, out, np.array([5], np.int32), 0.1)
    y = math.exp(-3 * 0.1)
    expected = [
        3 * 0.1, 5 / 7, math.sqrt(3 * 0.3) * 2, math.sin(2 * math.pi * 4 / 16), 3.0 * 0.1 + 4,
        y * y,
        math.hypot(3, 0.1), abs(3 - 0.3) // 0.1,
    ]  # fmt: skip
    np.testing.assert_allclose(out, expected, rtol=1e-15)
    compiled = made.compile(f32[:], i32[:], float, target="gfx1201")
    assert "f64" not in compiled.typed_tree


def test_a_conversion_decides_the_width() -> None:
    @amdjit.kernel
    def narrow(out, a):
        i = amdjit.grid(1) + 3
        out[0] = f32(i * 0.1)
        out[1] = f32(a)
        x: f32 = i / 7
        out[2] = x

    out = np.zeros(3)
    run(narrow, out, 0.1)
    assert out.tolist() == [
        float(np.float32(3) * np.float32(0.1)),
        float(np.float32(0.1)),
        float(np.float32(3 / 7)),
    ]


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_a_literal_takes_the_unsigned_type_that_a_loop_gives_its_variable(dtype: Any) -> None:
    @amdjit.kernel
    def kernel(x, out):
        t, total = 0, 1
        for i in range(x.shape[0]):
            t |= x[i]
            for _ in range(2):
                total += x[i]
        out[0] = t
        out[1] = total

    out = np.zeros(2, dtype)
    largest = np.iinfo(dtype).max // 2 + 1
    run(kernel, np.array([largest, 5], dtype), out)
    assert out.tolist() == [largest + 5, 11]


def test_a_literal_below_0_takes_no_unsigned_type() -> None:
    @amdjit.kernel
    def kernel(x, out):
        t = -1
        for i in range(x.shape[0]):
            t &= x[i]
        out[0] = t

    with pytest.raises(amdjit.TypeCheckError, match="AJ02"):
        kernel.compile(u64[:], u64[:], target="gfx1201")


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint16])
def test_a_sum_of_narrow_integers_is_divided_by_a_number_of_the_launch_in_f64(dtype: type) -> None:
    @amdjit.kernel(warnings=False)
    def mean(x, out, n):
        total = 0
        for i in range(n):
            total += x[i]
        out[0] = total / n
        out[1] = x[0] / n

    x, out = np.array([101, 3, 27, 95, 100, 99, 98], dtype), np.zeros(2)
    with amdjit.use("emulator:gfx1201"):
        mean[1, 1](x, out, 7)
    assert out.tolist() == [523 / 7, 101 / 7]
