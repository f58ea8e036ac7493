"""Names that a loop assigns first: after a loop that certainly has an iteration they have the value
that Python gives them; after others they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics import CompileError

N = 8


def plain(a, n):
    for j in range(4):
        v = a[j] * 2
    return v + j


def constant(a, n):
    for _ in range(1, 9, 3):
        v = 7
    return v


def skipped(a, n):
    for j in range(N):
        if a[j] > 5:
            v = 100 + j
            continue
        v = a[j]
    return v


def left(a, n):
    for j in range(N):
        v = a[j]
        if v > 3:
            break
    else:
        v = 50 - v
    return v


def left_at_once(a, n):
    for j in range(3):
        v, w = a[j], j
        break
    return v + w


def widened(a, n):
    for j in range(3):
        v = a[j] * 2
        if a[j] > n:
            v = a[j] * 0.5
    return v


def nested(a, n):
    for j in range(3):
        for k in range(2):
            v = a[j] * 10 + k
        w = v + 1
    return v + w + j + k


def after_none(a, n):
    v = None
    for j in range(3):
        v = a[j]
    return v


def of_tuple(a, n):
    for j in range(2):
        pair = (a[j], a[j + 1] - n)
    return pair[0] * pair[1]


def counted(a, n):
    k = 4
    while k > 0:
        v = a[k]
        k -= 1
    return v + k


def counted_and_left(a, n):
    k = 0
    while k < 6:
        k += 1
        if a[k] == 3:
            v = -1
            break
        v = a[k]
    return v * 10 + k


def paired(a, n):
    total = 0
    for k, x in enumerate((a[0], a[1], n)):
        last = x + k
        total += last
    return last * total


WAYS = [plain, constant, skipped, left, left_at_once, widened, nested, after_none, of_tuple]
WAYS += [counted, counted_and_left, paired]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_names_keep_the_value_of_the_last_iteration(way: Any) -> None:
    def run(a, n, out):
        out[amdjit.grid(1)] = way(a[amdjit.grid(1)], n[amdjit.grid(1)])

    a = np.random.default_rng(3).integers(0, 8, (64, N)).astype(np.int32)
    n = (np.arange(64) % 5).astype(np.int32)
    out = np.zeros(64, np.float32)
    amdjit.kernel(run)[1, 64](a, n, out)
    assert list(out) == [way(a[i].tolist(), int(n[i])) for i in range(64)]


def test_an_element_of_an_array_of_constant_length_keeps_its_value() -> None:
    @amdjit.kernel
    def run(out):
        items = amdjit.local.array(3, amdjit.i32)
        for j in range(3):
            items[j] = 5 * j
        for x in items:
            y = x + 1
        out[0] = x + y

    out = np.zeros(1, np.int32)
    run[1, 1](out)
    assert out[0] == 21


def maybe(a, n):
    for j in range(n):
        v = a[j]
    return v


def maybe_while(a, n):
    while n > 0:
        v = a[n]
        n -= 1
    return v


def left_before(a, n):
    for j in range(4):
        if a[j] == 3:
            break
        v = a[j]
    return v


def on_one_path(a, n):
    for j in range(4):
        if a[j] == 3:
            v = a[j]
    return v


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        (maybe, "`v` has no value if the loop runs zero times"),
        (maybe_while, "`v` has no value if the loop runs zero times"),
        (left_before, "`v` is assigned on only one path"),
        (on_one_path, "`v` is assigned on only one path"),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_a_name_that_may_have_no_value_is_refused(way: Any, reason: str) -> None:
    def run(a, n, out):
        out[0] = way(a, n[0])

    with pytest.raises(CompileError, match=reason):
        amdjit.kernel(run).compile(amdjit.i32[:], amdjit.i32[:], amdjit.i32[:])
