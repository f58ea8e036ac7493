# ruff: noqa: B007, B020, B905
"""The iterables of loops and comprehensions are evaluated when Python evaluates them: the emulator
against Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.api.acting_functions import bump
from tests.api.lanes import same_as_python

LANES = 4


def loop_over_tuple(i, a):
    v = a[i, 0]
    for e in (v + 1, v * 10):
        v = v + e
    a[i, 1] = v


def loop_over_names(i, a):
    v, w = a[i, 0], a[i, 1]
    for e in (v, w, v):
        v = w + e
        w = v - 1
    a[i, 2], a[i, 3] = v, w


def loop_over_elements(i, a):
    for e in (a[i, 0], a[i, 1], a[i, 0]):
        a[i, 1] = a[i, 1] * 2 + e
        a[i, 0] += 1


def loop_over_named_tuple(i, a):
    v = a[i, 0]
    items = (v, v + 1, a[i, 1])
    for e in items:
        v += e
        a[i, 1] += v
    a[i, 2] = v


def loop_with_break(i, a):
    v = a[i, 0]
    for e in (v + 1, v * 10, v - 3):
        v = v + e
        if v > 40:
            break
        if e < 3:
            continue
        a[i, 1] += v
    a[i, 2] = v


def loop_over_swapped(i, a):
    x, y = a[i, 0], a[i, 1]
    for x, y in ((x, y), (y, x), (x + y, x)):
        a[i, 2] = a[i, 2] * 5 + x * 2 + y
    a[i, 3] = x


def loop_with_own_targets(i, a):
    for a[i, 0], a[i, 1] in ((a[i, 1], a[i, 0]), (a[i, 0], a[i, 0])):
        a[i, 2] = a[i, 2] * 7 + a[i, 0] * 3 + a[i, 1]


def loop_over_zip(i, a):
    v = a[i, 0]
    for e, (f, g) in zip((v, v + 1), ((v, a[i, 1]), (a[i, 0], v * 2))):
        v = v + e * 3 + f - g
        a[i, 0] += 5
        a[i, 1] -= v
    a[i, 2] = v


def loop_over_enumerate(i, a):
    v = a[i, 0]
    for k, e in enumerate((v + 1, a[i, 1], v * 2), 3):
        v = v + e * k
        a[i, 1] += v
    a[i, 2] = v


def loop_over_reversed(i, a):
    v = a[i, 0]
    for e in reversed((v + 1, a[i, 1], v * 2)):
        v = v - e
        a[i, 1] += v
    for k, e in enumerate(reversed((v, v + 1))):
        v = e - v * k
    a[i, 2] = v


def loop_over_starred(i, a):
    v = a[i, 0]
    t = (v, a[i, 1])
    for e in (*t, v + 1, *(v, v)):
        v += e
        a[i, 1] += 1
    a[i, 2] = v


def loop_over_slice_of_tuple(i, a):
    v = a[i, 0]
    for e in (v, v + 1, v + 2, v + 3)[1:]:
        v = v * 2 + e
    a[i, 1] = v


def loop_over_comprehension(i, a):
    v = a[i, 0]
    for e in [v + k for k in range(3)]:
        v = v * 2 + e
    for e in (a[i, k] + v for k in range(2)):
        a[i, 1 - a[i, 0] % 1] += v
        v = v + 1
    a[i, 2] = v


def comprehension_with_walrus(i, a):
    v = a[i, 0]
    t = [(v := v + e) for e in (v, v + 1, v * 2)]
    a[i, 1] = t[0] * 3 + t[1] * 5 + t[2]
    u = tuple((v := e - v) for e in (v, a[i, 0], v))
    a[i, 2] = u[0] + u[1] * 2 + u[2] * 4


def comprehension_with_calls(i, a):
    row = a[i]
    t = tuple(bump(row, 0) + e for e in (row[0], row[0] * 2, row[1]))
    a[i, 2] = t[0] + t[1] * 3 + t[2] * 7


def comprehension_reads_then_calls(i, a):
    row = a[i]
    t = tuple(row[0] if k % 2 else bump(row, 0) for k in range(4))
    a[i, 2] = t[0] + t[1] * 3 + t[2] * 7 + t[3] * 11


def outer_name_of_comprehension(i, a):
    k = a[i, 0]
    t = tuple(k2 + k for k2 in (k, k + 1))
    k = 100
    a[i, 1] = t[0] + t[1] * 5 + k


def nested_tuple_loops(i, a):
    v = a[i, 0]
    for p in ((v, v + 1), (v + 2, v + 3)):
        for e in p:
            v = v + e
    a[i, 1] = v


FUNCTIONS: list[Callable[..., Any]] = [
    value for value in list(globals().values())
    if getattr(value, "__code__", None) is not None and value.__code__.co_varnames[:2] == ("i", "a")
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_loops_go_over_is_evaluated_when_python_does(function: Callable[..., Any]) -> None:
    a = np.array([[2, 3, 5, 7], [1, 4, 2, 9], [0, 1, 6, 3], [3, 2, 1, 8]], np.int32)
    same_as_python(function, a, lanes=LANES)
