"""The differences from Python and NumPy that docs/types.md lists, run on the emulator."""

from __future__ import annotations

import math

import numpy as np

import amdjit
from amdjit import f32, i8, i32
from tests.api.lanes import DEVICE


def run(kernel, *arrays: np.ndarray) -> np.ndarray:
    with amdjit.use(DEVICE):
        kernel[1, 1](*arrays)
    return arrays[-1]


def test_integers_wrap() -> None:
    @amdjit.kernel
    def wrap(a, out):
        out[0] = a[0] + 1
        out[1] = -a[1]
        out[2] = abs(a[1])
        out[3] = a[1] // a[2]
        out[4] = a[1] % a[2]

    a = np.array([127, -128, -1], np.int8)
    assert list(run(wrap, a, np.zeros(5, np.int8))) == [-128, -128, -128, -128, 0]


def test_division_by_zero_raises_nothing() -> None:
    @amdjit.kernel
    def divide(a, b, out):
        out[0] = a[0] // a[1]
        out[1] = a[0] % a[1]
        out[2] = a[0] / a[1]
        out[3] = b[0] / b[1]
        out[4] = b[0] // b[1]
        out[5] = b[0] % b[1]

    a, b = np.array([7, 0], np.int32), np.array([-7, 0], np.float32)
    found = run(divide, a, b, np.zeros(6, np.float32))
    assert list(found[:5]) == [0, 0, np.inf, -np.inf, -np.inf]
    assert math.isnan(found[5])


def test_shifts_by_the_width_or_more() -> None:
    @amdjit.kernel
    def shift(a, counts, out):
        out[0] = a[0] << counts[0]
        out[1] = a[0] >> counts[0]
        out[2] = a[1] >> counts[0]
        out[3] = a[0] << counts[1]
        out[4] = a[1] >> counts[1]

    a, counts = np.array([5, -5], np.int32), np.array([40, -1], np.int32)
    assert list(run(shift, a, counts, np.full(5, 9, np.int32))) == [0, 0, -1, 0, -1]


def test_mixing_keeps_the_floats_width() -> None:
    @amdjit.kernel
    def mix(n, x, out):
        out[0] = n[0] + x[0]
        out[1] = n[0] == n[0] + x[0]

    n, x = np.array([2**24 + 1], np.int32), np.zeros(1, np.float32)
    assert list(run(mix, n, x, np.zeros(2))) == [2**24, 1]


def test_minimum_and_maximum_of_not_a_number_and_signed_zeros() -> None:
    @amdjit.kernel
    def extremes(a, out):
        out[0] = min(a[0], a[1])
        out[1] = max(a[1], a[0])
        out[2] = min(a[2], a[3])
        out[3] = max(a[3], a[2])

    found = run(extremes, np.array([np.nan, 1, 0.0, -0.0], np.float32), np.zeros(4, np.float32))
    assert np.isnan(found[:2]).all()
    assert list(np.signbit(found[2:])) == [True, False]


def test_literals_alone_are_i32_and_f32() -> None:
    @amdjit.kernel
    def alone(small, out):
        n, x, large = 1, 0.1, 3_000_000_000
        for _ in range(32):
            n *= 2
            x += 0.1
            large += 1
        small[0] = n
        small[1] = x
        out[0] = large

    x = np.float32(0.1)
    for _ in range(32):
        x += np.float32(0.1)
    small = np.zeros(2, np.float32)
    assert list(run(alone, small, np.zeros(1))) == [3_000_000_032]
    assert list(small) == [0, x]


def test_literals_in_variables_are_as_wide_as_what_they_meet() -> None:
    @amdjit.kernel
    def meets(out):
        n, x = 1, 0.1
        for _ in range(32):
            n *= 2
            x += 0.1
        out[0] = n
        out[1] = x

    x = 0.1
    for _ in range(32):
        x += 0.1
    assert list(run(meets, np.zeros(2))) == [2**32, x]


def test_comparisons_with_literals_out_of_range_are_decided_as_in_python() -> None:
    @amdjit.kernel
    def compare(a, out):
        out[0] = a[0] < 300
        out[1] = a[0] == -1
        out[2] = -1 < a[0] <= 255

    assert list(run(compare, np.array([200], np.uint8), np.zeros(3, np.int32))) == [1, 0, 1]


def test_floats_become_integers_toward_zero_within_the_range() -> None:
    @amdjit.kernel
    def convert(a, out):
        for k in range(a.shape[0]):
            out[k] = i8(a[k])

    a = np.array([1.9, -1.9, 300, -300, np.inf, np.nan], np.float32)
    assert list(run(convert, a, np.zeros(6, np.int8))) == [1, -1, 127, -128, 127, 0]


def test_annotated_names_and_results_have_their_types() -> None:
    def third(x: f32) -> i32:
        whole: i32 = i32(x) // 3
        return whole

    @amdjit.kernel
    def annotated(a, out):
        x: f32 = a[0]
        y: amdjit.f16 = x
        out[0] = y
        out[1] = third(a[1]) * 10

    found = run(annotated, np.array([0.1, 10.5], np.float32), np.zeros(2, np.float32))
    assert list(found) == [np.float32(np.float16(0.1)), 30]
