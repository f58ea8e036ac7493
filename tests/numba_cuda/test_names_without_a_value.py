"""With Numba's typing, names that no path has assigned are zero; others keep their values."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import CompileError
from amdjit import numba_cuda as cuda

pytestmark = pytest.mark.filterwarnings("ignore:f64 arithmetic")


@cuda.jit
def by_opposite_conditions(offsets, counts):
    i = cuda.grid(1)
    if i > 0:
        count = offsets[i] - offsets[i - 1]
    if i == 0:
        count = offsets[i]
    counts[i] = count


def test_conditions_that_exclude_each_other() -> None:
    offsets = np.array([2, 2, 5, 9])
    counts = np.zeros(4, np.int64)
    by_opposite_conditions[1, 4](offsets, counts)
    assert list(counts) == [2, 0, 3, 4]


@cuda.jit
def last_positions(rows, out):
    i = cuda.grid(1)
    for j in range(rows.shape[1]):
        if j > i:
            out[i, 0] += kept  # noqa: F821
        if rows[i, j] > 0:
            kept = rows[i, j] + 0.5
    out[i, 1] = kept
    out[i, 2] = j


def test_a_loop_carries_a_name_that_it_assigns_first() -> None:
    rows = np.array([[1, 0, 3], [0, 0, 0], [0, 7, 0]])
    out = np.zeros((3, 3))
    last_positions[1, 3](rows, out)
    assert out.tolist() == [[3.0, 3.5, 2.0], [0.0, 0.0, 2.0], [0.0, 7.5, 2.0]]
    last_positions[1, 3](rows[:, :0], out)
    assert out[:, 1:].tolist() == [[0.0, 0.0]] * 3


@cuda.jit(device=True)
def threshold(x, limit):
    if x > limit:
        excess = x - limit
    return excess


@cuda.jit
def excesses(x, out):
    i = cuda.grid(1)
    out[i] = threshold(x[i], 1.5)


def test_in_a_device_function() -> None:
    out = np.ones(3)
    excesses[1, 3](np.array([1.0, 2.0, 4.0]), out)
    assert list(out) == [0.0, 0.5, 2.5]


@cuda.jit
def array_on_one_path(x, out):
    if x[0] > 0:
        rows = x
    out[0] = rows[0]


def test_an_array_has_no_zero() -> None:
    with pytest.raises(CompileError, match=r"AJ0302.*`rows` is assigned on only one path"):
        array_on_one_path[1, 1](np.ones(2), np.ones(1))


@cuda.jit
def assigned_nowhere(out):
    if out.ndim == 2:
        x = 1
    out[0] = x


def test_a_name_that_nothing_assigns() -> None:
    with pytest.raises(CompileError, match=r"AJ0302.*`x` is read before it is assigned"):
        assigned_nowhere[1, 1](np.ones(2))


@amdjit.kernel
def by_own_rules(x, out):
    if x[0] > 0:
        y = x[0]
    out[0] = y


def test_amdjits_own_typing_refuses() -> None:
    with pytest.raises(CompileError, match="AJ0302"):
        by_own_rules[1, 1](np.ones(1), np.ones(1))


def _block(choice: random.Random, depth: int, indent: str) -> list[str]:
    """Return random statements over the names a, b, c and the input x[0], x[1]."""
    lines: list[str] = []
    operands = ["a", "b", "c", "x[0]", "x[1]", "i"]
    for _ in range(choice.randint(1, 3)):
        kind = choice.choice(["assign", "add", "if", "else", "for", "while", "break"])
        name, left, right = choice.choice("abc"), choice.choice(operands), choice.choice(operands)
        test = f"{left} {choice.choice(['<', '>', '=='])} {right} + {choice.randint(-1, 2)}"
        if kind == "assign" or depth == 0:
            lines.append(f"{indent}{name} = {left} + {choice.randint(1, 5)}")
        elif kind == "add":
            lines.append(f"{indent}out[{choice.randint(0, 2)}] += {left} - {right}")
        elif kind in ("if", "else"):
            lines += [f"{indent}if {test}:", *_block(choice, depth - 1, indent + "    ")]
            if kind == "else":
                lines += [f"{indent}else:", *_block(choice, depth - 1, indent + "    ")]
        elif kind in ("for", "break"):
            lines += [f"{indent}for i in range(x[{choice.randint(0, 1)}]):"]
            lines += _block(choice, depth - 1, indent + "    ")
            if kind == "break":
                lines += [f"{indent}    if {test}:", f"{indent}        break"]
        else:
            lines += [f"{indent}while out[3] < x[1]:", f"{indent}    out[3] += 1"]
            lines += _block(choice, depth - 1, indent + "    ")
    return lines


def _program(seed: int) -> str:
    choice = random.Random(seed)
    body = "\n".join(_block(choice, 3, "    "))
    return f"{body}\n    out[4] = a\n    out[5] = b\n    out[6] = c\n    out[7] = i\n"


def _function(folder: Path, name: str, source: str) -> Callable[..., Any]:
    file = folder / f"{name}.py"
    file.write_text(source)
    scope: dict[str, Any] = {}
    exec(compile(source, str(file), "exec"), scope)
    function: Callable[..., Any] = scope["program"]
    return function


@pytest.mark.parametrize("seed", range(5))
def test_random_programs(tmp_path: Path, seed: int) -> None:
    body = _program(seed)
    start = "    a = b = c = i = 0\n"
    # All names are assigned somewhere, but never at the beginning.
    end = "    if out[3] < 0:\n        a = b = c = i = 1\n"
    python = _function(tmp_path, "python", f"def program(x, out):\n{start}{body}")
    kernel = cuda.jit(_function(tmp_path, "kernel", f"def program(x, out):\n{end}{body}"))
    for given in ([0, 0], [3, 1], [2, 4], [1, -1]):
        x, expected, found = np.array(given), np.zeros(8, np.int64), np.zeros(8, np.int64)
        python(x, expected)
        kernel[1, 1](x, found)
        assert list(found) == list(expected), textwrap.dedent(body)
