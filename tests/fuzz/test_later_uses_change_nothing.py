"""Random programs of numbers without a width, and the same with more uses of them at the end: what
the statements before these write is the same."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.types import f32, f64, i32, i64, u32
from tests.fuzz.fuzzed_device import emulator
from tests.fuzz.running import define

LANES = 8
_TYPED = ("x[t]", "n[t]", "m[t]", "float(x[t])", "float(n[t])")
_WEAK = ("0.1", "3.0", "a", "1e4", "0.5")
_NAMES = {"f32": f32, "f64": f64, "i32": i32, "i64": i64, "u32": u32, "grid": amdjit.grid}


class Writer:
    """Writes a program that computes from typed integers, literals and Python's numbers."""

    def __init__(self, random: Random) -> None:
        self.random, self.lines, self.names = random, [], []  # type: ignore[var-annotated]

    def pick(self, *items: str) -> str:
        return self.random.choice(items)

    def value(self, depth: int = 2) -> str:
        """Write an expression that is an f32 on its own."""
        if depth == 0 or self.random.random() < 0.2:
            return self.pick(*self.names) if self.names else f"({self.pick(*_TYPED)} * 0.1)"
        first, second = self.value(depth - 1), self.value(depth - 1)
        other = self.pick(*_TYPED, *_WEAK, second)
        return self.pick(
            f"({first} {self.pick('+', '-', '*', '/', '%')} {other})",
            f"({self.pick(*_WEAK)} {self.pick('+', '-', '*')} {self.pick(*_TYPED)})",
            f"({self.pick(*_TYPED)} / {self.pick(*_TYPED)})",
            f"({first} if {self.pick('t > 3', 'n[t] > 5')} else {second})",
            f"({first}, {second})[t % 2]",
            f"{self.pick('min', 'max')}({first}, {other})",
            f"helper({first}, {self.pick(*_TYPED)})",
            f"(-{first})",
        )

    def statement(self) -> None:
        name = f"v{len(self.names)}"
        form = self.random.randrange(5)
        if form < 2:
            self.lines.append(f"{name} = {self.value()}")
        elif form == 2:
            self.lines += [
                f"{name} = {self.pick(*_WEAK)}",
                "if t > 2:",
                f"    {name} = {self.value()}",
            ]
        elif form == 3:
            self.lines += ["if t > 4:", f"    {name} = {self.pick(*_TYPED)}", "else:"]
            self.lines.append(f"    {name} = {self.value()}")
        else:
            self.lines.append(f"{name}, _ = {self.value()}, {self.value()}")
        self.names.append(name)
        self.lines.append(f"o[{len(self.names) - 1}, t] = {self.value(1)} + {name}")

    def later_use(self) -> str:
        name = self.pick(*self.names)
        return self.pick(
            f"w[t] = {name}", f"w[t] += f64({name})", f"w[t] = i64({name})",
            f"w[t] = {name} * f64(3)", f"w[t] = helper({name}, x[t])", f"w[t] = {name} < f64(0.1)",
        )  # fmt: skip


def written(source: str, level: int) -> Any:
    lanes = np.arange(LANES)
    x = (4000000615 - lanes * 7919).astype(np.uint32)
    n, m = (lanes * 200000011 + 3).astype(np.int32), (lanes * 1000003 + 16777217).astype(np.int32)
    o, w = np.zeros((5, LANES), np.float32), np.zeros(LANES)
    program = define(source, _NAMES)["program"]
    with emulator():
        kernel = amdjit.kernel(program, opt_level=level, warnings=False)
        kernel[1, LANES](x, n, m, 0.7, o, w)
    return o.view(np.uint32)


def check(seed: int) -> None:
    random = Random(seed)
    writer = Writer(random)
    for _ in range(random.randint(1, 4)):
        writer.statement()
    later = [writer.later_use() for _ in range(random.randint(1, 3))]
    head = "def helper(u, k):\n    return u * 0.3 + k\n\ndef program(x, n, m, a, o, w):\n"
    head += "    t = grid(1)\n"
    alone, whole = (
        head + "".join(f"    {line}\n" for line in lines)
        for lines in (writer.lines, [*writer.lines, *later])
    )
    level = random.choice((0, 1, 3))
    before, after = written(alone, level), written(whole, level)
    assert (before == after).all(), f"{whole}\n{before.view(np.float32)}\n{after.view(np.float32)}"


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(8))
def test_later_uses_change_nothing_before_them(seed: int) -> None:
    check(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(40))
def test_later_uses_change_nothing_in_a_thousand_programs(group: int) -> None:
    for seed in range(25):
        check(1000 + 25 * group + seed)
