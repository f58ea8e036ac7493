"""Random programs of the forms that programs for Numba are written in, against Python and NumPy:
recursion, `*args`, made arrays, indices and tuple items that are known at run time, membership."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from tests.fuzz.fuzzed_device import OLDER, emulator, processor
from tests.fuzz.running import define

LANES, SLOTS, LENGTH = 8, 3, 7
BOUND = 997
HELPERS = """
def folded(first, *rest):
    total = first
    for item in rest:
        total = (total * 3 + item) % 997
    return total

def recursive(n, x):
    if n <= 0:
        return x
    return (recursive(n - 1, x + n) * 2 + recursive(n - 2, x)) % 997

def counted(n, x):
    own = np.zeros(3, np.int64)
    own[n % 3] = x
    if n > 0:
        below = counted(n - 1, (x * 5) % 997)
        own[0] += below[2]
        own[1] = (own[1] + below[0]) % 997
    return own

def passed_on(n, x):
    return stopped(n, x + 1)

def stopped(n, x):
    return x % 997 if n == 0 else passed_on(n - 1, x * 2)
"""


class Writer:
    """Writes expressions of integers from 0 to 996, all of them i64."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.names = ["x[i]", "y[i]"]
        self.arrays = ["x", "y"]

    def value(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.2:
            return self.random.choice([*self.names, str(self.random.randint(0, 9))])
        make = self.random.choice(
            [self.folded, self.recursive, self.element, self.item, self.member, self.sum]
        )
        return make(depth - 1)

    def some(self, number: int, depth: int) -> str:
        return ", ".join(self.value(depth) for _ in range(number))

    def small(self, limit: int, depth: int) -> str:
        return f"({self.random.choice(self.names)} + {self.value(depth)}) % {limit}"

    def folded(self, depth: int) -> str:
        if self.random.random() < 0.3:
            return f"folded(*({self.some(3, depth)}), {self.value(depth)})"
        return f"folded({self.some(self.random.randint(1, 4), depth)})"

    def recursive(self, depth: int) -> str:
        n, x = self.small(3, depth), self.value(depth)
        item = f"[{self.random.randrange(3)}]"
        calls = f"recursive({n}, {x})", f"counted({n}, {x}){item}", f"passed_on({n}, {x})"
        return self.random.choice([*calls, f"stopped({n}, {x})"])

    def element(self, depth: int) -> str:
        array = self.random.choice(self.arrays)
        return f"{array}[{self.small(2 * LENGTH, depth)} - {LENGTH}]"

    def item(self, depth: int) -> str:
        number = self.random.randint(1, 4)
        return f"({self.some(number, depth)},)[{self.small(number, depth)}]"

    def member(self, depth: int) -> str:
        word = self.random.choice(["in", "not in"])
        test = f"{self.value(depth)} {word} ({self.some(self.random.randint(1, 3), depth)},)"
        return f"({self.value(depth)} if {test} else {self.value(depth)})"

    def sum(self, depth: int) -> str:
        sign = self.random.choice("+*-")
        return f"(({self.value(depth)} {sign} {self.value(depth)}) % {BOUND})"

    def statement(self, slot: int) -> None:
        kind = self.random.random()
        if kind < 0.5:
            name = f"m{slot}"
            made = self.random.choice(["np.zeros(7, np.int64)", "np.ones(7, dtype=np.int64)"])
            self.lines.append(f"    {name} = {made}")
            for _ in range(self.random.randint(1, 4)):
                self.lines.append(
                    f"    {name}[{self.small(2 * LENGTH, 0)} - {LENGTH}] = {self.value(1)}"
                )
            self.arrays.append(name)
            self.names.append(f"({name}[0] + {name}[3] * 2) % {BOUND}")
            self.lines.append(f"    out[i, {SLOTS}] += {name}[1] * 7 + {name}[5]")
        elif kind < 0.9:
            place = f"r[i][{self.random.choice(['0', '1'])!r}]".replace("'0'", "'a'")
            place = place.replace("'1'", "'b'")
            self.lines.append(f"    {place} = {self.value(2)}")
            self.lines.append(f"    {place} += r[i].a % 5")
            self.names.append(f"({place} % {BOUND})")
        self.lines.append(f"    v{slot} = {self.value(3)}")
        self.names.append(f"v{slot}")
        self.lines.append(f"    out[i, {slot}] = v{slot}")


def written(random: Random) -> str:
    """Write a program for one lane."""
    writer = Writer(random)
    for slot in range(SLOTS):
        writer.statement(slot)
    return f"{HELPERS}\ndef program(i, x, y, r, out):\n" + "\n".join(writer.lines) + "\n"


def inputs() -> tuple[Any, ...]:
    random = np.random.default_rng(8)
    x, y = random.integers(0, BOUND, (2, max(LENGTH, LANES)))[:, :LENGTH]
    records = np.zeros(LANES, [("a", np.int64), ("b", np.int64)]).view(np.recarray)
    records.a, records.b = random.integers(0, BOUND, (2, LANES))
    return x.copy(), y.copy(), records


def difference(sources: list[str]) -> str:
    """Return the first program that gives other results than Python; nothing if none does."""
    programs = [define(text, {"np": np, "amdjit": amdjit}) for text in sources]
    kernels = {f"program_{k}": found["program"] for k, found in enumerate(programs)}
    calls = [f"    program_{k}(i, x, y, r[{k}], out[{k}])\n" for k in range(len(sources))]
    text = f"def run(x, y, r, out):\n    i = amdjit.grid(1)\n{''.join(calls)}"
    run = define(text, {"amdjit": amdjit, **kernels})["run"]
    x, y, records = inputs()
    lanes = LENGTH
    out = np.zeros((len(sources), lanes, SLOTS + 1), np.int64)
    changed = np.stack([records] * len(sources))
    with emulator():
        kernel = amdjit.kernel(wraparound=True, warnings=False, max_recursion=5)(run)
        kernel[1, lanes](x, y, changed, out)
    for k, program in enumerate(programs):
        x, y, records = inputs()
        expected = np.zeros((lanes, SLOTS + 1), np.int64)
        for lane in range(lanes):
            program["program"](lane, x, y, records, expected)
        wrong = np.argwhere(out[k] != expected)
        if len(wrong) or (changed[k] != records).any():
            body = sources[k].partition("def program")[2]
            return f"{body}\n{wrong[:3].tolist()}: {out[k]} is not\n{expected}"
    return ""


def some(seed: str, number: int) -> list[str]:
    random = Random(f"forms {seed}")
    return [written(random) for _ in range(number)]


def test_programs_of_numbas_users_mean_what_python_means() -> None:
    wrong = difference(some("some", 3))
    assert not wrong, wrong


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(24))
def test_many_programs_of_numbas_users_mean_what_python_means(seed: int) -> None:
    wrong = difference(some(str(seed), 6))
    assert not wrong, wrong


@OLDER
@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(6))
def test_programs_of_numbas_users_mean_what_python_means_on_older_families(
    cpu: str, seed: int
) -> None:
    with processor(cpu):
        wrong = difference(some(f"{cpu} {seed}", 6))
    assert not wrong, wrong
