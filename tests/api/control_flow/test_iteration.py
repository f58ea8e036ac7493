# ruff: noqa: B905
"""Loops over arrays, and over zip, enumerate and reversed of arrays and ranges: the emulator
against Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import amdjit
from amdjit import Const, i8, i32, i64, local, u8, u32, u64
from tests.api.lanes import DEVICE, same_as_python

LANES = 12
RANDOM = np.random.default_rng(5)


def over_elements(i, a, out):
    for x in a[i]:
        if x == 3:
            continue
        if x > 40:
            break
        out[i, 0] += x
    else:
        out[i, 1] = 1


def over_rows(i, a, out):
    for number, row in enumerate(a):
        out[i, 0] += row[i % 5] * number
        for x in reversed(row):
            out[i, 1] = out[i, 1] * 3 + x


def together(i, a, out):
    for x, y in zip(a[i], a[(i + 11) % 12]):
        out[i, 0] += x * y
    for k, (x, (y, z)) in enumerate(zip(a[i], zip(a[1], reversed(a[2]))), 10):
        out[i, 1] += k * x - y * z
    for x, k in zip(a[i][::2], range(i, 100, 3)):
        out[i, 2] += x * k
    for k in reversed(range(i)):
        out[i, 3] = out[i, 3] * 2 + k
    for k in reversed(range(i, -7, -2)):
        out[i, 4] = out[i, 4] * 2 + k


def after_the_loop(i, a, out):
    x = 7
    for x in a[i, i % 6 :]:
        if x < 0:
            break
    out[i, 0] = x


def another_use_of_the_name(i, a, out):
    for x in a[i]:
        out[i, 0] += x
    for x in a:
        out[i, 1] += x[0]
    for x in reversed(range(i)):
        out[i, 2] += x


FUNCTIONS = [over_elements, over_rows, together, after_the_loop, another_use_of_the_name]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_loops_over_arrays_take_the_elements_that_python_takes(function) -> None:
    a = RANDOM.integers(-9, 60, (12, 5)).astype(np.int32)
    same_as_python(function, a, np.zeros((12, 8), np.int32), lanes=LANES)


@amdjit.kernel
def over_private(out):
    own = local.array((2, 3), i32)
    for row in own:
        for k in range(len(row)):
            row[k] = 5 + k
    for row in own:
        for x in row:
            out[0] += x


def test_loops_over_private_arrays() -> None:
    out = np.zeros(1, np.int32)
    with amdjit.use(DEVICE):
        over_private[1, 1](out)
    assert out[0] == 36


@amdjit.kernel
def rounds(start, stop, step, out, kind: Const, constant_step: Const, backwards: Const):
    count = 0
    if backwards:
        for k in reversed(
            range(kind(start), kind(stop), kind(step) if constant_step is None else constant_step)
        ):
            if count < 40:
                out[count + 1] = k
            count += 1
    else:
        for k in range(
            kind(start), kind(stop), kind(step) if constant_step is None else constant_step
        ):
            if count < 40:
                out[count + 1] = k
            count += 1
    out[0] = count


@st.composite
def ranges(draw: Any) -> tuple[Any, int, int, int]:
    kind = draw(st.sampled_from([i8, i32, i64, u8, u32, u64]))
    ends = st.sampled_from([kind.minimum, kind.maximum]).flatmap(
        lambda end: st.integers(end, end + 9) if end == kind.minimum else st.integers(end - 9, end)
    )
    near = st.integers(max(kind.minimum, -12), 12)
    start = draw(st.one_of(near, ends))
    stop = draw(st.integers(max(kind.minimum, start - 12), min(kind.maximum, start + 12)))
    step = draw(st.sampled_from([1, 2, 5, -1, -3, kind.maximum]))
    return kind, start, stop, step


@given(ranges(), st.booleans(), st.booleans())
@example((u32, 5, 0, -2), True, False)
@example((u64, 2**64 - 1, 2**64 - 4, -1), True, True)
@example((i32, -(2**31), -(2**31) + 3, 1), False, True)
@settings(max_examples=50, deadline=None)
def test_ranges_count_as_pythons_do_in_every_type(bounds, is_constant, backwards) -> None:
    kind, start, stop, step = bounds
    is_constant |= step < 0 and not kind.is_signed
    expected = list(range(start, stop, step))
    expected = expected[::-1] if backwards else expected
    out = np.zeros(41, kind.dtype if kind.bits >= 32 else np.int32)
    host = [np.array([n % 2**64], np.uint64)[0] for n in (start, stop, step)]
    with amdjit.use(DEVICE):
        rounds[1, 1](*host, out, kind, step if is_constant else None, backwards)
    assert [int(x) for x in out[: len(expected) + 1]] == [len(expected), *expected]
