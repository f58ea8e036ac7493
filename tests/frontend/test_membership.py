"""`x in items` with values that are known only at run time, as Python decides it."""

from __future__ import annotations

import enum
import operator
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics import UnsupportedSyntaxError

N = 32
TEXTS = ("a", "b")
NOTHING = ()
KNOWN = (3, 5, "seven", None, 300, -1)


class Suit(enum.IntEnum):
    CLUBS = 1
    HEARTS = 3


def constants(x, y, i):
    return x[i] in (1, 2, 7)


def negated(x, y, i):
    return x[i] not in (4, 6)


def run_time(x, y, i):
    return x[i] in (y[i], y[0], 3)


def of_any_kind(x, y, i):
    return x[i] in KNOWN


def a_list(x, y, i):
    return x[i] in [1, y[i]]


def a_set(x, y, i):
    return x[i] in {1, 5}


def empty(x, y, i):
    return x[i] in NOTHING


def enums(x, y, i):
    return x[i] in (Suit.CLUBS, Suit.HEARTS)


def pairs(x, y, i):
    return (x[i], i % 2) in ((1, 1), (2, 0), (y[i], 1))


def chained(x, y, i):
    return 0 < x[i] in (1, 3, 5)


def function(x, y, i):
    return operator.contains((1, 3), x[i])


def in_a_condition(x, y, i):
    return 1 if x[i] in (2, 3) and "a" in TEXTS and "z" not in TEXTS else 0


WAYS = [constants, negated, run_time, of_any_kind, a_list, a_set, empty, enums, pairs]
WAYS += [chained, function, in_a_condition]


@pytest.mark.sample(10)
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.uint64, np.float32])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_in_means_what_python_means(way: Any, dtype: Any) -> None:
    def find(x, y, out):
        i = amdjit.grid(1)
        out[i] = way(x, y, i)

    random = np.random.default_rng(5)
    x, y = (random.integers(0, 8, N).astype(dtype) for _ in range(2))
    out = np.zeros(N, np.int32)
    amdjit.kernel(find)[1, N](x, y, out)
    assert list(out) == [int(way(x, y, i)) for i in range(N)]
    assert way is empty or set(out) == {0, 1}


def test_each_side_is_evaluated_once_and_in_order() -> None:
    def bump(a):
        a[0] += 1
        return a[0]

    @amdjit.kernel
    def find(out):
        out[1] = bump(out) in (bump(out), bump(out) - 2, bump(out))

    out = np.zeros(2, np.int32)
    find[1, 1](out)
    assert list(out) == [4, 1]


def test_what_is_no_tuple_is_refused_with_what_to_write() -> None:
    @amdjit.kernel
    def find(x: amdjit.i32[:], out: amdjit.i32[:]):
        out[0] = x[0] in x.load(0, 4)

    with pytest.raises(UnsupportedSyntaxError, match=r"x in \(1, 2\)"):
        find.compile()
