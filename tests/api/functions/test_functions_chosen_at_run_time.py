"""Functions that a condition chooses: the chosen one is called, and only that one."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, device_function, f32, f64, i32, i64

N = 8


def double(x):
    return x * 2


def square(x):
    return x * x


@device_function
def negative(x):
    return -x


def half(x):
    return x / 2


def same(i, x):
    f = double if x[i] > 3 else double  # noqa: RUF034
    return f(x[i])


def two(i, x):
    f = double if x[i] > 3 else square
    return f(x[i])


def called_at_once(i, x):
    return (double if x[i] > 3 else square)(x[i])


def branches(i, x):
    if x[i] > 3:  # noqa: SIM108
        f = double
    else:
        f = square
    return f(x[i]) + f(1)


def of_three(i, x):
    if x[i] > 4:
        f = double
    elif x[i] > 2:
        f = square
    else:
        f = negative
    return f(x[i])


def of_match(i, x):
    match i % 4:
        case 0:
            f = double
        case 1 | 2:
            f = square
        case _:
            f = negative
    return f(x[i])


def nested(i, x):
    f = (double if x[i] > 2 else square) if x[i] > 1 else negative
    return f(f(x[i]))


def lambdas(i, x):
    k = i * 3
    f = (lambda v: v + k) if x[i] > 3 else (lambda v: v - k)
    return f(x[i])


def same_lambda(i, x):
    g = lambda v: v + 1  # noqa: E731
    f = g if x[i] > 3 else g  # noqa: RUF034
    return f(x[i])


def partials(i, x):
    f = functools.partial(max, 4) if x[i] > 3 else functools.partial(min, i)
    return f(x[i])


def types(i, x):
    f = f32 if x[i] > 3 else f64
    return f(x[i]) / 3 > 1


def integer_types(i, x):
    f = i32 if x[i] > 3 else i64
    return f(x[i]) + 1


def builtins(i, x):
    f = abs if x[i] > 3 else negative
    return f(x[i])


def of_math(i, x):
    f = math.floor if x[i] > 3 else math.ceil
    return int(f(x[i] / 2))


def unlike_results(i, x):
    f = half if x[i] > 3 else double
    return int(f(x[i]) * 4)


def in_a_loop(i, x):
    total = 0
    for k in range(4):
        f = double if x[k] > x[i] else square
        total += f(x[k])
    return total


def last_of_a_loop(i, x):
    for k in range(4):
        f = double if x[k] > x[i] else square
    return f(5)


def unrolled(i, x):
    total = 0
    for f in (double, square, negative):
        g = f if x[i] > 2 else double
        total += g(x[i])
    return total


def applied(f, v):
    return f(v) + 1


def passed_on(i, x):
    return applied(double if x[i] > 3 else square, x[i])


def by_or(i, x):
    f = None or square
    return f(x[i])


def pair(v):
    return v, v + 1


def other_pair(v):
    return v - 1, v


def of_tuples(i, x):
    f = pair if x[i] > 3 else other_pair
    a, b = f(x[i])
    return a * 10 + b


@dataclass(frozen=True)
class Scale:
    factor: int

    def up(self, v):
        return v * self.factor

    def down(self, v):
        return v - self.factor


SCALE = Scale(3)


def methods(i, x):
    f = SCALE.up if x[i] > 3 else SCALE.down
    return f(x[i])


FUNCTIONS = [
    same, two, called_at_once, branches, of_three, of_match, nested, lambdas, same_lambda,
    partials, types, integer_types, builtins, of_math, unlike_results, in_a_loop, last_of_a_loop,
    unrolled, passed_on, by_or, of_tuples, methods,
]  # fmt: skip


def calling(function: Any, level: int) -> Any:
    """Return a kernel that calls the function."""

    @amdjit.kernel(opt_level=level, warnings=False)
    def kernel(out, x):
        i = amdjit.grid(1)
        out[i] = function(i, x)

    return kernel


@pytest.mark.sample(1)
@pytest.mark.parametrize("level", [0, 3])
def test_the_chosen_function_is_called(level: int) -> None:
    x = np.array([1, 5, 3, 2, 7, 4, 0, 6], np.int32)
    for function in FUNCTIONS:
        out = np.zeros(N, np.int64)
        calling(function, level)[1, N](out, x)
        expected = [_on_host(function, i, x) for i in range(N)]
        assert list(out) == expected, function.__name__


def _on_host(function: Any, i: int, x: np.ndarray) -> int:
    return int(function(i, [int(value) for value in x]))


def test_only_the_chosen_function_acts() -> None:
    def add(a, k):
        atomic.add(a, k, 1)

    def subtract(a, k):
        atomic.sub(a, k, 1)

    @amdjit.kernel
    def kernel(a):
        i = amdjit.grid(1)
        f = add if i % 2 == 0 else subtract
        f(a, i)
        (add if i < 4 else subtract)(a, i)

    a = np.zeros(N, np.int32)
    kernel[1, N](a)
    assert list(a) == [2, 0, 2, 0, 0, -2, 0, -2]


def test_the_arguments_are_evaluated_once() -> None:
    @amdjit.kernel
    def kernel(out, count):
        i = amdjit.grid(1)
        f = double if i % 2 == 0 else square
        out[i] = f(atomic.add(count, 0, 1) * 0 + i)

    out, count = np.zeros(N, np.int32), np.zeros(1, np.int32)
    kernel[1, N](out, count)
    assert list(out) == [i * 2 if i % 2 == 0 else i * i for i in range(N)]
    assert count[0] == N


def test_what_is_no_function_beside_one_is_refused() -> None:
    @amdjit.kernel
    def kernel(out):
        f = double if out.shape[0] > 1 else 3
        out[0] = f(3)

    with pytest.raises(amdjit.CompileError, match="AJ0215"):
        kernel[1, 1](np.zeros(2, np.int32))
