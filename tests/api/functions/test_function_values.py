# ruff: noqa: E731, B023, SIM108
"""Functions as values, passed on and nested, with the variables that they capture: the emulator
against Python."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import CompileError, Const, f32, static_range
from tests.api.lanes import DEVICE, same_as_python

LANES = 32


def twice(function, x):
    return function(function(x))


def scaled(x, factor, offset=1):
    return x * factor + offset


def fold(function, items, start):
    for item in items:
        start = function(start, item)
    return start


def nested(i, a, out):
    n = a[i]

    def add(x, times=2):
        return x + n * times

    out[i] = add(1)
    n = 5
    out[i] += add(1, times=3) * 100 + twice(add, 2)


def lambdas(i, a, out):
    square = lambda x: x * x
    n = a[i]
    out[i] = twice(lambda x: x + n, square(n)) + (lambda: n * 3)()
    out[i] += fold(lambda x, y: x * 2 + y, (1, n, i), 7)
    functions = (square, lambda x: x + n, lambda x, k=n: x - k)
    n = 9
    for function in functions:
        out[i] += function(4)


def partials(i, a, out):
    tripled = functools.partial(scaled, factor=3)
    out[i] = (
        tripled(a[i])
        + functools.partial(tripled, offset=a[i])(2)
        + twice(functools.partial(scaled, a[i]), i)
    )


def functions_in_functions(i, a, out):
    def outer(x):
        def inner(y):
            return x * y + a[i]

        return inner(3) + twice(inner, x)

    out[i] = outer(a[i] + 1)
    for k in range(3):
        step = lambda x: x + k
        out[i] = step(out[i])
        if k == 1:
            out[i] += outer(k)


def chosen_when_compiling(i, a, out):
    for name in ("add", "multiply"):
        if name == "add":
            operation = lambda x, y: x + y
        else:
            operation = lambda x, y: x * y
        out[i] = operation(out[i] + 1, a[i])


def writes_through_a_closure(i, a, out):
    def put(x):
        out[i] += x

    put(a[i])
    for k in static_range(2):
        put(k + 10)


CASES = [
    nested,
    lambdas,
    partials,
    functions_in_functions,
    chosen_when_compiling,
    writes_through_a_closure,
]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_functions_as_values_give_what_python_gives(function) -> None:
    a = np.random.default_rng(1).integers(-20, 20, LANES).astype(np.int32)
    same_as_python(function, a, np.zeros(LANES, np.int32), lanes=LANES)


def adder(n):
    def add(x):
        return x + n

    return add


@amdjit.kernel
def makes_functions(out):
    add = adder(3)
    out[0] = add(4)
    out[1] = twice(adder(2.5), f32(1))


@amdjit.kernel
def apply(function: Const, options: Const, a, out):
    i = amdjit.grid(1)
    kind, factor, name = options
    out[i] = kind(function(a[i]) * factor) if name == "scaled" else kind(0)


HOST: list[tuple[Any, Any]] = [
    (lambda x: x + 1, lambda a: a + 1),
    (adder(5), lambda a: a + 5),
    (functools.partial(scaled, factor=2, offset=0), lambda a: a * 2),
    (functools.partial(lambda k, x: x - k, 3), lambda a: a - 3),
    (abs, abs),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", range(len(HOST)))
def test_functions_from_the_host(number) -> None:
    function, model = HOST[number]
    a, out = np.arange(-16, 16, dtype=np.float32), np.zeros(32, np.float32)
    with amdjit.use(DEVICE):
        apply[1, 32](function, (f32, 1.5, "scaled"), a, out)
        assert (out == model(a) * np.float32(1.5)).all()
        apply[1, 32](function, (f32, 1.5, "other"), a, out)
        assert (out == 0).all()
        results = np.zeros(2, np.float32)
        makes_functions[1, 1](results)
    assert list(results) == [7, 6]
    compiled = apply.compile(function, (f32, 2, "scaled"), f32[:], f32[:])
    assert compiled.written == (False, True)


@amdjit.kernel
def recursive(out):
    def down(n):
        return down(n - 1)

    out[0] = down(3)


@amdjit.kernel
def wrong_in_a_helper(a, out):
    n = a[0]
    out[0] = fold(lambda x, y: x << y, (n, 2), 1.5)


def test_errors_in_inner_functions_name_the_calls() -> None:
    with pytest.raises(CompileError, match="calls itself"):
        recursive.compile(f32[:])
    with pytest.raises(CompileError) as caught:
        wrong_in_a_helper.compile(f32[:], f32[:])
    text = str(caught.value)
    assert "called from fold at" in text
    assert "called from wrong_in_a_helper at" in text
    assert "(n, 2), 1.5)" in text
