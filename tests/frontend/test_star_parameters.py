"""`*args` of functions that a kernel calls: a tuple, as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics import CompileError

N = 4


def total(*values):
    result = 0
    for value in values:
        result += value
    return result


def after_first(first, *rest, scale=2):
    return first - sum(rest) * scale + len(rest)


def passed_on(function, *values):
    return function(*values, 1)


def plain(x, i):
    return total(x[i], 2, x[0])


def none(x, i):
    return total() + after_first(x[i])


def keyword(x, i):
    return after_first(x[i], 1, x[0], scale=3)


def forwarded(x, i):
    return passed_on(after_first, x[i], 5)


def starred(x, i):
    return total(*(x[i], 3), *(1,))


def local(x, i):
    def inner(*values):
        return sum(values) + i

    return inner(x[i], 1) + (lambda *items: len(items))(1, 2, 3)


@pytest.mark.parametrize(
    "way", [plain, none, keyword, forwarded, starred, local], ids=lambda way: way.__name__
)
def test_args_are_a_tuple(way: Any) -> None:
    def run(x, out):
        i = amdjit.grid(1)
        out[i] = way(x, i)

    x, out = np.arange(5, 5 + N, dtype=np.int32), np.zeros(N, np.int32)
    amdjit.kernel(run)[1, N](x, out)
    assert list(out) == [way(x, i) for i in range(N)]


def test_a_missing_argument_before_args_is_named() -> None:
    def run(out):
        out[0] = after_first()

    with pytest.raises(CompileError, match="`first` is missing"):
        amdjit.kernel(run).compile(amdjit.i32[:])
