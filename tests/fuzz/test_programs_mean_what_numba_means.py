"""Random programs with `typing="numba"`: the emulator's results against Numba's rules."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.frontend.values import promotion, typing_rules
from tests.fuzz import numba_programs as numba
from tests.fuzz.fuzzed_device import OLDER, SOME_OLDER, emulator, processor
from tests.fuzz.running import define

KERNEL_NAMES = {f"as_{name}": getattr(amdjit, name) for name in numba.INPUTS}
ARRAYS = numba.inputs(np.random.default_rng(5))


class Choices(ast.NodeTransformer):
    """Writes conditional expressions as calls: both values have one type."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.Call:
        parts = [self.visit(part) for part in (node.test, node.body, node.orelse)]
        return ast.Call(ast.Name("choose", ast.Load()), parts, [])


class Stored(dict[Any, Any]):
    """What one lane stores: the last value of each place."""

    def __init__(self, type: str) -> None:
        super().__init__()
        self.type = type

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, numba.made(self.type, numba.as_value(value).value).value)


def on_host(source: str) -> tuple[Stored, Stored]:
    """Run a program by Numba's rules. A lane ends where its values are unclear."""
    tree = ast.fix_missing_locations(Choices().visit(ast.parse(source)))
    run = define(ast.unparse(tree), numba.HOST_NAMES)["program"]
    integers, floats = Stored("i64"), Stored("f64")
    for lane in range(numba.LANES):
        rows = [[numba.made(name, x.item()) for x in array] for name, array in ARRAYS.items()]
        with np.errstate(all="ignore"):
            try:
                run(lane, *rows, integers, floats)
            except numba.UnclearError:
                continue
    return integers, floats


def on_emulator(sources: Sequence[str]) -> list[tuple[Any, Any]]:
    """Run programs one after the other in one kernel."""
    names = {
        f"program_{k}": define(text, KERNEL_NAMES)["program"] for k, text in enumerate(sources)
    }
    inputs = ", ".join(f"a_{name}" for name in numba.INPUTS)
    lines = [f"    program_{k}(i, {inputs}, o[{k}], f[{k}])\n" for k in range(len(sources))]
    text = f"def run({inputs}, o, f):\n    i = grid(1)\n{''.join(lines)}"
    run = define(text, {"grid": amdjit.grid, **names})["run"]
    shape = len(sources), numba.LANES, numba.SLOTS
    o, f = np.zeros(shape, np.int64), np.zeros(shape)
    with emulator():
        kernel = amdjit.kernel(typing="numba", warnings=False)(run)
        kernel[1, numba.LANES](*ARRAYS.values(), o, f)
    return list(zip(o, f, strict=True))


def difference(sources: Sequence[str]) -> str:
    """Return the first program with other results, and them; nothing if all are alike."""
    for source, found in zip(sources, on_emulator(sources), strict=True):
        for array, expected in zip(found, on_host(source), strict=True):
            for place, value in expected.items():
                if not (array[place] == value or (value != value and array[place] != array[place])):
                    return f"{source}\n{place} is {array[place]!r}, by the rules {value!r}"
    return ""


def some(seed: str, programs: int, depth: int = 2) -> list[str]:
    random = Random(f"numba {seed}")
    return [numba.written(random, depth) for _ in range(programs)]


def test_programs_mean_what_numba_means() -> None:
    sources = some("few", 6)
    wrong = difference(sources)
    assert not wrong, wrong
    compared = sum(len(stored) for source in sources for stored in on_host(source))
    assert compared > 0.7 * len(sources) * numba.LANES * numba.SLOTS


@pytest.mark.exhaustive
def test_another_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if integers were computed in the wider type."""
    real = typing_rules.NUMBA.operand_type

    def joined(operator: str, left: Any, right: Any) -> Any:
        return promotion.common_type(left, right) or real(operator, left, right)

    monkeypatch.setattr(typing_rules.NumbaTyping, "operand_type", staticmethod(joined))
    assert " by the rules " in difference(some("few", 14))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(64))
def test_many_programs_mean_what_numba_means(seed: int) -> None:
    wrong = difference(some(str(seed), 24, 3))
    assert not wrong, wrong


@SOME_OLDER
def test_some_programs_mean_what_numba_means_on_older_families(cpu: str) -> None:
    with processor(cpu):
        wrong = difference(some(f"few on {cpu}", 2))
    assert not wrong, wrong


@OLDER
@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(16))
def test_many_programs_mean_what_numba_means_on_older_families(cpu: str, seed: int) -> None:
    with processor(cpu):
        wrong = difference(some(f"{cpu} {seed}", 24, 3))
    assert not wrong, wrong
