"""Random integer expressions: the lowered IR, run on the CPU, has the results of Python's
integers."""

from __future__ import annotations

import platform
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from amdjit.tree import nodes as tree
from amdjit.types import Scalar, boolean, i8, i16, i32, i64, u8, u16, u32, u64
from tests.lowering.host_execution import run_on_host
from tests.lowering.llvm_tools import assembly, requires_llvm, verified
from tests.lowering.python_meaning import in_python, interesting, wrapped
from tests.tree.trees import (
    HERE,
    array,
    compare,
    function,
    load,
    lowered,
    number,
    op,
    read,
    store,
    variable,
)

INTEGERS = [i8, i16, i32, i64, u8, u16, u32, u64]
OPERATORS = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "min", "max"]
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
}
ARRAYS = {scalar: variable(f"a_{scalar}", array(scalar)) for scalar in INTEGERS}
ROUND = variable("n", i32)

Meaning = Callable[[dict[Scalar, int]], int]


class Generator:
    """Makes an expression, and the function that computes it with Python's integers."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def expression(self, scalar: Scalar, depth: int) -> tuple[Any, Meaning]:
        makers = (
            [self._input, self._constant]
            if depth == 0
            else [self._binary] * 5 + [self._convert] * 2
        )
        makers += [] if depth == 0 else [self._unary, self._conditional, self._input]
        return self._random.choice(makers)(scalar, depth)

    def _input(self, scalar: Scalar, depth: int) -> tuple[Any, Meaning]:
        return load(read(ARRAYS[scalar]), read(ROUND)), lambda inputs: inputs[scalar]

    def _constant(self, scalar: Scalar, depth: int) -> tuple[Any, Meaning]:
        value = self._random.choice(interesting(scalar))
        return number(value, scalar), lambda inputs: value

    def _binary(self, scalar: Scalar, depth: int) -> tuple[Any, Meaning]:
        operator = self._random.choice(OPERATORS)
        (left, of_left), (right, of_right) = (self.expression(scalar, depth - 1) for _ in range(2))
        return op(operator, left, right), lambda inputs: in_python(
            scalar, operator, of_left(inputs), of_right(inputs)
        )

    def _unary(self, scalar: Scalar, depth: int) -> tuple[Any, Meaning]:
        operand, meaning = self.expression(scalar, depth - 1)
        operator, compute = self._random.choice(
            [
                (tree.UnaryOperator.NEGATE, lambda value: -value),
                (tree.UnaryOperator.INVERT, lambda value: ~value),
                (tree.UnaryOperator.ABSOLUTE, abs),
            ]
        )
        return tree.Unary(HERE, scalar, operator, operand), lambda inputs: wrapped(
            scalar, compute(meaning(inputs))
        )

    def _convert(self, scalar: Scalar, depth: int) -> tuple[Any, Meaning]:
        operand, meaning = self.expression(self._random.choice(INTEGERS), depth - 1)
        return tree.Convert(HERE, scalar, operand), lambda inputs: wrapped(scalar, meaning(inputs))

    def _conditional(self, scalar: Scalar, depth: int) -> tuple[Any, Meaning]:
        first, of_first = self._condition(depth)
        second, of_second = self._condition(depth)
        is_and = self._random.random() < 0.5
        condition = tree.Logical(HERE, boolean, is_and, first, second)
        (yes, of_yes), (no, of_no) = (self.expression(scalar, depth - 1) for _ in range(2))

        def meaning(inputs: dict[Scalar, int]) -> int:
            both = (of_first(inputs), of_second(inputs))
            return of_yes(inputs) if (all(both) if is_and else any(both)) else of_no(inputs)

        return tree.Conditional(HERE, scalar, condition, yes, no), meaning

    def _condition(self, depth: int) -> tuple[Any, Callable[[dict[Scalar, int]], bool]]:
        operator, scalar = self._random.choice(list(COMPARISONS)), self._random.choice(INTEGERS)
        (left, of_left), (right, of_right) = (self.expression(scalar, depth - 1) for _ in range(2))
        return compare(operator, left, right), lambda i: COMPARISONS[operator](
            of_left(i), of_right(i)
        )


def kernel_of(expression: Any) -> tree.Function:
    out = variable("out", array(expression.type))
    extent = tree.Extent(HERE, i32, read(out), 0)
    body = (store(read(out), (read(ROUND),), expression),)
    loop = tree.ForRange(HERE, ROUND, number(0), extent, number(1), body)
    return function("k", (*ARRAYS.values(), out), loop)


def inputs_of(seed: int, rounds: int) -> dict[Scalar, np.ndarray[Any, Any]]:
    source = random.Random(seed)
    return {
        s: np.array([source.choice(interesting(s)) for _ in range(rounds)], s.dtype)
        for s in INTEGERS
    }


def check(seed: int) -> str:
    scalar = INTEGERS[seed % len(INTEGERS)]
    expression, meaning = Generator(seed).expression(scalar, 1 + seed % 4)
    text = lowered(kernel_of(expression))
    inputs = inputs_of(seed, 40)
    out = np.zeros(40, scalar.dtype)
    run_on_host(text, "k", *inputs.values(), out)
    rounds = [{s: int(values[n]) for s, values in inputs.items()} for n in range(40)]
    assert out.tolist() == [meaning(values) for values in rounds], f"seed {seed}"
    return text


on_x86 = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="runs the IR on x86-64 hosts"
)


@pytest.mark.sample(2)
@on_x86
@pytest.mark.parametrize("group", range(8))
def test_random_expressions_mean_what_python_means(group: int) -> None:
    for seed in range(group * 20, group * 20 + 20):
        check(seed)


@on_x86
@requires_llvm
@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(20))
def test_many_random_expressions_are_right_and_selected(group: int) -> None:
    for seed in range(1000 + group * 50, 1050 + group * 50):
        text = check(seed)
        if seed % 5 == 0:
            verified(text)
            assert "s_endpgm" in assembly(text, "-O1")
