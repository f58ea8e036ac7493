"""A number without a width takes the width of each use: what a statement gets does not depend on
later ones."""

from __future__ import annotations

import itertools
import linecache
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f64, i64

X, N, M = np.uint32(4000000615), np.int32(2000000011), np.int32(3)
COUNTER = itertools.count()

# What v is, and what `o[t] = v % 10000.0` of an f32 array gets.
VALUES: dict[str, tuple[list[str], np.float32]] = {
    "remainder": (["v = x[t] % 10000.0"], np.float32(X) % np.float32(10000)),
    "quotient": (["v = n[t] / m[t]"], np.float32(N) / np.float32(M)),
    "product": (["v = n[t] * 0.1"], np.float32(N) * np.float32(0.1)),
    "argument": (["v = x[t] * a"], np.float32(X) * np.float32(0.5)),
    "conversion": (["v = float(x[t])"], np.float32(X)),
    "function": (["v = math.fmod(x[t], 1e9)"], np.float32(X) % np.float32(1e9)),
    "power": (["v = (x[t] * 1.0) ** 1.0"], np.float32(X)),
    "through_a_name": (["w = x[t] * 1.0", "v = w"], np.float32(X)),
    "updated": (["v = 1.0", "v *= x[t]"], np.float32(X)),
    "branch": (["v = 0.0", "if t >= 0: v = x[t] * 1.0"], np.float32(X)),
    "branch_of_names": (["if t >= 0: v = x[t]", "else: v = 0.5"], np.float32(X)),
    "choice": (["v = x[t] * 1.0 if t >= 0 else 0.0"], np.float32(X)),
    "choice_of_two": (["v = max(x[t], 0.5)"], np.float32(X)),
    "tuple": (["v = (1.0, x[t] * 1.0)[t + 1]"], np.float32(X)),
    "item_of_a_tuple": (["pair = (x[t] * 1.0, 2)", "v = pair[0]"], np.float32(X)),
    "device_function": (["def g(u): return u * 1.0", "v = g(x[t])"], np.float32(X)),
    "function_with_a_branch": (
        ["def g(u):", "    if u > 0.5: return u * 1.0", "    return 0.0", "v = g(x[t])"],
        np.float32(X),
    ),
    "closure": (["w = x[t] * 1.0", "def g(): return w", "v = g()"], np.float32(X)),
    "assigned_in_a_loop": (
        ["v = 0.0", "for i in range(2):", "    w = x[t] * 1.0", "v = w"], np.float32(X),
    ),
}  # fmt: skip
LATER = {
    "explicit": ("p[t] = i64(v)", np.int64),
    "f64": ("p[t] = f64(v)", np.float64),
    "stored": ("p[t] = v", np.float64),
    "combined": ("p[t] = v * f64(2)", np.float64),
    "compared": ("p[t] = v < f64(0.1)", np.float64),
    "passed_on": ("p[t] = math.sqrt(v)", np.float64),
}


def kernel_of(lines: list[str]) -> Any:
    source = "def k(x, n, m, a, o, p):\n    t = amdjit.threadIdx.x\n"
    source += "".join(f"    {line}\n" for line in lines)
    name = f"<two widths {next(COUNTER)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {"amdjit": amdjit, "math": math, "f64": f64, "i64": i64}
    exec(compile(source, name, "exec"), scope)
    return amdjit.kernel(scope["k"], warnings=False)


def stored(lines: list[str], wide: type) -> tuple[np.float32, Any]:
    o, p = np.zeros(1, np.float32), np.zeros(1, wide)
    arrays = [np.array([each]) for each in (X, N, M)]
    kernel_of(lines)[1, 1](*arrays, 0.5, o, p)
    return o[0], p[0]


LATER_USES = list(LATER)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("value", "uses"),
    [
        # Each value with two of the uses, and each use with several values.
        *(
            pytest.param(value, (LATER_USES[n % 6], LATER_USES[(n + 3 + n // 6 % 3) % 6]), id=value)
            for n, value in enumerate(VALUES)
        ),
        *(
            pytest.param(value, LATER_USES, id=f"{value}-all", marks=pytest.mark.exhaustive)
            for value in VALUES
        ),
    ],
)
def test_a_later_use_in_64_bits_changes_nothing_before_it(value: str, uses: Sequence[str]) -> None:
    lines, expected = VALUES[value]
    before = [*lines, "o[t] = v % 10000.0"]
    wanted = expected % np.float32(10000)
    assert stored(before, np.float64)[0] == wanted
    for later, wide in map(LATER.__getitem__, uses):
        assert stored([*before, later], wide)[0] == wanted, later


def test_a_use_in_64_bits_has_the_digits_of_64_bits() -> None:
    for value in ("remainder", "branch_of_names", "device_function", "closure", "power"):
        lines, _ = VALUES[value]
        exact = float(X) % 10000 if value == "remainder" else float(X)
        assert stored([*lines, "o[t] = v", "p[t] = v"], np.float64) == (VALUES[value][1], exact)


def test_a_call_with_effects_is_made_once() -> None:
    lines = ["v = amdjit.atomic.add(n, 0, 1) * 0.5", "o[t] = v", "p[t] = v", "p[t] += n[0]"]
    assert stored(lines, np.float64)[1] == float(N) * 0.5 + float(N) + 1
    lines = ["def g(u):", "    n[0] += 1", "    return u * 0.5", "v = g(m[t])"]
    lines += ["o[t] = v", "p[t] = v", "p[t] += n[0]"]
    assert stored(lines, np.float64)[1] == 1.5 + float(N) + 1


def test_a_name_that_a_loop_carries_is_right_in_both_widths() -> None:
    lines = ["v = x[t] * 1.0", "o[t] = v", "for i in range(3): v *= 3.0", "p[t] = v"]
    assert stored(lines, np.float64) == (np.float32(X), float(X) * 27)
    lines = ["i = m[t] * 1.0", "p[t] = i", "for i in range(5): o[t] = i", "p[t] += i"]
    assert stored(lines, np.float64) == (4, 7)


def chosen(c):
    if c > 3:
        return 3
    return 5


def use_choices(x, o, p, n, t):
    value = chosen(x[t]) if x[t] > 0 else 5
    o[t] = value * 100000
    p[t] = value * 1000000000
    nested = 2 if x[t] > 5 else (chosen(x[t]) * 2 if x[t] > 1 else 9)
    p[t] += nested * 1000000000
    named = (m := chosen(x[t])) if x[t] > 1 else (m := 4)
    p[t] += named * 2000000000
    o[t] += named + m
    argument = n * chosen(x[t]) if x[t] > 1 else n
    o[t] += argument
    p[t] += argument * 1000000000


def test_a_choice_whose_sides_need_statements_has_both_widths() -> None:
    @amdjit.kernel
    def kernel(x, o, p, n):
        use_choices(x, o, p, n, amdjit.threadIdx.x)

    x = np.arange(-2, 14, dtype=np.int32)
    narrow, wide = np.zeros(16, np.int32), np.zeros(16, np.int64)
    kernel[1, 16](x, narrow, wide, 7)
    expected: tuple[list[int], list[int]] = ([0] * 16, [0] * 16)
    for t in range(16):
        use_choices(x.tolist(), *expected, 7, t)
    assert narrow.tolist() == expected[0]
    assert wide.tolist() == expected[1]
