"""Loops run on the CPU: which values a range takes, where break and continue go, what `else`
does."""

from __future__ import annotations

import itertools
import platform
from typing import Any

import numpy as np
import pytest

from amdjit.tree import nodes as tree
from amdjit.types import Scalar, boolean, i8, i16, i32, i64, u8, u16, u32, u64
from tests.lowering.host_execution import run_on_host
from tests.tree.trees import (
    HERE,
    array,
    assign,
    compare,
    function,
    if_,
    load,
    lowered,
    number,
    op,
    read,
    store,
    variable,
)

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="runs the IR on x86-64 hosts"
)

LIMIT = 12


def range_kernel(
    scalar: Scalar, start: Any, stop: Any, step: Any, parameters: tuple[Any, ...]
) -> tree.Function:
    """Write the values of the rounds to out (at most LIMIT), then their number, the last value, and
    1 for `else`."""
    out, count = variable("out", array(scalar)), variable("count", i32)
    value, facts = variable("value", scalar), variable("facts", array(i64))
    body = (
        if_(compare("==", read(count), number(LIMIT)), (tree.Break(HERE),)),
        store(read(out), (read(count),), read(value)),
        assign(count, op("+", read(count), number(1))),
        # Assigning to the loop's variable does not change the rounds.
        if_(compare("==", read(count), number(2)), (tree.Continue(HERE),)),
    )
    loop = tree.ForRange(
        HERE, value, start, stop, step, body, (store(read(facts), (number(2),), number(1, i64)),)
    )
    return function(
        "k",
        (out, facts, *parameters),
        assign(count, number(0)),
        assign(value, number(77, scalar)),
        loop,
        store(read(facts), (number(0),), tree.Convert(HERE, i64, read(count))),
        store(read(facts), (number(1),), tree.Convert(HERE, i64, read(value))),
    )


def run(kernel: tree.Function, scalar: Scalar, *arguments: Any) -> tuple[list[int], int, bool]:
    out, facts = np.zeros(LIMIT, scalar.dtype), np.zeros(3, np.int64)
    run_on_host(lowered(kernel), "k", out, facts, *arguments)
    count, last, finished = facts.tolist()
    return out[:count].tolist(), last, bool(finished)


def expected(scalar: Scalar, start: int, stop: int, step: int) -> tuple[list[int], int, bool]:
    rounds = list(itertools.islice(range(start, stop, step), LIMIT + 1))
    values = rounds[:LIMIT]
    last = int(np.array(rounds[-1] if rounds else 77, scalar.dtype).astype(np.int64))
    return values, last, len(rounds) <= LIMIT


def bounds(scalar: Scalar) -> list[tuple[int, int, int]]:
    high, low = scalar.maximum, scalar.minimum
    found = [
        (0, 0, 1), (0, 5, 1), (3, 3, 2), (5, 0, 1), (0, 7, 3), (0, 9, 3), (1, 100, 10),
        (high - 3, high, 1),
        (high - 5, high, 2), (high - 6, high, 2), (high - 5, high, 100), (0, high, high // 3),
        (high, high, 5),
        (0, high, high), (0, 1, high), (high - 1, high, high),
    ]  # fmt: skip
    if scalar.is_signed:
        found += [
            (5, 0, -1), (0, 5, -1), (9, 0, -3), (10, -1, -3), (low + 3, low, -1),
            (low + 5, low, -2), (-2, 4, 3),
            (low + 6, low, -2), (low + 5, low, -100), (high, low, -(high // 3)), (low, high, high),
            (high, low, low),
            (low, low + 1, high), (low, high, high // 2), (-1, low, low), (0, low, low), (-5, 5, 4),
            (low, low, -3),
        ]  # fmt: skip
    return found


@pytest.mark.sample(4)
@pytest.mark.parametrize("scalar", [i8, i16, i32, i64, u8, u16, u32, u64], ids=str)
def test_ranges_of_run_time_bounds_and_steps(scalar: Scalar) -> None:
    limits = tuple(variable(name, scalar) for name in ("start", "stop", "step"))
    kernel = range_kernel(scalar, *map(read, limits), limits)
    for start, stop, step in bounds(scalar):
        numbers = [scalar.dtype.type(value) for value in (start, stop, step)]
        assert run(kernel, scalar, *numbers) == expected(scalar, start, stop, step), (
            start,
            stop,
            step,
        )


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("constant_bounds", [False, True])
@pytest.mark.parametrize("scalar", [i8, i32, u16, u64], ids=str)
def test_ranges_of_constant_steps(scalar: Scalar, constant_bounds: bool) -> None:
    for start, stop, step in bounds(scalar):
        if constant_bounds:
            constants = [number(value, scalar) for value in (start, stop, step)]
            found = run(range_kernel(scalar, *constants, ()), scalar)
        else:
            limits = (variable("start", scalar), variable("stop", scalar))
            kernel = range_kernel(scalar, *map(read, limits), number(step, scalar), limits)
            found = run(kernel, scalar, scalar.dtype.type(start), scalar.dtype.type(stop))
        assert found == expected(scalar, start, stop, step), (start, stop, step)


def test_assigning_to_the_variable_does_not_change_the_rounds() -> None:
    out, i = variable("out", array(i32)), variable("i", i32)
    body = (
        assign(i, op("*", read(i), number(3))),
        store(read(out), (number(0),), op("+", load(read(out), number(0)), read(i))),
    )
    loop = tree.ForRange(HERE, i, number(0), number(5), number(1), body)
    result = np.zeros(2, np.int32)
    run_on_host(
        lowered(function("k", (out,), loop, store(read(out), (number(1),), read(i)))), "k", result
    )
    assert result.tolist() == [30, 12]


def nested(limit: int, result: Any) -> None:
    """A while loop in a for loop, with break, continue, else and return inside both."""
    n = [0] * 6
    for i in range(10):
        j = 0
        while j < limit:
            j += 1
            if j == 3:
                continue
            if i * j == 12:
                n[0] += 1
                break
            n[1] += i
            if i == 8 and j == 2:
                n[5] = 1
                result[:] = n
                return
        else:
            n[2] += 1
            continue
        n[3] += j
    else:
        n[4] = 1
    result[:] = n


def nested_kernel() -> tree.Function:
    out, limit = variable("out", array(i32)), variable("limit", i32)
    i, j = variable("i", i32), variable("j", i32)

    def add(place: int, value: Any) -> tree.Store:
        return store(read(out), (number(place),), op("+", load(read(out), number(place)), value))

    both = tree.Logical(
        HERE, boolean, True, compare("==", read(i), number(8)), compare("==", read(j), number(2))
    )
    inner = tree.While(
        HERE,
        compare("<", read(j), read(limit)),
        (
            assign(j, op("+", read(j), number(1))),
            if_(compare("==", read(j), number(3)), (tree.Continue(HERE),)),
            if_(
                compare("==", op("*", read(i), read(j)), number(12)),
                (add(0, number(1)), tree.Break(HERE)),
            ),
            add(1, read(i)),
            if_(both, (add(5, number(1)), tree.Return(HERE, None))),
        ),
        (add(2, number(1)), tree.Continue(HERE)),
    )
    body = (assign(j, number(0)), inner, add(3, read(j)))
    outer = tree.ForRange(HERE, i, number(0), number(10), number(1), body, (add(4, number(1)),))
    return function("k", (out, limit), outer)


@pytest.mark.parametrize("limit", [0, 1, 2, 4, 5, 20])
def test_nested_loops_leave_where_python_leaves(limit: int) -> None:
    found, wanted = np.zeros(6, np.int32), np.zeros(6, np.int32)
    run_on_host(lowered(nested_kernel()), "k", found, np.int32(limit))
    nested(limit, wanted)
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("unroll", "hint"),
    [
        (0, None),
        (1, "llvm.loop.unroll.disable"),
        (4, '"llvm.loop.unroll.count", i32 4'),
        (-1, "llvm.loop.unroll.full"),
    ],
)
def test_loops_carry_the_unrolling_that_was_asked_for(unroll: int, hint: str | None) -> None:
    out, i = variable("out", array(i32)), variable("i", i32)
    body = (store(read(out), (read(i),), read(i)),)
    loop = tree.ForRange(HERE, i, number(0), number(5), number(1), body, unroll=unroll)
    again = tree.While(
        HERE, compare("<", load(read(out), number(0)), number(3)), body, unroll=unroll
    )
    text = lowered(function("k", (out,), loop, again))
    assert text.count("!llvm.loop ") == (2 if hint else 0)
    assert hint is None or hint in text
