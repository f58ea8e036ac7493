"""Every way out of every kind of loop, in functions that return a value: the value is Python's, and
what certainly returns is not refused."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32, static_range, unroll
from amdjit.diagnostics import CompileError
from amdjit.frontend import type_kernel
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.options import CompileOptions, named_target
from amdjit.tree.verifier import verify
from amdjit.types import Array, Layout

HEADS = (
    "for i in range(3):",
    "for i in range(0):",
    "for i in range(3, 0, -1):",
    "for i in range(1, p):",
    "for i in static_range(3):",
    "for i in static_range(0):",
    "for i in unroll(range(3)):",
    "for i in unroll(range(4), 2):",
    "for i, w in zip(range(3), (5, 6, 7)):",
    "for i, w in enumerate((4, 5, 6)):",
    "for i in (4, p, 6):",
    "for i in ():",
    "for i in reversed(range(3)):",
    "for i in (x * 2 for x in (1, p, 3)):",
    "for i in a:",
    "for i, w in zip(a, range(2)):",
    "while p > 5:\n    i = p\n    p -= 1",
    "while True:\n    i = p\n    p -= 1",
    "while False:\n    i = 1",
    "while (i := p) > 4:\n    p -= 1",
)
BODIES = (
    "return v + i",
    "if i > 1: return v + i",
    "if p > 3: return v + i\nelse: return i - 1",
    "if p > 3: return i\nelse: break",
    "if p > 3: return i\nelse: continue",
    "if i == 1: continue\nreturn v + i",
    "if i == 1: break\nreturn v + i",
    "break",
    "continue",
    "v += i",
    "if p > 4: break\nv += i",
    "if v > 30: break\nelif p > 3: v += 9\nelse: return v",
    "for j in range(2): return v + i + j",
    "for j in range(2):\n    if p > 4: return j\n    break\nelse: return 77",
    "for j in range(2):\n    if p == j + 3: break\nelse: return 77",
    "for j in (1, 2):\n    if p == j + 3: continue\n    v += j\n"
    "else:\n    if p > 5: break\n    continue",
    "while p > 3: return p",
    "for j in range(2):\n    for k in static_range(2):\n        if p == k: return k\n"
    "        v += 1\n    return v",
    "match p:\n    case 3: return 1\n    case 4: break\n    case 5: continue\n    case _: return v",
    "for j in range(2):\n    break\nelse: return 3\nreturn v + j",
    "while True:\n    if p > 4: return p\n    p += 1",
)
ELSES = ("", "return 50", "v += 100", "if p > 4: return 51")
AFTERS = ("return v", "return v + i", "")
ITEMS = np.array([3, 7, 1, 4], np.int32)
LANES = 8
COMPILATION = Compilation(CompileOptions(named_target("gfx1201")))
_COUNTER = itertools.count()


def indented(text: str, indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


def shape(head: str, body: str, otherwise: str, after: str) -> str:
    """Write a function."""
    lines = "def shape(p, a):\n    v = 10\n" + indented(head, 4) + indented(body, 8)
    lines += f"    else:\n{indented(otherwise, 8)}" if otherwise else ""
    return lines + indented(after, 4)


def shapes(seed: int, count: int) -> list[str]:
    """Return some of all shapes."""
    every = list(itertools.product(HEADS, BODIES, ELSES, AFTERS))
    return [shape(*parts) for parts in Random(seed).sample(every, count)]


def define(source: str, **names: Any) -> Any:
    """Run the source of a function, so that it can be read back."""
    file = f"<loops {next(_COUNTER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names["shape"]


def typed(source: str) -> Any:
    """Return the function if it is not refused, None otherwise."""
    function = define(source, static_range=static_range, unroll=unroll)
    kernel = define("def shape(o, p, a):\n    o[0] = function(p, a)\n", function=function, i32=i32)
    array = Array(i32, 1, Layout.CONTIGUOUS)
    arguments = (array, i32, array)
    try:
        verify(type_kernel(kernel, arguments, COMPILATION, PYTHON_FUNCTIONS).program)
    except CompileError:
        return None
    return function


def by_python(source: str) -> list[int | None]:
    """Return what Python returns for each lane, None where it returns nothing, or has not after
    some rounds."""
    limited = source.replace("while True:", "for _ in range(99):")
    run = define(limited, static_range=range, unroll=lambda rounds, n=0: rounds)
    found: list[int | None] = []
    for lane in range(LANES):
        try:
            found.append(run(lane, [int(item) for item in ITEMS]))
        except UnboundLocalError:
            found.append(None)
    return found


def check(sources: Sequence[str], level: int) -> int:
    """Run those that are not refused in one kernel; return how many."""
    made = [(source, function) for source in sources if (function := typed(source)) is not None]
    run(made, level)
    return len(made)


def run(made: Sequence[tuple[str, Any]], level: int) -> None:
    """Run functions in one kernel."""
    calls = indented(
        "\n".join(f"o[{k}, grid(1)] = f{k}(i32(grid(1)), a)" for k in range(len(made))), 4
    )
    functions = {f"f{k}": function for k, (_, function) in enumerate(made)}
    kernel = define(f"def shape(o, a):\n{calls}", grid=amdjit.grid, i32=i32, **functions)
    found = np.zeros((len(made), LANES), np.int32)
    amdjit.kernel(kernel, opt_level=level, warnings=False)[1, LANES](found, ITEMS)
    for (source, _), row in zip(made, found, strict=True):
        pairs = zip(by_python(source), row, strict=True)
        assert all(right in (None, value) for right, value in pairs), source


@pytest.mark.sample(1)
@pytest.mark.parametrize("level", [0, 3])
def test_loops_are_left_as_in_python(level: int) -> None:
    assert check([s for s in shapes(level, 80) if "while True:\n        i" not in s], level) > 30


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
def test_all_shapes_of_loops(seed: int) -> None:
    check([s for s in shapes(10 + seed, 250) if "while True:\n        i" not in s], seed % 4)


def certain() -> Iterator[str]:
    """Write functions that return in a loop that has an iteration, whatever the argument."""
    bodies = [BODIES[k] for k in (0, 2, 12, 17, 19, 20)]
    heads = [head for head in HEADS[:14] if "(0)" not in head and "()" not in head]
    for head, body, otherwise in itertools.product(heads, bodies, ELSES):
        if "range(1, p)" not in head:
            yield shape(head, body, otherwise, "")
            yield shape(head, body, otherwise, "return v")


def test_a_loop_with_an_iteration_that_returns_needs_no_other_return() -> None:
    assert [source for source in certain() if typed(source) is None] == []


def test_a_loop_that_may_have_no_iteration_does() -> None:
    for head in ("for i in range(0):", "for i in range(1, p):", "for i in a:", "while p > 5:"):
        assert typed(shape(head, "return v", "", "")) is None
        assert typed(shape(head, "return v", "return 5", "")) is not None
