"""Which variables need memory, and that random control flow gives them the values that they have in
Python."""

from __future__ import annotations

import platform
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from amdjit.lowering.builder import folded
from amdjit.lowering.function import variables_in_memory
from amdjit.lowering.types import I8, I32, Literal, literal
from amdjit.tree import nodes as tree
from amdjit.types import i32
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

x, y, i, out = (
    variable("x", i32),
    variable("y", i32),
    variable("i", i32),
    variable("out", array(i32)),
)
positive = compare("<", number(0), read(y))


def show(of: tree.Variable) -> tree.Store:
    return store(read(out), (number(0),), read(of))


def loop(*body: Any, otherwise: tuple[Any, ...] = ()) -> tree.ForRange:
    return tree.ForRange(HERE, i, number(0), number(3), number(1), body, otherwise)


def in_memory(*body: Any) -> set[str]:
    return {of.name for of in variables_in_memory(function("k", (out, y), *body))}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            (assign(x, number(1)), show(x), assign(x, number(2)), show(x)),
            set(),
            id="one after another",
        ),
        pytest.param(
            (assign(x, number(1)), if_(positive, (show(x),)), loop(show(x))),
            set(),
            id="read within",
        ),
        pytest.param((if_(positive, (assign(x, number(1)), show(x))),), set(), id="a branch's own"),
        pytest.param(
            (if_(positive, (assign(x, number(1)),), (assign(x, number(2)),)), show(x)),
            {"x"},
            id="branches",
        ),
        pytest.param(
            (assign(x, number(1)), if_(positive, (assign(x, number(2)),)), show(x)),
            {"x"},
            id="one branch",
        ),
        pytest.param((assign(y, number(1)), show(y)), set(), id="a parameter"),
        pytest.param(
            (if_(positive, (assign(y, number(1)),)), show(y)), {"y"}, id="a parameter in a branch"
        ),
        pytest.param(
            (assign(x, number(1)), if_(positive, (assign(x, number(2)),), (show(x),))),
            {"x"},
            id="the other branch",
        ),
        pytest.param(
            (assign(x, number(1)), if_(positive, (show(x),), (assign(x, number(2)), show(x)))),
            set(),
            id="else's own",
        ),
        pytest.param((loop(assign(x, read(i)), show(x), show(i)),), set(), id="a round's own"),
        pytest.param(
            (assign(x, number(1)), loop(show(x), assign(x, number(2)))),
            {"x"},
            id="the round before",
        ),
        pytest.param(
            (assign(x, number(1)), loop(assign(x, op("+", read(x), read(i))))), {"x"}, id="a sum"
        ),
        pytest.param((loop(show(i)), show(i)), {"i"}, id="the last round"),
        pytest.param((loop(show(i)), loop(show(i))), set(), id="two loops"),
        pytest.param((assign(i, number(7)), loop(otherwise=(show(i),))), {"i"}, id="a loop's else"),
        pytest.param(
            (
                assign(x, number(1)),
                tree.While(HERE, compare("<", read(x), number(9)), (assign(x, number(9)),)),
            ),
            {"x"},
            id="a condition",
        ),
        pytest.param(
            (assign(x, number(1)), loop(loop(assign(x, number(2))), assign(x, number(3)), show(x))),
            set(),
            id="again",
        ),
    ],
)
def test_variables_need_memory_where_several_assignments_reach_a_read(
    body: Sequence[Any], expected: set[str]
) -> None:
    assert in_memory(*body) == expected


class _Left(Exception):
    """A break (True) or a continue (False) on its way out to the loop."""


class Random:
    """Random statements over four variables and 32 places of `out`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variables = [variable(name, i32) for name in "abcd"]
        self.count = variable("count", i32)
        self.read_last = self.random.choice((0, 0.2, 1))

    def body(self, depth: int, in_loop: bool) -> tuple[tree.Statement, ...]:
        return tuple(self.statement(depth, in_loop) for _ in range(self.random.randint(1, 4)))

    def statement(self, depth: int, in_loop: bool) -> tree.Statement:
        kinds = (
            ["assign"] * 5
            + ["show"] * 4
            + (["if", "for", "while"] if depth else [])
            + ["leave"] * in_loop
        )
        kind = self.random.choice(kinds)
        if kind == "assign":
            return assign(self.random.choice(self.variables), self.value())
        if kind == "show":
            return tree.Store(
                HERE, read(out), (read(self.random.choice(self.variables)),), self.value()
            )
        if kind == "if":
            return if_(
                self.condition(), self.body(depth - 1, in_loop), self.body(depth - 1, in_loop)
            )
        if kind == "for":
            bounds = number(0), number(self.random.randint(0, 3)), number(1)
            body, otherwise = self.body(depth - 1, True), self.body(depth - 1, in_loop)
            return tree.ForRange(HERE, self.random.choice(self.variables), *bounds, body, otherwise)
        if kind == "while":
            # All loops together have this many rounds.
            step = assign(self.count, op("+", read(self.count), number(1)))
            body = (step, *self.body(depth - 1, True))
            return tree.While(
                HERE, compare("<", read(self.count), number(6)), body, self.body(depth - 1, in_loop)
            )
        leave = tree.Break(HERE) if self.random.random() < 0.5 else tree.Continue(HERE)
        return if_(self.condition(), (leave, self.statement(0, False)))

    def value(self) -> tree.Expression:
        left = read(self.random.choice(self.variables))
        if self.random.random() < 0.4:
            return number(self.random.randint(0, 30))
        right = self.random.choice(
            (read(self.random.choice(self.variables)), number(self.random.choice((0, 1, 3))))
        )
        return op("&", op(self.random.choice("+-*"), left, right), number(31))

    def condition(self) -> tree.Expression:
        return compare("<", op("&", self.value(), number(3)), number(2))


class Meaning:
    """Runs statements in Python."""

    def __init__(self, values: dict[str, int]) -> None:
        self.values = values
        self.out = np.zeros(32, np.int32)

    def block(self, statements: Sequence[tree.Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: tree.Statement) -> None:
        if isinstance(node, tree.Assign):
            self.values[node.variable.name] = self.value(node.value)
        elif isinstance(node, tree.Store):
            value = self.value(node.value)
            self.out[self.value(node.indices[0])] = value
        elif isinstance(node, tree.If):
            self.block(node.then if self.value(node.condition) else node.otherwise)
        elif isinstance(node, tree.ForRange):
            rounds = iter(range(node.start.value, node.stop.value))
            self.loop(node, lambda: self.next_round(node.variable.name, rounds))
        elif isinstance(node, tree.While):
            self.loop(node, lambda: bool(self.value(node.condition)))
        else:
            raise _Left(isinstance(node, tree.Break))

    def next_round(self, name: str, rounds: Any) -> bool:
        for number_ in rounds:
            self.values[name] = number_
            return True
        return False

    def loop(self, node: Any, goes_on: Any) -> None:
        while goes_on():
            try:
                self.block(node.body)
            except _Left as left:
                if left.args[0]:
                    return
        self.block(node.otherwise)

    def value(self, node: Any) -> Any:
        if isinstance(node, tree.Constant):
            return node.value
        if isinstance(node, tree.Read):
            return self.values[node.variable.name]
        left, right = self.value(node.left), self.value(node.right)
        symbol = node.operator.value
        return {
            "+": left + right,
            "-": left - right,
            "*": left * right,
            "&": left & right,
            "<": left < right,
        }[symbol]


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="runs the IR on x86-64 hosts"
)
@pytest.mark.parametrize("seed", range(30))
def test_random_control_flow_gives_variables_the_values_of_python(seed: int) -> None:
    made = Random(seed)
    given = variable("given", array(i32))
    starts = [assign(of, load(read(given), number(n))) for n, of in enumerate(made.variables)]
    body = (assign(made.count, number(0)), *made.body(3, False), *made.body(2, False))
    # Variables that are read at the end, after all control flow, may need memory for that alone;
    # often nothing is.
    last = [(n, of) for n, of in enumerate(made.variables) if made.random.random() < made.read_last]
    shown = [store(read(out), (number(28 + n),), read(of)) for n, of in last]
    result, numbers = np.zeros(32, np.int32), np.arange(3, 7, dtype=np.int32)
    run_on_host(lowered(function("k", (out, given), *starts, *body, *shown)), "k", result, numbers)
    meaning = Meaning(dict(zip("abcd", numbers.tolist(), strict=True)))
    meaning.block((*body, *shown))
    np.testing.assert_array_equal(result, meaning.out)


def test_constants_are_folded_as_instructions_would_compute_them() -> None:
    value = Literal(I32, "%value")
    assert folded("add", value, literal(I32, 0)) is value
    assert folded("mul", value, literal(I32, 1)) is value
    assert folded("sub", literal(I32, 0), value) is None
    assert folded("mul", value, literal(I32, 0)) is None
    assert folded("add", literal(I8, 100), literal(I8, 100)).text == "-56"
    assert folded("and", literal(I32, 12), literal(I32, 10)).text == "8"
    assert folded("udiv", literal(I32, 12), literal(I32, 5)) is None
