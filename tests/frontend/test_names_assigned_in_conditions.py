"""Names that conditions assign with `:=`: they may be read wherever every path assigns them, and
have the value that Python gives them."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit

LANES = 8
_COUNTER = itertools.count()


@dataclass(frozen=True)
class Condition:
    """A condition, and the names that it has assigned where it is true and where it is false."""

    text: str
    if_true: frozenset[str]
    if_false: frozenset[str]


def leaf(random: Random) -> Condition:
    number = random.randrange(8)
    if random.random() < 0.4:
        return Condition(f"i {random.choice(('<', '>'))} {number}", frozenset(), frozenset())
    name = random.choice("yz")
    both = frozenset((name,))
    if random.random() < 0.2:
        other = "yz"["zy".index(name)]
        text = f"1 < ({name} := i + {number}) < ({other} := i * 3) + {number}"
        return Condition(text, frozenset("yz"), both)
    value = random.choice((f"i * {number}", f"i + {number}", f"{number} - i", f"{number}"))
    text = random.choice(
        (f"({name} := {value}) > 3", f"({name} := {value}) & 2", f"({name} := {value})")
    )
    return Condition(text, both, both)


def condition(random: Random, depth: int) -> Condition:
    """Write a condition."""
    if depth == 0:
        return leaf(random)
    left, right = condition(random, depth - 1), condition(random, depth - 1)
    kind = random.choice(("and", "or", "and", "or", "not", "if"))
    if kind == "not":
        return Condition(f"not ({left.text})", left.if_false, left.if_true)
    if kind == "if":
        test = condition(random, depth - 1)
        return Condition(
            f"(({left.text}) if ({test.text}) else ({right.text}))",
            (test.if_true | left.if_true) & (test.if_false | right.if_true),
            (test.if_true | left.if_false) & (test.if_false | right.if_false),
        )
    text = f"(({left.text}) {kind} ({right.text}))"
    if kind == "and":
        later = left.if_true | right.if_true
        return Condition(text, later, left.if_false & (left.if_true | right.if_false))
    later = left.if_false | right.if_false
    return Condition(text, left.if_true & (left.if_false | right.if_true), later)


def reading(names: frozenset[str], number: int) -> str:
    return " + ".join([str(number), *(f"{name} * {k + 2}" for k, name in enumerate(sorted(names)))])


FORMS = (
    "    if {c}:\n        return {t}\n    return {f}\n",
    "    if {c}:\n        r = {t}\n    else:\n        r = {f}\n    return r\n",
    "    return ({t}) if {c} else ({f})\n",
    "    r = 0\n    while r < 90 and {c}:\n        r += 40 + {t}\n        i += 1\n    return r\n",
    "    r = 1\n    while not ({c}):\n        i += 1\n        r = {f}\n        if i > 9: return r\n"
    "    else:\n        return {t}\n    return r\n",
    "    if i > 9: return 0\n    elif {c}: return {t}\n    else: return {f}\n",
    "    match i & 3:\n        case 1 | 3 if {c}: return {t}\n        case 0: return 5\n"
    "    return i\n",
    "    r = tuple(({t}) if {c} else ({f}) for k in range(2))\n    return r[0] + r[1]\n",
    "    return 0 if not ({c}) else {t}\n",
    "    return ({t}) > 7 if {c} else ({f}) < 9\n",
    "    if bool({c}) and i < 99:\n        return {t}\n    return i\n",
    "    assert {c} or True\n    return ({c}) and ({t}) > 2\n",
)


def sources(seed: int, count: int) -> Iterator[str]:
    random = Random(seed)
    for _ in range(count):
        made = condition(random, random.choice((1, 2, 2, 3)))
        form = random.choice(FORMS)
        text = form.format(c=made.text, t=reading(made.if_true, 100), f=reading(made.if_false, 10))
        yield f"def program(i):\n{text}"


def define(source: str, **names: Any) -> Any:
    """Run the source of a function, so that it can be read back."""
    file = f"<names {next(_COUNTER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names["program"]


def check(programs: list[str], level: int) -> None:
    """Run programs in one kernel and by Python."""
    functions = {f"p{k}": define(source) for k, source in enumerate(programs)}
    lines = [f"    o[{k}, amdjit.grid(1)] = p{k}(amdjit.grid(1))" for k in range(len(programs))]
    kernel = define("\n".join(["def program(o):", *lines, ""]), amdjit=amdjit, **functions)
    found = np.zeros((len(programs), LANES), np.int32)
    amdjit.kernel(kernel, opt_level=level, warnings=False)[1, LANES](found)
    for source, row in zip(programs, found, strict=True):
        run = define(source)
        assert list(row) == [int(run(i)) for i in range(LANES)], source


@pytest.mark.sample(1)
@pytest.mark.parametrize("level", [0, 3])
def test_names_may_be_read_wherever_every_path_assigns_them(level: int) -> None:
    check(list(sources(level, 30)), level)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
def test_many_conditions(seed: int) -> None:
    check(list(sources(100 + seed, 150)), seed % 4)


def unsure(i):
    if i > 2 and (z := i) > 3:
        pass
    return z


def only_if_true(i):
    if i > 2 or (z := i) > 3:
        return z
    return 0


def only_if_false(i):
    if i > 2 and (z := i) > 3:
        return 0
    return z


def later(i):
    r = i > 2 and (z := i * 2) > 6
    return z if r else 0


def of_a_loop(i):
    while i > 3 and (z := i) > 5:
        i -= 1
    return z


@pytest.mark.parametrize("function", [unsure, only_if_true, only_if_false, later, of_a_loop])
def test_names_without_a_value_on_some_path_are_refused(function: Any) -> None:
    @amdjit.kernel
    def kernel(o):
        o[0] = function(amdjit.grid(1))

    with pytest.raises(amdjit.CompileError, match="`z` is assigned on only one path"):
        kernel[1, 1](np.zeros(1, np.int32))
