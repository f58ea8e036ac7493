"""Warnings about code that is slow by accident: their places, their texts, and how they are turned
off."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any

import numpy as np
import pytest

import amdjit


def warnings_of(function: Any, *types: Any, **options: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        amdjit.kernel(**options)(function).compile(*types)
    return found


def promoted(n, out):
    i = amdjit.grid(1)
    out[i] = n[i] * 0.5
    out[i] += math.sqrt(n[i])
    out[i] = 2.0 * out[i]


def test_doubles_that_nobody_asked_for() -> None:
    found = warnings_of(promoted, amdjit.i64[:], amdjit.f32[:])
    first = inspect.getsourcelines(promoted)[1]
    assert [(w.category, w.filename, w.lineno - first) for w in found] == [
        (amdjit.PerformanceWarning, __file__, 2),
        (amdjit.PerformanceWarning, __file__, 3),
    ]
    text = str(found[0].message)
    assert text.startswith(
        "f64 arithmetic in `promoted`, which no argument asks for: it comes from i64 [double]\n"
    )
    assert "    out[i] = n[i] * 0.5\n" in text
    assert "^^^^^^^^^^ is computed in f64\n  = help: convert first, `f32(...)`" in text


def asked_for(n, out):
    i = amdjit.grid(1)
    out[i] = amdjit.f64(n[i]) * 0.5 + n[i] / amdjit.f64(3)


def test_doubles_that_are_asked_for_are_fine() -> None:
    assert not warnings_of(asked_for, amdjit.i64[:], amdjit.f32[:])
    assert not warnings_of(promoted, amdjit.i64[:], amdjit.f64[:])
    assert not warnings_of(promoted, amdjit.i32[:], amdjit.f32[:])


def indexed_at_run_time(x, k):
    i = amdjit.grid(1)
    table = amdjit.local.array(64, amdjit.f32)
    for j in range(64):
        table[(j * k) % 64] = x[j]
    x[i] = table[k]


def test_a_local_array_in_scratch_is_named() -> None:
    (found,) = warnings_of(indexed_at_run_time, amdjit.f32[:], amdjit.i32)
    text = str(found.message)
    assert text.startswith(
        "the local array `table` of `indexed_at_run_time` lies in scratch memory: 2"
    )
    assert found.lineno == inspect.getsourcelines(indexed_at_run_time)[1] + 2


def in_registers(x):
    table = amdjit.local.array(4, amdjit.f32)
    for j in amdjit.static_range(4):
        table[j] = x[j]
    x[amdjit.grid(1)] = table[0] + table[3]


def test_a_local_array_in_registers_is_fine() -> None:
    assert not warnings_of(in_registers, amdjit.f32[:])


def many_values(x, n):
    i = amdjit.grid(1)
    values = amdjit.local.array(160, amdjit.f32)
    for j in amdjit.static_range(160):
        values[j] = x[i + j]
    for _ in range(n):
        for j in amdjit.static_range(160):
            values[j] = values[j] * values[(j + 7) % 160] + 1.0
    for j in amdjit.static_range(160):
        x[i + j] = values[j]


def test_a_kernel_that_spills_warns() -> None:
    found = warnings_of(many_values, amdjit.f32[:], amdjit.i32, waves_per_eu=16)
    (spill,) = [str(w.message) for w in found]  # the array itself is in registers
    assert " VGPRs to scratch memory [spill]" in spill


def test_spills_of_code_that_is_not_optimised_mean_nothing() -> None:
    found = warnings_of(many_values, amdjit.f32[:], amdjit.i32, waves_per_eu=16, opt_level=0)
    assert not [each for each in found if "[spill]" in str(each.message)]


def test_one_switch_turns_them_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not warnings_of(promoted, amdjit.i64[:], amdjit.f32[:], warnings=False)
    monkeypatch.setenv("AMDJIT_WARNINGS", "0")
    assert not warnings_of(promoted, amdjit.i64[:], amdjit.f32[:])


def test_copies_of_the_same_array_in_a_loop() -> None:
    @amdjit.kernel
    def step(x):
        x[amdjit.grid(1)] += 1.0

    def launches(x: Any, count: int) -> list[warnings.WarningMessage]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for _ in range(count):
                step[1, 32](x)
        return found

    x = np.zeros(2**14, np.float32)
    assert not launches(x[:64], 20)
    assert not launches(amdjit.to_device(x), 20)
    assert not launches(x, 9)
    launches(x[:64], 1)
    assert not launches(x, 9)
    (found,) = launches(x, 5)
    assert found.filename == __file__
    assert str(found.message).startswith(
        "10 launches of `step` in a row copied the NumPy array `x` (65536 bytes)"
    )
    assert not launches(x, 20)


def rows_by_lane(a, out, n):
    x, y = amdjit.grid(2)
    total = amdjit.f32(0)
    for k in range(a.shape[1]):
        total += a[x + 1, k]
    a[2 * amdjit.threadIdx.x, y] = total
    out[x] = total


def test_neighbouring_lanes_in_different_rows() -> None:
    found = warnings_of(rows_by_lane, amdjit.f32[:, :], amdjit.f32[:], amdjit.i32)
    first = inspect.getsourcelines(rows_by_lane)[1]
    assert [w.lineno - first for w in found] == [4, 5]
    assert str(found[0].message).startswith(
        "neighbouring lanes along x access different rows of an array"
    )
    assert not warnings_of(rows_by_lane, amdjit.f32[:, :], amdjit.f32[:], amdjit.i32, block=(1, 64))


def not_provable(a, b, counts):
    x, y = amdjit.grid(2)
    a[y, x] = a[x, 0] + b[y, x]
    column = y
    if x > 3:
        column = x
    for k in range(counts[x]):
        a[x, k] = a[x, column]
    while column > 0:
        column -= 1
        b[x, column] = b[y, column] + b[x, x]


def test_what_is_not_provable_is_not_reported() -> None:
    assert not warnings_of(not_provable, amdjit.f32[:, :], amdjit.f32[:, :], amdjit.i32[:])
    strided = amdjit.types.Array(amdjit.f32, 2, amdjit.types.Layout.STRIDED)
    assert not warnings_of(rows_by_lane, strided, amdjit.f32[:], amdjit.i32)
